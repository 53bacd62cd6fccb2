//! Requests and responses of the gate's own making.

use js_sys::Uint8Array;
use oncekey::{
    answer::{head::ReplyHead, own::GateAnswer, word::StatusWord},
    http::{fields::has_no_content, lines::HeaderLines},
    stored::request::StoredRequest,
};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use web_sys::{Headers, Request, Response};

use crate::platform::{
    bindings::ignore_rejection,
    failure::Failure,
    head::{self, CODING, Lists},
    init::RequestInit,
    stream::read_within,
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Request)]
    type AnyRequest;
    #[wasm_bindgen(constructor, js_class = "Request", catch)]
    fn fresh(url: &str, init: &JsValue) -> Result<AnyRequest, JsValue>;

}

#[wasm_bindgen(module = "/src/wire.mjs")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn respond(body: &JsValue, status: u16, head: &str) -> Result<Response, JsValue>;
    #[wasm_bindgen(catch, js_name = respondWith)]
    fn respond_with(body: &JsValue, status: u16, headers: &Headers, is_coded: bool) -> Result<Response, JsValue>;
}

/// A request from its kept head, without content.
pub fn request_of_stored(head: &StoredRequest) -> Result<Request, Failure> {
    let headers = head::list_of(head.lines())?;
    new_request(&head.url, &RequestInit { method: Some(head.method.clone()), headers, ..RequestInit::default() })
}

/// A request of the gate's own.
pub fn new_request(url: &str, init: &RequestInit) -> Result<Request, Failure> {
    Ok(AnyRequest::fresh(url, &init.to_js())?.unchecked_into())
}

/// A response of exactly these lines and bytes; `body` counts only where the status allows content.
pub fn new_response(status: u16, lines: HeaderLines, body: &JsValue) -> Result<Response, Failure> {
    let body = if has_no_content(status) { &JsValue::NULL } else { body };
    Ok(respond(body, status, &lines.into_json())?)
}

/// An answer from its kept head.
pub fn kept_response(
    head: &ReplyHead,
    word: StatusWord,
    expires: Option<u64>,
    body: &JsValue,
) -> Result<Response, Failure> {
    let empty =
        body.is_null() || body.is_undefined() || body.dyn_ref::<Uint8Array>().is_some_and(|bytes| bytes.length() == 0);
    new_response(head.status, head.lines_to_send(word, expires, empty), body)
}

/// An answer of the gate's own.
pub fn own_response(said: GateAnswer) -> Result<Response, Failure> {
    new_response(said.status, said.lines, &JsValue::from_str(&said.content))
}

/// An origin's answer with a head that can be changed; its content goes on as it arrives.
pub fn with_open_head(response: &Response) -> Result<Response, Failure> {
    let body = if has_no_content(response.status()) {
        JsValue::NULL
    } else {
        response.body().map_or(JsValue::NULL, JsValue::from)
    };
    Ok(respond_with(&body, response.status(), &response.headers(), true)?)
}

/// An answer of an object's with a head that can be changed. The platform does not undo a coding of
/// content that it sends on under the same label, and what it cannot undo it leaves alone.
pub fn with_own_head(response: &Response) -> Result<Response, Failure> {
    let body = if has_no_content(response.status()) {
        JsValue::NULL
    } else {
        response.body().map_or(JsValue::NULL, JsValue::from)
    };
    Ok(respond_with(&body, response.status(), &response.headers(), false)?)
}

/// An answer without its coding, which the platform undoes where it reads the content. As it came where the content
/// is not so coded, or is more than `limit` bytes without the coding: a label proves nothing before the content's end.
pub async fn without_coding(response: Response, limit: u64) -> Result<Response, Failure> {
    // The platform parts the content as it came, so that what is read of one copy leaves the other coded.
    let copy = response.clone()?;
    let Some(content) = copy.body() else {
        return Ok(response);
    };
    let Ok(Some(bytes)) = read_within(&content, limit, false).await else {
        return Ok(response);
    };
    if let Some(coded) = response.body() {
        ignore_rejection(&coded.cancel());
    }
    let headers = head::open_copy(&response.headers())?;
    CODING.with(|coding| headers.unchecked_ref::<Lists>().delete_line(coding));
    Ok(respond_with(&Uint8Array::from(bytes.as_slice()), response.status(), &headers, false)?)
}
