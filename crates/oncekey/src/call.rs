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
    in_doubt: bool,
}

/// What a request that has no answer from its object can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The object has seen nothing, and that is known: the request may go elsewhere.
    Unreached,
    /// The object may have run the effect: nobody else may.
    InDoubt,
    /// The object runs code that does not understand what it was asked, and has done nothing. What it remembers of the
    /// key counts all the same: nobody else may run the effect.
    NotUnderstood,
}

impl CallFault {
    fn is_known_unseen(self) -> bool {
        self.overloaded && !self.remote && !self.reset
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreached => "the object was not reached",
            Self::InDoubt => "the object may have run the effect",
            Self::NotUnderstood => "the object does not understand what it is asked",
        })
    }
}

impl Error for CallFailure {}

impl CallHistory {
    /// Takes note of a failed call. `None`: the same call is made once more, on a new stub; the object decides, so that
    /// a repeat is a duplicate like any other.
    ///
    /// In doubt is the default: a failure says nothing of how far the call came, unless its flags do. The one kind that
    /// is known not to have arrived is a call that was refused for the load ("the Durable Object is overloaded", in
    /// Cloudflare's documentation of error handling), and only where the exception is not the object's own (`remote`)
    /// and no object was reset under it.
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
        self.in_doubt |= !fault.is_known_unseen();
        if again {
            return None;
        }
        Some(if self.in_doubt { CallFailure::InDoubt } else { CallFailure::Unreached })
    }
}
