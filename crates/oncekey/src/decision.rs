//! The state machine: what now, for this record, this owner, this attempt, at this time.
//!
//! A key is free, claimed by one execution, completed, or of unknown fate. [`decide`] is asked for every
//! attempt, [`settle`] when an execution ends, [`tidy`] when the alarm rings. The shell stores what they
//! return in the same synchronous section in which it asked.
//!
//! | record | fingerprint | owner | `unanswered` | decision |
//! |---|---|---|---|---|
//! | none, expired | | | | execute |
//! | claimed | other | | | refuse: reused |
//! | claimed | same | alive | | wait, then refuse: in progress |
//! | claimed | same | gone | hold | refuse: outcome unknown |
//! | claimed | same | gone | probe | probe |
//! | claimed | same | gone, lease runs | rerun | refuse: in progress |
//! | claimed | same | gone, lease over | rerun | execute |
//! | completed | other | | | refuse: reused |
//! | completed, reply | same | | | replay |
//! | completed, tombstone | same | | | refuse: reply unavailable |
//! | unknown | other | | | refuse: reused |
//! | unknown, ambiguous | same | | | refuse: outcome unknown |
//! | unknown, unanswered | same | | hold | refuse: outcome unknown |
//! | unknown, unanswered | same | | probe | probe |
//! | unknown, unanswered | same | | rerun | execute |
//! | accepted | other | | | refuse: reused |
//! | accepted, goes on | same | | | wait, then refuse: in progress |
//! | accepted, of unknown fate | same | | | refuse: outcome unknown |

use crate::{
    attempt::{Attempt, Terms},
    date::Millis,
    delivery,
    policy::{Keep, ServerError, Unanswered},
    record::{Cause, Claim, Kept, Record, after},
    reply::{Class, Head, Refusal, Word, classify},
};

/// What the object's memory knows of executions. It is empty after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The generation that runs now, if one does.
    pub running: Option<u32>,
    /// The highest generation seen, run or released, 0 for none: no later claim may have it.
    pub latest: u32,
}

impl Owner {
    pub(crate) fn owns(self, claim: &Claim) -> bool {
        self.running == Some(claim.generation)
    }
}

/// What to do with an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Store the claim, then run the effect.
    Execute(Claim),
    /// Ask the origin what became of the effect; [`probed`] takes its answer.
    Probe {
        /// Path and query to GET at the origin.
        path: String,
    },
    /// Answer from the record without running the effect.
    Replay {
        /// Status and header lines.
        head: Head,
        /// Until when it is remembered.
        expires: Millis,
    },
    /// The first request runs: wait for its end at most so long, then decide again.
    Wait {
        /// Seconds, at least 1.
        seconds: u32,
    },
    /// Answer with a refusal.
    Refuse {
        /// What is said.
        refusal: Refusal,
        /// Until when something is remembered.
        expires: Option<Millis>,
    },
}

/// Decides on an attempt. `waited` says that this attempt has used its wait already. The order of the table
/// in the module's documentation is the order of the rules.
pub fn decide(record: Option<&Record>, owner: Owner, attempt: &Attempt, waited: bool, now: Millis) -> Decision {
    let Some(record) = record.filter(|r| lives(r, owner, now)) else {
        // What has expired still counts executions until it is deleted.
        return Decision::Execute(claim(owner, record.map(Record::claim), attempt, now));
    };
    let refuse = |refusal| Decision::Refuse { refusal, expires: known_end(record) };
    if record.claim().fingerprint != attempt.fingerprint {
        return refuse(Refusal::Reused);
    }
    match record {
        Record::Claimed(claimed) if owner.owns(claimed) => in_progress(attempt, waited),
        Record::Accepted(delivery) => match delivery::unknown_until(delivery, owner, now) {
            None => in_progress(attempt, waited),
            expires => Decision::Refuse { refusal: Refusal::OutcomeUnknown { status: None }, expires },
        },
        Record::Claimed(claimed) => {
            if attempt.terms.unanswered == Unanswered::Rerun && now < claimed.lease_until {
                let rest = (claimed.lease_until - now).div_ceil(1000);
                return refuse(Refusal::InProgress { retry_after: u32::try_from(rest).unwrap_or(u32::MAX).max(1) });
            }
            unanswered(record, owner, attempt, now)
        }
        Record::Completed { kept: Kept::Reply(head), expires, .. } => {
            Decision::Replay { head: head.clone(), expires: *expires }
        }
        Record::Completed { kept: Kept::Tombstone { status }, .. } => {
            refuse(Refusal::ReplyUnavailable { status: *status })
        }
        Record::Unknown { cause: Cause::Ambiguous, status, .. } => refuse(Refusal::OutcomeUnknown { status: *status }),
        Record::Unknown { cause: Cause::Unanswered, .. } => unanswered(record, owner, attempt, now),
    }
}

/// The first request runs.
fn in_progress(attempt: &Attempt, waited: bool) -> Decision {
    if attempt.terms.wait > 0 && !waited {
        Decision::Wait { seconds: attempt.terms.wait }
    } else {
        Decision::Refuse { refusal: Refusal::InProgress { retry_after: 1 }, expires: None }
    }
}

/// Until when a record is remembered, where that does not depend on how the request ends.
pub(crate) fn known_end(record: &Record) -> Option<Millis> {
    match record {
        Record::Claimed(_) | Record::Accepted(_) => None,
        Record::Completed { expires, .. } | Record::Unknown { expires, .. } => Some(*expires),
    }
}

/// What the route says of an execution that ended without an answer.
fn unanswered(record: &Record, owner: Owner, attempt: &Attempt, now: Millis) -> Decision {
    match &attempt.terms.unanswered {
        Unanswered::Rerun => Decision::Execute(claim(owner, Some(record.claim()), attempt, now)),
        Unanswered::Probe(template) => Decision::Probe { path: filled(template, attempt.scoped_key.as_str()) },
        Unanswered::Hold => Decision::Refuse {
            refusal: Refusal::OutcomeUnknown { status: status(record) },
            expires: Some(record.expires()),
        },
    }
}

/// A probe's path with the key in its place.
pub(crate) fn filled(template: &str, key: &str) -> String {
    let mut at = template.char_indices().filter(|(_, c)| *c == '{').map(|(at, _)| at);
    let place = at.find_map(|at| {
        let (before, rest) = template.split_at_checked(at)?;
        Some((before, rest.strip_prefix("{key}")?))
    });
    place.map_or_else(|| template.to_owned(), |(before, after)| [before, key, after].concat())
}

/// What the origin said when it was asked for the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// 2xx: this is the answer.
    Answer,
    /// 404: it did not happen.
    Nothing,
    /// Anything else, or nothing at all.
    Unclear,
}

impl Found {
    /// Reads a probe's status.
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299) => Self::Answer,
            Some(404) => Self::Nothing,
            _ => Self::Unclear,
        }
    }
}

/// Decides after a probe. The record must still be of unknown fate for the same request, else another attempt
/// has moved it and [`decide`] is asked anew.
pub fn probed(
    record: Option<&Record>,
    owner: Owner,
    attempt: &Attempt,
    found: Found,
    kept: Kept,
    now: Millis,
) -> Probed {
    let Some(record) = record.filter(|r| lives(r, owner, now) && r.claim().fingerprint == attempt.fingerprint) else {
        return Probed::Moved;
    };
    match record {
        Record::Completed { .. } | Record::Accepted(_) | Record::Unknown { cause: Cause::Ambiguous, .. } => {
            return Probed::Moved;
        }
        Record::Claimed(held) if owner.owns(held) => return Probed::Moved,
        Record::Claimed(_) | Record::Unknown { cause: Cause::Unanswered, .. } => {}
    }
    let old = record.claim();
    match found {
        Found::Answer => {
            Probed::Store(Record::Completed { claim: old.clone(), expires: after(now, old.retention), kept })
        }
        Found::Nothing => Probed::Execute(claim(owner, Some(old), attempt, now)),
        Found::Unclear => {
            Probed::Refuse { refusal: Refusal::OutcomeUnknown { status: status(record) }, expires: record.expires() }
        }
    }
}

/// As [`probed`], where `asked` is the record for which [`decide`] called for the probe. An answer that was given
/// before another execution began says nothing about that one: taken for its fate, a late 404 would run the effect
/// twice.
pub fn probed_since(
    asked: Option<&Record>,
    record: Option<&Record>,
    owner: Owner,
    attempt: &Attempt,
    found: Found,
    kept: Kept,
    now: Millis,
) -> Probed {
    if record.map(Record::claim) == asked.map(Record::claim) {
        probed(record, owner, attempt, found, kept, now)
    } else {
        Probed::Moved
    }
}

/// What to do after a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probed {
    /// Store this, then decide anew: it is replayed.
    Store(Record),
    /// Store the claim, then run the effect.
    Execute(Claim),
    /// The fate stays unknown.
    Refuse {
        /// What is said.
        refusal: Refusal,
        /// Until when it is remembered.
        expires: Millis,
    },
    /// Something else has happened meanwhile: decide anew.
    Moved,
}

/// How an execution's first caller is answered, and what the record becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// The origin's answer goes on as it is.
    Pass {
        /// The word in `Idempotency-Status`.
        word: Word,
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
    let pass = |then| Course::Pass { word: Word::Executed, then };
    match status.map_or(Class::Unanswered, classify) {
        Class::Done => pass(Then::Keep),
        Class::Declined => pass(match terms.keep {
            Keep::Success => Then::Release,
            Keep::Definite => Then::Keep,
        }),
        Class::NeverConsumes => pass(Then::Release),
        Class::NeverReached => Course::Refuse { refusal: Refusal::OriginUnreachable { status }, then: Then::Release },
        Class::Ambiguous => match terms.server_error {
            ServerError::Release => pass(Then::Release),
            ServerError::Keep => pass(Then::Keep),
            ServerError::Hold => {
                Course::Pass { word: Word::Unknown, then: Then::Hold { cause: Cause::Ambiguous, status } }
            }
        },
        Class::Unanswered => lost(status, terms),
    }
}

/// The course of an answer whose content broke off.
pub fn broken(status: u16, terms: &Terms) -> Course {
    match classify(status) {
        Class::NeverConsumes | Class::NeverReached => Course::Pass { word: Word::Executed, then: Then::Release },
        Class::Done | Class::Declined | Class::Ambiguous | Class::Unanswered => lost(Some(status), terms),
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
    let expires = after(now, claim.retention);
    match then {
        Then::Release => Settlement::Release,
        Then::Keep => Settlement::Store(Record::Completed { claim: claim.clone(), expires, kept }),
        Then::Hold { cause, status } => {
            Settlement::Store(Record::Unknown { claim: claim.clone(), expires, cause, status })
        }
    }
}

/// What the alarm does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tidy {
    /// Give the storage back.
    Delete,
    /// Ring again then.
    Later(Millis),
}

/// What the alarm does with the record that it finds.
pub fn tidy(record: Option<&Record>, owner: Owner, now: Millis) -> Tidy {
    match record {
        Some(record) if lives(record, owner, now) => Tidy::Later(record.expires().max(after(now, 1))),
        _ => Tidy::Delete,
    }
}

/// Seconds beyond its retention after which a key's alarm rings, so that an answer within them needs no second alarm.
const SLACK: u32 = 5;

/// When the alarm must ring first for a claim. An answer that takes longer than [`SLACK`], and a claim that nobody
/// settles, are found by [`tidy`] to live on, and the alarm is set anew.
pub fn alarm(claim: &Claim, now: Millis) -> Millis {
    after(after(now, claim.retention), SLACK)
}

/// What a peek says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peek {
    /// Nothing is remembered.
    Absent,
    /// The first request runs.
    Running,
    /// It ended.
    Completed {
        /// The answer's status.
        status: u16,
        /// Until when it is remembered.
        expires: Millis,
    },
    /// Its fate is unknown.
    Unknown {
        /// Until when that is remembered.
        expires: Millis,
    },
}

/// What is known of a key, without changing it.
pub fn peek(record: Option<&Record>, owner: Owner, now: Millis) -> Peek {
    match record.filter(|r| lives(r, owner, now)) {
        None => Peek::Absent,
        Some(Record::Claimed(claim)) if owner.owns(claim) => Peek::Running,
        Some(Record::Accepted(delivery)) => match delivery::unknown_until(delivery, owner, now) {
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

/// A record counts until it expires; a claim that runs counts as long as it runs, and what was accepted until its
/// delivery has ended.
pub(crate) fn lives(record: &Record, owner: Owner, now: Millis) -> bool {
    match record {
        Record::Claimed(claim) => owner.owns(claim) || now < record.expires(),
        Record::Completed { .. } | Record::Unknown { .. } => now < record.expires(),
        Record::Accepted(_) => true,
    }
}

fn claim(owner: Owner, before: Option<&Claim>, attempt: &Attempt, now: Millis) -> Claim {
    let last = before.map_or(0, |c| c.generation).max(owner.latest);
    Claim {
        generation: last.saturating_add(1),
        fingerprint: attempt.fingerprint.clone(),
        lease_until: after(now, attempt.terms.lease),
        retention: attempt.terms.retention,
    }
}

fn status(record: &Record) -> Option<u16> {
    match record {
        Record::Unknown { status, .. } => *status,
        Record::Claimed(_) | Record::Accepted(_) | Record::Completed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::filled;

    fn check(template: &str, expect: &str) {
        assert_eq!(filled(template, "K"), expect, "{template}");
    }

    #[test]
    fn a_probe_has_the_key_in_its_place() {
        check("/lookup/{key}", "/lookup/K");
        check("/{key}/state?a={b}", "/K/state?a={b}");
        check("/{k}/é{{key}", "/{k}/é{K");
    }
}
