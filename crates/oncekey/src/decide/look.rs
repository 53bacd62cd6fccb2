//! What is known of a key, and whether the operator may release it.

use crate::{
    answer::peek::PeekState,
    http::date::Millis,
    stored::record::{Kept, Owner, Record, lives, unknown_until},
};

/// What is known of a key, without changing it.
///
/// ```
/// use oncekey::{answer::peek::PeekState, decide::look::{ReleaseDecision, decide_release, peek_record}, stored::record::Owner};
///
/// assert_eq!(peek_record(None, Owner::default(), 0), PeekState::Absent);
/// assert_eq!(decide_release(None, Owner::default(), 0), ReleaseDecision::Absent);
/// ```
pub fn peek_record(record: Option<&Record>, owner: Owner, now: Millis) -> PeekState {
    match record.filter(|r| lives(r, owner, now)) {
        None => PeekState::Absent,
        Some(Record::Claimed(claim)) if owner.owns(claim) => PeekState::Running,
        Some(Record::Accepted(delivery)) => match unknown_until(delivery, owner, now) {
            None => PeekState::Running,
            Some(expires) => PeekState::Unknown { expires },
        },
        Some(Record::Completed { expires, kept, .. }) => PeekState::Completed {
            status: match kept {
                Kept::Reply(head) => head.status,
                Kept::Tombstone { status } => *status,
            },
            expires: *expires,
        },
        Some(record @ (Record::Claimed(_) | Record::Unknown { .. })) => {
            PeekState::Unknown { expires: record.expires() }
        }
    }
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

/// What a release by the operator does.
pub fn decide_release(record: Option<&Record>, owner: Owner, now: Millis) -> ReleaseDecision {
    match peek_record(record, owner, now) {
        PeekState::Absent => ReleaseDecision::Absent,
        PeekState::Running => ReleaseDecision::Running,
        PeekState::Completed { .. } | PeekState::Unknown { .. } => ReleaseDecision::Done,
    }
}
