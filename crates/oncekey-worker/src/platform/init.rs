//! Initialisers: what the platform's constructors and its fetch are told besides a URL or a body.

use serde::Serialize;
use serde_wasm_bindgen::{preserve, to_value};
use wasm_bindgen::JsValue;
use web_sys::Headers;

use crate::platform::failure::Failure;

/// The word by which the platform leaves something as it is.
const MANUAL: &str = "manual";

/// In what a request differs from the one that it is made of. What is undefined is not said.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestInit {
    /// The method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// A header list, or a list of pairs.
    #[serde(with = "preserve", skip_serializing_if = "JsValue::is_undefined")]
    pub headers: JsValue,
    /// Bytes, a text, or a stream.
    #[serde(with = "preserve", skip_serializing_if = "JsValue::is_undefined")]
    pub body: JsValue,
    /// Ends the request where it is aborted.
    #[serde(with = "preserve", skip_serializing_if = "JsValue::is_undefined")]
    pub signal: JsValue,
    /// What is done with a redirect; followed, unless it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<&'static str>,
    /// Whether a coding of the answer's content is undone; it is, unless this says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encode_response_body: Option<&'static str>,
}

impl RequestInit {
    /// How the origin is asked: redirects are its answer, and codings are not ours to undo.
    pub fn to_origin() -> Self {
        Self { redirect: Some(MANUAL), encode_response_body: Some(MANUAL), ..Self::default() }
    }

    /// How anything is asked that is to answer itself.
    pub fn without_redirects() -> Self {
        Self { redirect: Some(MANUAL), ..Self::default() }
    }

    /// How an object is asked: a redirect that the origin answered with is the answer. A request that the gate made would
    /// follow it back to the object otherwise, which has no errand then (Fetch §5.4: `redirect` is `follow` unless told).
    pub fn to_object(headers: &Headers, body: JsValue) -> Self {
        Self { headers: headers.into(), body, redirect: Some(MANUAL), ..Self::default() }
    }

    /// The same with an answer whose coding is not undone.
    pub fn coding_kept(self) -> Self {
        Self { encode_response_body: Some(MANUAL), ..self }
    }

    /// As the platform takes it.
    pub fn to_js(&self) -> Result<JsValue, Failure> {
        Ok(to_value(self).map_err(JsValue::from)?)
    }
}

/// What a response is made of besides its content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseInit {
    status: u16,
    #[serde(with = "preserve")]
    headers: JsValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    encode_body: Option<&'static str>,
}

impl ResponseInit {
    /// Content that is as its head says: what is coded is coded already.
    pub fn coded(status: u16, headers: impl Into<JsValue>) -> Self {
        Self { status, headers: headers.into(), encode_body: Some(MANUAL) }
    }

    /// Content without a coding.
    pub fn plain(status: u16, headers: impl Into<JsValue>) -> Self {
        Self { status, headers: headers.into(), encode_body: None }
    }

    /// As the platform takes it.
    pub fn to_js(&self) -> Result<JsValue, Failure> {
        Ok(to_value(self).map_err(JsValue::from)?)
    }
}
