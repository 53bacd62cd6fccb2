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
    answer::{log::failure_line, note::wants_note, refusal::Refusal},
    errand::{Errand, NotUnderstood},
    key::scoped::ScopedKey,
};
use web_sys::{Request, Response};

use crate::{
    object::context::Object,
    platform::{bindings::log_error, clock::now_millis, failure::Failure, head, message},
};

impl Object {
    /// Does the errand that the request carries. A class that was deployed without its storage is for the front to tell.
    pub async fn fetch(&self, request: &Request) -> Result<Response, Failure> {
        let errand = head::errand(&request.headers()).unwrap_or_default();
        self.wants_note.set(wants_note(&errand));
        match errand.parse() {
            Ok(Errand::Attempt(attempt)) => {
                self.or_unavailable(request, &attempt.scoped_key, self.handle_attempt(request, &attempt).await)
            }
            Ok(Errand::Accept(attempt)) => {
                self.or_unavailable(request, &attempt.scoped_key, self.accept_request(request, &attempt).await)
            }
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

    fn or_unavailable(
        &self,
        request: &Request,
        key: &ScopedKey,
        answer: Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        match answer {
            Err(failure) if !failure.is_without_sqlite() => {
                log_error(&failure_line("store", now_millis(), Some(key), &failure.message()));
                self.refuse(request, &Refusal::StoreUnavailable, None)
            }
            answer => answer,
        }
    }
}
