//! The attempts of one request by fetch, one after the other.

use oncekey::client::retry::AttemptAnswer;

use super::{Attempt, Received, read_answer};
use crate::{
    page::{Js, fetch_once, is_member_truthy, member, set_member},
    tickets::{after_delay_on_line, when_settled},
};

/// One request, sent until an answer is the last.
pub struct FetchRequest {
    /// The attempt under way.
    pub attempt: Attempt,
    /// The page's fetch, or what an extension put in its place.
    pub fetch: Js,
    /// A `Request` that each attempt clones, or an address.
    pub input: Js,
    /// What goes with an address.
    pub init: Js,
    /// Aborts all attempts.
    pub signal: Js,
    /// Milliseconds an attempt may take; 0 for ever.
    pub limit: f64,
    /// Called once, at the end.
    pub when_over: Box<dyn FnOnce(FetchEnd)>,
}

/// How the attempts of one request ended.
pub struct FetchEnd {
    /// The response, or why there is none.
    pub value: Js,
    /// Whether it is a response.
    pub ok: bool,
    /// Whether it leads to another page.
    pub leads_away: bool,
}

/// Makes the next attempt of a request, and those that follow it.
pub fn send_request(mut request: FetchRequest) {
    let promise = fetch_once(&request.fetch, &request.input, &request.init, &request.signal, request.limit);
    let waiter = move |value: Js, ok: bool| {
        let Received { mut answer, retry_after, leads_away } = read_answer(&value);
        if !ok {
            answer = if request.is_aborted() { AttemptAnswer::Aborted } else { AttemptAnswer::Nothing };
        }
        match request.attempt.conclude(answer, retry_after) {
            None => (request.when_over)(FetchEnd { value, ok, leads_away }),
            Some(delay) => {
                let signal = request.signal.clone();
                after_delay_on_line(delay, &signal, Box::new(move |_, _| request.send_again()));
            }
        }
    };
    when_settled(&promise, Box::new(waiter));
}

impl FetchRequest {
    fn is_aborted(&self) -> bool {
        is_member_truthy(&self.signal, "aborted")
    }

    fn send_again(mut self) {
        if self.is_aborted() {
            let reason = member(&self.signal, "reason");
            self.attempt.conclude(AttemptAnswer::Aborted, None);
            (self.when_over)(FetchEnd { value: reason, ok: false, leads_away: false });
        } else {
            self.attempt.with_key(&member(&self.input, "headers"));
            set_member(&self.init, "headers", &self.attempt.with_key(&member(&self.init, "headers")));
            set_member(&self.init, "body", &self.attempt.with_key(&member(&self.init, "body")));
            send_request(self);
        }
    }
}
