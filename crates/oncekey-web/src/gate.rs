//! What the page asks the gate: what became of a key, and how long keys are remembered.

use std::cell::Cell;

use oncekey::{
    client::{
        intent::{DEFAULT_RETENTION, shortest_retention},
        look::KeyState,
    },
    key::mint::mint_v7,
};

use crate::{
    page::{Js, fetch_json, items, member, member_number, member_text, note, now, random_bits, to_integer, to_millis},
    tickets::when_settled,
};

thread_local! {
    /// How long the gate remembers a key, in ms.
    static RETENTION: Cell<u64> = const { Cell::new(DEFAULT_RETENTION) };
    /// How far the gate's clock is ahead of the page's, in ms, as far as that is known.
    static AHEAD: Cell<u64> = const { Cell::new(0) };
    /// Whether the gate was asked for it.
    static IS_RETENTION_ASKED: Cell<bool> = const { Cell::new(false) };
}

/// How long the gate remembers a key, in milliseconds.
pub fn retention() -> u64 {
    RETENTION.get()
}

/// A key that nobody has used or can guess, by the server's clock where that is known.
pub fn mint_key() -> Js {
    let random_byte = |_| u8::try_from(random_bits() >> 24).unwrap_or_default();
    Js::from(mint_v7(now().wrapping_add(AHEAD.get()), std::array::from_fn(random_byte)).as_str())
}

/// Learns the server's clock from the date of an answer that has just come.
pub fn learn_clock(date: u64) {
    AHEAD.set(date.wrapping_sub(now()));
}

/// Asks the gate that an address leads to what became of a key; `query` says how long it may wait.
pub fn look_at_key(address: &Js, key: &Js, query: &str, f: impl FnOnce(KeyState) + 'static) {
    let waiter = move |json: Js, _| {
        note("looked at a key", &json);
        let state = member_text(&json, "state");
        f(KeyState::from_members(state.as_deref(), to_integer(&member(&json, "status"))));
    };
    when_settled(&fetch_json(address, "/.oncekey/keys/", key, query), Box::new(waiter));
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
    when_settled(&fetch_json(&Js::UNDEFINED, "/.well-known/idempotency", &Js::from_str(""), ""), Box::new(waiter));
}
