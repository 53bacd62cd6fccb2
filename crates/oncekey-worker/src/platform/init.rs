//! Initialisers: what the platform's constructors and its fetch are told besides a URL or a body.

use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::Headers;

#[wasm_bindgen(module = "/src/wire.mjs")]
extern "C" {
    #[wasm_bindgen(js_name = requestInit)]
    fn request_init(
        method: Option<&str>,
        headers: &JsValue,
        body: &JsValue,
        signal: &JsValue,
        keeps_redirect: bool,
        keeps_coding: bool,
    ) -> JsValue;
}

/// In what a request differs from the one that it is made of. What is undefined is not said.
#[derive(Clone, Debug, Default)]
pub struct RequestInit {
    /// The method.
    pub method: Option<String>,
    /// A header list, or a list of pairs.
    pub headers: JsValue,
    /// Bytes, a text, or a stream.
    pub body: JsValue,
    /// Ends the request where it is aborted.
    pub signal: JsValue,
    /// A redirect is the answer, and not followed.
    pub keeps_redirect: bool,
    /// A coding of the answer's content is not undone.
    pub keeps_coding: bool,
}

impl RequestInit {
    /// How the origin is asked: redirects are its answer, and codings are not ours to undo.
    pub fn to_origin() -> Self {
        Self { keeps_redirect: true, keeps_coding: true, ..Self::default() }
    }

    /// How anything is asked that is to answer itself.
    pub fn without_redirects() -> Self {
        Self { keeps_redirect: true, ..Self::default() }
    }

    /// How an object is asked: a redirect that the origin answered with is the answer. A request that the gate made would
    /// follow it back to the object otherwise, which has no errand then (Fetch §5.4: `redirect` is `follow` unless told).
    pub fn to_object(headers: &Headers, body: JsValue) -> Self {
        Self { headers: headers.into(), body, keeps_redirect: true, ..Self::default() }
    }

    /// The same with an answer whose coding is not undone.
    pub fn coding_kept(self) -> Self {
        Self { keeps_coding: true, ..self }
    }

    /// As the platform takes it.
    pub fn to_js(&self) -> JsValue {
        let Self { method, headers, body, signal, keeps_redirect, keeps_coding } = self;
        request_init(method.as_deref(), headers, body, signal, *keeps_redirect, *keeps_coding)
    }
}
