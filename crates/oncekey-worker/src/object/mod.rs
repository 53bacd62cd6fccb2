//! The object: owns one scoped key.
//!
//! Invariant: between reading the record and storing what was decided there is no await, so that of all attempts
//! of one key at most one has the claim.

mod accepted;
mod attempt;
pub mod context;
mod deadlines;
mod effect;
mod index;
mod live;
mod look;
mod probe;
mod seal;
mod store;
mod telling;

use oncekey::{
    answer::refusal::Refusal,
    errand::{Errand, NotUnderstood},
};
use web_sys::{Request, Response};

use crate::{
    object::context::Object,
    platform::{failure::Failure, head, message},
};

impl Object {
    /// Does the errand that the request carries. A class that was deployed without its storage is for the front to tell.
    pub async fn fetch(&self, request: &Request) -> Result<Response, Failure> {
        let errand = head::errand(&request.headers()).unwrap_or_default();
        match errand.parse() {
            Ok(Errand::Attempt(attempt)) => match self.handle_attempt(request, &attempt).await {
                Err(failure) if !failure.is_without_sqlite() => self.refuse(request, &Refusal::StoreUnavailable, None),
                answer => answer,
            },
            Ok(Errand::Accept(attempt)) => match self.accept_request(request, &attempt).await {
                Err(failure) if !failure.is_without_sqlite() => self.refuse(request, &Refusal::StoreUnavailable, None),
                answer => answer,
            },
            Ok(Errand::Peek { wait, callers, age }) => {
                self.own_answer(request, self.peek_key(wait, callers.as_deref(), age).await?)
            }
            Ok(Errand::Look) => message::own_response(self.look_at_key()?),
            Ok(Errand::Release) => self.release_key(),
            Ok(Errand::Deliver) => self.deliver_again(request),
            Err(NotUnderstood) => match errand.parse() {
                Ok(errand) => self.serve_index(request, &errand).await,
                Err(NotUnderstood) => self.refuse(request, &Refusal::StoreUnavailable, None),
            },
        }
    }
}
