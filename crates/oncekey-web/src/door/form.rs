//! Plain forms: the key joins the fields when the browser gathers them; the outcome is learnt from the gate or on the next page.

use std::cell::RefCell;

use oncekey::client::{
    guard::PLAIN_BUSY,
    intent::Progress,
    look::{FIRST_LOOK, MORE_LOOKS, PlainStep, plain_step},
    retry::{AttemptAnswer, GateWord, RetryPlan},
};

use crate::{
    attempt::Attempt,
    gate::look_at_key,
    guard,
    intent::{find_or_mint, is_outcome_open},
    look::{after_looks, is_looking},
    options::key_field,
    page::{Js, call_method1, is_member_truthy, member, refuse_event, set_entry},
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
}

thread_local! {
    static UNDER_WAY: RefCell<Option<PlainSubmit>> = const { RefCell::new(None) };
}

/// A form is about to be submitted, by whichever door.
pub fn on_submit(event: &Js) {
    let (form, submitter) = (member(event, "target"), member(event, "submitter"));
    let subject = Subject::plain(&form, &submitter);
    if !subject.is_ours() {
        return;
    }
    if guard::refuses(&subject, &Js::UNDEFINED) {
        return refuse_event(event);
    }
    if is_looking() && is_outcome_open(subject.intent_name()) {
        after_looks(move || {
            call_method1(&form, "requestSubmit", &submitter);
        });
        return refuse_event(event);
    }
    UNDER_WAY.set(Some(PlainSubmit { event: event.clone(), form, submitter }));
    after_delay(0, Box::new(|_, _| UNDER_WAY.set(None)));
}

/// `form.submit()` is being called: no submit event tells of it. Without a form: it has returned.
pub fn note_script_submit(form: &Js) {
    let submit = PlainSubmit { event: Js::UNDEFINED, form: form.clone(), submitter: Js::UNDEFINED };
    UNDER_WAY.set(form.is_truthy().then_some(submit));
}

/// A form's fields are gathered. Only the browser's own submit is ours: one whose event is over and not prevented.
pub fn on_formdata(event: &Js) {
    let form = member(event, "target");
    let Some(submit) = UNDER_WAY.with_borrow(Clone::clone) else {
        return;
    };
    let is_over =
        !is_member_truthy(&submit.event, "currentTarget") && !is_member_truthy(&submit.event, "defaultPrevented");
    if submit.form != form || !is_over {
        return;
    }
    let subject = Subject::plain(&form, &submit.submitter);
    if !subject.is_ours() {
        return;
    }
    let data = member(event, "formData");
    let content = subject.read_content(&data);
    let intent = find_or_mint(subject.intent_name(), content.digest, content.given_key, Progress::SentPlain);
    set_entry(&data, &key_field(), &intent.key);
    let was_busy = guard::is_busy(intent.name);
    let attempt = Attempt::first(intent, form, RetryPlan::UNASKED);
    attempt.begin();
    if was_busy {
        return;
    }
    let lock = guard::lock_intent(&subject, &attempt.intent);
    after_delay(PLAIN_BUSY, Box::new(move |_, _| guard::unlock(lock)));
    if subject.goes_home() {
        after_delay(FIRST_LOOK, Box::new(move |_, _| watch_attempt(attempt, lock, MORE_LOOKS)));
    }
}

/// Asks the gate what became of an attempt while its page stays; `more` looks may follow.
fn watch_attempt(mut attempt: Attempt, lock: i32, more: u32) {
    if !guard::is_busy(attempt.intent.name) {
        return;
    }
    look_at_key(&attempt.intent.key.clone(), "?wait=5", move |state| match plain_step(state, more) {
        PlainStep::Finish(status, grace) => {
            let waiter = move |_, _| {
                attempt.conclude(AttemptAnswer::Status(status, GateWord::Other), None);
                guard::unlock(lock);
            };
            after_delay(grace, Box::new(waiter));
        }
        PlainStep::LookAgain(delay) => {
            after_delay(delay, Box::new(move |_, _| watch_attempt(attempt, lock, more - 1)));
        }
        PlainStep::GiveUp => (),
    });
}
