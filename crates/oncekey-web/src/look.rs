//! Looks at the intents whose outcome this tab never learnt, and what waits for those looks.

use std::cell::RefCell;

use oncekey::client::{
    intent::{Progress, is_answer, progress_after_page},
    look::{Arrival, LONGEST_WAIT, progress_after_look},
    subject::IntentName,
};

use crate::{
    gate::{learn_retention, look_at_key, retention},
    guard,
    intent::{address_of, forget_intent, kept_intent, kept_names, known_contents, move_kept},
    page::{arrival_status, now, time_origin},
    tickets::after_delay,
};

struct Looks {
    /// How many are under way.
    under_way: u32,
    /// What waits for them all.
    waiting: Vec<Box<dyn FnOnce()>>,
}

thread_local! {
    static LOOKS: RefCell<Looks> = const { RefCell::new(Looks { under_way: 0, waiting: Vec::new() }) };
}

/// Whether any look is under way.
pub fn is_looking() -> bool {
    LOOKS.with_borrow(|looks| looks.under_way > 0)
}

/// Calls back once the looks under way have ended, or the person has waited long enough.
pub fn after_looks(f: impl FnOnce() + 'static) {
    LOOKS.with_borrow_mut(|looks| looks.waiting.push(Box::new(f)));
    let waiter = |_, _| {
        LOOKS.with_borrow_mut(|looks| looks.under_way = 0);
        release_waiting();
    };
    after_delay(LONGEST_WAIT, Box::new(waiter));
}

fn end_look() {
    LOOKS.with_borrow_mut(|looks| looks.under_way = looks.under_way.saturating_sub(1));
    release_waiting();
}

fn release_waiting() {
    if is_looking() {
        return;
    }
    let waiting = LOOKS.with_borrow_mut(|looks| std::mem::take(&mut looks.waiting));
    for f in waiting {
        f();
    }
}

/// Looks at all intents whose outcome this tab never learnt.
/// `again`: this page itself is shown once more.
pub fn look_at_open_intents(again: bool) {
    for name in kept_names() {
        look_at_intent(name, again);
    }
}

fn look_at_intent(name: IntentName, again: bool) {
    let Some((key, kept)) = kept_intent(name) else {
        return;
    };
    learn_retention();
    if kept.time_left(now(), retention()) == 0 {
        forget_intent(name);
    } else if matches!(kept.progress, Progress::Sent | Progress::SentPlain) && !guard::is_busy(name) {
        let address = address_of(name);
        let status = if again { -2 } else { arrival_status(&address) };
        let is_edited = known_contents(name, 0).0 > 1;
        let is_shown = kept.progress == Progress::SentPlain && is_answer(kept.at, time_origin(), status);
        if is_shown && progress_after_page(status, is_edited).is_none() {
            return forget_intent(name);
        }
        let arrival = match status {
            0 if is_shown => Arrival::Answer,
            -1.. => Arrival::Elsewhere,
            _ => Arrival::Again,
        };
        LOOKS.with_borrow_mut(|looks| looks.under_way += 1);
        look_at_key(&address, &key.clone(), "", move |state| {
            // The person may have submitted meanwhile; then that attempt learns the outcome.
            if !guard::is_busy(name) {
                move_kept(name, &key, progress_after_look(kept.progress, state, arrival, is_edited));
            }
            end_look();
        });
    }
}
