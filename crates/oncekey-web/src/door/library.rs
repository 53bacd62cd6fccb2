//! Turbo 8 and Unpoly 3 submit forms by requests of their own, which tell of themselves by events: the key joins header and
//! fields, the answer ends the intent. They let no request be repeated.

use std::cell::RefCell;

use oncekey::client::{intent::Progress, retry::RetryPlan};

use crate::{
    attempt::{Attempt, read_answer},
    guard,
    intent::find_or_mint,
    options::key_field,
    page::{
        Js, call_method, call_method1, closest, global_member, is_member_truthy, item, member, set_entry, set_member,
        to_integer, truthy_or,
    },
    subject::Subject,
    tickets::{issue_ticket, redeem_ticket},
};

/// The member of a library's request that keeps the ticket of its answer.
const TICKET: &str = "oncekey";

thread_local! {
    /// The last submit, of which Unpoly's request does not tell the submitter.
    static LAST: RefCell<(Js, Js)> = const { RefCell::new((Js::UNDEFINED, Js::UNDEFINED)) };
    /// The last answer, of which Turbo does not tell at the end where it leads nowhere.
    static ANSWER: RefCell<(Js, Js)> = const { RefCell::new((Js::UNDEFINED, Js::UNDEFINED)) };
}

/// A form's submit is let through.
pub fn note_submit(form: &Js, submitter: &Js) {
    LAST.set((form.clone(), submitter.clone()));
}

/// Gives a request its key; `content` is what `body` says, in a form that can be read.
fn begin_request(request: &Js, subject: &Subject, headers: &Js, body: &Js, content: &Js) {
    if !subject.is_ours() {
        return;
    }
    let content = subject.read_content(content);
    let intent = find_or_mint(subject.intent_name(), content.digest, content.given_key, Progress::Sent);
    let plan = RetryPlan { retries: 0, ..RetryPlan::UNASKED };
    let mut attempt = Attempt::first(intent, subject.owner.clone(), plan);
    attempt.put_key_into(headers);
    if subject.can_carry_field() {
        set_entry(body, &key_field(), &attempt.intent.key);
    }
    let lock = guard::lock_intent(subject, &attempt.intent);
    attempt.begin();
    let waiter = move |answer: Js, _| {
        attempt.number += 1;
        attempt.conclude(read_answer(&answer).answer, None);
        guard::unlock(lock);
    };
    set_member(request, TICKET, &Js::from(issue_ticket(Box::new(waiter))));
}

fn end_request(request: &Js, answer: Js) {
    redeem_ticket(to_integer(&member(request, TICKET)), answer, true);
}

/// Turbo is about to send a form.
pub fn on_turbo_start(event: &Js) {
    let submission = member(event, "detail.formSubmission");
    let subject = Subject::plain(&member(&submission, "formElement"), &member(&submission, "submitter"));
    let options = member(&submission, "fetchRequest.fetchOptions");
    let body = member(&options, "body");
    begin_request(&submission, &subject, &member(&options, "headers"), &body, &body);
}

/// Turbo has received an answer.
pub fn on_turbo_answer(event: &Js) {
    ANSWER.set((member(event, "target"), member(event, "detail.fetchResponse.response")));
}

/// Turbo is done with it, or there was none.
pub fn on_turbo_end(event: &Js) {
    let (form, answer) = ANSWER.take();
    let answer = if form == member(event, "target") { answer } else { Js::UNDEFINED };
    end_request(&member(event, "detail.formSubmission"), answer);
}

/// Unpoly is about to send a request.
pub fn on_unpoly_start(event: &Js) {
    let request = member(event, "request");
    let origin = member(&request, "origin");
    // A button may stand outside its form.
    let form = truthy_or(member(&origin, "form"), || closest(&origin, "form"));
    if !form.is_truthy() || is_member_truthy(&request, "headers.X-Up-Validate") {
        return;
    }
    let submitter = LAST.with_borrow(|(last, submitter)| if *last == form { submitter.clone() } else { Js::UNDEFINED });
    // It sends the first button where a script names none.
    let first_button = || item(&call_method1(&global_member("up.form"), "submitButtons", &form), 0);
    let subject = Subject::plain(&form, &truthy_or(submitter, first_button));
    let params = member(&request, "params");
    let content = call_method(&params, "toFormData");
    begin_request(&request, &subject, &member(&request, "headers"), &params, &content);
}

/// Unpoly has its answer, or none.
pub fn on_unpoly_end(event: &Js) {
    end_request(&member(event, "request"), truthy_or(member(event, "response.xhr"), || Js::UNDEFINED));
}
