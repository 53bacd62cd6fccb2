//! Plain forms: the key joins the fields when the browser gathers them; the outcome is learnt from the gate or on the next page.

use std::cell::{Cell, RefCell};

use oncekey::client::{
    guard::PLAIN_BUSY,
    intent::Progress,
    look::{Arrival, FIRST_LOOK, MORE_LOOKS, PlainStep, plain_step, progress_after_look},
    retry::{AttemptAnswer, GateWord, RetryPlan},
};

use crate::{
    attempt::Attempt,
    door::library::note_submit,
    gate::look_at_key,
    guard::{self, Admission},
    intent::{find_or_mint, is_outcome_open, known_contents},
    look::{after_looks, is_looking},
    options::key_field,
    page::{Js, call_method, hold_submit, is_member_truthy, member, refuse_event, set_entry},
    subject::Subject,
    tickets::after_delay,
};

/// A plain submit being dispatched.
#[derive(Clone)]
struct PlainSubmit {
    /// Its event; `undefined` where a script calls `form.submit()`.
    event: Js,
    form: Js,
    submitter: Js,
    /// Tells a script's submit from another of the form with other content.
    salt: u64,
}

thread_local! {
    /// One submit may start another.
    static UNDER_WAY: RefCell<Vec<PlainSubmit>> = const { RefCell::new(Vec::new()) };
    /// The lock of a script's submit in this task, which the browser's own submit takes the place of.
    static SCRIPT_LOCK: Cell<i32> = const { Cell::new(0) };
}

/// A form is about to be submitted. Who makes an event knows what it is for.
pub fn on_submit(event: &Js) {
    let (form, submitter) = (member(event, "target"), member(event, "submitter"));
    let subject = Subject::plain(&form, &submitter);
    if !is_member_truthy(event, "isTrusted") || !subject.is_ours() {
        return;
    }
    guard::give_way(SCRIPT_LOCK.get(), &form);
    match guard::admit(&subject, event) {
        Admission::Free => (),
        Admission::Refused => return refuse_event(event),
        Admission::Later => return guard::keep_held(&form, &hold_submit(event)),
    }
    if is_looking() && is_outcome_open(subject.intent_name()) {
        let held = hold_submit(event);
        return after_looks(move || drop(call_method(&held, "call")));
    }
    note_submit(&form, &submitter);
    begin_submit(PlainSubmit { event: event.clone(), form, submitter, salt: 0 });
    after_delay(0, Box::new(|_, _| UNDER_WAY.with_borrow_mut(Vec::clear)));
}

fn begin_submit(submit: PlainSubmit) {
    UNDER_WAY.with_borrow_mut(|under_way| under_way.push(submit));
}

/// `form.submit()` is being called: no submit event tells of it. Without a form: it has returned. Whether it may be.
pub fn note_script_submit(form: &Js) -> bool {
    UNDER_WAY.with_borrow_mut(|under_way| under_way.retain(|submit| submit.event.is_truthy()));
    let subject = Subject::plain(form, &Js::UNDEFINED);
    if !form.is_truthy() || !subject.is_ours() {
        return true;
    }
    let repeats = guard::repeats(&subject);
    if repeats == Some(true) {
        guard::tell_blocked(&subject);
        return false;
    }
    let salt = repeats.map_or(0, |_| subject.control_digest());
    begin_submit(PlainSubmit { event: Js::UNDEFINED, form: form.clone(), submitter: Js::UNDEFINED, salt });
    true
}

/// A form's fields are gathered. Only the browser's own submit is ours: one whose event is over and not prevented, and that
/// has not had its fields.
pub fn on_formdata(event: &Js) {
    let form = member(event, "target");
    let is_over =
        |event: &Js| !is_member_truthy(event, "currentTarget") && !is_member_truthy(event, "defaultPrevented");
    let submit = UNDER_WAY.with_borrow_mut(|under_way| {
        let place = under_way.iter().rposition(|submit| submit.form == form && is_over(&submit.event))?;
        Some(under_way.swap_remove(place))
    });
    let Some(submit) = submit else {
        return;
    };
    let subject = Subject::plain(&form, &submit.submitter);
    if !subject.is_ours() {
        return;
    }
    let data = member(event, "formData");
    let content = subject.read_content(&data);
    let mut name = subject.intent_name();
    name.target ^= submit.salt;
    let mut intent = find_or_mint(name, content.digest, content.given_key, Progress::SentPlain);
    intent.address = subject.address();
    set_entry(&data, &key_field(), &intent.key);
    let was_busy = guard::is_busy(intent.name);
    let attempt = Attempt::first(intent, form, RetryPlan::UNASKED);
    attempt.begin();
    if was_busy {
        return;
    }
    let lock = guard::lock_intent(&subject, &attempt.intent);
    if !submit.event.is_truthy() {
        SCRIPT_LOCK.set(lock);
        after_delay(0, Box::new(|_, _| SCRIPT_LOCK.set(0)));
    }
    after_delay(PLAIN_BUSY, Box::new(move |_, _| guard::unlock(lock)));
    let target = subject.target_name();
    let watch = PlainWatch { attempt, lock, stays: !target.is_empty() && !target.starts_with('_') };
    after_delay(FIRST_LOOK, Box::new(move |_, _| watch_attempt(watch, MORE_LOOKS)));
}

/// A plain form's attempt while its page stays.
struct PlainWatch {
    attempt: Attempt,
    lock: i32,
    /// Whether its answer goes to a frame.
    stays: bool,
}

/// Asks the gate what became of it; `more` looks may follow.
fn watch_attempt(mut watch: PlainWatch, more: u32) {
    if !guard::is_busy(watch.attempt.intent.name) {
        return;
    }
    let (address, key) = (watch.attempt.intent.address.clone(), watch.attempt.intent.key.clone());
    look_at_key(&address, &key, "?wait=5", move |state| match plain_step(state, more, watch.stays) {
        PlainStep::Finish(status, grace) => {
            let waiter = move |_, _| {
                // The page may have been left, and shown again.
                if !guard::is_busy(watch.attempt.intent.name) {
                    return;
                }
                watch.attempt.conclude(AttemptAnswer::Status(status, GateWord::Other), None);
                if state.is_success() {
                    watch.attempt.intent.stay();
                }
                guard::unlock(watch.lock);
            };
            after_delay(grace, Box::new(waiter));
        }
        PlainStep::LookAgain(delay) => {
            after_delay(delay, Box::new(move |_, _| watch_attempt(watch, more - 1)));
        }
        PlainStep::GiveUp => {
            let intent = &watch.attempt.intent;
            let is_edited = known_contents(intent.name, 0).0 > 1;
            intent.move_to(progress_after_look(Progress::SentPlain, state, Arrival::Again, is_edited));
        }
    });
}
