//! Accepted requests in their key's object: kept in one write, delivered by the alarm.
//!
//! Invariant: the alarm is set before each delivery and rings after it, whatever becomes of its owner; what rings
//! never fails, since the platform gives an alarm up that does.

use js_sys::Uint8Array;
use oncekey::{
    answer::{log::failure_line, own::GateAnswer, refusal::Refusal},
    decide::{
        accepted::{
            self, AcceptDecision, DeliveryDecision, RedeliveryDecision, decide_accept, decide_after_delivery_probe,
            decide_delivery, decide_redelivery, look_for_request,
        },
        outcome::reply_to_store,
        telling::ring_for_telling,
    },
    http::fields::Fields,
    stored::{
        attempt::Attempt,
        frame::Unreadable,
        record::{Delivery, Owner, Record},
        request::StoredRequest,
    },
};
use web_sys::{AbortController, Request, Response};

use crate::{
    object::{
        context::{Object, read_request},
        effect::{Effect, OriginHeard, request_to_origin},
        live::{end_late, owner_of, wake_waiters},
        seal::{OpenedRequest, seal_reply, seal_request},
        store::Row,
    },
    platform::{
        bindings::log_error,
        clock::{self, now_millis},
        failure::Failure,
        head, message,
    },
};

/// Milliseconds after which an alarm that failed rings again.
const LATER: u64 = 60_000;

impl Object {
    /// Keeps a request for its delivery, or says that it is a duplicate.
    pub async fn accept_request(&self, request: &Request, attempt: &Attempt) -> Result<Response, Failure> {
        let content = read_request(request).await?;
        let mut sealed = None;
        loop {
            let row = self.store.load()?;
            let now = now_millis();
            return match decide_accept(&row.record(), owner_of(&self.live), attempt, now) {
                AcceptDecision::Store(record) => {
                    let fields = Fields::new(head::pairs(&request.headers()));
                    let head = StoredRequest::keep(&request.method(), &request.url(), &fields);
                    let bytes = Uint8Array::new(&content);
                    if self.gate.policy.seal && sealed.is_none() {
                        sealed = Some(seal_request(&self.gate, attempt, &head, &bytes).await?);
                        continue;
                    }
                    let expires = record.expires();
                    let (head, bytes) = match &sealed {
                        Some((seal, bytes)) => (seal.encode_request(expires), bytes),
                        None => (head.encode(expires), &bytes),
                    };
                    // The alarm first and the record last: should either fail, nothing is accepted.
                    self.store.wake_at(now)?;
                    self.store.save_request(&head, bytes)?;
                    self.store.save(&record, None, &row)?;
                    self.own_answer(request, GateAnswer::queued(&attempt.scoped_key))
                }
                AcceptDecision::Duplicate => self.own_answer(request, GateAnswer::duplicate(&attempt.scoped_key)),
                AcceptDecision::Refuse { refusal, expires } => self.refuse(request, &refusal, expires),
            };
        }
    }

    /// Delivers once more what is dead or of unknown fate, by the operator's wish.
    pub fn deliver_again(&self, request: &Request) -> Result<Response, Failure> {
        let row = self.store.load()?;
        let now = now_millis();
        match decide_redelivery(&row.record(), owner_of(&self.live), now) {
            RedeliveryDecision::Store(delivery) => {
                let said = GateAnswer::queued(&delivery.attempt.scoped_key);
                self.store.wake_at(now)?;
                self.store.save(&Record::Accepted(delivery), None, &row)?;
                message::own_response(said)
            }
            RedeliveryDecision::Absent => self.refuse(request, &Refusal::NothingRemembered, None),
            RedeliveryDecision::Refuse => self.refuse(request, &Refusal::NotDeliverable, None),
        }
    }

    /// The alarm: delivers what was accepted, gives the storage back, or rings again.
    pub async fn alarm(&self) -> Result<(), Failure> {
        let Err(failure) = self.handle_alarm().await else {
            return Ok(());
        };
        let key = self.store.load().ok().and_then(|row| row.accepted_attempt()).map(|attempt| attempt.scoped_key);
        log_error(&failure_line("alarm_failed", now_millis(), key.as_ref(), &failure.message()));
        self.store.wake_at(now_millis() + LATER)
    }

    async fn handle_alarm(&self) -> Result<(), Failure> {
        if !self.tell_open_fate().await? {
            return Ok(());
        }
        let opened = self.open_request().await?;
        let row = self.store.load()?;
        let now = now_millis();
        let decided = decide_delivery(&row.record(), owner_of(&self.live), now);
        let DeliveryDecision::Probe { delivery, path } = decided else {
            return self.act_on(decided, &row, opened).await;
        };
        let (head, _) = match self.held_request(opened.as_ref())? {
            Some(Ok(held)) => held,
            Some(Err(unreadable)) => return self.wait_for_request(&delivery, unreadable),
            None => return self.store.clear(),
        };
        self.store.wake_at(accepted::next_alarm(&Record::Accepted(delivery.clone()), now))?;
        let (found, answer, bytes) = self
            .probe_origin(&message::request_of_stored(&head)?, &delivery.attempt, &path, delivery.claim.lease_until)
            .await;
        let kept = reply_to_store(&answer, bytes.is_some(), &delivery.attempt.terms.storing);
        let (kept, bytes) = seal_reply(&self.gate, &delivery.attempt, &delivery.claim, kept, bytes).await;
        let row = self.store.load()?;
        match decide_after_delivery_probe(
            &row.record(),
            &delivery,
            owner_of(&self.live),
            found,
            kept,
            clock::random_fraction(),
            now_millis(),
        ) {
            DeliveryDecision::Store(record) => self.save_delivery(&record, bytes.as_ref(), &row),
            decided => self.act_on(decided, &row, opened).await,
        }
    }

    async fn act_on(&self, decided: DeliveryDecision, row: &Row, opened: Option<OpenedRequest>) -> Result<(), Failure> {
        match decided {
            DeliveryDecision::Delete => match self.index_until()? {
                Some(until) if now_millis() < until => self.store.wake_at(until),
                Some(_) | None => self.store.clear(),
            },
            DeliveryDecision::Nothing => Ok(()),
            DeliveryDecision::Later(at) => {
                let (record, now) = (row.record(), now_millis());
                self.store.wake_at(ring_for_telling((&record).into(), owner_of(&self.live), self.listeners(), at, now))
            }
            DeliveryDecision::Store(record) => self.save_delivery(&record, None, row),
            DeliveryDecision::Deliver(delivery) => self.start_delivery(delivery, row, opened).await,
            DeliveryDecision::Probe { delivery, .. } => {
                self.store.wake_at(accepted::next_alarm(&Record::Accepted(delivery), now_millis()))
            }
        }
    }

    fn save_delivery(&self, record: &Record, content: Option<&Uint8Array>, row: &Row) -> Result<(), Failure> {
        let kept = content.filter(|_| matches!(record, Record::Completed { .. }));
        self.store.save(record, kept, row)?;
        wake_waiters(&self.live);
        self.store.after_delivery_change(record, None, self.listeners(), now_millis())
    }

    fn wait_for_request(&self, delivery: &Delivery, unreadable: Unreadable) -> Result<(), Failure> {
        self.store.wake_at(look_for_request(delivery, unreadable, now_millis()))
    }

    /// Stores that it runs, and delivers.
    async fn start_delivery(
        &self,
        delivery: Delivery,
        row: &Row,
        opened: Option<OpenedRequest>,
    ) -> Result<(), Failure> {
        let (head, content) = match self.held_request(opened.as_ref())? {
            Some(Ok(held)) => held,
            Some(Err(unreadable)) => return self.wait_for_request(&delivery, unreadable),
            // Kept in the same write as the record, so gone only together with it.
            None => return self.store.clear(),
        };
        if self.gate.origin.is_none() {
            return self.store.wake_at(now_millis() + LATER);
        }
        end_late(&self.live);
        let abort = AbortController::new()?;
        let request = message::request_of_stored(&head)?;
        let init =
            request_to_origin(&request, &delivery.attempt, self.gate.policy.origin_key, &content.buffer(), &abort)?;
        self.save_delivery(&Record::Accepted(delivery.clone()), None, row)?;
        let Owner { latest, .. } = owner_of(&self.live);
        self.live.set_running(delivery.claim.generation);
        self.live.set_latest(latest.max(delivery.claim.generation));
        Effect {
            listeners: self.listeners(),
            gate: self.gate.clone(),
            attempt: delivery.attempt,
            claim: delivery.claim,
            store: self.store.clone(),
            live: self.live.clone(),
            request,
            init,
            abort,
            accepted: true,
            wants_note: false,
            heard: OriginHeard::default(),
        }
        .run_alone()
        .await;
        Ok(())
    }
}
