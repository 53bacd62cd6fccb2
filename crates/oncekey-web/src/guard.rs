//! Busy intents: a second submit is refused, the page says so, and exactly what was marked is undone.

use oncekey::client::{intent::LEAVING, retry::Plan};

use crate::{
    app,
    attempt::Flight,
    names::{
        ARIA_BUSY, ARIA_DISABLED, BLOCKED, DATA_HX_RETRY, DATA_ONCE_BUSY, DATA_ONCE_RETRY, DISABLED, EMPTY, HX_RETRY,
        IS_RETRIED, SENDING, STARTS_WITH, TIME_STAMP, TRUE,
    },
    page::{Js, attr, call1, closest, end_now, ended, fire, get, is_text, later, mark, number, say, unmark, word},
    subject::Subject,
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

/// Whether an intent is busy.
pub fn is_held(name: &Js) -> bool {
    app::with(|app| app.locks.iter().any(|lock| &lock.name == name))
}

/// Whether another submit of this intent must be refused: it is busy, or the event came while it was and then queued.
pub fn refuses(subject: &Subject, event: &Js) -> bool {
    let name = subject.name();
    let stamp = number(&get(event, TIME_STAMP));
    let busy = app::with(|app| app.locks.iter().find(|lock| lock.name == name).map(|lock| lock.key.clone()));
    let (key, reason) = match busy {
        Some(key) => (key, "busy"),
        None if stamp > 0.0 && stamp < ended(&name) => (Js::NULL, "queued"),
        None => return false,
    };
    fire(&subject.owner, BLOCKED, &key, 0, reason, 0);
    true
}

/// Makes an intent busy, and says so on its form and submitter; returns what frees it.
pub fn hold(subject: &Subject, flight: &Flight) -> i32 {
    mark(&subject.owner, ARIA_BUSY, TRUE);
    mark(&subject.submitter, ARIA_DISABLED, TRUE);
    if app::with(|app| app.disable) {
        mark(&subject.submitter, DISABLED, EMPTY);
    }
    let words = subject.attribute(DATA_ONCE_BUSY);
    say(&if is_text(&words) { words } else { word(SENDING) });
    let lock = Lock {
        id: 0,
        name: flight.intent.name.clone(),
        key: flight.intent.key.clone(),
        owner: subject.owner.clone(),
        submitter: subject.submitter.clone(),
        leaving: false,
    };
    app::with(|app| {
        app.last += 1;
        app.locks.push(Lock { id: app.last, ..lock });
        app.last
    })
}

/// Keeps an intent busy until the page leaves: success led elsewhere.
pub fn leave(id: i32) {
    app::with(|app| {
        for lock in &mut app.locks {
            lock.leaving |= lock.id == id;
        }
    });
    later(LEAVING, Box::new(move |_, _| end(&|lock| lock.id == id)));
}

/// Frees an intent, unless the page is leaving.
pub fn free(id: i32) {
    end(&|lock| lock.id == id && !lock.leaving);
}

/// Frees everything: the page is shown again.
pub fn free_all() {
    end(&|_| true);
}

/// Frees all intents whose names begin so: the person's own decision.
pub fn free_place(start: &Js) {
    end(&|lock| call1(&lock.name, STARTS_WITH, start).is_truthy());
}

fn end(which: &dyn Fn(&Lock) -> bool) {
    while let Some(lock) = app::with(|app| {
        let place = app.locks.iter().position(which)?;
        Some(app.locks.swap_remove(place))
    }) {
        end_now(&lock.name);
        unmark(&lock.owner, ARIA_BUSY);
        unmark(&lock.submitter, ARIA_DISABLED);
        unmark(&lock.submitter, DISABLED);
        if app::with(|app| app.locks.is_empty()) {
            say(&Js::UNDEFINED);
        }
    }
}

/// The plan for retries of an element: the attribute on it or on the nearest ancestor, else the page's.
pub fn plan(element: &Js) -> Plan {
    let holder = closest(element, IS_RETRIED);
    let text =
        attr(&holder, HX_RETRY).or_else(|| attr(&holder, DATA_HX_RETRY)).or_else(|| attr(&holder, DATA_ONCE_RETRY));
    match text {
        Some(text) => Plan::of(Some(&text)),
        None => app::with(|app| app.retry).unwrap_or(Plan::UNASKED),
    }
}
