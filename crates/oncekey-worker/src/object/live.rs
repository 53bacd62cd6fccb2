//! What an object's memory knows of executions.

use oncekey::stored::record::Owner;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

use crate::platform::bindings::Live;

/// What the object's memory knows.
pub fn owner_of(live: &Live) -> Owner {
    Owner { running: Some(live.running()).filter(|generation| *generation != 0), latest: live.latest() }
}

/// Ends the request of an execution that was given up and is still listened to: another is to begin, and at most one
/// request of a key is under way.
pub fn end_late(live: &Live) {
    let late = live.late();
    if let Some(abort) = late.dyn_ref::<AbortController>() {
        abort.abort();
        live.set_late(&JsValue::UNDEFINED);
    }
}

/// The execution is over: those who wait for it decide anew.
pub fn end_execution(live: &Live, generation: u32) {
    if live.running() != generation {
        return;
    }
    live.set_running(0);
    wake_waiters(live);
}

/// Something has been decided: those who wait for it look anew.
pub fn wake_waiters(live: &Live) {
    let waiters = live.waiters();
    if waiters.length() == 0 {
        return;
    }
    live.set_waiters(js_sys::Array::new());
    for waiter in waiters.iter() {
        let _ = waiter.unchecked_into::<js_sys::Function>().call0(&JsValue::NULL);
    }
}
