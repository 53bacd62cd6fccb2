//! What the page asks the gate: what became of a key, and how long keys are remembered.

use std::cell::Cell;

use oncekey::client::{
    intent::{DEFAULT_RETENTION, shortest_retention},
    look::KeyState,
};

use crate::{
    page::{Js, fetch_json, items, member, member_number, member_text, to_integer, to_millis},
    tickets::when_settled,
};

thread_local! {
    /// How long the gate remembers a key, in ms.
    static RETENTION: Cell<u64> = const { Cell::new(DEFAULT_RETENTION) };
    /// Whether the gate was asked for it.
    static IS_RETENTION_ASKED: Cell<bool> = const { Cell::new(false) };
}

/// How long the gate remembers a key, in milliseconds.
pub fn retention() -> u64 {
    RETENTION.get()
}

/// Asks the gate what became of a key; `query` says how long it may wait.
pub fn look_at_key(key: &Js, query: &str, f: impl FnOnce(KeyState) + 'static) {
    let waiter = move |json: Js, _| {
        let state = member_text(&json, "state");
        f(KeyState::from_members(state.as_deref(), to_integer(&member(&json, "status"))));
    };
    when_settled(&fetch_json("/.oncekey/keys/", key, query), Box::new(waiter));
}

/// Learns from the gate's policy how long keys are remembered. Asked once, when it first matters.
pub fn learn_retention() {
    if IS_RETENTION_ASKED.replace(true) {
        return;
    }
    let waiter = |policy: Js, _| {
        let of = |part: &Js| to_millis(member_number(part, "retention") * 1000.0);
        let routes = items(member(&policy, "routes")).map(|route| of(&route));
        if let Some(shortest) = shortest_retention(routes.chain([of(&policy)])) {
            RETENTION.set(shortest);
        }
    };
    when_settled(&fetch_json("/.well-known/idempotency", &Js::from_str(""), ""), Box::new(waiter));
}
