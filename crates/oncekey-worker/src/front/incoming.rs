//! A request as the front sees it.

use std::rc::Rc;

use js_sys::Uint8Array;
use oncekey::{
    answer::refusal::Refusal,
    call::CallFailure,
    errand::Errand,
    http::{cookie::cookie, fields::Fields, target::UrlParts},
    key::{InvalidKey, scope::Scope, scoped::ScopedKey},
    policy::Attribute,
};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};

use crate::{
    call::ask,
    gate::Gate,
    platform::{bindings::settled, failure::Failure, head, message, stream::read_within},
    refusal::audience,
};

/// One request at the front.
pub struct Front<'a> {
    pub gate: &'a Rc<Gate>,
    pub request: &'a Request,
    pub fields: Fields,
}

/// What stops a request at the front.
pub enum Stop {
    /// Answer with this refusal.
    Refuse(Refusal),
    /// The platform failed.
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<JsValue> for Stop {
    fn from(value: JsValue) -> Self {
        Self::Failed(value.into())
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refuse(refusal)
    }
}

impl From<InvalidKey> for Stop {
    fn from(why: InvalidKey) -> Self {
        Self::Refuse(Refusal::KeyInvalid(why))
    }
}

/// What is known of a request's content once it is read.
pub enum Body {
    /// All of it.
    Whole(JsValue, Vec<u8>),
    /// More than the limit; the request can still be sent on.
    TooLarge,
}

impl Front<'_> {
    /// A refusal in the caller's form.
    pub fn refuse(&self, refusal: &Refusal) -> Result<Response, Failure> {
        message::said(refusal.render(&audience(&self.gate.policy, &self.fields), None))
    }

    /// Who sends, as far as the policy's scope tells.
    pub fn scope(&self, parts: &UrlParts<'_>) -> Scope {
        let mut scope = Scope::new(parts.host);
        for attribute in &self.gate.policy.scope {
            let value = match attribute {
                Attribute::Header(name) => {
                    self.fields.get(name).filter(|value| !value.trim().is_empty()).map(str::to_owned)
                }
                Attribute::Cookie(name) => self.fields.get("cookie").and_then(|line| cookie(line, name)),
            };
            if let Some(value) = value {
                scope.add(&attribute.to_string(), &value);
            }
        }
        scope
    }

    /// One call to the key's object.
    pub async fn ask(&self, key: &ScopedKey, errand: &Errand, body: &JsValue) -> Result<Response, CallFailure> {
        let headers = self.stripped().map_err(|_| CallFailure::Unreached)?;
        ask(self.gate, key, errand, self.request, &headers, body).await
    }

    /// The request's head without what the client forged.
    pub fn stripped(&self) -> Result<Headers, Failure> {
        let headers = head::copy(&self.request.headers())?;
        for name in self.fields.internal_names() {
            headers.delete(name)?;
        }
        Ok(headers)
    }

    /// Reads the content, at most `limit` bytes of it. A request that carries its key in the header alone needs no
    /// second copy: it is refused if it is too large.
    pub async fn read(&self, keyed: bool, limit: u64) -> Result<Body, Stop> {
        let announced = self.fields.content_length();
        if announced.is_some_and(|length| length > limit) {
            return Ok(Body::TooLarge);
        }
        let incomplete = |_| Stop::Refuse(Refusal::ContentIncomplete);
        if announced.is_some() {
            let buffer: js_sys::ArrayBuffer = settled(self.request.array_buffer()?).await.map_err(incomplete)?;
            let bytes = Uint8Array::new(&buffer).to_vec();
            return Ok(Body::Whole(buffer.into(), bytes));
        }
        if self.request.body().is_none() {
            return Ok(Body::Whole(JsValue::NULL, Vec::new()));
        }
        // Of unknown length: a copy is read, so that the request can still be sent on whole if it is too large.
        let copy = if keyed { None } else { Some(self.request.clone()?) };
        let Some(body) = copy.as_ref().unwrap_or(self.request).body() else {
            return Ok(Body::Whole(JsValue::NULL, Vec::new()));
        };
        Ok(match read_within(&body, limit, false).await.map_err(incomplete)? {
            None => Body::TooLarge,
            Some(bytes) => Body::Whole(Uint8Array::from(bytes.as_slice()).into(), bytes),
        })
    }
}
