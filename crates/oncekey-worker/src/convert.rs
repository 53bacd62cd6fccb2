//! The JavaScript boundary: the platform's types as far as the gate uses them, and the only `JsValue`s.

use js_sys::{Array, Function, JSON, JsString, Object, Promise, Uint8Array};
use oncekey::{
    answer::{head::Head, own::Said, word::Word},
    call::Fault,
    http::{
        fields::{EXPOSED, Fields, has_no_content},
        lines::Lines,
    },
    stored::request::Held,
};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, Request, Response};
use worker::Env;

/// A platform call that threw or rejected.
#[derive(Debug)]
pub struct Failure(JsValue);

impl Failure {
    /// What the platform says of it.
    pub fn message(&self) -> String {
        self.0.dyn_ref::<js_sys::Error>().map_or_else(|| "unknown".to_owned(), |error| String::from(error.message()))
    }

    /// What the platform says of a failed call to an object.
    pub fn fault(&self) -> Fault {
        let flag = |name: &str| js_sys::Reflect::get(&self.0, &JsValue::from_str(name)).is_ok_and(|v| v.is_truthy());
        Fault {
            overloaded: flag("overloaded"),
            retryable: flag("retryable"),
            remote: flag("remote"),
            reset: flag("durableObjectReset"),
        }
    }
}

impl From<JsValue> for Failure {
    fn from(value: JsValue) -> Self {
        Self(value)
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

#[wasm_bindgen]
extern "C" {
    /// A Durable Object's `ctx`.
    pub type Ctx;
    #[wasm_bindgen(method, getter)]
    pub fn storage(this: &Ctx) -> Storage;

    /// A Durable Object's storage.
    #[derive(Clone)]
    pub type Storage;
    #[wasm_bindgen(method, getter)]
    pub fn kv(this: &Storage) -> SyncKv;
    /// `at`: milliseconds since 1970, absolute.
    #[wasm_bindgen(method, catch, js_name = setAlarm)]
    pub fn set_alarm(this: &Storage, at: f64) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAlarm)]
    pub fn delete_alarm(this: &Storage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAll)]
    pub fn delete_all(this: &Storage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn sync(this: &Storage) -> Result<Promise, JsValue>;

    /// The synchronous key-value store within a Durable Object's database.
    pub type SyncKv;
    #[wasm_bindgen(method, catch)]
    pub fn get(this: &SyncKv, key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn put(this: &SyncKv, key: &str, value: &JsValue) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn delete(this: &SyncKv, key: &str) -> Result<bool, JsValue>;

    /// What the shim keeps in memory for one object: gone with the object, and emptied when the wasm is reset.
    #[derive(Clone)]
    pub type Live;
    /// The generation that runs, 0 for none.
    #[wasm_bindgen(method, getter)]
    pub fn running(this: &Live) -> u32;
    #[wasm_bindgen(method, setter)]
    pub fn set_running(this: &Live, generation: u32);
    /// The highest generation seen, 0 for none.
    #[wasm_bindgen(method, getter)]
    pub fn latest(this: &Live) -> u32;
    #[wasm_bindgen(method, setter)]
    pub fn set_latest(this: &Live, generation: u32);
    /// The row as it was last written while a claim stands, `undefined` where it must be read.
    #[wasm_bindgen(method, getter)]
    pub fn row(this: &Live) -> JsValue;
    #[wasm_bindgen(method, setter)]
    pub fn set_row(this: &Live, row: &JsValue);
    /// Functions to call when the running execution ends.
    #[wasm_bindgen(method, getter)]
    pub fn waiters(this: &Live) -> Array;
    #[wasm_bindgen(method, setter)]
    pub fn set_waiters(this: &Live, waiters: Array);

    /// A class of objects.
    pub type Namespace;
    /// A new stub of the object of that name.
    #[wasm_bindgen(method, catch, js_name = getByName)]
    pub fn get_by_name(this: &Namespace, name: &str) -> Result<Fetcher, JsValue>;

    /// A service binding or an object's stub.
    #[derive(Clone)]
    pub type Fetcher;
    #[wasm_bindgen(method, catch, js_name = fetch)]
    pub fn fetch_with(this: &Fetcher, request: &Request, init: &Init) -> Result<Promise, JsValue>;
    #[wasm_bindgen(catch, js_name = fetch)]
    fn global_fetch(url: &str, init: &Init) -> Result<Promise, JsValue>;

    /// An initialiser of requests and responses, with the platform's own members.
    pub type Init;
    #[wasm_bindgen(method, setter)]
    pub fn set_method(this: &Init, method: &str);
    #[wasm_bindgen(method, getter)]
    fn headers(this: &Init) -> JsValue;
    #[wasm_bindgen(method, setter)]
    pub fn set_headers(this: &Init, headers: &JsValue);
    #[wasm_bindgen(method, getter)]
    fn body(this: &Init) -> JsValue;
    #[wasm_bindgen(method, setter)]
    pub fn set_body(this: &Init, body: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub fn set_signal(this: &Init, signal: &JsValue);
    #[wasm_bindgen(method, setter)]
    fn set_redirect(this: &Init, mode: &str);
    #[wasm_bindgen(method, setter)]
    fn set_status(this: &Init, status: u16);
    #[wasm_bindgen(method, setter, js_name = encodeBody)]
    fn set_encode_body(this: &Init, mode: &str);
    #[wasm_bindgen(method, setter, js_name = encodeResponseBody)]
    fn set_encode_response_body(this: &Init, mode: &str);

    #[wasm_bindgen(js_name = Request)]
    type AnyRequest;
    #[wasm_bindgen(constructor, js_class = "Request", catch)]
    fn fresh(url: &str, init: &Init) -> Result<AnyRequest, JsValue>;

    #[wasm_bindgen(js_name = Response)]
    type AnyResponse;
    #[wasm_bindgen(constructor, js_class = "Response", catch)]
    fn with(body: &JsValue, init: &Init) -> Result<AnyResponse, JsValue>;

    /// A pipe whose two ends may be in different places; it knows its length beforehand.
    type FixedLengthStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(length: f64) -> Result<FixedLengthStream, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &FixedLengthStream) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &FixedLengthStream) -> web_sys::WritableStream;

    /// The same without a length.
    type IdentityTransformStream;
    #[wasm_bindgen(constructor, catch)]
    fn new() -> Result<IdentityTransformStream, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &IdentityTransformStream) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &IdentityTransformStream) -> web_sys::WritableStream;

    /// A header list, asked by strings that JavaScript holds already.
    #[wasm_bindgen(js_name = Headers)]
    type Lists;
    #[wasm_bindgen(method, js_name = get)]
    fn get_line(this: &Lists, name: &JsString) -> Option<String>;
    #[wasm_bindgen(method, js_name = has)]
    fn has_line(this: &Lists, name: &JsString) -> bool;
    #[wasm_bindgen(method, js_name = delete)]
    fn delete_line(this: &Lists, name: &JsString);
    #[wasm_bindgen(method, js_name = set)]
    fn set_line(this: &Lists, name: &JsString, value: &str);

    #[wasm_bindgen(js_name = Promise)]
    type AnyPromise;
    #[wasm_bindgen(method, js_name = catch)]
    fn catch_with(this: &AnyPromise, handler: &Function) -> Promise;
    /// A function that does nothing with its argument: no code is made of text in a Worker.
    #[wasm_bindgen(thread_local_v2, js_name = Boolean)]
    static IGNORE: Function;

    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;
    #[wasm_bindgen(js_namespace = Date, js_name = parse)]
    fn parse_date(text: &str) -> f64;
    #[wasm_bindgen(js_namespace = Math)]
    fn random() -> f64;
}

// rustfmt takes the text out of a static string.
#[rustfmt::skip]
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ERRAND: JsString = "oncekey-errand";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static STATUS: JsString = "idempotency-status";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static REPLAYED: JsString = "idempotent-replayed";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static EXPIRES: JsString = "idempotency-expires";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ALLOW_ORIGIN: JsString = "access-control-allow-origin";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static CODING: JsString = "content-encoding";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ORIGIN: JsString = "origin";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ACCEPT: JsString = "accept";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static HX_REQUEST: JsString = "hx-request";
}

/// Milliseconds since 1970.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the clock is far from both ends")]
pub fn clock() -> u64 {
    now() as u64
}

/// A count as JavaScript has it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
pub fn whole(count: f64) -> u32 {
    count as u32
}

/// A random fraction of 2^32.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1, and a cast saturates")]
pub fn chance() -> u32 {
    (random() * 4_294_967_296.0) as u32
}

/// What a `Retry-After` asks for, in milliseconds; 0 for nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, and no date is 0")]
pub fn retry_after(text: Option<&str>, now: u64) -> u64 {
    let Some(text) = text else {
        return 0;
    };
    let date = parse_date(text);
    oncekey::http::retry_after::retry_after(text, (date > 0.0).then_some(date as u64), now).unwrap_or(0)
}

/// A point in time as JavaScript writes it.
#[expect(clippy::cast_precision_loss, reason = "times stay below 2^53 ms")]
pub fn js_time(at: u64) -> f64 {
    at as f64
}

/// An empty initialiser.
pub fn init() -> Init {
    Object::new().unchecked_into()
}

/// How the origin is asked: redirects are its answer, and codings are not ours to undo.
pub fn as_it_is() -> Init {
    let init = init();
    init.set_redirect("manual");
    init.set_encode_response_body("manual");
    init
}

/// Waits for a promise.
pub async fn settled<T: JsCast>(promise: Promise) -> Result<T, Failure> {
    let value = JsFuture::from(promise).await?;
    Ok(value.unchecked_into())
}

/// A request from its kept head, without content.
pub fn held_request(head: &Held) -> Result<Request, Failure> {
    let init = init();
    init.set_method(&head.method);
    init.set_headers(&list(head.lines())?);
    own_request(&head.url, &init)
}

/// A request of the gate's own.
pub fn own_request(url: &str, init: &Init) -> Result<Request, Failure> {
    Ok(AnyRequest::fresh(url, init)?.unchecked_into())
}

/// A binding that is an object, of the type that its name promises.
pub fn binding<T: JsCast>(env: &Env, name: &str) -> Option<T> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    value.is_object().then(|| value.unchecked_into())
}

/// A variable or secret; a variable that was written as JSON comes as what it says, and is text again here.
pub fn text(env: &Env, name: &str) -> Option<String> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    value.as_string().or_else(|| JSON::stringify(value.dyn_ref::<Object>()?).ok()?.as_string())
}

/// Where the effect runs.
#[derive(Clone)]
pub enum Origin {
    /// A service binding.
    Service(Fetcher),
    /// A web origin, without a trailing slash.
    Url(String),
}

impl Origin {
    /// The binding or variable `ORIGIN`.
    pub fn of(env: &Env) -> Option<Self> {
        let value = js_sys::Reflect::get(env, &JsValue::from_str("ORIGIN")).ok()?;
        let Some(url) = value.as_string() else {
            return value.is_object().then(|| Self::Service(value.unchecked_into()));
        };
        let url = url.trim_end_matches('/');
        (!oncekey::http::target::split(url).scheme.is_empty()).then(|| Self::Url(url.to_owned()))
    }

    /// Sends a request whose URL names the gate; only its path and query go on. `init` says what is changed.
    pub fn fetch(&self, request: &Request, init: &Init) -> Result<Promise, Failure> {
        match self {
            Self::Service(fetcher) => Ok(fetcher.fetch_with(request, init)?),
            Self::Url(base) => {
                let url = request.url();
                let path = oncekey::http::target::split(&url).path_and_query;
                init.set_method(&request.method());
                if init.headers().is_undefined() {
                    init.set_headers(&request.headers());
                }
                if init.body().is_undefined()
                    && let Some(body) = request.body()
                {
                    init.set_body(&body);
                }
                Ok(global_fetch(&format!("{base}{path}"), init)?)
            }
        }
    }
}

/// All header lines as `name,value` parted by line feeds.
pub fn pairs(headers: &Headers) -> String {
    String::from(Array::from(&headers.entries()).join("\n"))
}

/// The fields that say who reads a refusal: a few crossings instead of the whole head.
pub fn negotiation(headers: &Headers) -> Fields {
    let lists = headers.unchecked_ref::<Lists>();
    let mut pairs = String::new();
    for (name, held) in [("origin", &ORIGIN), ("accept", &ACCEPT), ("hx-request", &HX_REQUEST)] {
        if let Some(value) = held.with(|held| lists.get_line(held)) {
            pairs.push_str(name);
            pairs.push(',');
            pairs.push_str(&value);
            pairs.push('\n');
        }
    }
    Fields::new(pairs)
}

/// A copy of a header list that can be changed; repeated lines stay apart.
pub fn copy(headers: &Headers) -> Result<Headers, Failure> {
    Ok(Headers::new_with_headers(headers)?)
}

/// Header lines as the platform takes them.
pub fn list(lines: Lines) -> Result<JsValue, Failure> {
    Ok(JSON::parse(&lines.into_json())?)
}

/// A response of exactly these lines and bytes; `body` counts only where the status allows content.
pub fn response(status: u16, lines: Lines, body: &JsValue) -> Result<Response, Failure> {
    let init = init();
    init.set_status(status);
    init.set_headers(&list(lines)?);
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
    let headers = copy(&response.headers())?;
    CODING.with(|coding| headers.unchecked_ref::<Lists>().delete_line(coding));
    init.set_headers(&headers);
    let body = response.body().map_or(JsValue::NULL, JsValue::from);
    Ok(AnyResponse::with(&body, &init)?.unchecked_into())
}

/// The coding of an answer's content.
pub fn coding(response: &Response) -> Option<String> {
    CODING.with(|coding| response.headers().unchecked_ref::<Lists>().get_line(coding))
}

/// The errand that a request carries.
pub fn errand(request: &Request) -> Option<String> {
    ERRAND.with(|errand| request.headers().unchecked_ref::<Lists>().get_line(errand))
}

/// Puts an errand into a request's head.
pub fn set_errand(headers: &Headers, text: &str) {
    ERRAND.with(|errand| headers.unchecked_ref::<Lists>().set_line(errand, text));
}

/// Takes the errand out of a request's head.
pub fn remove_errand(headers: &Headers) {
    ERRAND.with(|errand| headers.unchecked_ref::<Lists>().delete_line(errand));
}

/// Puts the gate's word in the place of whatever the origin said in its fields, and lets those read it who may read
/// the rest.
pub fn set_status(headers: &Headers, word: Word) -> Result<(), Failure> {
    let lists = headers.unchecked_ref::<Lists>();
    REPLAYED.with(|name| lists.delete_line(name));
    EXPIRES.with(|name| lists.delete_line(name));
    STATUS.with(|name| lists.set_line(name, word.as_str()));
    if ALLOW_ORIGIN.with(|name| lists.has_line(name)) {
        headers.append("access-control-expose-headers", EXPOSED)?;
    }
    Ok(())
}

/// Whether an answer carries fields that only the gate may set.
pub fn has_own(headers: &Headers) -> bool {
    let lists = headers.unchecked_ref::<Lists>();
    [&STATUS, &REPLAYED, &EXPIRES].iter().any(|name| name.with(|name| lists.has_line(name)))
}

/// Takes those fields out.
pub fn remove_own(headers: &Headers) {
    let lists = headers.unchecked_ref::<Lists>();
    for name in [&STATUS, &REPLAYED, &EXPIRES] {
        name.with(|name| lists.delete_line(name));
    }
}

/// Empty content of a length that is not known beforehand. The runtime sends a request that is idempotent by its
/// method (RFC 9110 §9.2.2) and has no content again by itself where a connection drops; it cannot send a stream twice.
pub fn sent_once() -> Result<JsValue, Failure> {
    let stream = IdentityTransformStream::new()?;
    forget(&stream.writable().close());
    Ok(stream.readable())
}

/// The two ends of a pipe for an answer's content.
pub struct Pipe {
    /// What the caller reads.
    pub readable: JsValue,
    /// Where the answer is written.
    pub writer: web_sys::WritableStreamDefaultWriter,
}

impl Pipe {
    /// A pipe, of known length where there is one.
    pub fn new(length: Option<u64>) -> Result<Self, Failure> {
        let (readable, writable) = if let Some(length) = length {
            let stream = FixedLengthStream::new(js_time(length))?;
            (stream.readable(), stream.writable())
        } else {
            let stream = IdentityTransformStream::new()?;
            (stream.readable(), stream.writable())
        };
        Ok(Self { readable, writer: writable.get_writer()? })
    }
}

/// Lets a promise take its course: a rejection is nobody's business.
pub fn forget(promise: &Promise) {
    IGNORE.with(|ignore| {
        let _ = promise.unchecked_ref::<AnyPromise>().catch_with(ignore);
    });
}

/// One chunk of the pieces, in one piece: no copy where there is just one.
pub fn joined(pieces: &[Uint8Array], total: u32) -> Uint8Array {
    if let [one] = pieces {
        return one.clone();
    }
    let whole = Uint8Array::new_with_length(total);
    let mut at = 0;
    for piece in pieces {
        whole.set(piece, at);
        at += piece.length();
    }
    whole
}
