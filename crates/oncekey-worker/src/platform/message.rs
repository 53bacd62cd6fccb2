//! Requests and responses of the gate's own making.

use oncekey::{
    answer::{head::ReplyHead, own::GateAnswer, word::StatusWord},
    http::{fields::has_no_content, lines::HeaderLines},
    stored::request::Held,
};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use web_sys::{Request, Response};

use crate::platform::{
    failure::Failure,
    head::{self, CODING, Lists},
    init::{RequestInit, ResponseInit},
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Request)]
    type AnyRequest;
    #[wasm_bindgen(constructor, js_class = "Request", catch)]
    fn fresh(url: &str, init: &JsValue) -> Result<AnyRequest, JsValue>;

    #[wasm_bindgen(js_name = Response)]
    type AnyResponse;
    #[wasm_bindgen(constructor, js_class = "Response", catch)]
    fn with(body: &JsValue, init: &JsValue) -> Result<AnyResponse, JsValue>;
}

/// A request from its kept head, without content.
pub fn held_request(head: &Held) -> Result<Request, Failure> {
    let headers = head::list(head.lines())?;
    own_request(&head.url, &RequestInit { method: Some(head.method.clone()), headers, ..RequestInit::default() })
}

/// A request of the gate's own.
pub fn own_request(url: &str, init: &RequestInit) -> Result<Request, Failure> {
    Ok(AnyRequest::fresh(url, &init.to_js()?)?.unchecked_into())
}

/// A response of exactly these lines and bytes; `body` counts only where the status allows content.
pub fn response(status: u16, lines: HeaderLines, body: &JsValue) -> Result<Response, Failure> {
    let init = ResponseInit::coded(status, head::list(lines)?);
    let body = if has_no_content(status) { &JsValue::NULL } else { body };
    Ok(AnyResponse::with(body, &init.to_js()?)?.unchecked_into())
}

/// An answer from its kept head.
pub fn answer(head: &ReplyHead, word: StatusWord, expires: Option<u64>, body: &JsValue) -> Result<Response, Failure> {
    response(head.status, head.lines_to_send(word, expires), body)
}

/// An answer of the gate's own.
pub fn said(said: GateAnswer) -> Result<Response, Failure> {
    response(said.status, said.lines, &JsValue::from_str(&said.content))
}

/// An origin's answer with a head that can be changed; its content goes on as it arrives.
pub fn passed(response: &Response) -> Result<Response, Failure> {
    let init = ResponseInit::coded(response.status(), response.headers());
    let body = if has_no_content(response.status()) {
        JsValue::NULL
    } else {
        response.body().map_or(JsValue::NULL, JsValue::from)
    };
    Ok(AnyResponse::with(&body, &init.to_js()?)?.unchecked_into())
}

/// An answer without its coding: the platform undoes it where it reads the content.
pub fn decoded(response: &Response) -> Result<Response, Failure> {
    let headers = head::copy(&response.headers())?;
    CODING.with(|coding| headers.unchecked_ref::<Lists>().delete_line(coding));
    let init = ResponseInit::plain(response.status(), headers);
    let body = response.body().map_or(JsValue::NULL, JsValue::from);
    Ok(AnyResponse::with(&body, &init.to_js()?)?.unchecked_into())
}
