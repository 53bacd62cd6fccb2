//! Busy intents: a second submit is refused, the page says so, and exactly what was marked is undone.

use std::cell::RefCell;

use oncekey::client::intent::LEAVING;

use crate::{
    intent::Intent,
    names::{
        ARIA_BUSY, ARIA_DISABLED, BLOCKED, DATA_ONCE_BUSY, DISABLED, EMPTY, SENDING, STARTS_WITH, TIME_STAMP, TRUE,
    },
    options::disables_submitter,
    page::{Js, call1, end_now, ended, fire, get, is_text, mark, number, say, unmark, word},
    subject::Subject,
    tickets::after_delay,
};

/// One busy intent.
pub struct Lock {
    id: i32,
    name: Js,
    key: Js,
    owner: Js,
    submitter: Js,
    leaving: bool,
}

struct Locks {
    /// The last number given to a lock.
    last: i32,
    busy: Vec<Lock>,
}

thread_local! {
    static LOCKS: RefCell<Locks> = const { RefCell::new(Locks { last: 0, busy: Vec::new() }) };
}

/// Whether an intent is busy.
pub fn is_busy(name: &Js) -> bool {
    LOCKS.with_borrow(|locks| locks.busy.iter().any(|lock| &lock.name == name))
}

/// Whether another submit of this intent must be refused: it is busy, or the event came while it was and then queued.
pub fn refuses(subject: &Subject, event: &Js) -> bool {
    let name = subject.name();
    let stamp = number(&get(event, TIME_STAMP));
    let busy = LOCKS.with_borrow(|locks| locks.busy.iter().find(|lock| lock.name == name).map(|lock| lock.key.clone()));
    let (key, reason) = match busy {
        Some(key) => (key, "busy"),
        None if stamp > 0.0 && stamp < ended(&name) => (Js::NULL, "queued"),
        None => return false,
    };
    fire(&subject.owner, BLOCKED, &key, 0, reason, 0);
    true
}

/// Makes an intent busy, and says so on its form and submitter; returns what frees it.
pub fn lock_intent(subject: &Subject, intent: &Intent) -> i32 {
    mark(&subject.owner, ARIA_BUSY, TRUE);
    mark(&subject.submitter, ARIA_DISABLED, TRUE);
    if disables_submitter() {
        mark(&subject.submitter, DISABLED, EMPTY);
    }
    let words = subject.attribute(DATA_ONCE_BUSY);
    say(&if is_text(&words) { words } else { word(SENDING) });
    let lock = Lock {
        id: 0,
        name: intent.name.clone(),
        key: intent.key.clone(),
        owner: subject.owner.clone(),
        submitter: subject.submitter.clone(),
        leaving: false,
    };
    LOCKS.with_borrow_mut(|locks| {
        locks.last += 1;
        locks.busy.push(Lock { id: locks.last, ..lock });
        locks.last
    })
}

/// Keeps an intent busy until the page leaves: success led elsewhere.
pub fn lock_until_page_leaves(id: i32) {
    LOCKS.with_borrow_mut(|locks| {
        for lock in &mut locks.busy {
            lock.leaving |= lock.id == id;
        }
    });
    after_delay(LEAVING, Box::new(move |_, _| unlock_intents(&|lock| lock.id == id)));
}

/// Frees an intent, unless the page is leaving.
pub fn unlock(id: i32) {
    unlock_intents(&|lock| lock.id == id && !lock.leaving);
}

/// Frees everything: the page is shown again.
pub fn unlock_all() {
    unlock_intents(&|_| true);
}

/// Frees all intents whose names begin so: the person's own decision.
pub fn unlock_place(start: &Js) {
    let names: Vec<Js> = LOCKS.with_borrow(|locks| locks.busy.iter().map(|lock| lock.name.clone()).collect());
    for name in names {
        if call1(&name, STARTS_WITH, start).is_truthy() {
            unlock_intents(&|lock| lock.name == name);
        }
    }
}

fn unlock_intents(which: &dyn Fn(&Lock) -> bool) {
    while let Some(lock) = LOCKS.with_borrow_mut(|locks| {
        let place = locks.busy.iter().position(which)?;
        Some(locks.busy.swap_remove(place))
    }) {
        end_now(&lock.name);
        unmark(&lock.owner, ARIA_BUSY);
        unmark(&lock.submitter, ARIA_DISABLED);
        unmark(&lock.submitter, DISABLED);
        if LOCKS.with_borrow(|locks| locks.busy.is_empty()) {
            say(&Js::UNDEFINED);
        }
    }
}
