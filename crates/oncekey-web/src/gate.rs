//! What the page asks the gate: what became of a key, and how long keys are remembered.

use std::cell::Cell;

use oncekey::client::intent::{DEFAULT_RETENTION, Look};

use crate::{
    names::{EMPTY, KEYS, Name, RETENTION, ROUTES, STATE, STATUS, WELL_KNOWN},
    page::{Js, ask, each, get, millis, number, small, text, word},
    tickets::when_settled,
};

thread_local! {
    /// How long the gate remembers a key, in ms.
    static RETENTION_MS: Cell<u64> = const { Cell::new(DEFAULT_RETENTION) };
    /// Whether the gate was asked for it.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// How long the gate remembers a key, in milliseconds.
pub fn retention() -> u64 {
    RETENTION_MS.get()
}

/// Asks the gate what became of a key; `wait` is a query that says how long.
pub fn look_at_key(key: &Js, wait: Name, f: impl FnOnce(Look) + 'static) {
    when_settled(
        &ask(KEYS, key, wait),
        Box::new(|json, _| {
            let state = text(&json, STATE);
            f(Look::parse(state.as_deref(), small(&get(&json, STATUS))));
        }),
    );
}

/// Learns from the gate's policy how long keys are remembered: the shortest of its routes. Asked once, when it first matters.
pub fn learn_retention() {
    if ASKED.replace(true) {
        return;
    }
    when_settled(
        &ask(WELL_KNOWN, &word(EMPTY), EMPTY),
        Box::new(|policy, _| {
            let mut least = number(&get(&policy, RETENTION));
            each(&get(&policy, ROUTES), &mut |route| {
                let own = number(&get(&route, RETENTION));
                if own > 0.0 && (least <= 0.0 || own < least) {
                    least = own;
                }
                true
            });
            if least > 0.0 {
                RETENTION_MS.set(millis(least * 1000.0));
            }
        }),
    );
}
