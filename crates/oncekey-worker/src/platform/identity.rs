//! What the platform knows of a caller: its certificate; and what it does for verifying one: signatures, keys of issuers.

use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{Promise, Reflect, Uint8Array};
use oncekey::{identity::SignatureCheck, key::caller::verified_certificate};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::{AbortController, Request, Response};
use worker::Delay;

use crate::platform::{
    bindings::{await_promise, global_fetch},
    failure::Failure,
    init::RequestInit,
    promised::Promised,
    stream::read_within,
};

#[wasm_bindgen(module = "/src/verify.mjs")]
extern "C" {
    #[wasm_bindgen(js_name = verifySignature)]
    fn verify_signature(parameters: &str, jwk: &str, signature: &Uint8Array, signed: &str) -> Promise;
}

/// Whether a signature is its text's own. A key that the platform does not take verifies nothing.
pub async fn is_signed(check: &SignatureCheck) -> bool {
    let signature = Uint8Array::from(check.signature.as_slice());
    let verified = verify_signature(check.parameters, &check.jwk, &signature, &check.signed);
    Promised::new(&verified).await.is_ok_and(|verified| verified.is_truthy())
}

/// The fingerprint of the certificate that the client showed, where it is verified.
pub fn client_certificate(request: &Request) -> Option<String> {
    let member = |of: &JsValue, name: &str| Reflect::get(of, &JsValue::from_str(name)).ok();
    let shown = member(&member(request, "cf")?, "tlsClientAuth")?;
    let text = |name: &str| member(&shown, name)?.as_string();
    verified_certificate(&text("certVerified")?, &text("certFingerprintSHA256")?)
}

/// Fetches a set of keys: nothing where it does not come within so many milliseconds, redirects, fails, or has more than
/// `largest` bytes.
pub async fn fetch_key_set(url: &str, limit: u32, largest: u64) -> Option<Vec<u8>> {
    let abort = AbortController::new().ok()?;
    let init = RequestInit { signal: abort.signal().into(), ..RequestInit::without_redirects() };
    let fetched = std::pin::pin!(read_key_set(url, &init, largest));
    let timer = Delay::from(Duration::from_millis(u64::from(limit)));
    match select(fetched, timer).await {
        Either::Left((fetched, _)) => fetched.ok().flatten(),
        Either::Right(_) => {
            abort.abort();
            None
        }
    }
}

async fn read_key_set(url: &str, init: &RequestInit, largest: u64) -> Result<Option<Vec<u8>>, Failure> {
    let response: Response = await_promise(global_fetch(&url.into(), &init.to_js())?).await?;
    match response.body() {
        Some(body) if response.ok() => read_within(&body, largest, false).await,
        _ => Ok(None),
    }
}
