//! The browser shell of Oncekey: one key per intent for htmx, plain forms and `send`. It decides nothing; `oncekey` does.
//!
//! Rooms, from the lowest floor up. A room knows those below it, never one beside or above it:
//!
//! | floor | room | what happens there | knows |
//! |---|---|---|---|
//! | 0 | `platform/` | JavaScript without rules: values, names, store, marks, wire, xhr, resend, tab, chance; the entry, and what comes before the wasm | |
//! | 1 | `page` | the only bindings, with types around them | `platform/` |
//! | 2 | `options` | what the page was told | `page` |
//! | 2 | `tickets` | what waits in wasm for the page | `page` |
//! | 3 | `gate` | what the page asks the gate, and what it learnt | `tickets` |
//! | 3 | `tab` | whose intents a tab keeps | `tickets` |
//! | 4 | `intent` | find or mint a key, keep it, end it | `gate` |
//! | 4 | `subject` | what is submitted, and the intent's name | `options` |
//! | 5 | `guard` | busy intents: a second submit is refused, the page says so | `intent`, `subject`, `options`, `tickets` |
//! | 5 | `attempt` | what an answer does to an intent; the attempts of one fetch | `intent`, `gate`, `options`, `tickets` |
//! | 6 | `look` | what became of intents whose outcome this tab never learnt | `guard`, `intent`, `gate`, `tickets` |
//! | 7 | `door` | how a submit comes in: `form`, `htmx` (`xhr`, `fetch`), `library` (Turbo, Unpoly), `send` | all but `tab` |
//! | 8 | this file | what the page calls, and which door hears of which event | `door`, `look`, `guard`, `tab`, `options` |
//!
//! ```text
//! door → look → guard, attempt → intent, subject → gate → options, tickets → page → platform/
//! ```
//!
//! All of them know `page`. A room keeps its own state in a `RefCell` and takes values out of it before it calls the page:
//! whatever the page then calls may come back here.
//!
//! | word | meaning |
//! |---|---|
//! | ticket | the number under which something in wasm waits for the page, to be redeemed once |
//! | waiter | what a ticket resumes |
//! | place | what an intent's name says of its element: what it is called, and which of its equals it is |
//! | progress | how far a kept intent has come: sent, sent by a plain form, idle |
#![forbid(unsafe_code)]

mod attempt;
mod door;
mod gate;
mod guard;
mod intent;
mod look;
mod options;
mod page;
mod subject;
mod tab;
mod tickets;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::{
    door::{form, htmx, library},
    page::{Js, call_method, is_member_truthy, listen_to},
};

/// Small rather than fast: a page makes a few hundred short-lived values.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::cell::TalcSyncCell<talc::wasm::WasmGrowAndClaim, Bins> =
    talc::cell::TalcSyncCell::new_wasm(talc::wasm::WasmGrowAndClaim);

/// The allocator's free list: one is enough for so few, and each more is code.
#[cfg(target_family = "wasm")]
struct Bins;

#[cfg(target_family = "wasm")]
impl talc::base::binning::Binning for Bins {
    type AvailabilityBitField = u32;

    fn size_to_bin(_: usize) -> u32 {
        0
    }
}

/// An event's name, and who hears of it.
type Listener = (&'static str, fn(&Js));

/// What the page is listened to for.
const LISTENERS: [Listener; 18] = [
    ("submit", form::on_submit),
    ("formdata", form::on_formdata),
    ("pagehide", |_| tab::leave_tab()),
    ("pageshow", on_pageshow),
    ("htmx:confirm", htmx::xhr::on_confirm),
    ("htmx:configRequest", htmx::xhr::on_config_request),
    ("htmx:beforeSend", htmx::xhr::on_before_send),
    ("htmx:beforeHistorySave", |_| page::unmark_all()),
    ("htmx:config:request", htmx::fetch::on_config_request),
    ("htmx:before:request", htmx::fetch::on_before_request),
    ("htmx:finally:request", htmx::fetch::on_finally_request),
    ("turbo:submit-start", library::on_turbo_start),
    ("turbo:before-fetch-response", library::on_turbo_answer),
    ("turbo:submit-end", library::on_turbo_end),
    ("up:request:load", library::on_unpoly_start),
    ("up:request:loaded", library::on_unpoly_end),
    ("up:request:aborted", library::on_unpoly_end),
    ("up:request:offline", library::on_unpoly_end),
];

/// Back shows this page again, as it was left.
fn on_pageshow(event: &Js) {
    if is_member_truthy(event, "persisted") {
        guard::unlock_all();
        tab::name_tab();
        look::look_at_open_intents(true);
    }
}

/// Something that the page is listened to for has happened.
#[wasm_bindgen]
pub fn hear_event(listener: usize, event: &Js) {
    if let Some((_, hear)) = LISTENERS.get(listener) {
        hear(event);
    }
}

/// Resumes what waits in wasm for the page.
#[wasm_bindgen]
pub fn redeem_ticket(ticket: i32, value: Js, ok: bool) {
    tickets::redeem_ticket(ticket, value, ok);
}

/// Sets options, all of them each time: `header`, `field`, `origins`, `retry`, `disable`.
#[wasm_bindgen]
pub fn set_options(options: Js) {
    options::set_options(options);
}

/// Starts, once; calls `resolve` of `call` when all submits pass through here.
#[wasm_bindgen]
pub fn start(call: Js) {
    tab::take_over_intents(move || {
        look::look_at_open_intents(false);
        for (number, (name, _)) in (0..).zip(&LISTENERS) {
            listen_to(name, number);
        }
        call_method(&call, "resolve");
    });
}

/// `send(url, init, options)`, its first two arguments made into a `Request` by the page; `call` has `resolve` and `reject`.
/// Returns all calls of its request; `undefined`: its intent is under way with other content.
#[wasm_bindgen]
pub fn send(request: &Js, body: &Js, options: &Js, call: &Js) -> Js {
    door::send::send(request, body, options, call)
}

/// Ends a form's intents by the person's own decision: its next submit has a new key.
#[wasm_bindgen]
pub fn renew(form: &Js) {
    let place = subject::place_of(form);
    guard::unlock_place(place);
    intent::forget_place(place);
}

/// `form.submit()` is being called, or has returned. Whether it may be.
#[wasm_bindgen]
pub fn note_script_submit(form: &Js) -> bool {
    form::note_script_submit(form)
}
