//! Plain forms: the key joins the fields when the browser gathers them; the outcome is learnt from the gate or on the next page.

use oncekey::client::{
    intent::{Look, PLAIN_BUSY, Stage, plain_grace},
    retry::{Answer, Plan, Word},
};

use crate::{
    app,
    attempt::Flight,
    guard,
    intent::{find, is_open, look},
    names::{CURRENT_TARGET, DEFAULT_PREVENTED, FORM_DATA, REQUEST_SUBMIT, SET, SUBMITTER, TARGET, WAIT},
    page::{Js, call1, call2, get, is, later, refuse},
    subject::Subject,
};

/// How long after a submit the gate is first asked: most pages have left by then. In ms.
const FIRST_LOOK: u64 = 600;
/// How long a submit waits at most to learn what became of the one before. In ms.
const LONGEST_LOOK: u64 = 1_000;

/// A form is about to be submitted, by whichever door.
pub fn submit(event: &Js) {
    let (form, submitter) = (get(event, TARGET), get(event, SUBMITTER));
    let subject = Subject::plain(&form, &submitter);
    if !subject.is_ours() {
        return;
    }
    if guard::refuses(&subject, &Js::UNDEFINED) {
        return refuse(event);
    }
    if app::with(|app| app.looks > 0) && is_open(&subject.name()) {
        app::with(|app| app.held.push((form, submitter)));
        later(LONGEST_LOOK, Box::new(|_, _| let_go(true)));
        return refuse(event);
    }
    app::with(|app| app.submitting = Some((event.clone(), form, submitter)));
    later(0, Box::new(|_, _| app::with(|app| app.submitting = None)));
}

/// `form.submit()` is being called: no submit event tells of it. Without a form: it has returned.
pub fn by_script(form: &Js) {
    let submitting = form.is_truthy().then(|| (Js::UNDEFINED, form.clone(), Js::UNDEFINED));
    app::with(|app| app.submitting = submitting);
}

/// Submits what waited for the looks under way, once they have ended or the person has waited long enough.
pub fn let_go(enough: bool) {
    let held = app::with(|app| {
        app.looks = if enough { 0 } else { app.looks.saturating_sub(1) };
        if app.looks == 0 { core::mem::take(&mut app.held) } else { Vec::new() }
    });
    for (form, submitter) in held {
        call1(&form, REQUEST_SUBMIT, &submitter);
    }
}

/// A form's fields are gathered. Only the browser's own submit is ours: one whose event is over and not prevented.
pub fn gather(event: &Js) {
    let form = get(event, TARGET);
    let Some((cause, of, submitter)) = app::with(|app| app.submitting.clone()) else {
        return;
    };
    if of != form || is(&cause, CURRENT_TARGET) || is(&cause, DEFAULT_PREVENTED) {
        return;
    }
    let subject = Subject::plain(&form, &submitter);
    if !subject.is_ours() {
        return;
    }
    let data = get(event, FORM_DATA);
    let (content, given) = subject.read(&data);
    let intent = find(subject.name(), content, given, Stage::SentPlain);
    call2(&data, SET, &app::field(), &intent.key);
    let held = guard::is_held(&intent.name);
    let flight = Flight::new(intent, form, Plan::UNASKED);
    flight.issue();
    if !held {
        let lock = guard::hold(&subject, &flight);
        later(PLAIN_BUSY, Box::new(move |_, _| guard::free(lock)));
        if subject.goes_home() {
            later(FIRST_LOOK, Box::new(move |_, _| watch(flight, lock, 12)));
        }
    }
}

/// Asks the gate while the page stays, so many times more.
fn watch(mut flight: Box<Flight>, lock: i32, more: u32) {
    if !guard::is_held(&flight.intent.name) {
        return;
    }
    look(&flight.intent.key.clone(), WAIT, move |look| match look {
        Look::Completed(status) => later(
            plain_grace(status),
            Box::new(move |_, _| {
                flight.conclude(Answer::Status(status, Word::Other), None);
                guard::free(lock);
            }),
        ),
        // It has not arrived yet, or it takes long.
        Look::Absent | Look::Running if more > 0 => {
            later(400, Box::new(move |_, _| watch(flight, lock, more - 1)));
        }
        Look::Absent | Look::Running | Look::Unknown => (),
    });
}
