//! Peek and release.

use oncekey::{
    answer::{peek::PeekState, refusal::Refusal},
    decide::look::{self, ReleaseDecision},
    errand::MAX_PEEK_WAIT,
    http::{lines::HeaderLines, negotiate::Audience},
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    object::{context::Object, live::owner, store::Found},
    platform::{clock::clock, failure::Failure, message},
};

impl Object {
    pub async fn peek(&self, wait: u32) -> Result<PeekState, Failure> {
        let look = || -> Result<PeekState, Failure> {
            Ok(match self.store.load()?.found() {
                Found::Readable(record) => look::peek_record(record.as_ref(), owner(&self.live), clock()),
                Found::Unreadable => PeekState::Unknown { expires: clock() },
            })
        };
        let ends = clock() + u64::from(wait.min(MAX_PEEK_WAIT)) * 1000;
        loop {
            let found = look()?;
            let left = ends.saturating_sub(clock());
            if found != PeekState::Running || left == 0 {
                return Ok(found);
            }
            // What was accepted may be delivered several times until it has ended.
            self.ended_within(u32::try_from(left.div_ceil(1000)).unwrap_or(0)).await;
        }
    }

    pub fn release(&self) -> Result<Response, Failure> {
        let (release, generation) = match self.store.load()?.found() {
            Found::Readable(record) => (
                look::decide_release(record.as_ref(), owner(&self.live), clock()),
                record.map_or(0, |record| record.claim().generation),
            ),
            Found::Unreadable => (ReleaseDecision::Done, 0),
        };
        let refusal = match release {
            ReleaseDecision::Done => {
                // The next claim must not look like the one that is forgotten here.
                self.live.set_latest(self.live.latest().max(generation));
                self.store.clear()?;
                return message::response(204, HeaderLines::default(), &JsValue::NULL);
            }
            ReleaseDecision::Absent => Refusal::NothingRemembered,
            ReleaseDecision::Running => Refusal::StillRunning,
        };
        message::said(refusal.render(&Audience::default(), None))
    }
}
