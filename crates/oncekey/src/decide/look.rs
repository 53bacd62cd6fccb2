//! What is known of a key, and whether the operator may release it.

use crate::{
    answer::peek::{KeyLook, PeekState},
    decide::{age::is_expired, caller::is_other_caller},
    http::date::Millis,
    key::{age::KeyAge, caller::CallerDigest},
    stored::{
        frame::Unreadable,
        record::{
            Cause, DeathCause, DeliveryFate, DeliveryStage, FoundRecord, Owner, Record, fate_of_delivery, is_live,
        },
    },
};

/// Nobody ran what was claimed to its end. When its owner died is not known, only when its lease ended at the latest.
const OWNER_DIED: &str = "owner_died";

/// What is known of a key, without changing it.
///
/// ```
/// use oncekey::{answer::peek::PeekState, decide::look::{ReleaseDecision, decide_release, peek_record}, stored::record::Owner};
///
/// assert_eq!(peek_record(None, Owner::default(), 0), PeekState::Absent);
/// assert_eq!(decide_release(None, Owner::default(), 0), ReleaseDecision::Absent);
/// ```
pub fn peek_record<'r>(record: impl Into<FoundRecord<'r>>, owner: Owner, now: Millis) -> PeekState {
    let record = match record.into().read(now) {
        Ok(record) => record,
        Err(Unreadable { expires }) => return PeekState::Unknown { status: None, expires },
    };
    match record.filter(|r| is_live(r, owner, now)) {
        None => PeekState::Absent,
        Some(Record::Claimed(claim)) if owner.owns(claim) => PeekState::Running,
        Some(Record::Accepted(delivery)) => match fate_of_delivery(delivery, owner, now) {
            DeliveryFate::Waits | DeliveryFate::Runs => PeekState::Running,
            DeliveryFate::Dead { status, expires } => PeekState::Dead { status, expires },
            DeliveryFate::Unknown { status, expires } => PeekState::Unknown { status, expires: Some(expires) },
        },
        Some(Record::Completed { expires, kept, .. }) => {
            PeekState::Completed { status: kept.status(), expires: *expires }
        }
        // The caller of a proxied request has heard the status.
        Some(record @ (Record::Claimed(_) | Record::Unknown { .. })) => {
            PeekState::Unknown { status: None, expires: Some(record.expires()) }
        }
    }
}

/// As [`peek_record`]; `age`: of the key, where every route says how old one may be, by the largest.
pub fn peek_key<'r>(record: impl Into<FoundRecord<'r>>, owner: Owner, age: Option<KeyAge>, now: Millis) -> PeekState {
    match peek_record(record, owner, now) {
        PeekState::Absent if age.is_some_and(|age| is_expired(age, now)) => PeekState::Expired,
        state => state,
    }
}

/// What the operator is told of a key, without changing it.
pub fn look_at_key<'r>(record: impl Into<FoundRecord<'r>>, owner: Owner, now: Millis) -> KeyLook {
    let found = record.into();
    let state = peek_record(found, owner, now);
    let FoundRecord::Readable(record) = found else {
        let cause = matches!(state, PeekState::Unknown { .. }).then_some("unreadable");
        return KeyLook { state, cause, since: None, generation: 0, tries: 0, route: String::new() };
    };
    // The caller of a proxied request has heard the origin's status, the operator has not.
    let state = match (record, state) {
        (Record::Unknown { status, .. }, PeekState::Unknown { expires, .. }) => {
            PeekState::Unknown { status: *status, expires }
        }
        (_, state) => state,
    };
    let claim = record.claim();
    let remembered_since = |expires: Millis| Some(expires.saturating_sub(u64::from(claim.retention) * 1000));
    let word = |cause: Cause| match cause {
        Cause::Ambiguous => "ambiguous",
        Cause::Unanswered => "unanswered",
    };
    let (cause, since) = match (record, state) {
        (Record::Unknown { cause, expires, .. }, PeekState::Unknown { .. }) => {
            (Some(word(*cause)), remembered_since(*expires))
        }
        (Record::Completed { expires, .. }, PeekState::Completed { .. }) => (None, remembered_since(*expires)),
        (Record::Accepted(delivery), PeekState::Dead { expires, .. }) => {
            let cause = match delivery.stage {
                DeliveryStage::Dead { cause: DeathCause::Declined, .. } => "declined",
                DeliveryStage::Dead { cause: DeathCause::Exhausted, .. }
                | DeliveryStage::Waiting { .. }
                | DeliveryStage::Running
                | DeliveryStage::Asking { .. }
                | DeliveryStage::Unknown { .. } => "exhausted",
            };
            (Some(cause), remembered_since(expires))
        }
        (Record::Accepted(delivery), PeekState::Unknown { expires, .. }) => match delivery.stage {
            DeliveryStage::Unknown { cause, .. } => (Some(word(cause)), expires.and_then(remembered_since)),
            DeliveryStage::Waiting { .. }
            | DeliveryStage::Running
            | DeliveryStage::Asking { .. }
            | DeliveryStage::Dead { .. } => (Some(OWNER_DIED), Some(claim.lease_until.min(now))),
        },
        (Record::Claimed(_), PeekState::Unknown { .. }) => (Some(OWNER_DIED), Some(claim.lease_until.min(now))),
        _ => (None, None),
    };
    let tries = match record {
        Record::Accepted(delivery) => delivery.tries,
        Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. } => claim.generation,
    };
    KeyLook { state, cause, since, generation: claim.generation, tries, route: claim.claimant.route.clone() }
}

/// Whether a peek comes from another caller than the one whose key it is: that one is told the state alone. `callers`:
/// as in an [attempt](crate::stored::attempt::Attempt::callers).
pub fn is_peek_of_other<'r>(
    record: impl Into<FoundRecord<'r>>,
    owner: Owner,
    callers: Option<&[CallerDigest]>,
    now: Millis,
) -> bool {
    let record = record.into().read(now).ok().flatten().filter(|record| is_live(record, owner, now));
    record.is_some_and(|record| is_other_caller(&record.claim().claimant, callers))
}

/// What a release by the operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseDecision {
    /// Delete what is stored: 204.
    Done,
    /// Nothing was stored: 404.
    Absent,
    /// The request runs: 409.
    Running,
}

/// What a release by the operator does. What cannot be read is released like any unknown fate, and what was accepted
/// while nobody delivers it.
pub fn decide_release<'r>(record: impl Into<FoundRecord<'r>>, owner: Owner, now: Millis) -> ReleaseDecision {
    let found = record.into();
    match (peek_record(found, owner, now), found) {
        (PeekState::Absent | PeekState::Expired, _) => ReleaseDecision::Absent,
        (PeekState::Running, FoundRecord::Readable(Record::Accepted(delivery)))
            if fate_of_delivery(delivery, owner, now) == DeliveryFate::Waits =>
        {
            ReleaseDecision::Done
        }
        (PeekState::Running, _) => ReleaseDecision::Running,
        (PeekState::Completed { .. } | PeekState::Dead { .. } | PeekState::Unknown { .. }, _) => ReleaseDecision::Done,
    }
}
