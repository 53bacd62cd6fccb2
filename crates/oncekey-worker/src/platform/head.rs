//! Header lists.

use js_sys::{JSON, JsString};
use oncekey::{
    answer::{timing::TIMING, word::StatusWord},
    http::{
        fields::{EXPOSED, Fields},
        lines::HeaderLines,
    },
    policy::OriginKey,
    stored::attempt::Attempt,
};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use web_sys::{Headers, Response};

use crate::platform::failure::Failure;

#[wasm_bindgen]
extern "C" {
    /// A header list, asked by strings that JavaScript holds already.
    #[wasm_bindgen(js_name = Headers)]
    pub(super) type Lists;
    #[wasm_bindgen(method, js_name = get)]
    pub(super) fn get_line(this: &Lists, name: &JsString) -> Option<String>;
    #[wasm_bindgen(method, js_name = has)]
    pub(super) fn has_line(this: &Lists, name: &JsString) -> bool;
    #[wasm_bindgen(method, js_name = delete)]
    pub(super) fn delete_line(this: &Lists, name: &JsString);
    #[wasm_bindgen(method, js_name = set)]
    pub(super) fn set_line(this: &Lists, name: &JsString, value: &str);
}

// rustfmt takes the text out of a static string.
#[rustfmt::skip]
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ERRAND: JsString = "oncekey-errand";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static NOTE: JsString = "oncekey-note";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static STATUS: JsString = "idempotency-status";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static REPLAYED: JsString = "idempotent-replayed";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static EXPIRES: JsString = "idempotency-expires";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ALLOW_ORIGIN: JsString = "access-control-allow-origin";
    #[wasm_bindgen(thread_local_v2, static_string)]
    pub(super) static CODING: JsString = "content-encoding";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ORIGIN: JsString = "origin";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ACCEPT: JsString = "accept";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static HX_REQUEST: JsString = "hx-request";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static FETCH_MODE: JsString = "sec-fetch-mode";
}

#[wasm_bindgen(module = "/src/wire.mjs")]
extern "C" {
    /// All header lines as `name,value`, each ended by a line feed.
    #[wasm_bindgen(js_name = textOfHead)]
    pub fn pairs(headers: &Headers) -> String;
}

/// The fields that say who reads a refusal: a few crossings instead of the whole head.
pub fn negotiation(headers: &Headers) -> Fields {
    let lists = headers.unchecked_ref::<Lists>();
    let mut pairs = String::new();
    let asked =
        [("origin", &ORIGIN), ("accept", &ACCEPT), ("hx-request", &HX_REQUEST), ("sec-fetch-mode", &FETCH_MODE)];
    for (name, held) in asked {
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
pub fn open_copy(headers: &Headers) -> Result<Headers, Failure> {
    Ok(Headers::new_with_headers(headers)?)
}

/// Header lines as the platform takes them.
pub fn list_of(lines: HeaderLines) -> Result<JsValue, Failure> {
    Ok(JSON::parse(&lines.into_json())?)
}

/// The coding of an answer's content.
pub fn coding(response: &Response) -> Option<String> {
    CODING.with(|coding| response.headers().unchecked_ref::<Lists>().get_line(coding))
}

/// The gate's word on an answer.
pub fn word(response: &Response) -> Option<String> {
    STATUS.with(|status| response.headers().unchecked_ref::<Lists>().get_line(status))
}

/// The note that an object's answer carries for the front.
pub fn note(response: &Response) -> Option<String> {
    NOTE.with(|note| response.headers().unchecked_ref::<Lists>().get_line(note))
}

/// Puts a note into the head of an answer of the gate's own making.
pub fn set_note(headers: &Headers, text: &str) {
    NOTE.with(|note| headers.unchecked_ref::<Lists>().set_line(note, text));
}

/// Takes the note out.
pub fn remove_note(headers: &Headers) {
    NOTE.with(|note| headers.unchecked_ref::<Lists>().delete_line(note));
}

/// Says how long what took, beside what the origin said of itself, and lets those read it who may read the rest.
pub fn add_timing(headers: &Headers, timing: &str) -> Result<(), Failure> {
    headers.append(TIMING, timing)?;
    if ALLOW_ORIGIN.with(|name| headers.unchecked_ref::<Lists>().has_line(name)) {
        headers.append("access-control-expose-headers", "Server-Timing")?;
    }
    Ok(())
}

/// The errand that a request's head carries.
pub fn errand(headers: &Headers) -> Option<String> {
    ERRAND.with(|errand| headers.unchecked_ref::<Lists>().get_line(errand))
}

/// Tells the origin the key, in the form that the policy says.
pub fn set_key(headers: &Headers, attempt: &Attempt, form: OriginKey) -> Result<(), Failure> {
    let own = headers.has(&attempt.header)?;
    for (name, value) in attempt.key_lines(form, own) {
        headers.set(name, &value)?;
    }
    Ok(())
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
pub fn set_status(headers: &Headers, word: StatusWord) -> Result<(), Failure> {
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
