//! Peek and release.

use oncekey::{
    answer::{own::GateAnswer, peek::PeekState, refusal::Refusal},
    decide::look::{self, ReleaseDecision},
    errand::MAX_PEEK_WAIT,
    http::{lines::HeaderLines, negotiate::Audience},
    key::{age::KeyAge, caller::CallerDigest},
    stored::record::FoundRecord,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    object::{
        context::Object,
        live::{owner_of, wake_waiters},
    },
    platform::{clock::now_millis, failure::Failure, message},
};

impl Object {
    /// What is known of the key, to whom that is said.
    pub async fn peek_key(
        &self,
        wait: u32,
        callers: Option<&[CallerDigest]>,
        age: Option<KeyAge>,
    ) -> Result<GateAnswer, Failure> {
        let ends = now_millis() + u64::from(wait.min(MAX_PEEK_WAIT)) * 1000;
        loop {
            let (record, owner, now) = (self.store.load()?.record(), owner_of(&self.live), now_millis());
            let found = look::peek_key(&record, owner, age, now);
            let left = ends.saturating_sub(now);
            if found != PeekState::Running || left == 0 {
                let is_other = look::is_peek_of_other(&record, owner, callers, now);
                return Ok(if is_other { GateAnswer::peek_of_other(found) } else { GateAnswer::peek(found) });
            }
            // What was accepted may be delivered several times until it has ended.
            self.wait_for_end(u32::try_from(left.div_ceil(1000)).unwrap_or(0)).await;
        }
    }

    /// What the operator is told.
    pub fn look_at_key(&self) -> Result<GateAnswer, Failure> {
        let record = self.store.load()?.record();
        Ok(GateAnswer::look(&look::look_at_key(&record, owner_of(&self.live), now_millis())))
    }

    pub fn release_key(&self) -> Result<Response, Failure> {
        let record = self.store.load()?.record();
        let found = FoundRecord::from(&record);
        let refusal = match look::decide_release(found, owner_of(&self.live), now_millis()) {
            ReleaseDecision::Done => {
                // The next claim must not look like the one that is forgotten here.
                self.live.set_latest(self.live.latest().max(found.generation()));
                self.store.clear()?;
                wake_waiters(&self.live);
                return message::new_response(204, HeaderLines::default(), &JsValue::NULL);
            }
            ReleaseDecision::Absent => Refusal::NothingRemembered,
            ReleaseDecision::Running => Refusal::StillRunning,
        };
        message::own_response(refusal.render(&Audience::default(), None))
    }
}
