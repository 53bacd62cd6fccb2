//! The browser shell of Oncekey: one key per intent for htmx, plain forms and `send`. It decides nothing; `oncekey` does.
//!
//! | room | what happens there |
//! |---|---|
//! | `form` | plain forms |
//! | `htmx` | htmx 1.9, 2 and 4 |
//! | `send` | fetch with a key |
//! | `subject` | what is submitted, and the intent's name |
//! | `intent` | where keys are kept |
//! | `flight` | attempts and what their answers do |
//! | `guard` | second submits, busy marks |
//! | `app` | options and what is in flight |
//! | `dom` | the page, and the only bindings |
//! | `platform.mjs`, `page.mjs` | JavaScript by hand: what wasm cannot be |

mod app;
mod dom;
mod flight;
mod form;
mod guard;
mod htmx;
mod intent;
mod send;
mod subject;

use oncekey::retry::Plan;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::dom::{Js, call_text, call2, get, is, name_of, text, window};

/// Small rather than fast: a page makes a few hundred short-lived values.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// What `page.mjs` listens to the page for, in the order of [`on`].
const EVENTS: &str = "submit formdata pagehide pageshow htmx:confirm htmx:configRequest htmx:beforeSend htmx:abort \
    htmx:beforeHistorySave htmx:config:request htmx:before:request htmx:finally:request";

/// Something that the page is listened to for has happened; `index` is the place of its name in the list.
#[wasm_bindgen]
pub fn on(event: &Js, index: u32) {
    match index {
        0 => form::submit(event),
        1 => form::gather(event),
        2 => intent::leave(),
        3 if is(event, "persisted") => {
            guard::free_all();
            intent::take_over(false);
            intent::look_back(false);
        }
        4 => htmx::confirm(event),
        5 => htmx::configure(event),
        6 => htmx::before_send(event),
        7 => htmx::abort(event),
        8 => dom::unmark_all(),
        9 => htmx::config_request(event),
        10 => htmx::before_request(event),
        11 => htmx::finally(event),
        _ => (),
    }
}

/// Resumes what waits in wasm for the page.
#[wasm_bindgen]
pub fn resume(ticket: u32, value: Js, ok: bool) {
    dom::resume(ticket, value, ok);
}

/// Sets options; the first time it starts, and gives the names of the events to listen to.
/// Options: `header`, `field`, `origins`, `retry`, `disable`.
#[wasm_bindgen]
pub fn start(options: &Js) -> Js {
    let header = get(options, "header");
    let field = get(options, "field");
    let retry = text(options, "retry").and_then(|text| Plan::parse(&text));
    let (origins, disable) = (get(options, "origins"), get(options, "disable"));
    let started = app::with(|app| {
        if header.is_truthy() {
            app.header = header;
        }
        if field.is_truthy() {
            app.field = field;
        }
        if origins.is_truthy() {
            app.origins = origins;
        }
        app.retry = retry.or(app.retry);
        if !disable.is_undefined() {
            app.disable = disable.is_truthy();
        }
        core::mem::replace(&mut app.started, true)
    });
    if started {
        return Js::UNDEFINED;
    }
    let navigation = call_text(&get(&window(), "performance"), "getEntriesByType", "navigation");
    let navigation = text(&navigation, "0.type").unwrap_or_default();
    intent::take_over(navigation == "navigate");
    intent::look_back(navigation == "reload");
    let root = get(&window(), "document.documentElement");
    call2(&root, "setAttribute", &Js::from_str("data-oncekey"), &Js::from_str("ready"));
    Js::from_str(EVENTS)
}

/// `send(url, init, options)`, its first two arguments made into a `Request` by the page; `call` has `resolve` and `reject`.
/// False: its intent is under way with other content.
#[wasm_bindgen]
pub fn send(request: &Js, body: &Js, options: &Js, call: &Js) -> bool {
    send::send(request, body, options, call)
}

/// Ends a form's intents by the person's own decision: its next submit has a new key.
#[wasm_bindgen]
pub fn renew(form: &Js) {
    let start = name_of(subject::place(form), 0.0);
    guard::free_place(&start);
    intent::forget(&start);
}

/// `form.submit()` is being called, or has returned.
#[wasm_bindgen]
pub fn by_script(form: &Js) {
    form::by_script(form);
}
