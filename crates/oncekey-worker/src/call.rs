//! Calls of the front's to objects.

use oncekey::{
    call::{CallFailure, CallHistory},
    errand::Errand,
    key::scoped::ScopedKey,
};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};

use crate::{
    gate::Gate,
    platform::{
        bindings::{Fetcher, settled},
        failure::Failure,
        head,
        init::RequestInit,
    },
};

/// One call to the key's object. `headers` are the request's as the object shall see them; they get the errand.
pub async fn ask(
    gate: &Gate,
    key: &ScopedKey,
    errand: &Errand,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, CallFailure> {
    send(|| gate.stub(key), &errand.encode(), request, headers, body).await
}

/// One call to an object, made once more where the platform says that it may succeed then.
pub async fn send(
    stub: impl Fn() -> Result<Fetcher, Failure>,
    errand: &str,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, CallFailure> {
    head::set_errand(headers, errand);
    let mut calls = CallHistory::default();
    loop {
        match call(&stub, request, headers, body).await {
            Ok(response) => return Ok(response),
            Err(failure) => {
                if let Some(failed) = calls.note_failure(failure.fault()) {
                    return Err(failed);
                }
            }
        }
    }
}

async fn call(
    stub: &impl Fn() -> Result<Fetcher, Failure>,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, Failure> {
    let body = if body.is_null() { JsValue::UNDEFINED } else { body.clone() };
    let init = RequestInit { headers: headers.into(), body, ..RequestInit::default() };
    settled(stub()?.fetch_with(request, &init.to_js()?)?).await
}
