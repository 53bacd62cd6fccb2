//! What a peek says.

use crate::{
    http::date::Millis,
    json::select::{Selected, select},
};

/// What a peek says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeekState {
    /// Nothing is remembered.
    Absent,
    /// Nothing is remembered, and the key is older than any route takes.
    Expired,
    /// The first request runs.
    Running,
    /// It ended.
    Completed {
        /// The answer's status.
        status: u16,
        /// Until when it is remembered.
        expires: Millis,
    },
    /// It was accepted, and ended without taking effect.
    Dead {
        /// The origin's last status, where that is known.
        status: Option<u16>,
        /// Until when it is kept for the operator.
        expires: Millis,
    },
    /// Its fate is unknown.
    Unknown {
        /// The origin's status, where there was one.
        status: Option<u16>,
        /// Until when that is remembered; `None` where it cannot be read.
        expires: Option<Millis>,
    },
}

/// What the operator is told of a key: what a peek says, and what is behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLook {
    /// What a peek says.
    pub state: PeekState,
    /// Why its fate is unknown, or it is dead.
    pub cause: Option<&'static str>,
    /// Since when that is so.
    pub since: Option<Millis>,
    /// Counts the executions.
    pub generation: u32,
    /// How often the origin was turned to.
    pub tries: u32,
    /// The path of the route; empty where it is not known.
    pub route: String,
}

/// Whether a peek's answer says that anything is remembered; nothing where it is no such answer.
///
/// ```
/// use oncekey::{answer::{own::GateAnswer, peek::{PeekState, is_remembered}}};
///
/// assert_eq!(is_remembered(200, &GateAnswer::peek(PeekState::Absent).content), Some(false));
/// assert_eq!(is_remembered(200, &GateAnswer::peek(PeekState::Running).content), Some(true));
/// assert_eq!(is_remembered(503, "{}"), None);
/// ```
pub fn is_remembered(status: u16, content: &str) -> Option<bool> {
    let Selected::Value(state) = select(content, &["state".to_owned()]) else {
        return None;
    };
    (status == 200).then_some(!matches!(state, "\"absent\"" | "\"expired\""))
}
