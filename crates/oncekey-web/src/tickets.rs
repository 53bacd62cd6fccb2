//! What waits in wasm for the page: each has a ticket, and the page redeems it once.

use std::cell::RefCell;

use crate::page::{Js, redeem_after_delay, redeem_when_settled, to_double};

/// What waits for the page, called once with a value and whether all went well.
pub type Waiter = Box<dyn FnOnce(Js, bool)>;

struct Tickets {
    last: i32,
    waiters: Vec<(i32, Waiter)>,
}

thread_local! {
    static TICKETS: RefCell<Tickets> = const { RefCell::new(Tickets { last: 0, waiters: Vec::new() }) };
}

/// Lets something wait for the page. A closure of wasm-bindgen would cost more glue.
pub fn issue_ticket(waiter: Waiter) -> i32 {
    TICKETS.with_borrow_mut(|tickets| {
        tickets.last += 1;
        tickets.waiters.push((tickets.last, waiter));
        tickets.last
    })
}

/// Resumes what waits under a ticket; one that was redeemed before is nothing.
pub fn redeem_ticket(ticket: i32, value: Js, ok: bool) {
    let waiter = TICKETS.with_borrow_mut(|tickets| {
        let place = tickets.waiters.iter().position(|(other, _)| *other == ticket)?;
        Some(tickets.waiters.swap_remove(place).1)
    });
    if let Some(waiter) = waiter {
        waiter(value, ok);
    }
}

/// Calls back once with the promise's value, or its reason and `false`.
pub fn when_settled(promise: &Js, waiter: Waiter) {
    redeem_when_settled(promise, issue_ticket(waiter));
}

/// Calls back once after so many milliseconds.
pub fn after_delay(ms: u64, waiter: Waiter) {
    redeem_after_delay(to_double(ms), issue_ticket(waiter), false, &Js::UNDEFINED);
}

/// As [`after_delay`], and not before the browser is on line; at once if the signal says abort. The ticket may be redeemed
/// sooner.
pub fn after_delay_on_line(ms: u64, signal: &Js, waiter: Waiter) -> i32 {
    let ticket = issue_ticket(waiter);
    redeem_after_delay(to_double(ms), ticket, true, signal);
    ticket
}
