//! The origin: where effects run.

use js_sys::Promise;
use oncekey::http::target::{is_web_origin, split_url, target_to_send};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Headers, Request};
use worker::Env;

use crate::platform::{
    bindings::{Fetcher, global_fetch, object_binding},
    failure::Failure,
    head,
    init::RequestInit,
};

/// Where the effect runs.
#[derive(Clone)]
pub enum Origin {
    /// A service binding.
    Service(Fetcher),
    /// A web origin, perhaps with a path, without a trailing slash.
    Url(String),
}

impl Origin {
    /// The binding or variable `ORIGIN`.
    pub fn of(env: &Env) -> Option<Self> {
        let value = js_sys::Reflect::get(env, &JsValue::from_str("ORIGIN")).ok()?;
        let Some(url) = value.as_string() else {
            return object_binding(env, "ORIGIN", "fetch").map(Self::Service);
        };
        let url = url.trim_end_matches('/');
        is_web_origin(url).then(|| Self::Url(url.to_owned()))
    }

    /// Sends a request whose URL names the gate; only its path and query go on. `init` says what is changed.
    pub fn fetch(&self, request: &Request, mut init: RequestInit) -> Result<Promise, Failure> {
        match self {
            Self::Service(fetcher) => Ok(fetcher.fetch_with(request, &init.to_js())?),
            Self::Url(base) => {
                let url = request.url();
                let parts = split_url(&url);
                let path = target_to_send(&parts);
                let headers = if init.headers.is_undefined() {
                    head::open_copy(&request.headers())?
                } else {
                    init.headers.unchecked_into::<Headers>()
                };
                // The platform sends the origin's own Host. What the caller says here itself is nobody's word.
                headers.set("x-forwarded-host", parts.host)?;
                headers.set("x-forwarded-proto", parts.scheme)?;
                init.headers = headers.into();
                let url = format!("{base}{path}");
                if init.body.is_undefined() {
                    // A request made of another may have content where its method has none that could be given here:
                    // a GET with a length is one that HTTP allows (RFC 9110 §9.3.1), even of 0.
                    let request = Request::new_with_str_and_init(&url, request.unchecked_ref())?;
                    return Ok(global_fetch(&request, &init.to_js())?);
                }
                init.method = Some(request.method());
                Ok(global_fetch(&url.into(), &init.to_js())?)
            }
        }
    }
}
