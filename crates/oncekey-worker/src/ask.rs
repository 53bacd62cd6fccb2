//! Calls of the front's to objects.

use oncekey::{attempt::Errand, key::ScopedKey};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};

use crate::{
    convert::{self, Failure, Fetcher, init, settled},
    gate::Gate,
};

/// One call to the key's object. `headers` are the request's as the object shall see them; they get the errand.
pub async fn ask(
    gate: &Gate,
    key: &ScopedKey,
    errand: &Errand,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, Failure> {
    send(|| gate.stub(key), &errand.encode(), request, headers, body).await
}

/// A call that the platform reports as safe to repeat is repeated once, on a new stub: the object decides, so that a
/// repeat is a duplicate like any other.
pub async fn send(
    stub: impl Fn() -> Result<Fetcher, Failure>,
    errand: &str,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, Failure> {
    convert::set_errand(headers, errand);
    let mut repeat = true;
    loop {
        let init = init();
        init.set_headers(headers);
        if !body.is_null() {
            init.set_body(body);
        }
        match settled(stub()?.fetch_with(request, &init)?).await {
            Err(failure) if repeat && failure.is_retryable() => repeat = false,
            outcome => return outcome,
        }
    }
}
