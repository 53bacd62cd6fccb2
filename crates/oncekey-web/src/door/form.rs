//! Plain forms: the key joins the fields when the browser gathers them; the outcome is learnt from the gate or on the next page.

use std::cell::RefCell;

use oncekey::client::{
    intent::{Look, PLAIN_BUSY, Stage, plain_grace},
    retry::{Answer, Plan, Word},
};

use crate::{
    attempt::Flight,
    gate::look_at_key,
    guard,
    intent::{find_or_mint, is_outcome_open},
    look::{after_looks, is_looking},
    names::{CURRENT_TARGET, DEFAULT_PREVENTED, FORM_DATA, REQUEST_SUBMIT, SET, SUBMITTER, TARGET, WAIT},
    options,
    page::{Js, call1, call2, get, is, refuse},
    subject::Subject,
    tickets::after_delay,
};

/// How long after a submit the gate is first asked: most pages have left by then. In ms.
const FIRST_LOOK: u64 = 600;

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
    let (form, submitter) = (get(event, TARGET), get(event, SUBMITTER));
    let subject = Subject::plain(&form, &submitter);
    if !subject.is_ours() {
        return;
    }
    if guard::refuses(&subject, &Js::UNDEFINED) {
        return refuse(event);
    }
    if is_looking() && is_outcome_open(&subject.name()) {
        after_looks(move || {
            call1(&form, REQUEST_SUBMIT, &submitter);
        });
        return refuse(event);
    }
    UNDER_WAY.set(Some(PlainSubmit { event: event.clone(), form, submitter }));
    after_delay(0, Box::new(|_, _| UNDER_WAY.set(None)));
}

/// `form.submit()` is being called: no submit event tells of it. Without a form: it has returned.
pub fn submit_by_script(form: &Js) {
    let submit = PlainSubmit { event: Js::UNDEFINED, form: form.clone(), submitter: Js::UNDEFINED };
    UNDER_WAY.set(form.is_truthy().then_some(submit));
}

/// A form's fields are gathered. Only the browser's own submit is ours: one whose event is over and not prevented.
pub fn on_formdata(event: &Js) {
    let form = get(event, TARGET);
    let Some(submit) = UNDER_WAY.with_borrow(Clone::clone) else {
        return;
    };
    if submit.form != form || is(&submit.event, CURRENT_TARGET) || is(&submit.event, DEFAULT_PREVENTED) {
        return;
    }
    let subject = Subject::plain(&form, &submit.submitter);
    if !subject.is_ours() {
        return;
    }
    let data = get(event, FORM_DATA);
    let (content, given) = subject.read(&data);
    let intent = find_or_mint(subject.name(), content, given, Stage::SentPlain);
    call2(&data, SET, &options::field(), &intent.key);
    let was_busy = guard::is_busy(&intent.name);
    let flight = Flight::new(intent, form, Plan::UNASKED);
    flight.issue();
    if !was_busy {
        let lock = guard::lock_intent(&subject, &flight.intent);
        after_delay(PLAIN_BUSY, Box::new(move |_, _| guard::unlock(lock)));
        if subject.goes_home() {
            after_delay(FIRST_LOOK, Box::new(move |_, _| watch(flight, lock, 12)));
        }
    }
}

/// Asks the gate while the page stays, so many times more.
fn watch(mut flight: Box<Flight>, lock: i32, more: u32) {
    if !guard::is_busy(&flight.intent.name) {
        return;
    }
    look_at_key(&flight.intent.key.clone(), WAIT, move |look| match look {
        Look::Completed(status) => after_delay(
            plain_grace(status),
            Box::new(move |_, _| {
                flight.conclude(Answer::Status(status, Word::Other), None);
                guard::unlock(lock);
            }),
        ),
        // It has not arrived yet, or it takes long.
        Look::Absent | Look::Running if more > 0 => {
            after_delay(400, Box::new(move |_, _| watch(flight, lock, more - 1)));
        }
        Look::Absent | Look::Running | Look::Unknown => (),
    });
}
