//! The endpoints of machines: who may ask, and whether there is such a machine.

use oncekey::{
    answer::refusal::Refusal, decide::transition::TransitionContent, errand::Order, http::credentials::is_secret,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    call::send,
    front::incoming::{Body, Front, Stop},
};

/// The front's part: who may ask, and whether there is such a machine. `path`: what follows the endpoint's name.
pub async fn answer(front: &Front<'_>, method: &str, path: &str) -> Result<Response, Stop> {
    let Some(secret) = front.gate.secret("ONCEKEY_SERVICE") else {
        return Err(Refusal::NoSuchEndpoint.into());
    };
    if !is_secret(front.fields.get("authorization").unwrap_or_default(), &secret) {
        return Err(Refusal::Unauthorized.into());
    }
    let policy = &front.gate.policy;
    let order = Order::parse(path).filter(|order| policy.knows(order)).ok_or(Refusal::NoSuchEndpoint)?;
    match (&order.transition, method) {
        (Some(_), "POST") | (None, "GET" | "HEAD") => {}
        (Some(_), _) => return Err(Refusal::MethodNotAllowed { allow: "POST" }.into()),
        (None, _) => return Err(Refusal::MethodNotAllowed { allow: "GET, HEAD" }.into()),
    }
    let limit = policy.max_content.min(oncekey::decide::transition::LONGEST_CONTENT);
    let body = match order.transition {
        None => JsValue::NULL,
        Some(_) => match front.read(true, limit).await? {
            Body::TooLarge => return Err(Refusal::ContentTooLarge { limit }.into()),
            Body::Whole(body, bytes) => {
                TransitionContent::parse(&bytes)?;
                body
            }
        },
    };
    let stub = || front.gate.entity(&order.name());
    match send(stub, &order.encode(), front.request, &front.stripped()?, &body).await {
        Ok(response) => Ok(response),
        Err(_) => Err(Refusal::StoreUnavailable.into()),
    }
}
