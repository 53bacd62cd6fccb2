//! Attempts: run once, replayed, told to wait, or refused.

use std::time::Duration;

use futures_util::future::select;
use js_sys::{ArrayBuffer, Promise};
use oncekey::{
    answer::{refusal::Refusal, word::StatusWord},
    decide::{
        alarm::first_alarm,
        attempt::{AfterProbe, Decision, decide, decide_since_probe},
    },
    stored::{
        attempt::Attempt,
        record::{Claim, Kept, Record},
    },
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, Response};
use worker::Delay;

use crate::{
    fault,
    object::{
        context::{Object, read},
        effect::{Effect, to_origin},
        live::owner,
        store::{Found, Row},
    },
    platform::{clock::clock, failure::Failure, message},
    refusal::no_origin,
};

impl Object {
    pub async fn attempt(&self, request: &Request, attempt: &Attempt) -> Result<Response, Failure> {
        fault::at("before", request);
        let mut waited = false;
        let mut content: Option<ArrayBuffer> = None;
        loop {
            let row = self.store.load()?;
            let Found::Readable(record) = row.found() else {
                return self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None);
            };
            let decision = decide(record.as_ref(), owner(&self.live), attempt, waited, clock());
            match decision {
                Decision::Execute(claim) => match &content {
                    Some(content) => return self.execute(request, attempt, claim, content, &row).await,
                    None => content = Some(read(request).await?),
                },
                Decision::Replay { head, expires } => {
                    return message::answer(&head, StatusWord::Replayed, Some(expires), &self.store.content(&row)?);
                }
                Decision::Wait { seconds } => {
                    self.ended_within(seconds).await;
                    waited = true;
                }
                Decision::Refuse { refusal, expires } => return self.refuse(request, &refusal, expires),
                Decision::Probe { path } => {
                    // Read before, so that a claim is stored and run without an await between.
                    let body = match content.take() {
                        Some(body) => body,
                        None => read(request).await?,
                    };
                    let asked = record;
                    let (found, head, bytes) = self.ask(request, attempt, &path).await;
                    let kept =
                        if bytes.is_some() { Kept::Reply(head) } else { Kept::Tombstone { status: head.status } };
                    let row = self.store.load()?;
                    let Found::Readable(record) = row.found() else {
                        return self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None);
                    };
                    let owner = owner(&self.live);
                    match decide_since_probe(asked.as_ref(), record.as_ref(), owner, attempt, found, kept, clock()) {
                        AfterProbe::Store(record) => {
                            self.store.save(&record, bytes.as_ref(), &row)?;
                            self.store.wake_at(record.expires())?;
                        }
                        AfterProbe::Execute(claim) => return self.execute(request, attempt, claim, &body, &row).await,
                        AfterProbe::Refuse { refusal, expires } => {
                            return self.refuse(request, &refusal, Some(expires));
                        }
                        AfterProbe::Moved => {}
                    }
                    content = Some(body);
                }
            }
        }
    }

    /// Stores the claim, runs the effect, and waits for its answer as long as the caller is kept waiting.
    async fn execute(
        &self,
        request: &Request,
        attempt: &Attempt,
        claim: Claim,
        content: &ArrayBuffer,
        row: &Row,
    ) -> Result<Response, Failure> {
        if self.gate.origin.is_none() {
            return self.refuse(request, &no_origin(), None);
        }
        let abort = AbortController::new()?;
        let init = to_origin(request, attempt, content, &abort)?;
        // The alarm first: should it fail, nothing is claimed.
        self.store.wake_at(first_alarm(&claim, clock()))?;
        self.store.save(&Record::Claimed(claim.clone()), None, row)?;
        self.live.set_running(claim.generation);
        self.live.set_latest(claim.generation);
        let answer = Effect {
            gate: self.gate.clone(),
            attempt: attempt.clone(),
            claim,
            store: self.store.clone(),
            live: self.live.clone(),
            request: JsCast::unchecked_into(JsValue::from(request)),
            init,
            abort,
            accepted: false,
        }
        .start();
        match answer.await {
            Ok(answer) => answer,
            Err(_) => self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None),
        }
    }

    /// Waits until the running execution ends, at most so long.
    pub async fn ended_within(&self, seconds: u32) {
        let waiters = self.live.waiters();
        let ended = Promise::new(&mut |resolve, _| {
            waiters.push(&resolve);
        });
        let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
        let _ = select(JsFuture::from(ended), timer).await;
    }
}
