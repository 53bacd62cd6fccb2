//! What a peek says.

use crate::http::date::Millis;

/// What a peek says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeekState {
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
