//! The object: owns one scoped key.
//!
//! Invariant: between reading the record and storing what was decided there is no await, so that of all attempts
//! of one key at most one has the claim.

mod accepted;
mod attempt;
pub mod context;
mod effect;
mod live;
mod look;
mod probe;
mod store;
mod watch;

use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    errand::Errand,
    http::negotiate::Audience,
};
use web_sys::{Request, Response};

use crate::{
    object::context::Object,
    platform::{failure::Failure, head, message},
};

impl Object {
    /// Does the errand that the request carries.
    pub async fn fetch(&self, request: &Request) -> Result<Response, Failure> {
        match head::errand(request).as_deref().and_then(Errand::decode) {
            Some(Errand::Attempt(attempt)) => match self.attempt(request, &attempt).await {
                Ok(response) => Ok(response),
                Err(_) => self.refuse(request, &Refusal::StoreUnavailable, None),
            },
            Some(Errand::Accept(attempt)) => match self.accept(request, &attempt).await {
                Ok(response) => Ok(response),
                Err(_) => self.refuse(request, &Refusal::StoreUnavailable, None),
            },
            Some(Errand::Peek { wait }) => message::said(GateAnswer::peek(self.peek(wait).await?)),
            Some(Errand::Release) => self.release(),
            None => message::said(Refusal::NoSuchEndpoint.render(&Audience::default(), None)),
        }
    }
}
