//! The page as Rust sees it: the functions of `platform.mjs`, and helpers with types around them.
//!
//! Every binding of web-sys is an import and a shim of its own; these few are shared by all and keep the file small.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::app;

/// Any value of the page.
pub type Js = JsValue;

#[wasm_bindgen(module = "/src/platform.mjs")]
extern "C" {
    /// The window.
    pub fn window() -> Js;
    /// A member, or a member's member (`a.b`); `undefined` where there is none.
    pub fn get(of: &Js, path: &str) -> Js;
    /// An item of an array or a list.
    pub fn item(of: &Js, index: u32) -> Js;
    /// Sets a member.
    pub fn set(of: &Js, name: &str, value: &Js);
    /// As [`set`], of a name that the page gave.
    #[wasm_bindgen(js_name = set)]
    pub fn put(of: &Js, name: &Js, value: &Js);
    /// Calls a method; `undefined` if it throws.
    #[wasm_bindgen(js_name = call)]
    pub fn call(of: &Js, name: &str) -> Js;
    /// As [`call`], one argument.
    #[wasm_bindgen(js_name = call)]
    pub fn call1(of: &Js, name: &str, a: &Js) -> Js;
    /// As [`call`], a text.
    #[wasm_bindgen(js_name = call)]
    pub fn call_text(of: &Js, name: &str, a: &str) -> Js;
    /// As [`call`], two arguments.
    #[wasm_bindgen(js_name = call)]
    pub fn call2(of: &Js, name: &str, a: &Js, b: &Js) -> Js;
    /// JSON of the page's own origin, as a promise.
    pub fn ask(path: &str) -> Js;
    /// What is kept under a name.
    pub fn recall(name: &Js) -> Js;
    /// Keeps a value under a name; `undefined` forgets it.
    pub fn keep(name: &Js, value: &Js);
    /// A value to keep.
    pub fn record(key: &Js, stage: u32, since: f64, content: f64) -> Js;
    /// The names kept that begin so.
    pub fn names(start: &Js) -> Js;
    /// An intent's name.
    pub fn name_of(place: f64, target: f64) -> Js;
    /// Names and values of content.
    pub fn pairs(body: &Js) -> Js;
    /// A `URL` without fragment, or `undefined`.
    pub fn parse(url: &str) -> Js;
    /// 32 random bits.
    pub fn random() -> u32;
    /// Calls `resolve` or `reject` of each in a list.
    pub fn settle(calls: &Js, value: &Js, ok: bool);
    /// Marks an element with an attribute.
    pub fn mark(element: &Js, name: &str, value: &str);
    /// Undoes one mark.
    pub fn unmark(element: &Js, name: &str);
    /// Takes all marks away.
    pub fn unmark_all();
    /// Says a text in the live region.
    pub fn say(words: &str);
    /// What an answer's head says.
    pub fn head(answer: &Js) -> Js;
    /// One attempt by fetch.
    pub fn launch(fetch: &Js, input: &Js, init: &Js, signal: &Js, ms: f64) -> Js;
    /// Puts a function in the place of a request's fetch; it gets the call: `url`, `init`, `fetch`, `resolve`, `reject`.
    pub fn replace_fetch(ctx: &Js, ticket: u32);
    /// Tells what an xhr sends, instead of sending it.
    pub fn catch_send(xhr: &Js, ticket: u32);
    /// Sends, and takes the xhr's listeners.
    pub fn transmit(xhr: &Js, body: &Js, ticket: u32) -> Js;
    /// Opens an xhr again, with its headers.
    pub fn reopen(info: &Js);
    /// Gives the xhr back, with the event that its listeners wait for.
    pub fn hand_over(xhr: &Js, were: &Js, event: &Js);
    /// Milliseconds since the page began, of the clock that stamps events.
    pub fn page_time() -> f64;
    /// An event of ours on an element, or on the document where it is gone.
    #[wasm_bindgen(js_name = emit)]
    pub fn fire(target: &Js, kind: &str, key: &Js, attempt: u32, reason: &str, delay: f64);

    #[wasm_bindgen(js_name = then)]
    fn then_js(promise: &Js, ticket: u32);
    #[wasm_bindgen(js_name = later)]
    fn later_js(ms: f64, ticket: u32, online: bool);
    #[wasm_bindgen(js_name = now)]
    fn now_js() -> f64;
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
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
pub fn small(value: &Js) -> u32 {
    number(value) as u32
}

/// A number as the platform wants it.
#[allow(clippy::cast_precision_loss, reason = "times and digests stay below 2^53")]
pub fn double(value: u64) -> f64 {
    value as f64
}

/// A member's text.
pub fn text(of: &Js, path: &str) -> Option<String> {
    get(of, path).as_string()
}

/// A value's number; anything else is 0.
pub fn number(value: &Js) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// Whether a member is truthy.
pub fn is(of: &Js, path: &str) -> bool {
    get(of, path).is_truthy()
}

/// An attribute's text.
pub fn attr(element: &Js, name: &str) -> Option<String> {
    call_text(element, "getAttribute", name).as_string()
}

/// The nearest of an element and its ancestors that matches.
pub fn closest(element: &Js, selector: &str) -> Js {
    call_text(element, "closest", selector)
}

/// Calls `f` with the items of an array or a list until it says no more.
pub fn each(list: &Js, f: &mut dyn FnMut(Js) -> bool) {
    let mut index = 0;
    loop {
        let next = item(list, index);
        if next.is_undefined() || !f(next) {
            return;
        }
        index += 1;
    }
}

/// What waits for the page, called once with a value and whether all went well.
pub type Waiter = Box<dyn FnOnce(Js, bool)>;

/// Lets something wait for the page, which resumes it by the number. A closure of wasm-bindgen would cost more glue.
pub fn ticket(f: Waiter) -> u32 {
    app::with(|app| {
        app.last += 1;
        app.waiters.push((app.last, f));
        app.last
    })
}

/// Resumes what waits under a number; one that was resumed before is nothing.
pub fn resume(ticket: u32, value: Js, ok: bool) {
    let waiter = app::with(|app| {
        let place = app.waiters.iter().position(|(other, _)| *other == ticket)?;
        Some(app.waiters.swap_remove(place).1)
    });
    if let Some(waiter) = waiter {
        waiter(value, ok);
    }
}

/// Calls back once with the promise's value, or its reason and `false`.
pub fn then(promise: &Js, f: Waiter) {
    then_js(promise, ticket(f));
}

/// Calls back once after so many milliseconds.
pub fn later(ms: f64, f: Waiter) {
    later_js(ms, ticket(f), false);
}

/// As [`later`], and not before the browser is on line.
pub fn retry(ms: f64, f: Waiter) {
    later_js(ms, ticket(f), true);
}

/// Stops an event where it is.
pub fn refuse(event: &Js) {
    call(event, "preventDefault");
    call(event, "stopImmediatePropagation");
}
