//! What became of an effect, and what that does to its record.

use crate::{
    answer::{
        class::{StatusClass, classify},
        head::ReplyHead,
        log::fate_line,
        refusal::Refusal,
        word::StatusWord,
    },
    http::date::Millis,
    key::scoped::ScopedKey,
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::Terms,
        record::{Cause, Claim, FoundRecord, KeptReply, Record},
        storing::Storing,
    },
};

/// How an execution's first caller is answered, and what the record becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectOutcome {
    /// The origin's answer goes on as it is.
    Pass {
        /// The word in `Idempotency-Status`.
        word: StatusWord,
        /// What the record becomes once the answer is complete.
        then: RecordChange,
    },
    /// The gate answers.
    Refuse {
        /// What is said.
        refusal: Refusal,
        /// What the record becomes.
        then: RecordChange,
    },
}

/// What an execution's end does to the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordChange {
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
///
/// ```
/// # use oncekey::{key::{Key, scope::Scope, scoped::ScopedKey}, policy::Policy, stored::attempt::{Attempt, Terms}};
/// # let policy = r#"{"routes": [{"unanswered": {"probe": "/orders/by-key/{key}"}}]}"#.parse::<Policy>()?;
/// # let key = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
/// # let scoped_key = ScopedKey::derive(&Scope::new("shop.example"), &key)?;
/// # let terms = Terms::of(&policy, policy.route("POST", "/orders").ok_or("no route")?);
/// # let attempt = Attempt::of_json(&policy, scoped_key, "/orders", b"{}", &[], terms);
/// use oncekey::{answer::word::StatusWord, decide::outcome::{EffectOutcome, RecordChange, outcome_of_status}};
///
/// let passed = |then| EffectOutcome::Pass { word: StatusWord::Executed, then };
/// assert_eq!(outcome_of_status(Some(201), &attempt.terms), passed(RecordChange::Keep));
/// assert_eq!(outcome_of_status(Some(429), &attempt.terms), passed(RecordChange::Release));
/// assert!(matches!(outcome_of_status(None, &attempt.terms), EffectOutcome::Refuse { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn outcome_of_status(status: Option<u16>, terms: &Terms) -> EffectOutcome {
    let pass = |then| EffectOutcome::Pass { word: StatusWord::Executed, then };
    match status.map_or(StatusClass::Unanswered, classify) {
        StatusClass::Done => pass(RecordChange::Keep),
        StatusClass::Declined => pass(match terms.keep {
            Keep::Success => RecordChange::Release,
            Keep::Definite => RecordChange::Keep,
        }),
        StatusClass::NeverConsumes => pass(RecordChange::Release),
        StatusClass::NeverReached => {
            EffectOutcome::Refuse { refusal: Refusal::OriginUnreachable { status }, then: RecordChange::Release }
        }
        StatusClass::Ambiguous => match terms.server_error {
            ServerError::Release => pass(RecordChange::Release),
            ServerError::Keep => pass(RecordChange::Keep),
            ServerError::Hold => EffectOutcome::Pass {
                word: StatusWord::Unknown,
                then: RecordChange::Hold { cause: Cause::Ambiguous, status },
            },
        },
        StatusClass::Unanswered => outcome_without_answer(status, terms),
    }
}

/// The course of a request that the runtime refused to send: the origin never saw it.
pub fn outcome_of_unsent() -> EffectOutcome {
    EffectOutcome::Refuse { refusal: Refusal::OriginUnreachable { status: None }, then: RecordChange::Release }
}

/// The course of an answer whose content broke off.
pub fn outcome_of_broken_answer(status: u16, terms: &Terms) -> EffectOutcome {
    match classify(status) {
        StatusClass::NeverConsumes | StatusClass::NeverReached => {
            EffectOutcome::Pass { word: StatusWord::Executed, then: RecordChange::Release }
        }
        StatusClass::Done | StatusClass::Declined | StatusClass::Ambiguous | StatusClass::Unanswered => {
            outcome_without_answer(Some(status), terms)
        }
    }
}

fn outcome_without_answer(status: Option<u16>, terms: &Terms) -> EffectOutcome {
    match terms.unanswered {
        Unanswered::Rerun => {
            EffectOutcome::Refuse { refusal: Refusal::OriginUnanswered { status }, then: RecordChange::Release }
        }
        Unanswered::Hold | Unanswered::Probe(_) => EffectOutcome::Refuse {
            refusal: Refusal::OutcomeUnknown { status },
            then: RecordChange::Hold { cause: Cause::Unanswered, status },
        },
    }
}

/// The line of the operator's log for what was stored of a request that somebody waited for, where its fate is unknown.
/// `message`: what the platform said, where its fetch failed.
pub fn line_of_fate(record: &Record, key: &ScopedKey, message: Option<&str>, now: Millis) -> Option<String> {
    match record {
        Record::Unknown { status, .. } => Some(fate_line("unknown", now, Some(key), *status, message)),
        Record::Claimed(_) | Record::Completed { .. } | Record::Accepted(_) => None,
    }
}

/// What is stored of an answer, where it is remembered; `is_small`: its content is there, and no more than is kept.
///
/// ```
/// use oncekey::{answer::head::ReplyHead, decide::outcome::reply_to_store, http::fields::Fields};
/// use oncekey::stored::{record::KeptReply, storing::Storing};
///
/// let head = |lines: &str| ReplyHead::keep(201, &Fields::new(lines.to_owned()));
/// let storing = Storing { redact: vec!["x-token".to_owned()], forget: true };
/// let kept = reply_to_store(&head("x-token,secret\nx-other,1"), true, &storing);
/// assert_eq!(kept, KeptReply::Whole(head("x-other,1")));
/// let forgotten = reply_to_store(&head("cache-control,private, No-Store"), true, &storing);
/// assert_eq!(forgotten, KeptReply::Tombstone { status: 201 });
/// ```
pub fn reply_to_store(head: &ReplyHead, is_small: bool, storing: &Storing) -> KeptReply {
    if !is_small || storing.forget && head.says_no_store() {
        return KeptReply::Tombstone { status: head.status };
    }
    KeptReply::Whole(if storing.redact.is_empty() { head.clone() } else { head.without(&storing.redact) })
}

/// What a settlement does to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and stored at once; by 32 bits it is none")]
pub enum Settlement {
    /// The claim is no longer this execution's: nothing.
    Late,
    /// Delete what is stored.
    Release,
    /// Store this.
    Store(Record),
}

/// Settles a claim. `kept` counts where the answer is remembered.
///
/// ```
/// # use oncekey::{key::{Key, scope::Scope, scoped::ScopedKey}, policy::Policy, stored::attempt::{Attempt, Terms}};
/// # let policy = r#"{"routes": [{"unanswered": {"probe": "/orders/by-key/{key}"}}]}"#.parse::<Policy>()?;
/// # let key = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
/// # let scoped_key = ScopedKey::derive(&Scope::new("shop.example"), &key)?;
/// # let terms = Terms::of(&policy, policy.route("POST", "/orders").ok_or("no route")?);
/// # let attempt = Attempt::of_json(&policy, scoped_key, "/orders", b"{}", &[], terms);
/// # let now = 1_767_225_600_000;
/// use oncekey::{
///     decide::{attempt::{Decision, decide}, outcome::{RecordChange, Settlement, settle_attempt}},
///     stored::record::{KeptReply, Owner, Record},
/// };
///
/// let Decision::Execute(claim) = decide(None, Owner::default(), &attempt, false, now) else { unreachable!() };
/// let (record, kept) = (Record::Claimed(claim.clone()), KeptReply::Tombstone { status: 200 });
/// let settled = settle_attempt(Some(&record), &claim, RecordChange::Keep, kept.clone(), now);
/// assert!(matches!(settled, Settlement::Store(Record::Completed { .. })));
/// assert_eq!(settle_attempt(None, &claim, RecordChange::Keep, kept, now), Settlement::Late);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn settle_attempt<'r>(
    record: impl Into<FoundRecord<'r>>,
    claim: &Claim,
    then: RecordChange,
    kept: KeptReply,
    now: Millis,
) -> Settlement {
    match record.into() {
        FoundRecord::Readable(Record::Claimed(held)) if held == claim => {}
        _ => return Settlement::Late,
    }
    let expires = claim.remembered_until(now);
    match then {
        RecordChange::Release => Settlement::Release,
        RecordChange::Keep => Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        RecordChange::Hold { cause, status } => {
            Settlement::Store(Record::Unknown { claim: claim.clone(), expires, cause, status })
        }
    }
}
