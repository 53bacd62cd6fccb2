//! The page as Rust sees it: the functions of `platform/`, and helpers with types around them.
//!
//! Every binding of web-sys is an import and a shim of its own; these few are shared by all and keep the file small.
//! They take and give references and numbers only, so wasm calls them without a wrapper in between.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::names::{Name, PREVENT_DEFAULT, STOP};

/// Any value of the page.
pub type Js = JsValue;

#[wasm_bindgen(module = "/src/platform/values.mjs")]
extern "C" {
    /// A member, or a member's member (`a.b`); `undefined` where there is none.
    pub fn get(of: &Js, path: Name) -> Js;
    /// A member of the window.
    pub fn global(path: Name) -> Js;
    /// An item of an array or a list.
    pub fn item(of: &Js, index: i32) -> Js;
    /// Sets a member.
    pub fn set(of: &Js, name: Name, value: &Js);
    /// As [`set`], of a name that the page gave.
    pub fn put(of: &Js, name: &Js, value: &Js);
    /// Calls a method; `undefined` if it throws.
    pub fn call(of: &Js, name: Name) -> Js;
    /// As [`call`], one argument.
    #[wasm_bindgen(js_name = call)]
    pub fn call1(of: &Js, name: Name, a: &Js) -> Js;
    /// As [`call`], two arguments.
    #[wasm_bindgen(js_name = call)]
    pub fn call2(of: &Js, name: Name, a: &Js, b: &Js) -> Js;
    /// An attribute's text, or `null`.
    #[wasm_bindgen(js_name = attr)]
    pub fn attribute(element: &Js, name: Name) -> Js;
    /// The nearest of an element and its ancestors that matches.
    pub fn closest(element: &Js, selector: Name) -> Js;
    /// Names and values of content.
    pub fn pairs(body: &Js) -> Js;
    /// A `URL` without fragment, or `undefined`.
    pub fn parse(url: &Js) -> Js;
    /// A key nobody has used: a UUID of version 4 (RFC 9562 5.4).
    pub fn mint() -> Js;
    /// 32 random bits.
    pub fn random() -> u32;
    #[wasm_bindgen(js_name = emit)]
    fn emit_js(target: &Js, kind: Name, key: &Js, attempt: i32, reason: &Js, delay: f64);
    #[wasm_bindgen(js_name = is)]
    fn is_js(of: &Js, path: Name) -> i32;
    #[wasm_bindgen(js_name = says)]
    fn says_js(of: &Js, path: Name, word: Name) -> i32;
    #[wasm_bindgen(js_name = number)]
    fn number_js(of: &Js) -> f64;
    #[wasm_bindgen(js_name = size)]
    fn size_js(of: &Js) -> i32;
    #[wasm_bindgen(js_name = now)]
    fn now_js() -> f64;
}

#[wasm_bindgen(module = "/src/platform/tickets.mjs")]
extern "C" {
    /// A name as a text of the page.
    pub fn word(name: Name) -> Js;
    #[wasm_bindgen(js_name = measure)]
    fn measure_js(value: &Js) -> i32;
    #[wasm_bindgen(js_name = copy)]
    fn copy_js(address: i32);
    #[wasm_bindgen(js_name = decode)]
    fn decode_js(address: i32, length: i32) -> Js;
}

#[wasm_bindgen(module = "/src/platform/store.mjs")]
extern "C" {
    /// What is kept under a name.
    pub fn recall(name: &Js) -> Js;
    /// Keeps a value under a name; `undefined` forgets it.
    pub fn keep(name: &Js, value: &Js);
    /// A value to keep.
    pub fn record(key: &Js, stage: i32, since: f64, content: f64) -> Js;
    /// The names kept that begin so.
    pub fn names(start: &Js) -> Js;
    /// An intent's name.
    pub fn name_of(place: f64, target: f64) -> Js;
    /// Answers for a tab's name while this page is shown.
    pub fn claim(name: &Js);
    /// Leaves the tab's name to the next page.
    pub fn yield_name();
    /// An intent is free again: now, of the clock that stamps events.
    pub fn end_now(name: &Js);
    /// When an intent was last free again; not a number is never.
    pub fn ended(name: &Js) -> f64;
    #[wasm_bindgen(js_name = came_by)]
    fn came_by_js(kind: Name) -> i32;
}

#[wasm_bindgen(module = "/src/platform/marks.mjs")]
extern "C" {
    /// Marks an element with an attribute.
    pub fn mark(element: &Js, name: Name, value: Name);
    /// Undoes one mark.
    pub fn unmark(element: &Js, name: Name);
    /// Takes all marks away.
    pub fn unmark_all();
    /// Says a text in the live region.
    pub fn say(words: &Js);
}

#[wasm_bindgen(module = "/src/platform/wire.mjs")]
extern "C" {
    /// JSON of the page's own origin, as a promise: an address, a part of it to encode, the rest.
    pub fn ask(path: Name, part: &Js, rest: Name) -> Js;
    /// Calls `resolve` or `reject` of each in a list.
    pub fn settle(calls: &Js, value: &Js, ok: i32);
    /// What an answer's head says.
    pub fn head(answer: &Js) -> Js;
    /// One attempt by fetch.
    pub fn launch(fetch: &Js, input: &Js, init: &Js, signal: &Js, ms: f64) -> Js;
    /// How long htmx 4 lets an attempt take, as it writes it.
    pub fn time_limit(init: &Js) -> Js;
    /// Puts a function in the place of a request's fetch; it gets the call: `url`, `init`, `fetch`, `resolve`, `reject`.
    pub fn replace_fetch(ctx: &Js, ticket: i32);
    /// Tells what an xhr sends, instead of sending it.
    pub fn catch_send(xhr: &Js, ticket: i32);
    /// Sends, and takes the xhr's listeners.
    pub fn transmit(xhr: &Js, body: &Js, ticket: i32) -> Js;
    /// Opens an xhr again, with its headers.
    pub fn reopen(info: &Js);
    /// Gives the xhr back, with the event that its listeners wait for.
    pub fn hand_over(xhr: &Js, were: &Js, event: &Js);
    #[wasm_bindgen(js_name = then)]
    /// Resumes a ticket with the promise's value, or its reason and `false`.
    pub fn then_js(promise: &Js, ticket: i32);
    #[wasm_bindgen(js_name = later)]
    /// Resumes a ticket after so many milliseconds.
    pub fn later_js(ms: f64, ticket: i32, online: i32, signal: &Js);
}

/// Whether this is how the browser came to this page.
pub fn came_by(kind: Name) -> bool {
    came_by_js(kind) != 0
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    millis(now_js())
}

/// A time of the platform as whole milliseconds; nonsense is 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
pub fn millis(value: f64) -> u64 {
    value as u64
}

/// A small number of the platform; nonsense is 0.
#[allow(clippy::cast_possible_truncation, reason = "`as` saturates, which is what is meant")]
pub fn small(value: &Js) -> i32 {
    number(value) as i32
}

/// A number as the platform wants it.
#[allow(clippy::cast_precision_loss, reason = "times and digests stay below 2^53")]
pub fn double(value: u64) -> f64 {
    value as f64
}

/// A place in wasm's memory, as the platform wants it. It may be written to from there.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a page's wasm has 31 bits of memory")]
fn address(of: *const u8) -> i32 {
    of.expose_provenance() as i32
}

/// A value that is a text. As wasm-bindgen's own `as_string`, for a quarter of its glue.
pub fn string(value: &Js) -> Option<String> {
    let length = usize::try_from(measure_js(value)).ok()?;
    let mut bytes = vec![0; length];
    copy_js(address(bytes.as_mut_ptr()));
    // SAFETY: what was measured is what was copied, and the platform's encoder makes nothing but UTF-8.
    Some(unsafe { String::from_utf8_unchecked(bytes) })
}

/// Whether a value is a text.
pub fn is_text(value: &Js) -> bool {
    measure_js(value) >= 0
}

/// A text of the page.
pub fn js(text: &str) -> Js {
    decode_js(address(text.as_ptr()), i32::try_from(text.len()).unwrap_or(0))
}

/// A member's text.
pub fn text(of: &Js, path: Name) -> Option<String> {
    string(&get(of, path))
}

/// A value's number; anything else is 0.
pub fn number(value: &Js) -> f64 {
    number_js(value)
}

/// Whether a member is truthy.
pub fn is(of: &Js, path: Name) -> bool {
    is_js(of, path) != 0
}

/// Whether a member is this very text.
pub fn says(of: &Js, path: Name, word: Name) -> bool {
    says_js(of, path, word) != 0
}

/// An attribute's text.
pub fn attr(element: &Js, name: Name) -> Option<String> {
    string(&attribute(element, name))
}

/// Calls `f` with the items of an array or a list until it says no more.
pub fn each(list: &Js, f: &mut dyn FnMut(Js) -> bool) {
    let mut index = 0;
    while index < size_js(list) && f(item(list, index)) {
        index += 1;
    }
}

/// An event of ours on an element, or on the document where it is gone.
pub fn fire(target: &Js, kind: Name, key: &Js, attempt: i32, reason: &str, delay: u64) {
    emit_js(target, kind, key, attempt, &js(reason), double(delay));
}

/// Stops an event where it is.
pub fn refuse(event: &Js) {
    call(event, PREVENT_DEFAULT);
    call(event, STOP);
}
