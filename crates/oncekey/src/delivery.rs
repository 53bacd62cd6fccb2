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
    attempt::Attempt,
    date::Millis,
    decision::{self, Found, Owner, Settlement, Then, Tidy, lives},
    policy::Unanswered,
    record::{Cause, Claim, Kept, Record, after},
    reply::{Class, Refusal, Word, classify},
};

/// A request that was accepted and whose delivery has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its generation counts the deliveries; its lease is that of the last one.
    pub claim: Claim,
    /// What was asked, on the terms of that time.
    pub attempt: Attempt,
    /// Until when it is tried.
    pub until: Millis,
    /// How often the origin was turned to, by a delivery or a question.
    pub tries: u32,
    /// What is done now.
    pub stage: Stage,
}

/// What is done with an accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The next delivery begins then.
    Waiting {
        /// When.
        at: Millis,
    },
    /// It is delivered, by the owner of its claim.
    Running,
    /// The last delivery had no answer: the origin is asked for it then.
    Asking {
        /// When.
        at: Millis,
    },
}

/// Milliseconds after which a delivery is looked at again, should its owner have died.
const LOOK_AGAIN: u64 = 10_000;
/// The base of the back-off, in milliseconds.
pub const BACKOFF: u64 = 1_000;
/// The longest delay that back-off alone can reach, in milliseconds.
pub const LONGEST_BACKOFF: u64 = 300_000;

/// The delay before the next try, in milliseconds: half of `base · 2^(tries-1)`, at most half of `most`, and as much
/// again at random. `jitter` is a fraction of 2^32, `least` what the origin asked for.
pub fn backoff(tries: u32, base: u64, most: u64, jitter: u32, least: u64) -> u64 {
    let doubled = base.saturating_mul(1_u64.checked_shl(tries.saturating_sub(1)).unwrap_or(u64::MAX)).min(most);
    let half = doubled / 2;
    (half + ((half * (u64::from(jitter) + 1)) >> 32)).max(least)
}

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
            Accepting::Refuse { refusal: Refusal::Reused, expires: decision::known_end(record) }
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
        until: after(now, attempt.terms.retention),
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
        return match decision::tidy(record, owner, now) {
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
            Unanswered::Probe(template) => Ring::Ask {
                path: decision::filled(template, delivery.attempt.scoped_key.as_str()),
                delivery: delivery.clone(),
            },
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
            expires: after(now, delivery.claim.retention),
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
    let expires = after(now, claim.retention);
    let at = next(delivery, jitter, heard.retry_after, now);
    let again = |stage| Settlement::Store(Record::Accepted(Delivery { stage, ..delivery.clone() }));
    match then {
        Then::Keep => Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        Then::Release if heard.status.map(classify) == Some(Class::Declined) => Settlement::Release,
        Then::Release => again(Stage::Waiting { at }),
        Then::Hold { cause, status } => match (&delivery.attempt.terms.unanswered, cause) {
            (Unanswered::Probe(_), Cause::Unanswered) => again(Stage::Asking { at }),
            _ => Settlement::Store(Record::Unknown { claim: claim.clone(), expires, cause, status }),
        },
    }
}

/// What is known of a delivery without changing it: that it goes on, or until when its unknown fate is remembered.
pub fn unknown_until(delivery: &Delivery, owner: Owner, now: Millis) -> Option<Millis> {
    let runs = delivery.stage == Stage::Running;
    if runs && owner.owns(&delivery.claim) {
        return None;
    }
    let is_held = runs && delivery.attempt.terms.unanswered == Unanswered::Hold;
    // The alarm that gives it up may be late.
    (is_held || now >= delivery.until).then(|| after(delivery.until.max(now), delivery.claim.retention))
}

/// What a caller that only hands something over hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is done with: acknowledge it.
    Taken,
    /// Hand it over again later.
    Again,
}

/// Reads an object's answer to a message: its status and its `Idempotency-Status`; nothing where there was none.
///
/// | answer | receipt |
/// |---|---|
/// | executed: done or declined | taken |
/// | replayed; completed, but not kept (409 and refused) | taken |
/// | executed: never consumes, ambiguous | again |
/// | in progress, mismatch, unknown, any other refusal, none | again |
pub fn receipt(status: u16, word: Option<&str>) -> Receipt {
    let is_taken = match word {
        Some(word) if word == Word::Executed.as_str() => matches!(classify(status), Class::Done | Class::Declined),
        Some(word) if word == Word::Replayed.as_str() => true,
        Some(word) if word == Word::Refused.as_str() => status == 409,
        _ => false,
    };
    if is_taken { Receipt::Taken } else { Receipt::Again }
}

/// Whether an object has an accepted request for good: it said so, or that it has another one under the key, which
/// only an earlier version can have made of the same effect.
pub fn is_handed_over(status: u16) -> bool {
    matches!(status, 202 | 422)
}

fn begun(delivery: &Delivery, owner: Owner, now: Millis) -> Delivery {
    let claim = Claim {
        generation: delivery.claim.generation.max(owner.latest).saturating_add(1),
        lease_until: after(now, delivery.attempt.terms.lease),
        ..delivery.claim.clone()
    };
    Delivery { claim, tries: delivery.tries.saturating_add(1), stage: Stage::Running, ..delivery.clone() }
}

fn given_up(delivery: &Delivery, now: Millis) -> Record {
    Record::Unknown {
        claim: delivery.claim.clone(),
        expires: after(now, delivery.claim.retention),
        cause: Cause::Unanswered,
        status: None,
    }
}

fn next(delivery: &Delivery, jitter: u32, least: u64, now: Millis) -> Millis {
    let delay = backoff(delivery.tries, BACKOFF, LONGEST_BACKOFF, jitter, least);
    now.saturating_add(delay).min(delivery.until)
}
