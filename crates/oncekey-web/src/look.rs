//! Looks at the intents whose outcome this tab never learnt, and what waits for those looks.

use std::cell::RefCell;

use oncekey::client::intent::{Stage, after_look};

use crate::{
    gate::{learn_retention, look_at_key, retention},
    guard,
    intent::{Intent, kept_intent, kept_names, save_intent},
    names::{EMPTY, RELOAD},
    page::{Js, came_by, each, now},
    tickets::after_delay,
};

/// How long a submit waits at most to learn what became of the one before. In ms.
const LONGEST_LOOK: u64 = 1_000;

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
    after_delay(
        LONGEST_LOOK,
        Box::new(|_, _| {
            LOOKS.with_borrow_mut(|looks| looks.under_way = 0);
            release_waiting();
        }),
    );
}

fn end_look() {
    LOOKS.with_borrow_mut(|looks| looks.under_way = looks.under_way.saturating_sub(1));
    release_waiting();
}

fn release_waiting() {
    let waiting = LOOKS.with_borrow_mut(|looks| match looks.under_way {
        0 => std::mem::take(&mut looks.waiting),
        _ => Vec::new(),
    });
    for f in waiting {
        f();
    }
}

/// Looks at all intents whose outcome this tab never learnt.
/// `again`: this page itself is shown once more.
pub fn look_at_open_intents(again: bool) {
    each(&kept_names(), &mut |name| {
        look_at_intent(name, again);
        true
    });
}

fn look_at_intent(name: Js, again: bool) {
    let Some((key, kept)) = kept_intent(&name) else {
        return;
    };
    learn_retention();
    if kept.left(now(), retention()) == 0 {
        save_intent(&name, &key, None);
    } else if kept.stage != Stage::Loose && !guard::is_busy(&name) {
        LOOKS.with_borrow_mut(|looks| looks.under_way += 1);
        look_at_key(&key.clone(), EMPTY, move |look| {
            // The person may have submitted meanwhile; then that attempt learns the outcome.
            if !guard::is_busy(&name) {
                let stage = after_look(kept.stage, look, !again && came_by(RELOAD));
                let intent = Intent { name, key, kept: Some(kept), reason: "" };
                intent.move_to_stage(stage);
            }
            end_look();
        });
    }
}
