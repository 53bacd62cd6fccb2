//! An effect of an entity's transition on its way to the object of its key.

use crate::stored::{attempt::Attempt, request::StoredRequest};

/// What is stored of an effect until it is handed over; its content stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// On which terms.
    pub attempt: Attempt,
    /// The request's head.
    pub request: StoredRequest,
}
