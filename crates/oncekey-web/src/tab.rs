//! Whose intents a tab keeps: its own, and none of a living tab that it is a copy of. A frame shares its tab's.

use oncekey::client::tab::{ANSWER_WAIT, is_copied_tab};

use crate::{
    page::{
        Js, claim_tab_name, forget_all, forget_tab_name, is_top, keep_tab_name, leave_tab_name, note, random_bits,
        recall_tab_name, to_double,
    },
    tickets::{after_delay, when_settled},
};

/// Takes the tab's intents over from the page before, then calls back; a copy of a living tab starts with none, and with a
/// name of its own.
pub fn take_over_intents(then: impl FnOnce() + 'static) {
    let name = recall_tab_name();
    // In a frame the name is not this page's to claim.
    let marked = name.is_truthy() && is_top();
    if !marked {
        name_tab();
        return then();
    }
    let waiter = move |answered: Js, _| {
        if is_copied_tab(marked, answered.is_truthy()) {
            note("a copied tab, without keys", &answered);
            forget_all();
            name_tab();
        }
        then();
    };
    when_settled(&claim_tab_name(&name, to_double(ANSWER_WAIT)), Box::new(waiter));
}

/// Gives the tab a new name, for which this page answers while it is shown.
pub fn name_tab() {
    if is_top() {
        // Nobody waits for it.
        let waiter = |_, _| {
            let name = Js::from(random_bits());
            keep_tab_name(&name);
            claim_tab_name(&name, to_double(ANSWER_WAIT));
        };
        after_delay(0, Box::new(waiter));
    }
}

/// Marks the tab as left, so that the next page takes its intents over.
pub fn leave_tab() {
    if is_top() {
        forget_tab_name();
        leave_tab_name();
    }
}
