//! Requests and responses of the gate's own making.

use oncekey::{
    answer::{head::Head, own::Said, word::Word},
    http::{fields::has_no_content, lines::Lines},
    stored::request::Held,
};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use web_sys::{Request, Response};

use crate::platform::{
    bindings::{Init, init},
    failure::Failure,
    head::{self, CODING, Lists},
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Request)]
    type AnyRequest;
    #[wasm_bindgen(constructor, js_class = "Request", catch)]
    fn fresh(url: &str, init: &Init) -> Result<AnyRequest, JsValue>;

    #[wasm_bindgen(js_name = Response)]
    type AnyResponse;
    #[wasm_bindgen(constructor, js_class = "Response", catch)]
    fn with(body: &JsValue, init: &Init) -> Result<AnyResponse, JsValue>;
}

/// How the origin is asked: redirects are its answer, and codings are not ours to undo.
pub fn as_it_is() -> Init {
    let init = init();
    init.set_redirect("manual");
    init.set_encode_response_body("manual");
    init
}

/// A request from its kept head, without content.
pub fn held_request(head: &Held) -> Result<Request, Failure> {
    let init = init();
    init.set_method(&head.method);
    init.set_headers(&head::list(head.lines())?);
    own_request(&head.url, &init)
}

/// A request of the gate's own.
pub fn own_request(url: &str, init: &Init) -> Result<Request, Failure> {
    Ok(AnyRequest::fresh(url, init)?.unchecked_into())
}

/// A response of exactly these lines and bytes; `body` counts only where the status allows content.
pub fn response(status: u16, lines: Lines, body: &JsValue) -> Result<Response, Failure> {
    let init = init();
    init.set_status(status);
    init.set_headers(&head::list(lines)?);
    init.set_encode_body("manual");
    let body = if has_no_content(status) { &JsValue::NULL } else { body };
    Ok(AnyResponse::with(body, &init)?.unchecked_into())
}

/// An answer from its kept head.
pub fn answer(head: &Head, word: Word, expires: Option<u64>, body: &JsValue) -> Result<Response, Failure> {
    response(head.status, head.sent(word, expires), body)
}

/// An answer of the gate's own.
pub fn said(said: Said) -> Result<Response, Failure> {
    response(said.status, said.lines, &JsValue::from_str(&said.content))
}

/// An origin's answer with a head that can be changed; its content goes on as it arrives.
pub fn passed(response: &Response) -> Result<Response, Failure> {
    let init = init();
    init.set_status(response.status());
    init.set_headers(&response.headers());
    init.set_encode_body("manual");
    let body = if has_no_content(response.status()) {
        JsValue::NULL
    } else {
        response.body().map_or(JsValue::NULL, JsValue::from)
    };
    Ok(AnyResponse::with(&body, &init)?.unchecked_into())
}

/// An answer without its coding: the platform undoes it where it reads the content.
pub fn decoded(response: &Response) -> Result<Response, Failure> {
    let init = init();
    init.set_status(response.status());
    let headers = head::copy(&response.headers())?;
    CODING.with(|coding| headers.unchecked_ref::<Lists>().delete_line(coding));
    init.set_headers(&headers);
    let body = response.body().map_or(JsValue::NULL, JsValue::from);
    Ok(AnyResponse::with(&body, &init)?.unchecked_into())
}
