//! Accepted requests: taken now, delivered later, once, and tried again until their retention ends.
//!
//! [`accept`] is asked for every request that is to be accepted, [`ring`] when the alarm rings, [`settle`] when a
//! delivery ends, [`asked`] when the origin has been asked. What they return is stored in the same synchronous section.
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
//! | any but one with its owner, retention over | | | unknown |
//!
//! | a delivery's answer | then |
//! |---|---|
//! | done; ambiguous with `keep` | completed |
//! | declined, in full | completed or, with `"keep": "success"`, forgotten: nothing took effect |
//! | never consumes; never reached; ambiguous with `release`; unanswered with `rerun` | again, later |
//! | unanswered with `probe` | the origin is asked, later |
//! | ambiguous or unanswered with `hold` | unknown |

use crate::{
    answer::{
        class::{StatusClass, classify},
        refusal::Refusal,
    },
    decide::{
        alarm::{Tidy, tidy},
        attempt::{Found, filled},
        backoff::{BACKOFF, LONGEST_BACKOFF, backoff},
        outcome::{Settlement, Then},
    },
    http::date::{Millis, later_by},
    policy::Unanswered,
    stored::{
        attempt::Attempt,
        record::{Cause, Claim, Delivery, Kept, Owner, Record, Stage, known_end, lives},
    },
};

/// Milliseconds after which a delivery is looked at again, should its owner have died.
const LOOK_AGAIN: u64 = 10_000;

/// What becomes of a request that is to be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepting {
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
pub fn accept(record: Option<&Record>, owner: Owner, attempt: &Attempt, now: Millis) -> Accepting {
    if let Some(record) = record.filter(|record| lives(record, owner, now)) {
        return if record.claim().fingerprint == attempt.fingerprint {
            Accepting::Duplicate
        } else {
            Accepting::Refuse { refusal: Refusal::Reused, expires: known_end(record) }
        };
    }
    let claim = Claim {
        generation: record.map_or(0, |record| record.claim().generation).max(owner.latest),
        fingerprint: attempt.fingerprint.clone(),
        lease_until: now,
        retention: attempt.terms.retention,
    };
    Accepting::Store(Record::Accepted(Delivery {
        claim,
        attempt: attempt.clone(),
        until: later_by(now, attempt.terms.retention),
        tries: 0,
        stage: Stage::Waiting { at: now },
    }))
}

/// What the alarm does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Give the storage back.
    Delete,
    /// Ring again then.
    Later(Millis),
    /// Store this, whose claim is the owner's, set the alarm by [`alarm`], and deliver.
    Deliver(Delivery),
    /// Set the alarm by [`alarm`] and ask the origin; [`asked`] takes its answer.
    Ask {
        /// What is asked for.
        delivery: Delivery,
        /// Path and query to GET at the origin.
        path: String,
    },
    /// Store this and set the alarm by [`alarm`].
    Store(Record),
    /// Nothing: somebody else has decided.
    Nothing,
}

/// What the alarm does with the record that it finds.
pub fn ring(record: Option<&Record>, owner: Owner, now: Millis) -> Ring {
    let Some(Record::Accepted(delivery)) = record else {
        return match tidy(record, owner, now) {
            Tidy::Delete => Ring::Delete,
            Tidy::Later(at) => Ring::Later(at),
        };
    };
    match delivery.stage {
        Stage::Running if owner.owns(&delivery.claim) => Ring::Later(now + LOOK_AGAIN),
        _ if now >= delivery.until => Ring::Store(given_up(delivery, now)),
        Stage::Waiting { at } | Stage::Asking { at } if now < at => Ring::Later(at),
        Stage::Waiting { .. } => Ring::Deliver(begun(delivery, owner, now)),
        Stage::Asking { .. } | Stage::Running => match &delivery.attempt.terms.unanswered {
            Unanswered::Hold => Ring::Store(given_up(delivery, now)),
            Unanswered::Rerun if now < delivery.claim.lease_until => Ring::Later(delivery.claim.lease_until),
            Unanswered::Rerun => Ring::Deliver(begun(delivery, owner, now)),
            Unanswered::Probe(template) => {
                Ring::Ask { path: filled(template, delivery.attempt.scoped_key.as_str()), delivery: delivery.clone() }
            }
        },
    }
}

/// When the alarm must ring next for what was stored. While a delivery runs or a question is asked it rings in vain,
/// unless their owner has died.
pub fn alarm(record: &Record, now: Millis) -> Millis {
    match record {
        Record::Accepted(Delivery { stage: Stage::Waiting { at } | Stage::Asking { at }, .. }) if now < *at => *at,
        Record::Accepted(_) => now + LOOK_AGAIN,
        Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. } => record.expires(),
    }
}

/// Decides after a question. `delivery` is what was asked for; `jitter` is a fraction of 2^32.
pub fn asked(
    record: Option<&Record>,
    delivery: &Delivery,
    owner: Owner,
    found: Found,
    kept: Kept,
    jitter: u32,
    now: Millis,
) -> Ring {
    if !matches!(record, Some(Record::Accepted(stored)) if stored == delivery) {
        return Ring::Nothing;
    }
    match found {
        Found::Answer => Ring::Store(Record::Completed {
            claim: delivery.claim.clone(),
            expires: later_by(now, delivery.claim.retention),
            kept,
        }),
        Found::Nothing if now < delivery.until => Ring::Deliver(begun(delivery, owner, now)),
        Found::Nothing => Ring::Store(given_up(delivery, now)),
        Found::Unclear => {
            let mut delivery = delivery.clone();
            delivery.tries = delivery.tries.saturating_add(1);
            delivery.stage = Stage::Asking { at: next(&delivery, jitter, 0, now) };
            Ring::Store(Record::Accepted(delivery))
        }
    }
}

/// What was heard of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The origin's status, where its answer came in full.
    pub status: Option<u16>,
    /// Milliseconds that it asks to wait, 0 for none.
    pub retry_after: u64,
}

/// Settles a delivery. `then` is the course of a proxied request on the same terms; `kept` counts where the answer is
/// remembered; `jitter` is a fraction of 2^32.
pub fn settle(
    record: Option<&Record>,
    claim: &Claim,
    then: Then,
    kept: Kept,
    heard: Heard,
    jitter: u32,
    now: Millis,
) -> Settlement {
    let Some(Record::Accepted(delivery)) = record else {
        return Settlement::Late;
    };
    if delivery.claim != *claim || delivery.stage != Stage::Running {
        return Settlement::Late;
    }
    let expires = later_by(now, claim.retention);
    let at = next(delivery, jitter, heard.retry_after, now);
    let again = |stage| Settlement::Store(Record::Accepted(Delivery { stage, ..delivery.clone() }));
    match then {
        Then::Keep => Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        Then::Release if heard.status.map(classify) == Some(StatusClass::Declined) => Settlement::Release,
        Then::Release => again(Stage::Waiting { at }),
        Then::Hold { cause, status } => match (&delivery.attempt.terms.unanswered, cause) {
            (Unanswered::Probe(_), Cause::Unanswered) => again(Stage::Asking { at }),
            _ => Settlement::Store(Record::Unknown { claim: claim.clone(), expires, cause, status }),
        },
    }
}

fn begun(delivery: &Delivery, owner: Owner, now: Millis) -> Delivery {
    let claim = Claim {
        generation: delivery.claim.generation.max(owner.latest).saturating_add(1),
        lease_until: later_by(now, delivery.attempt.terms.lease),
        ..delivery.claim.clone()
    };
    Delivery { claim, tries: delivery.tries.saturating_add(1), stage: Stage::Running, ..delivery.clone() }
}

fn given_up(delivery: &Delivery, now: Millis) -> Record {
    Record::Unknown {
        claim: delivery.claim.clone(),
        expires: later_by(now, delivery.claim.retention),
        cause: Cause::Unanswered,
        status: None,
    }
}

fn next(delivery: &Delivery, jitter: u32, least: u64, now: Millis) -> Millis {
    let delay = backoff(delivery.tries, BACKOFF, LONGEST_BACKOFF, jitter, least);
    now.saturating_add(delay).min(delivery.until)
}
