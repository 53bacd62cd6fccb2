//! Whether a request is the one that claimed, where a deploy may lie between them.

use crate::{
    answer::refusal::Refusal,
    stored::{attempt::Attempt, basis::compare_basis, record::Claim},
};

/// What a request is beside the one that claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same.
    Same,
    /// Another: they differ in what counted then and counts now.
    Other,
    /// They differ, but perhaps in nothing that counted then and counts now: nobody knows what was meant.
    Unsure,
}

/// Compares a request with the one that claimed. Under one policy the fingerprints tell. The same bytes are the same
/// request under any policy: a client that sends its request again need not know that `ignore`, `headers` or `field`
/// were changed meanwhile, and told to take a new key it would double the effect.
pub fn compare(claim: &Claim, attempt: &Attempt) -> Likeness {
    let is_equal = claim.fingerprint == attempt.fingerprint;
    let alike = match (&claim.claimant.basis, &attempt.basis) {
        (Some(then), Some(now)) => compare_basis(&then.sent, now.as_bytes()),
        _ => [true; 5],
    };
    match alike {
        [true, true, ..] if !is_equal => Likeness::Other,
        [true, ..] if is_equal => Likeness::Same,
        [_, _, false, ..] | [_, true, _, false, _] => Likeness::Other,
        [.., true] => Likeness::Same,
        [.., false] => Likeness::Unsure,
    }
}

/// What a request is told that is not the one that claimed.
pub(super) fn refuse_unlike(claim: &Claim, attempt: &Attempt) -> Option<Refusal> {
    match compare(claim, attempt) {
        Likeness::Same => None,
        Likeness::Other => Some(Refusal::Reused),
        Likeness::Unsure => Some(Refusal::OutcomeUnknown { status: None }),
    }
}
