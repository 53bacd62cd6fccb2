//! The front: finds the route and the key, makes the fingerprint, and asks the key's object once.

mod batch;
mod forward;
mod identity;
mod incoming;
mod machines;
mod operator;
mod protect;
mod service;

use std::rc::Rc;

use js_sys::Array;
use oncekey::http::{fields::Fields, target};
use web_sys::{Request, Response};

use crate::{
    front::incoming::{Incoming, Stop},
    gate::Gate,
    platform::{failure::Failure, head},
};

/// Answers a request.
pub async fn fetch(gate: &Rc<Gate>, request: &Request, scripts: &Array) -> Result<Response, Failure> {
    let fields = Fields::new(head::pairs(&request.headers()));
    let incoming = Incoming { gate, request, fields };
    match incoming.dispatch(scripts).await {
        Ok(response) => Ok(response),
        Err(Stop::Refuse(refusal)) => incoming.refuse(&refusal),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

impl Incoming<'_> {
    async fn dispatch(&self, scripts: &Array) -> Result<Response, Stop> {
        let url = self.request.url();
        let method = self.request.method();
        let parts = target::split_url(&url);
        let path = target::routing_path(parts.path);
        if target::is_own_path(&path) {
            return service::answer_service(self, &method, &path, &parts, scripts).await;
        }
        if method == "OPTIONS" {
            return self.answer_preflight(&path).await;
        }
        match self.gate.policy.route(&method, &path) {
            Some(route) => self.protect_request(route, &method, &parts).await,
            None => self.pass_on(None, None).await,
        }
    }
}
