//! A front's call to an object that failed: whether it may be made again, and whether the object can have seen it.

use std::{error::Error, fmt};

/// A failed call, as the platform describes it on the exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the platform's own four flags")]
pub struct CallFault {
    /// The platform refused the call for its load, and the object never saw it.
    pub overloaded: bool,
    /// The same call may succeed on a new stub; the first may have arrived.
    pub retryable: bool,
    /// The exception comes from the object.
    pub remote: bool,
    /// The object was reset under the call, as where its storage could not be written.
    pub reset: bool,
}

/// The calls that one request made to its object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallHistory {
    failed: bool,
    seen: bool,
}

/// What a request that has no answer from its object can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The object is out of reach and has seen nothing: the request may go elsewhere.
    Unreached,
    /// The object may have run the effect: nobody else may.
    InDoubt,
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreached => "the object was not reached",
            Self::InDoubt => "the object may have run the effect",
        })
    }
}

impl Error for CallFailure {}

impl CallHistory {
    /// Takes note of a failed call. `None`: the same call is made once more, on a new stub; the object decides, so that
    /// a repeat is a duplicate like any other.
    ///
    /// ```
    /// use oncekey::call::{CallFailure, CallFault, CallHistory};
    ///
    /// let lost = CallFault { retryable: true, ..CallFault::default() };
    /// let mut calls = CallHistory::default();
    /// assert_eq!(calls.note_failure(lost), None);
    /// assert_eq!(calls.note_failure(lost), Some(CallFailure::InDoubt));
    /// ```
    pub fn note_failure(&mut self, fault: CallFault) -> Option<CallFailure> {
        let again = fault.retryable && !fault.overloaded && !self.failed;
        self.failed = true;
        self.seen |= !fault.overloaded && (fault.retryable || fault.remote || fault.reset);
        if again {
            return None;
        }
        Some(if self.seen { CallFailure::InDoubt } else { CallFailure::Unreached })
    }
}
