//! The words of `Idempotency-Status`.

use std::fmt;

/// The word in `Idempotency-Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusWord {
    /// The origin ran for this very request.
    Executed,
    /// Answered from the record.
    Replayed,
    /// The first request runs.
    InProgress,
    /// Another request under the key.
    Mismatch,
    /// The fate is unknown.
    Unknown,
    /// The gate refused.
    Refused,
    /// Taken, to be delivered.
    Accepted,
    /// The key is older than its route takes, and nothing is remembered.
    Expired,
    /// Passed on unprotected.
    Bypassed(BypassReason),
}

/// Why a request was passed on unprotected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassReason {
    /// It carries no key, and its route requires none.
    NoKey,
    /// Its content is too large to look for a key in it.
    ContentTooLarge,
    /// The objects cannot be reached, and the policy says `"open"`.
    StoreUnavailable,
    /// A batch: its items have keys, and words of their own.
    Batch,
}

impl StatusWord {
    /// The field's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Executed => "executed",
            Self::Replayed => "replayed",
            Self::InProgress => "in-progress",
            Self::Mismatch => "mismatch",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Expired => "expired",
            Self::Bypassed(BypassReason::NoKey) => "bypassed;reason=no-key",
            Self::Bypassed(BypassReason::ContentTooLarge) => "bypassed;reason=content-too-large",
            Self::Bypassed(BypassReason::Batch) => "bypassed;reason=batch",
            Self::Bypassed(BypassReason::StoreUnavailable) => "bypassed;reason=store-unavailable",
        }
    }
}

impl fmt::Display for StatusWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
