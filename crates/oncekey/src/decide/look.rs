//! What is known of a key, and whether the operator may release it.

use crate::{
    answer::peek::Peek,
    http::date::Millis,
    stored::record::{Kept, Owner, Record, lives, unknown_until},
};

/// What is known of a key, without changing it.
pub fn peek(record: Option<&Record>, owner: Owner, now: Millis) -> Peek {
    match record.filter(|r| lives(r, owner, now)) {
        None => Peek::Absent,
        Some(Record::Claimed(claim)) if owner.owns(claim) => Peek::Running,
        Some(Record::Accepted(delivery)) => match unknown_until(delivery, owner, now) {
            None => Peek::Running,
            Some(expires) => Peek::Unknown { expires },
        },
        Some(Record::Completed { expires, kept, .. }) => Peek::Completed {
            status: match kept {
                Kept::Reply(head) => head.status,
                Kept::Tombstone { status } => *status,
            },
            expires: *expires,
        },
        Some(record @ (Record::Claimed(_) | Record::Unknown { .. })) => Peek::Unknown { expires: record.expires() },
    }
}

/// What a release by the operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Delete what is stored: 204.
    Done,
    /// Nothing was stored: 404.
    Absent,
    /// The request runs: 409.
    Running,
}

/// What a release by the operator does.
pub fn release(record: Option<&Record>, owner: Owner, now: Millis) -> Release {
    match peek(record, owner, now) {
        Peek::Absent => Release::Absent,
        Peek::Running => Release::Running,
        Peek::Completed { .. } | Peek::Unknown { .. } => Release::Done,
    }
}
