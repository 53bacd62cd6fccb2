//! When an object wakes, and what it does with the record that it finds.

use crate::{
    http::date::{Millis, later_by},
    stored::record::{Claim, Owner, Record, is_live},
};

/// What the alarm does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmDecision {
    /// Give the storage back.
    Delete,
    /// Ring again then.
    Later(Millis),
}

/// What the alarm does with the record that it finds.
pub fn decide_alarm(record: Option<&Record>, owner: Owner, now: Millis) -> AlarmDecision {
    match record {
        Some(record) if is_live(record, owner, now) => AlarmDecision::Later(record.expires().max(later_by(now, 1))),
        _ => AlarmDecision::Delete,
    }
}

/// Seconds beyond its retention after which a key's alarm rings, so that an answer within them needs no second alarm.
const SLACK: u32 = 5;

/// When the alarm must ring first for a claim. An answer that takes longer than `SLACK`, and a claim that nobody
/// settles, are found by [`decide_alarm`] to live on, and the alarm is set anew.
pub fn first_alarm(claim: &Claim, now: Millis) -> Millis {
    later_by(claim.remembered_until(now), SLACK)
}
