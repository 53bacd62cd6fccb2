//! Accepted requests: taken now, delivered later, once, and tried again until their retention ends.
//!
//! [`decide_accept`] is asked for every request that is to be accepted, [`decide_delivery`] when the alarm rings,
//! [`settle_delivery`] when a delivery ends, [`decide_after_delivery_probe`] when the origin has been asked,
//! [`decide_redelivery`] when the operator wants it. What they return is stored in the same synchronous section. The terms
//! are those of the moment in which the request was accepted.
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
//! | asking, due | | probe | ask |
//! | asking, due | | rerun | deliver |
//! | asking, 404 before the lease is over | | probe | ask again when it is over |
//! | asking, 404 after it, retention over | | probe | dead |
//! | waiting, retention over | | | dead |
//! | asking, or running and gone, retention over | | | unknown |
//! | dead or unknown, kept | | | rings again when that is over |
//! | dead or unknown, kept no longer | | | delete |
//! | unreadable | | | rings again, at the latest when it expires, and never deletes it before |
//!
//! | a delivery's answer | then |
//! |---|---|
//! | done; ambiguous with `keep` | completed |
//! | declined, 307, 308, in full | dead: nothing took effect, and nobody follows |
//! | 401, 403, 407, 425, in full | again, later, at most five times; then dead |
//! | 429, 503; never reached; ambiguous with `release` | again, later: waiting |
//! | unanswered with `rerun` | again, later: asking |
//! | unanswered with `probe` | the origin is asked, later |
//! | ambiguous or unanswered with `hold` | unknown |
//!
//! | the operator wants it delivered | then |
//! |---|---|
//! | absent | absent |
//! | dead or unknown | waiting, due, for another retention |
//! | any other, and what was not accepted | refused |

use crate::{
    answer::{
        class::{StatusClass, classify, declines_delivery, refuses_gate},
        log::fate_line,
        refusal::Refusal,
    },
    decide::{
        age::refuse_by_age,
        alarm::{AlarmDecision, decide_alarm},
        attempt::{ProbeResult, claimant_of, probe_path},
        backoff::{BACKOFF, LONGEST_BACKOFF, backoff},
        caller::is_other_caller,
        outcome::{RecordChange, Settlement},
        same::refuse_unlike,
    },
    http::date::{Millis, later_by},
    key::seal::SealKeys,
    policy::Unanswered,
    stored::{
        attempt::{Attempt, Terms},
        frame::Unreadable,
        record::{
            Cause, Claim, DeathCause, Delivery, DeliveryFate, DeliveryStage, FoundRecord, KeptReply, Owner, Record,
            fate_of_delivery, is_live, known_expiry,
        },
    },
};

/// Milliseconds after which a delivery is looked at again, should its owner have died.
const LOOK_AGAIN: u64 = 10_000;

/// Milliseconds after which what another build wrote is looked at again: a build that reads it may have come back, and
/// what was promised is due.
const LOOK_AT_UNREADABLE: u64 = 900_000;

/// The same where not even the time can be read: no build that is known wrote it.
const LOOK_AT_UNDATED: u64 = 86_400_000;

/// How often a delivery is tried again that the origin refuses for the gate's own sake.
const MOST_REFUSALS: u32 = 5;

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

/// Decides on a request that is to be accepted. A duplicate is one also where the first was sent on by a proxy. Where the
/// first is dead or of unknown fate, that is said: nothing more is done for it.
///
/// ```
/// # use oncekey::{key::{Key, scope::Scope, scoped::ScopedKey}, policy::Policy, stored::attempt::{Attempt, Terms}};
/// # let policy = r#"{"routes": [{"unanswered": {"probe": "/orders/by-key/{key}"}}]}"#.parse::<Policy>()?;
/// # let key = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
/// # let scoped_key = ScopedKey::derive(&Scope::new("shop.example"), &key)?;
/// # let terms = Terms::of(&policy, policy.route("POST", "/orders").ok_or("no route")?);
/// # let attempt = Attempt::of_json(&policy, scoped_key, "/orders", b"{}", &[], terms);
/// # let now = 1_767_225_600_000;
/// use oncekey::{decide::accepted::{AcceptDecision, DeliveryDecision, decide_accept, decide_delivery}, stored::record::Owner};
///
/// let owner = Owner::default();
/// let AcceptDecision::Store(record) = decide_accept(None, owner, &attempt, now) else { unreachable!() };
/// assert_eq!(decide_accept(Some(&record), owner, &attempt, now), AcceptDecision::Duplicate);
/// assert!(matches!(decide_delivery(Some(&record), owner, now), DeliveryDecision::Deliver(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
            Record::Accepted(delivery) => match fate_of_delivery(delivery, owner, now) {
                DeliveryFate::Waits | DeliveryFate::Runs => AcceptDecision::Duplicate,
                DeliveryFate::Dead { status, expires } | DeliveryFate::Unknown { status, expires } => {
                    AcceptDecision::Refuse { refusal: Refusal::OutcomeUnknown { status }, expires: Some(expires) }
                }
            },
            Record::Unknown { status, .. } => refuse(Refusal::OutcomeUnknown { status: *status }),
            Record::Claimed(claim) if !owner.owns(claim) => refuse(Refusal::OutcomeUnknown { status: None }),
            Record::Claimed(_) | Record::Completed { .. } => AcceptDecision::Duplicate,
        };
    }
    if let Some(refusal) = refuse_by_age(attempt.age, now) {
        return AcceptDecision::Refuse { refusal, expires: None };
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
        // What the claim remembers is not kept twice.
        attempt: Attempt {
            callers: None,
            basis: None,
            age: None,
            seal: SealKeys::default(),
            terms: Terms { route: String::new(), ..attempt.terms.clone() },
            ..attempt.clone()
        },
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
        DeliveryStage::Dead { expires, .. } | DeliveryStage::Unknown { expires, .. } if now < expires => {
            DeliveryDecision::Later(expires)
        }
        DeliveryStage::Dead { .. } | DeliveryStage::Unknown { .. } => DeliveryDecision::Delete,
        DeliveryStage::Running if owner.owns(&delivery.claim) => DeliveryDecision::Later(now + LOOK_AGAIN),
        _ if now >= delivery.until => DeliveryDecision::Store(give_up_delivery(delivery, now)),
        DeliveryStage::Waiting { at } | DeliveryStage::Asking { at } if now < at => DeliveryDecision::Later(at),
        DeliveryStage::Waiting { .. } => DeliveryDecision::Deliver(begin_delivery(delivery, owner, now)),
        DeliveryStage::Asking { .. } | DeliveryStage::Running => match &delivery.attempt.terms.unanswered {
            Unanswered::Hold => DeliveryDecision::Store(give_up_delivery(delivery, now)),
            Unanswered::Rerun if delivery.stage == DeliveryStage::Running && now < delivery.claim.lease_until => {
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
        Record::Accepted(Delivery {
            stage: DeliveryStage::Dead { expires, .. } | DeliveryStage::Unknown { expires, .. },
            ..
        }) => *expires,
        Record::Accepted(_) => now + LOOK_AGAIN,
        Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. } => record.expires(),
    }
}

/// The line of the operator's log for what was stored, where a person has to look at it. `message`: what the platform said,
/// where its fetch failed.
pub fn line_of_end(record: &Record, message: Option<&str>, now: Millis) -> Option<String> {
    let Record::Accepted(Delivery { attempt, stage, .. }) = record else {
        return None;
    };
    let line = |what, status| Some(fate_line(what, now, Some(&attempt.scoped_key), status, message));
    match stage {
        DeliveryStage::Dead { status, .. } => line("dead", *status),
        DeliveryStage::Unknown { status, .. } => line("unknown", *status),
        DeliveryStage::Waiting { .. } | DeliveryStage::Running | DeliveryStage::Asking { .. } => None,
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
            expires: delivery.claim.remembered_until(now),
            kept,
        }),
        ProbeResult::Nothing if now < delivery.until => DeliveryDecision::Deliver(begin_delivery(delivery, owner, now)),
        ProbeResult::Nothing => {
            let expires = delivery.claim.remembered_until(now);
            let stage = DeliveryStage::Dead { cause: DeathCause::Exhausted, status: None, expires };
            DeliveryDecision::Store(Record::Accepted(Delivery { stage, ..delivery.clone() }))
        }
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
    /// The origin's status, 0 where no answer began.
    pub status: u16,
    /// Whether the answer came in full.
    pub is_whole: bool,
    /// Milliseconds that it asks to wait, 0 for none.
    pub retry_after: u64,
}

impl DeliveryAnswer {
    /// Whether it leaves open what became of the effect.
    fn is_silence(self) -> bool {
        match classify(self.status) {
            StatusClass::Unanswered => true,
            StatusClass::NeverConsumes | StatusClass::NeverReached => false,
            StatusClass::Done | StatusClass::Declined | StatusClass::Ambiguous => !self.is_whole,
        }
    }
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
    let expires = claim.remembered_until(now);
    let at = next_try(delivery, jitter, heard.retry_after, now);
    let is_refused = heard.is_whole && refuses_gate(heard.status);
    let is_declined = heard.is_whole && declines_delivery(heard.status);
    let stage = match then {
        _ if is_declined || (is_refused && delivery.refusals >= MOST_REFUSALS) => {
            DeliveryStage::Dead { cause: DeathCause::Declined, status: Some(heard.status), expires }
        }
        RecordChange::Keep => return Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        RecordChange::Release if heard.is_silence() => DeliveryStage::Asking { at },
        RecordChange::Release => DeliveryStage::Waiting { at },
        RecordChange::Hold { cause, status } => match (&delivery.attempt.terms.unanswered, cause) {
            (Unanswered::Probe(_), Cause::Unanswered) => DeliveryStage::Asking { at },
            _ => DeliveryStage::Unknown { cause, status, expires },
        },
    };
    let refusals = delivery.refusals.saturating_add(u32::from(is_refused));
    Settlement::Store(Record::Accepted(Delivery { refusals, stage, ..delivery.clone() }))
}

/// What comes of the operator's wish that a request be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and stored at once; by 32 bits it is none")]
pub enum RedeliveryDecision {
    /// Store this, set the alarm to now, and say that it is queued.
    Store(Delivery),
    /// Nothing is remembered: 404.
    Absent,
    /// It was not accepted, or it is neither dead nor of unknown fate: 409.
    Refuse,
}

/// Decides whether a request is delivered once more by the operator's wish.
pub fn decide_redelivery<'r>(record: impl Into<FoundRecord<'r>>, owner: Owner, now: Millis) -> RedeliveryDecision {
    let record = match record.into().read(now) {
        Ok(record) => record.filter(|record| is_live(record, owner, now)),
        Err(_) => return RedeliveryDecision::Refuse,
    };
    match record {
        None => RedeliveryDecision::Absent,
        Some(Record::Accepted(delivery)) => match fate_of_delivery(delivery, owner, now) {
            DeliveryFate::Waits | DeliveryFate::Runs => RedeliveryDecision::Refuse,
            DeliveryFate::Dead { .. } | DeliveryFate::Unknown { .. } => RedeliveryDecision::Store(Delivery {
                until: later_by(now, delivery.claim.retention),
                tries: 0,
                refusals: 0,
                stage: DeliveryStage::Waiting { at: now },
                ..delivery.clone()
            }),
        },
        Some(Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. }) => RedeliveryDecision::Refuse,
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

/// It is tried no more: what waits to be sent took no effect, of anything else that is not known.
fn give_up_delivery(delivery: &Delivery, now: Millis) -> Record {
    let expires = delivery.claim.remembered_until(now);
    let stage = match delivery.stage {
        DeliveryStage::Waiting { .. } => DeliveryStage::Dead { cause: DeathCause::Exhausted, status: None, expires },
        DeliveryStage::Running
        | DeliveryStage::Asking { .. }
        | DeliveryStage::Dead { .. }
        | DeliveryStage::Unknown { .. } => DeliveryStage::Unknown { cause: Cause::Unanswered, status: None, expires },
    };
    Record::Accepted(Delivery { stage, ..delivery.clone() })
}

fn next_try(delivery: &Delivery, jitter: u32, least: u64, now: Millis) -> Millis {
    let delay = backoff(delivery.tries, BACKOFF, LONGEST_BACKOFF, jitter, least);
    now.saturating_add(delay).min(delivery.until)
}
