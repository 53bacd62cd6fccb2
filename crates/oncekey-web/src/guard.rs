//! Busy intents: a second submit is refused, the page says so, and exactly what was marked is undone.

use std::cell::RefCell;

use oncekey::client::{
    guard::{LEAVING, refusal_reason},
    subject::IntentName,
};

use crate::{
    intent::{Intent, last_end, note_end},
    options::disables_submitter,
    page::{Js, call_method, fire_event, is_member_text, is_member_truthy, mark, member_number, note, say, unmark},
    subject::Subject,
    tickets::after_delay,
};

/// One busy intent.
struct Lock {
    id: i32,
    name: IntentName,
    /// Its place and target alone.
    base: IntentName,
    /// What the form's controls said.
    controls: u64,
    key: Js,
    owner: Js,
    submitter: Js,
    leaving: bool,
    /// Whether the form has other content by now, and is to be submitted again.
    again: bool,
    /// What submits that content where the form has left meanwhile.
    held: Js,
}

struct Locks {
    /// The last number given to a lock; 0 is none.
    last: i32,
    busy: Vec<Lock>,
}

thread_local! {
    static LOCKS: RefCell<Locks> = const { RefCell::new(Locks { last: 0, busy: Vec::new() }) };
}

/// The key of a busy intent.
fn busy_key(name: IntentName) -> Option<Js> {
    LOCKS.with_borrow(|locks| locks.busy.iter().find(|lock| lock.name == name).map(|lock| lock.key.clone()))
}

/// Whether an intent is busy.
pub fn is_busy(name: IntentName) -> bool {
    busy_key(name).is_some()
}

/// What becomes of a submit while its intent may be busy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is sent.
    Free,
    /// It is not sent.
    Refused,
    /// It is sent when the one under way has ended, as the form is then.
    Later,
}

/// Whether another submit of this intent must be refused; then the page is told. `trigger` is the event that caused it. One
/// that names no submitter is told by what the form's controls say, whichever button a library sends with it.
pub fn admit(subject: &Subject, trigger: &Js) -> Admission {
    let (name, base) = (subject.intent_name(), subject.base_name());
    let by_script = is_member_text(trigger, "type", "submit") && !is_member_truthy(trigger, "submitter");
    let controls = subject.control_digest();
    let busy = LOCKS.with_borrow_mut(|locks| {
        let lock = locks.busy.iter_mut().find(|lock| lock.name == name || by_script && lock.base == base)?;
        lock.again |= by_script && lock.controls != controls;
        Some((lock.key.clone(), lock.again))
    });
    let happened_at = Some(member_number(trigger, "timeStamp")).filter(|stamp| *stamp > 0.0);
    let Some(reason) = refusal_reason(busy.is_some(), happened_at, last_end(name)) else {
        return Admission::Free;
    };
    let (key, again) = busy.unwrap_or((Js::NULL, false));
    if again && by_script {
        note("sent later, busy", &subject.owner);
        return Admission::Later;
    }
    fire_event(&subject.owner, "oncekey:blocked", &key, 0, reason, None);
    Admission::Refused
}

/// Keeps what submits a form that waits, for when it has left.
pub fn keep_held(form: &Js, held: &Js) {
    LOCKS.with_borrow_mut(|locks| {
        for lock in locks.busy.iter_mut().filter(|lock| lock.again && lock.owner == *form) {
            lock.held = held.clone();
        }
    });
}

/// Tells the page that a submit was refused.
pub fn tell_blocked(subject: &Subject) {
    fire_event(&subject.owner, "oncekey:blocked", &Js::NULL, 0, "busy", None);
}

/// Whether a submit that a script makes by `form.submit()` repeats one under way; or `Some(false)` where it has other content.
pub fn repeats(subject: &Subject) -> Option<bool> {
    let (base, controls) = (subject.base_name(), subject.control_digest());
    LOCKS.with_borrow(|locks| {
        let mut busy =
            locks.busy.iter().filter(|lock| lock.base == base).map(|lock| lock.controls == controls).peekable();
        busy.peek()?;
        Some(busy.any(|is_same| is_same))
    })
}

/// Makes an intent busy, and says so on its form and submitter; returns the number of its lock.
pub fn lock_intent(subject: &Subject, intent: &Intent) -> i32 {
    mark(&subject.owner, "aria-busy", "true");
    mark(&subject.submitter, "aria-disabled", "true");
    if disables_submitter() {
        mark(&subject.submitter, "disabled", "");
    }
    say(subject.attribute("data-once-busy").as_deref().unwrap_or("Sending…"));
    let (name, key) = (intent.name, intent.key.clone());
    let (base, controls) = (subject.base_name(), subject.control_digest());
    let (owner, submitter) = (subject.owner.clone(), subject.submitter.clone());
    LOCKS.with_borrow_mut(|locks| {
        locks.last += 1;
        let id = locks.last;
        locks.busy.push(Lock {
            id,
            name,
            base,
            controls,
            key,
            owner,
            submitter,
            leaving: false,
            again: false,
            held: Js::UNDEFINED,
        });
        id
    })
}

/// Keeps an intent busy until the page leaves: success led elsewhere.
pub fn lock_until_page_leaves(id: i32) {
    LOCKS.with_borrow_mut(|locks| {
        for lock in locks.busy.iter_mut().filter(|lock| lock.id == id) {
            lock.leaving = true;
        }
    });
    after_delay(LEAVING, Box::new(move |_, _| unlock_intents(Unlocking::Freed, &|lock| lock.id == id)));
}

/// Frees an intent whose attempts have ended, unless the page is leaving.
pub fn unlock(id: i32) {
    unlock_intents(Unlocking::Ended, &|lock| lock.id == id && !lock.leaving);
}

/// Frees a form's intent: the browser's own submit takes the place of the script's.
pub fn give_way(id: i32, form: &Js) {
    unlock_intents(Unlocking::Replaced, &|lock| lock.id == id && lock.owner == *form);
}

/// Frees everything: the page is shown again.
pub fn unlock_all() {
    unlock_intents(Unlocking::Freed, &|_| true);
}

/// Frees all intents of a place: the person's own decision.
pub fn unlock_place(place: u64) {
    unlock_intents(Unlocking::Freed, &|lock| lock.name.place == place);
}

/// A form that waits is submitted as it is now; one that an answer has replaced, as it was.
fn submit_again(lock: &Lock) {
    if is_member_truthy(&lock.owner, "isConnected") {
        call_method(&lock.owner, "requestSubmit");
    } else {
        call_method(&lock.held, "call");
    }
}

/// Why an intent is busy no more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unlocking {
    /// Its attempts have ended: what waits for that is submitted.
    Ended,
    /// The page is shown again, or the person has decided so: no form submits itself.
    Freed,
    /// Another submit takes its place: it has not ended, so that this one has not waited behind it.
    Replaced,
}

fn unlock_intents(why: Unlocking, is_meant: &dyn Fn(&Lock) -> bool) {
    while let Some(lock) = LOCKS.with_borrow_mut(|locks| {
        let place = locks.busy.iter().position(is_meant)?;
        Some(locks.busy.swap_remove(place))
    }) {
        if why != Unlocking::Replaced {
            note_end(lock.name);
        }
        unmark(&lock.owner, "aria-busy");
        unmark(&lock.submitter, "aria-disabled");
        unmark(&lock.submitter, "disabled");
        if why == Unlocking::Ended && lock.again {
            after_delay(0, Box::new(move |_, _| submit_again(&lock)));
        }
        if LOCKS.with_borrow(|locks| locks.busy.is_empty()) {
            say("");
        }
    }
}
