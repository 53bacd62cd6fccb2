//! What now, for this record, this owner, this attempt, at this time?

use crate::{
    answer::{head::ReplyHead, refusal::Refusal},
    decide::{
        age::refuse_by_age,
        caller::is_other_caller,
        same::{Likeness, compare, refuse_unlike},
    },
    http::date::{Millis, later_by},
    policy::Unanswered,
    stored::{
        attempt::Attempt,
        frame::Unreadable,
        record::{
            Cause, Claim, Claimant, DeliveryFate, FingerprintBasis, FoundRecord, KeptReply, Owner, Record,
            fate_of_delivery, is_live, known_expiry,
        },
        seal::SealedReply,
    },
};

/// What to do with an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Store the claim, then run the effect.
    Execute(Claim),
    /// Ask the origin what became of the effect; [`decide_after_probe`] takes its answer.
    Probe {
        /// Path and query to GET at the origin.
        path: String,
        /// The end of the lease of the execution that is asked about, for [`ProbeResult::of`].
        lease_until: Millis,
    },
    /// Answer from the record without running the effect.
    Replay {
        /// Status and header lines.
        head: ReplyHead,
        /// Until when it is remembered.
        expires: Millis,
    },
    /// As a replay, of what is sealed; what cannot be opened is [refused](refuse_sealed), and never runs.
    Open {
        /// What is to be opened.
        sealed: Box<SealedReply>,
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
///
/// ```
/// # use oncekey::{key::{Key, scope::Scope, scoped::ScopedKey}, policy::Policy, stored::attempt::{Attempt, Terms}};
/// # let policy = r#"{"routes": [{"unanswered": {"probe": "/orders/by-key/{key}"}}]}"#.parse::<Policy>()?;
/// # let key = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
/// # let scoped_key = ScopedKey::derive(&Scope::new("shop.example"), &key)?;
/// # let terms = Terms::of(&policy, policy.route("POST", "/orders").ok_or("no route")?);
/// # let attempt = Attempt::of_json(&policy, scoped_key, "/orders", b"{}", &[], terms);
/// # let now = 1_767_225_600_000;
/// use oncekey::{decide::attempt::{Decision, decide}, stored::record::{Owner, Record}};
///
/// // A free key: the claim is stored, then the effect runs.
/// let Decision::Execute(claim) = decide(None, Owner::default(), &attempt, false, now) else { unreachable!() };
///
/// // The same again while its owner runs: a duplicate that has waited is refused.
/// let (record, owner) = (Record::Claimed(claim), Owner { running: Some(1), latest: 1 });
/// assert!(matches!(decide(Some(&record), owner, &attempt, true, now), Decision::Refuse { .. }));
///
/// // The owner died: this route says that the origin can be asked.
/// let Decision::Probe { path, .. } = decide(Some(&record), Owner::default(), &attempt, true, now) else { unreachable!() };
/// assert!(path.starts_with("/orders/by-key/"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide<'r>(
    record: impl Into<FoundRecord<'r>>,
    owner: Owner,
    attempt: &Attempt,
    waited: bool,
    now: Millis,
) -> Decision {
    let record = match record.into().read(now) {
        Ok(record) => record,
        Err(Unreadable { expires }) => {
            return Decision::Refuse { refusal: Refusal::OutcomeUnknown { status: None }, expires };
        }
    };
    let Some(record) = record.filter(|r| is_live(r, owner, now)) else {
        if let Some(refusal) = refuse_by_age(attempt.age, now) {
            return Decision::Refuse { refusal, expires: None };
        }
        // What has expired still counts executions until it is deleted.
        let last = record.map_or(0, |record| record.claim().generation);
        return Decision::Execute(new_claim(owner, last, claimant_of(attempt), attempt, now));
    };
    if is_other_caller(&record.claim().claimant, attempt.callers.as_deref()) {
        // Nothing of what is remembered is shown, not even until when.
        return Decision::Refuse { refusal: Refusal::CallerChanged, expires: None };
    }
    let refuse = |refusal| Decision::Refuse { refusal, expires: known_expiry(record) };
    if let Some(refusal) = refuse_unlike(record.claim(), attempt) {
        return refuse(refusal);
    }
    match record {
        Record::Claimed(claimed) if owner.owns(claimed) => wait_or_refuse(attempt, waited),
        Record::Accepted(delivery) => match fate_of_delivery(delivery, owner, now) {
            DeliveryFate::Waits | DeliveryFate::Runs => wait_or_refuse(attempt, waited),
            DeliveryFate::Dead { status, expires } | DeliveryFate::Unknown { status, expires } => {
                Decision::Refuse { refusal: Refusal::OutcomeUnknown { status }, expires: Some(expires) }
            }
        },
        Record::Claimed(claimed) => {
            if attempt.terms.unanswered == Unanswered::Rerun && now < claimed.lease_until {
                return refuse(runs_until_lease_ends(claimed, now));
            }
            decide_unanswered(record, owner, attempt, now)
        }
        Record::Completed { kept: KeptReply::Whole(head), expires, .. } => {
            Decision::Replay { head: head.clone(), expires: *expires }
        }
        Record::Completed { kept: KeptReply::Tombstone { status }, .. } => {
            refuse(Refusal::ReplyUnavailable { status: *status })
        }
        Record::Completed { kept: KeptReply::Sealed { status, seal }, expires, claim } => {
            let sealed = Box::new(SealedReply::of(claim, *status, seal));
            Decision::Open { sealed, expires: *expires }
        }
        Record::Unknown { cause: Cause::Ambiguous, status, .. } => refuse(Refusal::OutcomeUnknown { status: *status }),
        Record::Unknown { cause: Cause::Unanswered, .. } => decide_unanswered(record, owner, attempt, now),
    }
}

/// What is said of a sealed answer that cannot be opened: another secret, or the caller's key is not here.
pub fn refuse_sealed(sealed: &SealedReply) -> Refusal {
    Refusal::ReplyUnavailable { status: sealed.status }
}

/// The first request runs.
fn wait_or_refuse(attempt: &Attempt, waited: bool) -> Decision {
    if attempt.terms.wait > 0 && !waited {
        Decision::Wait { seconds: attempt.terms.wait }
    } else {
        Decision::Refuse { refusal: Refusal::InProgress { retry_after: 1 }, expires: None }
    }
}

/// The old execution may still run at the origin until its lease has ended.
fn runs_until_lease_ends(claim: &Claim, now: Millis) -> Refusal {
    let rest = claim.lease_until.saturating_sub(now).div_ceil(1000);
    Refusal::InProgress { retry_after: u32::try_from(rest).unwrap_or(u32::MAX).max(1) }
}

/// What the route says of an execution that ended without an answer.
fn decide_unanswered(record: &Record, owner: Owner, attempt: &Attempt, now: Millis) -> Decision {
    match &attempt.terms.unanswered {
        Unanswered::Rerun => Decision::Execute(next_claim(owner, record.claim(), attempt, now)),
        Unanswered::Probe(template) => Decision::Probe {
            path: probe_path(template, attempt.scoped_key.as_str()),
            lease_until: record.claim().lease_until,
        },
        Unanswered::Hold => Decision::Refuse {
            refusal: Refusal::OutcomeUnknown { status: known_status(record) },
            expires: Some(record.expires()),
        },
    }
}

/// A probe's path with the key in its place.
pub(super) fn probe_path(template: &str, key: &str) -> String {
    let mut at = template.char_indices().filter(|(_, c)| *c == '{').map(|(at, _)| at);
    let place = at.find_map(|at| {
        let (before, rest) = template.split_at_checked(at)?;
        Some((before, rest.strip_prefix("{key}")?))
    });
    place.map_or_else(|| template.to_owned(), |(before, after)| [before, key, after].concat())
}

/// What the origin said when it was asked for the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// 2xx: this is the answer.
    Answer,
    /// 404 to a question that was asked after the lease had ended: it did not happen, and will not.
    Nothing,
    /// 404 to an earlier question: it has not happened yet, but may still.
    TooEarly,
    /// Anything else, or nothing at all.
    Unclear,
}

impl ProbeResult {
    /// Reads a probe's status. `asked`: when the question was sent; `lease_until`: the end of the lease of the execution
    /// that it is about. Taken for the truth while that may still work, a 404 would run the effect twice.
    ///
    /// ```
    /// use oncekey::decide::attempt::ProbeResult;
    ///
    /// assert_eq!(ProbeResult::of(Some(404), 1_000, 1_000), ProbeResult::Nothing);
    /// assert_eq!(ProbeResult::of(Some(404), 999, 1_000), ProbeResult::TooEarly);
    /// ```
    pub fn of(status: Option<u16>, asked: Millis, lease_until: Millis) -> Self {
        match status {
            Some(200..=299) => Self::Answer,
            Some(404) if asked < lease_until => Self::TooEarly,
            Some(404) => Self::Nothing,
            _ => Self::Unclear,
        }
    }
}

/// Decides after a probe. The record must still be of unknown fate for the same request, else another attempt
/// has moved it and [`decide`] is asked anew.
pub fn decide_after_probe<'r>(
    record: impl Into<FoundRecord<'r>>,
    owner: Owner,
    attempt: &Attempt,
    found: ProbeResult,
    kept: KeptReply,
    now: Millis,
) -> AfterProbe {
    let of_attempt = |r: &&Record| {
        is_live(r, owner, now)
            && compare(r.claim(), attempt) == Likeness::Same
            && !is_other_caller(&r.claim().claimant, attempt.callers.as_deref())
    };
    let Ok(Some(record)) = record.into().read(now).map(|record| record.filter(of_attempt)) else {
        return AfterProbe::Moved;
    };
    match record {
        Record::Completed { .. } | Record::Accepted(_) | Record::Unknown { cause: Cause::Ambiguous, .. } => {
            return AfterProbe::Moved;
        }
        Record::Claimed(held) if owner.owns(held) => return AfterProbe::Moved,
        Record::Claimed(_) | Record::Unknown { cause: Cause::Unanswered, .. } => {}
    }
    let old = record.claim();
    match found {
        ProbeResult::Answer => {
            AfterProbe::Store(Record::Completed { claim: old.clone(), expires: old.remembered_until(now), kept })
        }
        ProbeResult::Nothing => AfterProbe::Execute(next_claim(owner, old, attempt, now)),
        ProbeResult::TooEarly => {
            AfterProbe::Refuse { refusal: runs_until_lease_ends(old, now), expires: record.expires() }
        }
        ProbeResult::Unclear => AfterProbe::Refuse {
            refusal: Refusal::OutcomeUnknown { status: known_status(record) },
            expires: record.expires(),
        },
    }
}

/// As [`decide_after_probe`], where `asked` is the record for which [`decide`] called for the probe. An answer that was
/// given before another execution began says nothing about that one: taken for its fate, a late 404 would run the
/// effect twice.
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
///     decide::attempt::{AfterProbe, Decision, ProbeResult, decide, decide_since_probe},
///     stored::record::{KeptReply, Owner, Record},
/// };
///
/// let Decision::Execute(claim) = decide(None, Owner::default(), &attempt, false, now) else { unreachable!() };
/// let later = claim.lease_until;
/// let asked = Record::Claimed(claim.clone());
/// let (found, kept) = (ProbeResult::of(Some(404), later, claim.lease_until), KeptReply::Tombstone { status: 404 });
/// let then = decide_since_probe(Some(&asked), Some(&asked), Owner::default(), &attempt, found, kept, later);
/// assert!(matches!(then, AfterProbe::Execute(claim) if claim.generation == 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide_since_probe<'r>(
    asked: impl Into<FoundRecord<'r>>,
    record: impl Into<FoundRecord<'r>>,
    owner: Owner,
    attempt: &Attempt,
    found: ProbeResult,
    kept: KeptReply,
    now: Millis,
) -> AfterProbe {
    match (asked.into(), record.into()) {
        (FoundRecord::Readable(asked), FoundRecord::Readable(record))
            if asked.claim().is_same_execution(record.claim()) =>
        {
            decide_after_probe(Some(record), owner, attempt, found, kept, now)
        }
        _ => AfterProbe::Moved,
    }
}

/// What to do after a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and stored at once; by 32 bits it is none")]
pub enum AfterProbe {
    /// Store this, then decide anew: it is replayed.
    Store(Record),
    /// Store the claim, then run the effect.
    Execute(Claim),
    /// The fate stays unknown, or will be known when the lease has ended.
    Refuse {
        /// What is said.
        refusal: Refusal,
        /// Until when it is remembered.
        expires: Millis,
    },
    /// Something else has happened meanwhile: decide anew.
    Moved,
}

/// The claim of another execution of the same request.
fn next_claim(owner: Owner, before: &Claim, attempt: &Attempt, now: Millis) -> Claim {
    let mut claimant = before.claimant.clone();
    if attempt.fingerprint != before.fingerprint {
        claimant.basis = basis_of(attempt);
    }
    new_claim(owner, before.generation, claimant, attempt, now)
}

/// What is remembered of a request that claims a free key.
pub(super) fn claimant_of(attempt: &Attempt) -> Claimant {
    Claimant {
        callers: attempt.callers.clone(),
        basis: basis_of(attempt),
        key_time: attempt.age.map(|age| age.time),
        route: attempt.terms.route.clone(),
        extensions: Vec::new(),
    }
}

fn basis_of(attempt: &Attempt) -> Option<Box<FingerprintBasis>> {
    let sent = attempt.basis.as_ref()?.as_bytes().to_vec();
    Some(Box::new(FingerprintBasis { sent, ..FingerprintBasis::default() }))
}

fn new_claim(owner: Owner, last: u32, mut claimant: Claimant, attempt: &Attempt, now: Millis) -> Claim {
    claimant.note_key(&attempt.scoped_key);
    Claim {
        generation: last.max(owner.latest).saturating_add(1),
        fingerprint: attempt.fingerprint.clone(),
        lease_until: later_by(now, attempt.terms.lease),
        retention: attempt.terms.retention,
        claimant,
    }
}

fn known_status(record: &Record) -> Option<u16> {
    match record {
        Record::Unknown { status, .. } => *status,
        Record::Claimed(_) | Record::Accepted(_) | Record::Completed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::probe_path;

    fn check(template: &str, expect: &str) {
        assert_eq!(probe_path(template, "K"), expect, "{template}");
    }

    #[test]
    fn a_probe_has_the_key_in_its_place() {
        check("/lookup/{key}", "/lookup/K");
        check("/{key}/state?a={b}", "/K/state?a={b}");
        check("/{k}/é{{key}", "/{k}/é{K");
    }
}
