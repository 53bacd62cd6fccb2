//! The browser shell of Oncekey: one key per intent for htmx, plain forms and `send`. It decides nothing; `oncekey` does.
//!
//! | room | what happens there |
//! |---|---|
//! | `door` | how a submit comes in: `form` plain forms, `htmx` 1.9, 2 and 4, `send` fetch with a key |
//! | `subject` | what is submitted, and the intent's name |
//! | `intent` | where keys are kept |
//! | `attempt` | attempts and what their answers do |
//! | `guard` | second submits, busy marks |
//! | `app` | options and what is in flight |
//! | `page`, `names` | the page, and the only bindings; what the page calls things |
//! | `platform/` | JavaScript by hand: what wasm cannot be, and what comes before it |

mod attempt;
mod door;
mod gate;
mod guard;
mod intent;
mod look;
mod names;
mod options;
mod page;
mod subject;
mod tab;
mod tickets;

use std::cell::Cell;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::{
    door::{form, htmx, send as send_door},
    names::{
        FORMDATA, HTMX_ABORT, HTMX_BEFORE_HISTORY_SAVE, HTMX_BEFORE_REQUEST, HTMX_BEFORE_SEND, HTMX_CONFIG_REQUEST,
        HTMX_CONFIG_REQUEST_2, HTMX_CONFIRM, HTMX_FINALLY_REQUEST, LISTENED, Name, PAGEHIDE, PAGESHOW, PERSISTED,
        SUBMIT,
    },
    options::set_options,
    page::{Js, is, js, name_of},
};

/// Small rather than fast: a page makes a few hundred short-lived values.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::cell::TalcSyncCell<talc::wasm::WasmGrowAndClaim, Bins> =
    talc::cell::TalcSyncCell::new_wasm(talc::wasm::WasmGrowAndClaim);

/// The allocator's free lists: one for each power of two.
#[cfg(target_family = "wasm")]
struct Bins;

#[cfg(target_family = "wasm")]
impl talc::base::binning::Binning for Bins {
    type AvailabilityBitField = u32;

    fn size_to_bin(size: usize) -> u32 {
        size.ilog2()
    }
}

thread_local! {
    /// Whether [`start`] has run.
    static STARTED: Cell<bool> = const { Cell::new(false) };
}

/// Something that the page is listened to for has happened.
#[wasm_bindgen]
pub fn on(event: &Js, name: Name) {
    match name {
        SUBMIT => form::on_submit(event),
        FORMDATA => form::on_formdata(event),
        PAGEHIDE => tab::leave_tab(),
        PAGESHOW if is(event, PERSISTED) => {
            guard::unlock_all();
            tab::name_tab();
            look::look_at_open_intents(true);
        }
        HTMX_CONFIRM => htmx::confirm(event),
        HTMX_CONFIG_REQUEST_2 => htmx::configure(event),
        HTMX_BEFORE_SEND => htmx::before_send(event),
        HTMX_ABORT => htmx::abort(event),
        HTMX_BEFORE_HISTORY_SAVE => page::unmark_all(),
        HTMX_CONFIG_REQUEST => htmx::config_request(event),
        HTMX_BEFORE_REQUEST => htmx::before_request(event),
        HTMX_FINALLY_REQUEST => htmx::finally(event),
        _ => (),
    }
}

/// Resumes what waits in wasm for the page.
#[wasm_bindgen]
pub fn resume(ticket: i32, value: Js, ok: bool) {
    tickets::redeem_ticket(ticket, value, ok);
}

/// The page's names, one a line. The first of them are the events that [`on`] is to be called for.
#[wasm_bindgen]
pub fn words() -> Js {
    js(names::ALL)
}

/// Sets options; the first time it starts, and gives the number of events to listen to. Options, all of them each time: `header`, `field`, `origins`, `retry`, `disable`.
/// `answered`: another page answers for the tab's name.
#[wasm_bindgen]
pub fn start(options: &Js, answered: bool) -> i32 {
    set_options(options);
    if STARTED.replace(true) {
        return 0;
    }
    tab::take_over_intents(answered);
    look::look_at_open_intents(false);
    LISTENED
}

/// `send(url, init, options)`, its first two arguments made into a `Request` by the page; `call` has `resolve` and `reject`.
/// False: its intent is under way with other content.
#[wasm_bindgen]
pub fn send(request: &Js, body: &Js, options: &Js, call: &Js) -> bool {
    send_door::send(request, body, options, call)
}

/// Ends a form's intents by the person's own decision: its next submit has a new key.
#[wasm_bindgen]
pub fn renew(form: &Js) {
    let start = name_of(subject::place(form), 0.0);
    guard::unlock_place(&start);
    intent::forget_intents(&start);
}

/// `form.submit()` is being called, or has returned.
#[wasm_bindgen]
pub fn by_script(form: &Js) {
    form::submit_by_script(form);
}
