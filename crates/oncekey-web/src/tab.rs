//! Whose intents a tab keeps: its own, and no copy's of a living tab.

use oncekey::client::intent::is_copy;

use crate::{
    intent::forget_intents,
    names::{EMPTY, TOP, WINDOW},
    page::{Js, claim, global, keep, mint, recall, word, yield_name},
    tickets::after_delay,
};

/// Whether this page is the tab's own, and no frame in it: a frame shares the tab's intents.
fn is_top() -> bool {
    global(TOP) == global(WINDOW)
}

/// Takes the tab's intents over from the page before; a copy of a living tab starts with none, and with a name of its own.
/// `answered`: another page answers for the name that is kept.
pub fn take_over_intents(answered: bool) {
    let mark = word(EMPTY);
    let marked = recall(&mark).is_truthy();
    if is_top() && is_copy(marked, answered) {
        forget_intents(&mark);
        name_tab();
    } else if !marked {
        name_tab();
    }
}

/// Gives the tab a new name, for which this page answers while it is shown.
pub fn name_tab() {
    if is_top() {
        // Nobody waits for it.
        after_delay(
            0,
            Box::new(|_, _| {
                let name = mint();
                keep(&word(EMPTY), &name);
                claim(&name);
            }),
        );
    }
}

/// Marks the tab as left, so that the next page takes its intents over.
pub fn leave_tab() {
    if is_top() {
        keep(&word(EMPTY), &Js::UNDEFINED);
        yield_name();
    }
}
