//! The endpoints of machines: who may ask, and whether there is such a machine.

use oncekey::{
    answer::refusal::Refusal,
    decide::transition::TransitionContent,
    errand::{CALL, EntityErrand},
    http::credentials::is_secret,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    call::call_object,
    front::incoming::{Incoming, IncomingContent, Stop},
    gate::Class,
    platform::clock::random_fraction,
};

/// The front's part: who may ask, and whether there is such a machine. `path`: what follows the endpoint's name.
pub async fn answer_machine(incoming: &Incoming<'_>, method: &str, path: &str) -> Result<Response, Stop> {
    let Some(secret) = incoming.gate.secret("ONCEKEY_SERVICE") else {
        return Err(Refusal::NoSuchEndpoint.into());
    };
    if !is_secret(incoming.fields.get("authorization").unwrap_or_default(), &secret) {
        return Err(Refusal::Unauthorized.into());
    }
    let policy = &incoming.gate.policy;
    let mut order = EntityErrand::of_path(path).filter(|order| policy.knows(order)).ok_or(Refusal::NoSuchEndpoint)?;
    match (&order.transition, method) {
        (Some(_), "POST") | (None, "GET" | "HEAD") => {}
        (Some(_), _) => return Err(Refusal::MethodNotAllowed { allow: "POST" }.into()),
        (None, _) => return Err(Refusal::MethodNotAllowed { allow: "GET, HEAD" }.into()),
    }
    let limit = policy.max_content.min(oncekey::decide::transition::LONGEST_CONTENT);
    let body = match order.transition {
        None => JsValue::NULL,
        Some(_) => match incoming.read_content(true, limit).await? {
            IncomingContent::TooLarge => return Err(Refusal::ContentTooLarge { limit }.into()),
            IncomingContent::Whole(body, bytes) => {
                TransitionContent::parse(&bytes)?;
                body
            }
        },
    };
    let headers = incoming.headers_without_internal()?;
    if order.transition.is_some() {
        order = order.with_key(incoming.fields.get(&policy.header))?;
        // Should the call be repeated, the entity knows it again.
        headers.set(CALL, &format!("{:08x}{:08x}", random_fraction(), random_fraction()))?;
    }
    let (name, errand) = (order.name(), order.to_string());
    match call_object(incoming.gate, Class::Machines, &name, &errand, incoming.request, &headers, &body).await {
        Ok(response) => Ok(response),
        Err(_) => Err(incoming.gate.failed_call().into()),
    }
}
