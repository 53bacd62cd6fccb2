//! Accepted requests: taken now, delivered later, once, and tried again until their retention ends.
//!
//! [`decide_accept`] is asked for every request that is to be accepted, [`decide_delivery`] when the alarm rings,
//! [`settle_delivery`] when a delivery ends, [`decide_after_delivery_probe`] when the origin has been asked. What they
//! return is stored in the same synchronous section.
//!
//! | stage | owner | `unanswered` | when the alarm rings |
//! |---|---|---|---|
//! | waiting, not due | | | rings again then |
//! | waiting, due | | | deliver |
//! | running | alive | | rings again |
//! | running | gone | hold | unknown |
//! | running | gone | probe | ask |
//! | running, lease runs | gone | rerun | rings again when it is over |
//! | running, lease over | gone | rerun | deliver |
//! | asking, not due | | | rings again then |
//! | asking, due | | | ask |
//! | asking, 404 before the lease is over | | | ask again when it is over |
//! | any but one with its owner, retention over | | | unknown |
//! | dead, kept | | | rings again when that is over |
//! | dead, kept no longer | | | delete |
//! | unreadable | | | rings again, at the latest when it expires, and never deletes it before |
//!
//! | a delivery's answer | then |
//! |---|---|
//! | done; ambiguous with `keep` | completed |
//! | declined, in full | completed or, with `"keep": "success"`, forgotten: nothing took effect |
//! | 307, 308, in full | forgotten: nothing took effect, and nobody follows |
//! | never consumes; never reached; ambiguous with `release`; unanswered with `rerun` | again, later |
//! | unanswered with `probe` | the origin is asked, later |
//! | ambiguous or unanswered with `hold` | unknown |

use crate::{
    answer::{class::declines_delivery, refusal::Refusal},
    decide::{
        alarm::{AlarmDecision, decide_alarm},
        attempt::{ProbeResult, claimant_of, probe_path},
        backoff::{BACKOFF, LONGEST_BACKOFF, backoff},
        caller::is_other_caller,
        outcome::{RecordChange, Settlement},
        same::refuse_unlike,
    },
    http::date::{Millis, later_by},
    policy::Unanswered,
    stored::{
        attempt::Attempt,
        frame::Unreadable,
        record::{Cause, Claim, Delivery, DeliveryStage, FoundRecord, KeptReply, Owner, Record, is_live, known_expiry},
    },
};

/// Milliseconds after which a delivery is looked at again, should its owner have died.
const LOOK_AGAIN: u64 = 10_000;

/// Milliseconds after which what another build wrote is looked at again: a build that reads it may have come back, and
/// what was promised is due.
const LOOK_AT_UNREADABLE: u64 = 900_000;

/// The same where not even the time can be read: no build that is known wrote it.
const LOOK_AT_UNDATED: u64 = 86_400_000;

/// What becomes of a request that is to be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and stored at once; by 32 bits it is none")]
pub enum AcceptDecision {
    /// Store this with the request, set the alarm to now, and say that it is queued.
    Store(Record),
    /// Say that it is a duplicate.
    Duplicate,
    /// Answer with a refusal.
    Refuse {
        /// What is said.
        refusal: Refusal,
        /// Until when something is remembered.
        expires: Option<Millis>,
    },
}

/// Decides on a request that is to be accepted. A duplicate is one also where the first was sent on by a proxy, and
/// where its fate is unknown: nothing is done for it.
///
/// ```
/// # use oncekey::{key::{Key, scope::Scope, scoped::ScopedKey}, policy::Policy, stored::attempt::{Attempt, Terms}};
/// # let policy = r#"{"routes": [{"unanswered": {"probe": "/orders/by-key/{key}"}}]}"#.parse::<Policy>().expect("a policy");
/// # let key = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
/// # let scoped_key = ScopedKey::derive(&Scope::new("shop.example"), &key)?;
/// # let terms = Terms::of(&policy, policy.route("POST", "/orders").expect("a route"));
/// # let attempt = Attempt::of_json(&policy, scoped_key, "/orders", b"{}", &[], terms);
/// # let now = 1_767_225_600_000;
/// use oncekey::{decide::accepted::{AcceptDecision, DeliveryDecision, decide_accept, decide_delivery}, stored::record::Owner};
///
/// let owner = Owner::default();
/// let AcceptDecision::Store(record) = decide_accept(None, owner, &attempt, now) else { unreachable!() };
/// assert_eq!(decide_accept(Some(&record), owner, &attempt, now), AcceptDecision::Duplicate);
/// assert!(matches!(decide_delivery(Some(&record), owner, now), DeliveryDecision::Deliver(_)));
/// # Ok::<(), oncekey::key::InvalidKey>(())
/// ```
pub fn decide_accept<'r>(
    record: impl Into<FoundRecord<'r>>,
    owner: Owner,
    attempt: &Attempt,
    now: Millis,
) -> AcceptDecision {
    let record = match record.into().read(now) {
        Ok(record) => record,
        Err(Unreadable { expires }) => {
            return AcceptDecision::Refuse { refusal: Refusal::OutcomeUnknown { status: None }, expires };
        }
    };
    if let Some(record) = record.filter(|record| is_live(record, owner, now)) {
        if is_other_caller(&record.claim().claimant, attempt.callers.as_deref()) {
            return AcceptDecision::Refuse { refusal: Refusal::CallerChanged, expires: None };
        }
        let refuse = |refusal| AcceptDecision::Refuse { refusal, expires: known_expiry(record) };
        if let Some(refusal) = refuse_unlike(record.claim(), attempt) {
            return refuse(refusal);
        }
        return match record {
            Record::Accepted(Delivery { stage: DeliveryStage::Dead { status, .. }, .. }) => {
                refuse(Refusal::OutcomeUnknown { status: *status })
            }
            _ => AcceptDecision::Duplicate,
        };
    }
    let claim = Claim {
        generation: record.map_or(0, |record| record.claim().generation).max(owner.latest),
        fingerprint: attempt.fingerprint.clone(),
        lease_until: now,
        retention: attempt.terms.retention,
        claimant: claimant_of(attempt),
    };
    AcceptDecision::Store(Record::Accepted(Delivery {
        claim,
        attempt: Attempt { callers: None, basis: None, ..attempt.clone() },
        until: later_by(now, attempt.terms.retention),
        tries: 0,
        refusals: 0,
        stage: DeliveryStage::Waiting { at: now },
    }))
}

/// What the alarm does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryDecision {
    /// Give the storage back.
    Delete,
    /// Ring again then.
    Later(Millis),
    /// Store this, whose claim is the owner's, set the alarm by [`next_alarm`], and deliver.
    Deliver(Delivery),
    /// Set the alarm by [`next_alarm`] and ask the origin; [`decide_after_delivery_probe`] takes its answer.
    Probe {
        /// What is asked for.
        delivery: Delivery,
        /// Path and query to GET at the origin.
        path: String,
    },
    /// Store this and set the alarm by [`next_alarm`].
    Store(Record),
    /// Nothing: somebody else has decided.
    Nothing,
}

/// What the alarm does with the record that it finds.
pub fn decide_delivery<'r>(record: impl Into<FoundRecord<'r>>, owner: Owner, now: Millis) -> DeliveryDecision {
    let record = match record.into().read(now) {
        Ok(record) => record,
        Err(unreadable) => return DeliveryDecision::Later(look_at_unreadable(unreadable, now)),
    };
    let Some(Record::Accepted(delivery)) = record else {
        return match decide_alarm(record, owner, now) {
            AlarmDecision::Delete => DeliveryDecision::Delete,
            AlarmDecision::Later(at) => DeliveryDecision::Later(at),
        };
    };
    match delivery.stage {
        DeliveryStage::Dead { expires, .. } if now < expires => DeliveryDecision::Later(expires),
        DeliveryStage::Dead { .. } => DeliveryDecision::Delete,
        DeliveryStage::Running if owner.owns(&delivery.claim) => DeliveryDecision::Later(now + LOOK_AGAIN),
        _ if now >= delivery.until => DeliveryDecision::Store(give_up_delivery(delivery, now)),
        DeliveryStage::Waiting { at } | DeliveryStage::Asking { at } if now < at => DeliveryDecision::Later(at),
        DeliveryStage::Waiting { .. } => DeliveryDecision::Deliver(begin_delivery(delivery, owner, now)),
        DeliveryStage::Asking { .. } | DeliveryStage::Running => match &delivery.attempt.terms.unanswered {
            Unanswered::Hold => DeliveryDecision::Store(give_up_delivery(delivery, now)),
            Unanswered::Rerun if now < delivery.claim.lease_until => {
                DeliveryDecision::Later(delivery.claim.lease_until)
            }
            Unanswered::Rerun => DeliveryDecision::Deliver(begin_delivery(delivery, owner, now)),
            Unanswered::Probe(template) => DeliveryDecision::Probe {
                path: probe_path(template, delivery.attempt.scoped_key.as_str()),
                delivery: delivery.clone(),
            },
        },
    }
}

/// When the alarm must ring next where the record calls for its request and that cannot be read: the delivery waits for a
/// build that reads it, until it is given up.
pub fn look_for_request(delivery: &Delivery, unreadable: Unreadable, now: Millis) -> Millis {
    look_at_unreadable(unreadable, now).min(delivery.until.max(later_by(now, 1)))
}

fn look_at_unreadable(unreadable: Unreadable, now: Millis) -> Millis {
    match unreadable.expires {
        Some(expires) => expires.min(now.saturating_add(LOOK_AT_UNREADABLE)),
        None => now.saturating_add(LOOK_AT_UNDATED),
    }
}

/// When the alarm must ring next for what was stored. While a delivery runs or a question is asked it rings in vain,
/// unless their owner has died.
pub fn next_alarm(record: &Record, now: Millis) -> Millis {
    match record {
        Record::Accepted(Delivery { stage: DeliveryStage::Waiting { at } | DeliveryStage::Asking { at }, .. })
            if now < *at =>
        {
            *at
        }
        Record::Accepted(Delivery { stage: DeliveryStage::Dead { expires, .. }, .. }) => *expires,
        Record::Accepted(_) => now + LOOK_AGAIN,
        Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. } => record.expires(),
    }
}

/// Decides after a question. `delivery` is what was asked for; `jitter` is a fraction of 2^32.
pub fn decide_after_delivery_probe<'r>(
    record: impl Into<FoundRecord<'r>>,
    delivery: &Delivery,
    owner: Owner,
    found: ProbeResult,
    kept: KeptReply,
    jitter: u32,
    now: Millis,
) -> DeliveryDecision {
    if !matches!(record.into(), FoundRecord::Readable(Record::Accepted(stored)) if stored == delivery) {
        return DeliveryDecision::Nothing;
    }
    match found {
        ProbeResult::Answer => DeliveryDecision::Store(Record::Completed {
            claim: delivery.claim.clone(),
            expires: later_by(now, delivery.claim.retention),
            kept,
        }),
        ProbeResult::Nothing if now < delivery.until => DeliveryDecision::Deliver(begin_delivery(delivery, owner, now)),
        ProbeResult::Nothing => DeliveryDecision::Store(give_up_delivery(delivery, now)),
        ProbeResult::TooEarly | ProbeResult::Unclear => {
            let mut delivery = delivery.clone();
            delivery.tries = delivery.tries.saturating_add(1);
            let at = if found == ProbeResult::TooEarly {
                delivery.claim.lease_until.max(later_by(now, 1)).min(delivery.until)
            } else {
                next_try(&delivery, jitter, 0, now)
            };
            delivery.stage = DeliveryStage::Asking { at };
            DeliveryDecision::Store(Record::Accepted(delivery))
        }
    }
}

/// What was heard of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryAnswer {
    /// The origin's status, where its answer came in full.
    pub status: Option<u16>,
    /// Milliseconds that it asks to wait, 0 for none.
    pub retry_after: u64,
}

/// Settles a delivery. `then` is the course of a proxied request on the same terms; `kept` counts where the answer is
/// remembered; `jitter` is a fraction of 2^32.
pub fn settle_delivery<'r>(
    record: impl Into<FoundRecord<'r>>,
    claim: &Claim,
    then: RecordChange,
    kept: KeptReply,
    heard: DeliveryAnswer,
    jitter: u32,
    now: Millis,
) -> Settlement {
    let FoundRecord::Readable(Record::Accepted(delivery)) = record.into() else {
        return Settlement::Late;
    };
    if delivery.claim != *claim || delivery.stage != DeliveryStage::Running {
        return Settlement::Late;
    }
    let expires = later_by(now, claim.retention);
    let at = next_try(delivery, jitter, heard.retry_after, now);
    let again = |stage| Settlement::Store(Record::Accepted(Delivery { stage, ..delivery.clone() }));
    match then {
        RecordChange::Keep => Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        RecordChange::Release if heard.status.is_some_and(declines_delivery) => Settlement::Release,
        RecordChange::Release => again(DeliveryStage::Waiting { at }),
        RecordChange::Hold { cause, status } => match (&delivery.attempt.terms.unanswered, cause) {
            (Unanswered::Probe(_), Cause::Unanswered) => again(DeliveryStage::Asking { at }),
            _ => Settlement::Store(Record::Unknown { claim: claim.clone(), expires, cause, status }),
        },
    }
}

fn begin_delivery(delivery: &Delivery, owner: Owner, now: Millis) -> Delivery {
    let claim = Claim {
        generation: delivery.claim.generation.max(owner.latest).saturating_add(1),
        lease_until: later_by(now, delivery.attempt.terms.lease),
        ..delivery.claim.clone()
    };
    Delivery { claim, tries: delivery.tries.saturating_add(1), stage: DeliveryStage::Running, ..delivery.clone() }
}

fn give_up_delivery(delivery: &Delivery, now: Millis) -> Record {
    Record::Unknown {
        claim: delivery.claim.clone(),
        expires: later_by(now, delivery.claim.retention),
        cause: Cause::Unanswered,
        status: None,
    }
}

fn next_try(delivery: &Delivery, jitter: u32, least: u64, now: Millis) -> Millis {
    let delay = backoff(delivery.tries, BACKOFF, LONGEST_BACKOFF, jitter, least);
    now.saturating_add(delay).min(delivery.until)
}
