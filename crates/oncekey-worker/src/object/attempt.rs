//! Attempts: run once, replayed, told to wait, or refused.

use std::time::Duration;

use futures_util::future::select;
use js_sys::{ArrayBuffer, Promise, Uint8Array};
use oncekey::{
    answer::{refusal::Refusal, word::StatusWord},
    decide::{
        attempt::{AfterProbe, Decision, decide, decide_since_probe, refuse_sealed},
        outcome::reply_to_store,
        telling::alarm_of_claim,
    },
    stored::{
        attempt::Attempt,
        record::{Claim, FoundRecord, Record},
    },
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{AbortController, Request, Response};
use worker::Delay;

use crate::{
    fault,
    object::{
        context::{Object, read_request},
        effect::{Effect, OriginHeard, request_to_origin},
        live::{end_late, owner_of},
        seal::{open_reply, seal_reply},
        store::Row,
    },
    platform::{clock::now_millis, failure::Failure, message, promised::Promised},
    refusal::missing_origin,
};

impl Object {
    pub async fn handle_attempt(&self, request: &Request, attempt: &Attempt) -> Result<Response, Failure> {
        fault::at("before", request);
        let mut waited = false;
        let mut content: Option<ArrayBuffer> = None;
        loop {
            let row = self.store.load()?;
            let record = row.record();
            let decision = decide(&record, owner_of(&self.live), attempt, waited, now_millis());
            match decision {
                Decision::Execute(claim) => match &content {
                    Some(content) => return self.run_claim(request, attempt, claim, content, &row).await,
                    None => content = Some(read_request(request).await?),
                },
                Decision::Replay { head, expires } => {
                    return message::kept_response(
                        &head,
                        StatusWord::Replayed,
                        Some(expires),
                        &self.store.content(&row)?,
                    );
                }
                Decision::Open { sealed, expires } => {
                    let content = self.store.content(&row)?.dyn_into::<Uint8Array>().ok();
                    return match open_reply(&self.gate, attempt, &sealed, content).await {
                        Some((head, content)) => {
                            let content = content.map_or(JsValue::NULL, JsValue::from);
                            message::kept_response(&head, StatusWord::Replayed, Some(expires), &content)
                        }
                        None => self.refuse(request, &refuse_sealed(&sealed), Some(expires)),
                    };
                }
                // A caller that goes is noticed only once its content has been read.
                Decision::Wait { .. } if content.is_none() => content = Some(read_request(request).await?),
                Decision::Wait { seconds } => {
                    self.wait_for_end(seconds).await;
                    waited = true;
                }
                Decision::Refuse { refusal, expires } => {
                    self.notice_fate(&record)?;
                    return self.refuse(request, &refusal, expires);
                }
                Decision::Probe { path, lease_until } => {
                    // Read before, so that a claim is stored and run without an await between.
                    let body = match content.take() {
                        Some(body) => body,
                        None => read_request(request).await?,
                    };
                    let asked = record;
                    let claim = FoundRecord::from(&asked).claim().cloned();
                    let (found, head, bytes) = self.probe_origin(request, attempt, &path, lease_until).await;
                    let kept = reply_to_store(&head, bytes.is_some(), &attempt.terms.storing);
                    let (kept, bytes) = match &claim {
                        Some(claim) => seal_reply(&self.gate, attempt, claim, kept, bytes).await,
                        None => (kept, None),
                    };
                    let row = self.store.load()?;
                    let owner = owner_of(&self.live);
                    match decide_since_probe(&asked, &row.record(), owner, attempt, found, kept, now_millis()) {
                        AfterProbe::Store(record) => {
                            self.store.save(&record, bytes.as_ref(), &row)?;
                            self.store.wake_at(record.expires())?;
                        }
                        AfterProbe::Execute(claim) => {
                            return self.run_claim(request, attempt, claim, &body, &row).await;
                        }
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
    async fn run_claim(
        &self,
        request: &Request,
        attempt: &Attempt,
        claim: Claim,
        content: &ArrayBuffer,
        row: &Row,
    ) -> Result<Response, Failure> {
        if self.gate.origin.is_none() {
            return self.refuse(request, &missing_origin(), None);
        }
        end_late(&self.live);
        let abort = AbortController::new()?;
        let init = request_to_origin(request, attempt, self.gate.policy.origin_key, content, &abort)?;
        // The alarm first: should it fail, nothing is claimed.
        self.store.wake_at(alarm_of_claim(&claim, self.listeners(), now_millis()))?;
        self.store.save(&Record::Claimed(claim.clone()), None, row)?;
        self.live.set_running(claim.generation);
        self.live.set_latest(claim.generation);
        let answer = Effect {
            listeners: self.listeners(),
            gate: self.gate.clone(),
            attempt: attempt.clone(),
            claim,
            store: self.store.clone(),
            live: self.live.clone(),
            request: JsCast::unchecked_into(JsValue::from(request)),
            init,
            abort,
            accepted: false,
            wants_note: self.wants_note.get(),
            heard: OriginHeard::default(),
        }
        .start_for_caller();
        match answer.await {
            Ok(answer) => answer,
            Err(_) => self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None),
        }
    }

    /// Waits until the running execution ends, at most so long.
    pub async fn wait_for_end(&self, seconds: u32) {
        let waiters = self.live.waiters();
        let ended = Promise::new(&mut |resolve, _| {
            waiters.push(&resolve);
        });
        let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
        let _ = select(Promised::new(&ended), timer).await;
    }
}
