//! Accepted requests in their key's object: kept in one write, delivered by the alarm.
//!
//! Invariant: the alarm is set before each delivery and rings after it, whatever becomes of its owner; what rings
//! never fails, since the platform gives an alarm up that does.

use js_sys::Uint8Array;
use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    decide::accepted::{
        self, AcceptDecision, DeliveryDecision, decide_accept, decide_after_delivery_probe, decide_delivery,
    },
    http::fields::Fields,
    stored::{
        attempt::Attempt,
        record::{Delivery, Kept, Owner, Record},
        request::Held,
    },
};
use web_sys::{AbortController, Request, Response};

use crate::{
    object::{
        context::{Object, read},
        effect::{Effect, to_origin},
        live::{owner, wake},
        store::{Found, Row},
    },
    platform::{
        clock::{self, clock},
        failure::Failure,
        head, message,
    },
};

/// Milliseconds after which an alarm that failed rings again.
const LATER: u64 = 60_000;

/// Milliseconds after which it rings again where a newer version may know what is kept.
const MUCH_LATER: u64 = 86_400_000;

impl Object {
    /// Keeps a request for its delivery, or says that it is a duplicate.
    pub async fn accept(&self, request: &Request, attempt: &Attempt) -> Result<Response, Failure> {
        let content = read(request).await?;
        let row = self.store.load()?;
        let Found::Readable(record) = row.found() else {
            return self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None);
        };
        let now = clock();
        match decide_accept(record.as_ref(), owner(&self.live), attempt, now) {
            AcceptDecision::Store(record) => {
                let fields = Fields::new(head::pairs(&request.headers()));
                let head = Held::keep(&request.method(), &request.url(), &fields);
                // The alarm first and the record last: should either fail, nothing is accepted.
                self.store.wake_at(now)?;
                self.store.hold(&head, &Uint8Array::new(&content))?;
                self.store.save(&record, None, &row)?;
                message::said(GateAnswer::queued(&attempt.scoped_key))
            }
            AcceptDecision::Duplicate => message::said(GateAnswer::duplicate(&attempt.scoped_key)),
            AcceptDecision::Refuse { refusal, expires } => self.refuse(request, &refusal, expires),
        }
    }

    /// The alarm: delivers what was accepted, gives the storage back, or rings again.
    pub async fn alarm(&self) {
        if self.rung().await.is_err() {
            let _ = self.store.wake_at(clock() + LATER);
        }
    }

    async fn rung(&self) -> Result<(), Failure> {
        let row = self.store.load()?;
        let now = clock();
        let record = match row.found() {
            Found::Readable(record) => record,
            // What an older version cannot read is not its to give back.
            Found::Unreadable if self.store.holds()? => return self.store.wake_at(now + MUCH_LATER),
            // It was claimed under an alarm that is due now: what it said has expired.
            Found::Unreadable => None,
        };
        let decided = decide_delivery(record.as_ref(), owner(&self.live), now);
        let DeliveryDecision::Probe { delivery, path } = decided else {
            return self.follow(decided, &row).await;
        };
        let Some((head, _)) = self.store.held()? else {
            return self.store.clear();
        };
        self.store.wake_at(accepted::next_alarm(&Record::Accepted(delivery.clone()), now))?;
        let (found, answer, bytes) = self.ask(&message::held_request(&head)?, &delivery.attempt, &path).await;
        let kept = if bytes.is_some() { Kept::Reply(answer) } else { Kept::Tombstone { status: answer.status } };
        let row = self.store.load()?;
        let Found::Readable(record) = row.found() else {
            return Ok(());
        };
        match decide_after_delivery_probe(
            record.as_ref(),
            &delivery,
            owner(&self.live),
            found,
            kept,
            clock::chance(),
            clock(),
        ) {
            DeliveryDecision::Store(record) => self.put(&record, bytes.as_ref(), &row),
            decided => self.follow(decided, &row).await,
        }
    }

    async fn follow(&self, decided: DeliveryDecision, row: &Row) -> Result<(), Failure> {
        match decided {
            DeliveryDecision::Delete => self.store.clear(),
            DeliveryDecision::Nothing => Ok(()),
            DeliveryDecision::Later(at) => self.store.wake_at(at),
            DeliveryDecision::Store(record) => self.put(&record, None, row),
            DeliveryDecision::Deliver(delivery) => self.deliver(delivery, row).await,
            DeliveryDecision::Probe { delivery, .. } => {
                self.store.wake_at(accepted::next_alarm(&Record::Accepted(delivery), clock()))
            }
        }
    }

    fn put(&self, record: &Record, content: Option<&Uint8Array>, row: &Row) -> Result<(), Failure> {
        let kept = content.filter(|_| matches!(record, Record::Completed { kept: Kept::Reply(_), .. }));
        self.store.save(record, kept, row)?;
        wake(&self.live);
        self.store.moved(record, clock())
    }

    /// Stores that it runs, and delivers.
    async fn deliver(&self, delivery: Delivery, row: &Row) -> Result<(), Failure> {
        let Some((head, content)) = self.store.held()? else {
            // Kept in the same write as the record, so gone only together with it.
            return self.store.clear();
        };
        if self.gate.origin.is_none() {
            return self.store.wake_at(clock() + LATER);
        }
        let abort = AbortController::new()?;
        let request = message::held_request(&head)?;
        let init = to_origin(&request, &delivery.attempt, &content.buffer(), &abort)?;
        self.put(&Record::Accepted(delivery.clone()), None, row)?;
        let Owner { latest, .. } = owner(&self.live);
        self.live.set_running(delivery.claim.generation);
        self.live.set_latest(latest.max(delivery.claim.generation));
        Effect {
            gate: self.gate.clone(),
            attempt: delivery.attempt,
            claim: delivery.claim,
            store: self.store.clone(),
            live: self.live.clone(),
            request,
            init,
            abort,
            accepted: true,
        }
        .alone()
        .await;
        Ok(())
    }
}
