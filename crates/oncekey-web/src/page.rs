//! The page as Rust sees it: the functions of `platform/`, and helpers with types around them.
//!
//! A few functions for all members and methods instead of web-sys: a form's control named `action` shadows the form's own
//! member there, and each of its methods is an import and a wrapper of its own.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Any value of the page.
pub type Js = JsValue;

#[wasm_bindgen(module = "/src/platform/values.mjs")]
extern "C" {
    /// A member, or a member's member (`a.b`); `undefined` where there is none.
    pub fn member(of: &Js, path: &str) -> Js;
    /// A member of the window, as [`member`].
    #[wasm_bindgen(js_name = globalMember)]
    pub fn global_member(path: &str) -> Js;
    /// Sets a member.
    #[wasm_bindgen(js_name = setMember)]
    pub fn set_member(of: &Js, name: &str, value: &Js);
    /// Sets an entry of `Headers` or `FormData`, or a member of an object.
    #[wasm_bindgen(js_name = setEntry)]
    pub fn set_entry(entries: &Js, name: &str, value: &Js);
    /// Calls a method; `undefined` if it throws.
    #[wasm_bindgen(js_name = callMethod)]
    pub fn call_method(of: &Js, name: &str) -> Js;
    /// As [`call_method`], one argument.
    #[wasm_bindgen(js_name = callMethod)]
    pub fn call_method1(of: &Js, name: &str, value: &Js) -> Js;
    /// An item of an array or a list.
    pub fn item(list: &Js, index: i32) -> Js;
    /// An array of one item.
    #[wasm_bindgen(js_name = arrayOf)]
    pub fn array_of(value: &Js) -> Js;
    /// An attribute's text, or `null`.
    #[wasm_bindgen(js_name = attribute)]
    pub fn attribute_value(element: &Js, name: &str) -> Js;
    /// The nearest of an element and its ancestors that matches.
    pub fn closest(element: &Js, selector: &str) -> Js;
    /// Names and values of content, in pairs.
    #[wasm_bindgen(js_name = contentParts)]
    pub fn content_parts(body: &Js) -> Js;
    /// A request's content, headers or header lines with another key.
    #[wasm_bindgen(js_name = withKey)]
    pub fn with_key(value: &Js, before: &Js, after: &Js) -> Js;
    /// What a form's controls say, in pairs.
    #[wasm_bindgen(js_name = controlParts)]
    pub fn control_parts(form: &Js) -> Js;
    /// A `URL` without fragment, or `undefined`.
    #[wasm_bindgen(js_name = parseUrl)]
    pub fn parse_url(url: &Js) -> Js;
    /// Says what was decided and why, where the page asks for it.
    pub fn note(words: &str, about: &Js);
    /// Milliseconds of the clock that stamps events.
    #[wasm_bindgen(js_name = eventTime)]
    pub fn event_time() -> f64;

    #[wasm_bindgen(js_name = lengthOf)]
    fn length_of(list: &Js) -> i32;
    #[wasm_bindgen(js_name = fireEvent)]
    fn fire_event_js(target: &Js, name: &str, key: &Js, attempt: u32, reason: &str, delay: Option<f64>);
    #[wasm_bindgen(js_name = parseDate)]
    fn parse_date_js(text: &str) -> f64;
    #[wasm_bindgen(js_name = now)]
    fn now_js() -> f64;
}

#[wasm_bindgen(module = "/src/platform/chance.mjs")]
extern "C" {
    /// 32 random bits.
    #[wasm_bindgen(js_name = randomBits)]
    pub fn random_bits() -> u32;
}

#[wasm_bindgen(module = "/src/platform/names.mjs")]
extern "C" {
    /// The place that an element was given.
    #[wasm_bindgen(js_name = givenPlace)]
    pub fn given_place(element: &Js) -> Option<f64>;
    /// Gives an element its place, for as long as it lives.
    #[wasm_bindgen(js_name = givePlace)]
    pub fn give_place(element: &Js, place: f64);
    /// Those of its own name, else with its attributes, in its own document or shadow root, that have no place yet, in their
    /// order.
    #[wasm_bindgen(js_name = unplacedLike)]
    pub fn unplaced_like(element: &Js, names: &str) -> Js;
    /// How many of its equals in name came before.
    #[wasm_bindgen(js_name = countEquals)]
    pub fn count_equals(element: &Js, name: f64) -> i32;
    /// The hidden fields within: name, value when first seen, value.
    #[wasm_bindgen(js_name = hiddenFields)]
    pub fn hidden_fields(within: &Js) -> Js;
    /// Attributes, a line each.
    #[wasm_bindgen(js_name = attributeLines)]
    pub fn attribute_lines(element: &Js, names: &str) -> String;
}

#[wasm_bindgen(module = "/src/platform/resend.mjs")]
extern "C" {
    /// Stops a submit; returns the function that submits it once more.
    #[wasm_bindgen(js_name = holdSubmit)]
    pub fn hold_submit(event: &Js) -> Js;
}

#[wasm_bindgen(module = "/src/platform/listen.mjs")]
extern "C" {
    /// Lets a listener, by its number, hear of events before the page does.
    #[wasm_bindgen(js_name = listenTo)]
    pub fn listen_to(name: &str, listener: u32);
}

#[wasm_bindgen(module = "/src/platform/store.mjs")]
extern "C" {
    /// What is kept of an intent: an array of its key, progress, times, address and contents.
    #[wasm_bindgen(js_name = recallIntent)]
    pub fn recall_intent(place: f64, target: f64) -> Js;
    /// Keeps it; the content joins those that are kept.
    #[wasm_bindgen(js_name = keepIntent)]
    pub fn keep_intent(
        place: f64,
        target: f64,
        key: &Js,
        progress: i32,
        minted_at: f64,
        at: f64,
        address: &Js,
        content: Option<f64>,
    );
    /// Keeps nothing more of an intent.
    #[wasm_bindgen(js_name = forgetIntent)]
    pub fn forget_intent(place: f64, target: f64);
    /// The names of all intents that are kept: arrays of a place and a target.
    #[wasm_bindgen(js_name = keptIntents)]
    pub fn kept_intents() -> Js;
    /// Keeps no intent more, and no name of the tab.
    #[wasm_bindgen(js_name = forgetAll)]
    pub fn forget_all();
    /// The tab's name.
    #[wasm_bindgen(js_name = recallTabName)]
    pub fn recall_tab_name() -> Js;
    /// Keeps it.
    #[wasm_bindgen(js_name = keepTabName)]
    pub fn keep_tab_name(name: &Js);
    /// Keeps no name of the tab.
    #[wasm_bindgen(js_name = forgetTabName)]
    pub fn forget_tab_name();
}

#[wasm_bindgen(module = "/src/platform/tab.mjs")]
extern "C" {
    /// Whether this page is the tab's own, and no frame in it.
    #[wasm_bindgen(js_name = isTop)]
    pub fn is_top() -> bool;
    /// How the browser came to this page, if that may be what a request to an address led to: the status of the answer, 0
    /// where it does not tell; -1 by another navigation; -2 by a reload, by Back or Forward.
    #[wasm_bindgen(js_name = arrivalStatus)]
    pub fn arrival_status(address: &Js) -> i32;
    /// Answers for a tab's name while this page is shown; a promise of whether another page does, within so many milliseconds.
    #[wasm_bindgen(js_name = claimTabName)]
    pub fn claim_tab_name(name: &Js, wait: f64) -> Js;
    /// Leaves the tab's name to the next page.
    #[wasm_bindgen(js_name = leaveTabName)]
    pub fn leave_tab_name();
}

#[wasm_bindgen(module = "/src/platform/marks.mjs")]
extern "C" {
    /// Marks an element with an attribute.
    pub fn mark(element: &Js, name: &str, value: &str);
    /// Undoes one mark.
    pub fn unmark(element: &Js, name: &str);
    /// Takes all marks away.
    #[wasm_bindgen(js_name = unmarkAll)]
    pub fn unmark_all();
    /// Says a text in the live region.
    pub fn say(words: &str);
}

#[wasm_bindgen(module = "/src/platform/wire.mjs")]
extern "C" {
    /// Redeems a ticket with the promise's value, or its reason and `false`.
    #[wasm_bindgen(js_name = redeemWhenSettled)]
    pub fn redeem_when_settled(promise: &Js, ticket: i32);
    /// Redeems a ticket after so many milliseconds, and where `on_line` not before the browser is; at once if the signal aborts.
    #[wasm_bindgen(js_name = redeemAfterDelay)]
    pub fn redeem_after_delay(ms: f64, ticket: i32, on_line: bool, signal: &Js);
    /// JSON of an address's origin, else of the page's own, as a promise: a path, a part of it to encode, a query.
    #[wasm_bindgen(js_name = fetchJson)]
    pub fn fetch_json(address: &Js, path: &str, part: &Js, query: &str) -> Js;
    /// One attempt by fetch.
    #[wasm_bindgen(js_name = fetchOnce)]
    pub fn fetch_once(fetch: &Js, input: &Js, init: &Js, signal: &Js, ms: f64) -> Js;
    /// Calls `resolve` or `reject` of each in a list.
    #[wasm_bindgen(js_name = settleCalls)]
    pub fn settle_calls(calls: &Js, value: &Js, ok: bool);
    /// Those who asked for one request, and `abort` for it.
    #[wasm_bindgen(js_name = callsOf)]
    pub fn calls_of(call: &Js) -> Js;
    /// Puts a function in the place of a request's fetch; the ticket gets its call: `url`, `init`, `fetch`, `resolve`, `reject`.
    #[wasm_bindgen(js_name = replaceFetch)]
    pub fn replace_fetch(ctx: &Js, ticket: i32);

    #[wasm_bindgen(js_name = answerHeader)]
    fn answer_header_js(answer: &Js, name: &str) -> Js;
}

#[wasm_bindgen(module = "/src/platform/xhr.mjs")]
extern "C" {
    /// The button whose name and value htmx 1.9 and 2 send with an element's request.
    #[wasm_bindgen(js_name = pressedButton)]
    pub fn pressed_button(element: &Js) -> Js;
    /// Tells what an xhr sends, instead of sending it: an array of its content and its header lines.
    #[wasm_bindgen(js_name = catchSend)]
    pub fn catch_send(info: &Js, ticket: i32);
    /// Sends, and takes the xhr's listeners, which it returns.
    #[wasm_bindgen(js_name = sendXhr)]
    pub fn send_xhr(xhr: &Js, body: &Js, ticket: i32) -> Js;
    /// Opens an xhr again, with its header lines.
    #[wasm_bindgen(js_name = reopenXhr)]
    pub fn reopen_xhr(info: &Js, lines: &Js);
    /// While nothing is on the wire, an abort redeems the ticket with `false`.
    #[wasm_bindgen(js_name = catchAbort)]
    pub fn catch_abort(xhr: &Js, ticket: i32);
    /// Gives the xhr back, with the event that its listeners wait for.
    #[wasm_bindgen(js_name = handOverXhr)]
    pub fn hand_over_xhr(xhr: &Js, listeners: &Js, event: &Js);
}

/// A member's text.
pub fn member_text(of: &Js, path: &str) -> Option<String> {
    member(of, path).as_string()
}

/// A member's text; anything else is empty.
pub fn member_text_or_empty(of: &Js, path: &str) -> String {
    member_text(of, path).unwrap_or_default()
}

/// Whether a member is this text.
pub fn is_member_text(of: &Js, path: &str, text: &str) -> bool {
    member_text(of, path).as_deref() == Some(text)
}

/// Whether a member is truthy.
pub fn is_member_truthy(of: &Js, path: &str) -> bool {
    member(of, path).is_truthy()
}

/// A member's number; anything else is 0.
pub fn member_number(of: &Js, path: &str) -> f64 {
    member(of, path).as_f64().unwrap_or_default()
}

/// The first of two values that is truthy, else the second.
pub fn truthy_or(first: Js, second: impl FnOnce() -> Js) -> Js {
    if first.is_truthy() { first } else { second() }
}

/// An attribute's text.
pub fn attribute(element: &Js, name: &str) -> Option<String> {
    attribute_value(element, name).as_string()
}

/// An attribute's text; empty where there is none.
pub fn attribute_or_empty(element: &Js, name: &str) -> String {
    attribute(element, name).unwrap_or_default()
}

/// A header line of a response or an xhr.
pub fn answer_header(answer: &Js, name: &str) -> Option<String> {
    answer_header_js(answer, name).as_string()
}

/// The items of an array or a list.
pub fn items(list: Js) -> impl Iterator<Item = Js> {
    let mut index = 0;
    std::iter::from_fn(move || {
        let next = (index < length_of(&list)).then(|| item(&list, index));
        index += 1;
        next
    })
}

/// An item's text; anything else is empty.
pub fn item_text_or_empty(list: &Js, index: i32) -> String {
    item(list, index).as_string().unwrap_or_default()
}

/// Milliseconds since 1970 by the clock that stamps events, which no one sets while the browser runs.
pub fn wall_time() -> f64 {
    time_origin() + event_time()
}

/// When this page's navigation began, by that clock.
pub fn time_origin() -> f64 {
    global_member("performance.timeOrigin").as_f64().unwrap_or_default()
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    to_millis(now_js())
}

/// A date as HTTP writes it, in milliseconds since 1970.
pub fn parse_date(text: &str) -> Option<u64> {
    Some(to_millis(parse_date_js(text))).filter(|date| *date > 0)
}

/// A time of the platform as whole milliseconds; nonsense is 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
pub fn to_millis(value: f64) -> u64 {
    value as u64
}

/// A small number of the platform; nonsense is 0.
#[allow(clippy::cast_possible_truncation, reason = "`as` saturates, which is what is meant")]
pub fn to_integer(value: &Js) -> i32 {
    value.as_f64().unwrap_or_default() as i32
}

/// A number as the platform wants it.
#[allow(clippy::cast_precision_loss, reason = "times and digests stay below 2^53")]
pub fn to_double(value: u64) -> f64 {
    value as f64
}

/// An event of ours on an element, or on the document where it is gone.
pub fn fire_event(target: &Js, name: &str, key: &Js, attempt: u32, reason: &str, delay: Option<u64>) {
    fire_event_js(target, name, key, attempt, reason, delay.map(to_double));
}

/// Stops an event where it is.
pub fn refuse_event(event: &Js) {
    call_method(event, "preventDefault");
    call_method(event, "stopImmediatePropagation");
}
