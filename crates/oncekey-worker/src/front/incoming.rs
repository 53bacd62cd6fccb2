//! A request as the front sees it.

use std::rc::Rc;

use js_sys::Uint8Array;
use oncekey::{
    answer::refusal::Refusal,
    call::CallFailure,
    errand::Errand,
    http::fields::Fields,
    key::{InvalidKey, caller::InvalidCaller, scoped::ScopedKey},
};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};

use crate::{
    call::{AnswerWanted, call_key_object_for},
    gate::Gate,
    platform::{bindings::await_promise, failure::Failure, head, message, stream::read_within},
    refusal::audience_of,
};

/// One request at the front.
pub struct Incoming<'a> {
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

impl From<InvalidCaller> for Stop {
    fn from(why: InvalidCaller) -> Self {
        Self::Refuse(why.into())
    }
}

/// What is known of a request's content once it is read.
pub enum IncomingContent {
    /// All of it.
    Whole(JsValue, Vec<u8>),
    /// More than the limit; the request can still be sent on.
    TooLarge,
}

impl Incoming<'_> {
    /// A refusal in the caller's form.
    pub fn refuse(&self, refusal: &Refusal) -> Result<Response, Failure> {
        message::own_response(refusal.render(&audience_of(&self.gate.policy, &self.fields), None))
    }

    /// One call to the key's object.
    pub async fn call_key_object(
        &self,
        key: &ScopedKey,
        errand: &Errand,
        body: &JsValue,
    ) -> Result<Response, CallFailure> {
        let headers = self.headers_without_internal().map_err(|_| CallFailure::Unreached)?;
        self.call_key_object_for(AnswerWanted::default(), key, errand, &headers, body).await
    }

    /// The same with a head of its own, by a caller that says what it wants of the answer.
    pub async fn call_key_object_for(
        &self,
        wanted: AnswerWanted,
        key: &ScopedKey,
        errand: &Errand,
        headers: &Headers,
        body: &JsValue,
    ) -> Result<Response, CallFailure> {
        call_key_object_for(wanted, self.gate, key, errand, self.request, headers, body).await
    }

    /// The request's head as an object sees it: without what the client forged, nor what belongs to the caller's
    /// connection. An object is asked over another and asks the origin over a third, and an upgrade would be its to answer.
    pub fn headers_without_internal(&self) -> Result<Headers, Failure> {
        self.headers_without(self.fields.internal_names().chain(self.fields.hop_names()))
    }

    /// The request's head as it passes: without what the client forged.
    pub fn headers_to_pass(&self) -> Result<Headers, Failure> {
        self.headers_without(self.fields.internal_names())
    }

    fn headers_without<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Headers, Failure> {
        let headers = head::open_copy(&self.request.headers())?;
        for name in names {
            headers.delete(name)?;
        }
        Ok(headers)
    }

    /// Refuses a request of whose wanted fields the platform does not give one exactly.
    pub fn check_exact(&self, is_wanted: impl Fn(&str) -> bool) -> Result<(), Stop> {
        match self.fields.inexact(is_wanted) {
            Some(name) => Err(Refusal::HeaderInvalid { name: name.to_owned() }.into()),
            None => Ok(()),
        }
    }

    /// Reads the content, at most `limit` bytes of it. A request that carries its key in the header alone needs no
    /// second copy: it is refused if it is too large.
    pub async fn read_content(&self, keyed: bool, limit: u64) -> Result<IncomingContent, Stop> {
        let announced = self.fields.content_length();
        if announced.is_some_and(|length| length > limit) {
            return Ok(IncomingContent::TooLarge);
        }
        let incomplete = |_| Stop::Refuse(Refusal::ContentIncomplete);
        if announced.is_some() {
            let buffer: js_sys::ArrayBuffer = await_promise(self.request.array_buffer()?).await.map_err(incomplete)?;
            let bytes = Uint8Array::new(&buffer).to_vec();
            return Ok(IncomingContent::Whole(buffer.into(), bytes));
        }
        if self.request.body().is_none() {
            return Ok(IncomingContent::Whole(JsValue::NULL, Vec::new()));
        }
        // Of unknown length: a copy is read, so that the request can still be sent on whole if it is too large.
        let copy = if keyed { None } else { Some(self.request.clone()?) };
        let Some(body) = copy.as_ref().unwrap_or(self.request).body() else {
            return Ok(IncomingContent::Whole(JsValue::NULL, Vec::new()));
        };
        Ok(match read_within(&body, limit, false).await.map_err(incomplete)? {
            None => IncomingContent::TooLarge,
            Some(bytes) => IncomingContent::Whole(Uint8Array::from(bytes.as_slice()).into(), bytes),
        })
    }
}
