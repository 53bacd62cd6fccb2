//! What became of an effect, and what that does to its record.

use crate::{
    answer::{
        class::{StatusClass, classify},
        refusal::Refusal,
        word::StatusWord,
    },
    http::date::{Millis, later_by},
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::Terms,
        record::{Cause, Claim, Kept, Record},
    },
};

/// How an execution's first caller is answered, and what the record becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// The origin's answer goes on as it is.
    Pass {
        /// The word in `Idempotency-Status`.
        word: StatusWord,
        /// What the record becomes once the answer is complete.
        then: Then,
    },
    /// The gate answers.
    Refuse {
        /// What is said.
        refusal: Refusal,
        /// What the record becomes.
        then: Then,
    },
}

/// What an execution's end does to the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The answer is remembered.
    Keep,
    /// The key is free again.
    Release,
    /// The fate stays unknown.
    Hold {
        /// Why.
        cause: Cause,
        /// The origin's status, where there was one.
        status: Option<u16>,
    },
}

/// Reads what came of the effect: the origin's status, or `None` where no answer began.
pub fn course(status: Option<u16>, terms: &Terms) -> Course {
    let pass = |then| Course::Pass { word: StatusWord::Executed, then };
    match status.map_or(StatusClass::Unanswered, classify) {
        StatusClass::Done => pass(Then::Keep),
        StatusClass::Declined => pass(match terms.keep {
            Keep::Success => Then::Release,
            Keep::Definite => Then::Keep,
        }),
        StatusClass::NeverConsumes => pass(Then::Release),
        StatusClass::NeverReached => {
            Course::Refuse { refusal: Refusal::OriginUnreachable { status }, then: Then::Release }
        }
        StatusClass::Ambiguous => match terms.server_error {
            ServerError::Release => pass(Then::Release),
            ServerError::Keep => pass(Then::Keep),
            ServerError::Hold => {
                Course::Pass { word: StatusWord::Unknown, then: Then::Hold { cause: Cause::Ambiguous, status } }
            }
        },
        StatusClass::Unanswered => lost(status, terms),
    }
}

/// The course of an answer whose content broke off.
pub fn broken(status: u16, terms: &Terms) -> Course {
    match classify(status) {
        StatusClass::NeverConsumes | StatusClass::NeverReached => {
            Course::Pass { word: StatusWord::Executed, then: Then::Release }
        }
        StatusClass::Done | StatusClass::Declined | StatusClass::Ambiguous | StatusClass::Unanswered => {
            lost(Some(status), terms)
        }
    }
}

fn lost(status: Option<u16>, terms: &Terms) -> Course {
    match terms.unanswered {
        Unanswered::Rerun => Course::Refuse { refusal: Refusal::OriginUnanswered { status }, then: Then::Release },
        Unanswered::Hold | Unanswered::Probe(_) => Course::Refuse {
            refusal: Refusal::OutcomeUnknown { status },
            then: Then::Hold { cause: Cause::Unanswered, status },
        },
    }
}

/// What a settlement does to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The claim is no longer this execution's: nothing.
    Late,
    /// Delete what is stored.
    Release,
    /// Store this.
    Store(Record),
}

/// Settles a claim. `kept` counts where the answer is remembered.
pub fn settle(record: Option<&Record>, claim: &Claim, then: Then, kept: Kept, now: Millis) -> Settlement {
    match record {
        Some(Record::Claimed(held)) if held == claim => {}
        _ => return Settlement::Late,
    }
    let expires = later_by(now, claim.retention);
    match then {
        Then::Release => Settlement::Release,
        Then::Keep => Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        Then::Hold { cause, status } => {
            Settlement::Store(Record::Unknown { claim: claim.clone(), expires, cause, status })
        }
    }
}
