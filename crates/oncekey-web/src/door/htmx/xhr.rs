//! htmx 1.9 and 2: a request's xhr passes its answers through us, and is sent again as it was.

use std::cell::RefCell;

use oncekey::client::retry::AttemptAnswer;

use super::{admit_subject, first_attempt};
use crate::{
    attempt::{Attempt, Received, read_answer},
    guard,
    options::key_field,
    page::{
        Js, catch_send, closest, hand_over_xhr, is_member_text, is_member_truthy, member, member_text, reopen_xhr,
        send_xhr, set_member, truthy_or,
    },
    subject::{Subject, is_by_hand},
    tickets::{after_delay_on_line, issue_ticket, redeem_ticket},
};

/// The member of htmx's description of a request that keeps the xhr's own listeners.
const LISTENERS: &str = "oncekey";

/// A request between its configuration and its sending.
struct ConfiguredRequest {
    /// htmx's `requestConfig`, which tells it from another.
    config: Js,
    subject: Subject,
    attempt: Attempt,
}

/// A request under way.
struct XhrRequest {
    attempt: Attempt,
    lock: i32,
    /// htmx's description of the request.
    info: Js,
    xhr: Js,
    body: Js,
}

/// A request between two attempts.
struct WaitingRequest {
    /// The number of its lock.
    lock: i32,
    /// The element whose request it is.
    element: Js,
    /// The ticket that sends it again, or ends it if redeemed with `false`.
    ticket: i32,
}

thread_local! {
    static CONFIGURED: RefCell<Option<ConfiguredRequest>> = const { RefCell::new(None) };
    static WAITING: RefCell<Vec<WaitingRequest>> = const { RefCell::new(Vec::new()) };
}

/// Before a request is queued: the place to refuse a second one.
pub fn on_confirm(event: &Js) {
    admit_request(event);
}

/// The subject of a request, if it is ours and not refused.
fn admit_request(event: &Js) -> Option<Subject> {
    let detail = member(event, "detail");
    let trigger = member(&detail, "triggeringEvent");
    if is_member_truthy(&detail, "ctx") || !is_by_hand(&trigger) {
        return None;
    }
    let (path, verb) = (member(&detail, "path"), member_text(&detail, "verb"));
    admit_subject(Subject::of_htmx(&member(&detail, "elt"), &trigger, verb, &path), &trigger, event)
}

/// Once a request leaves the queue: it gets its key.
pub fn on_config_request(event: &Js) {
    let Some(subject) = admit_request(event) else {
        return;
    };
    let detail = member(event, "detail");
    let parameters = member(&detail, "parameters");
    let body = truthy_or(member(&detail, "formData"), || parameters.clone());
    let element = member(&detail, "elt");
    let attempt = first_attempt(&subject, &body, &element);
    let headers = member(&detail, "headers");
    attempt.put_key_into(&headers);
    let is_json = member_text(&headers, "Content-Type").is_some_and(|kind| kind.starts_with("application/json"))
        || closest(&element, "[hx-ext*=json],[data-hx-ext*=json]").is_truthy();
    if subject.can_carry_field() && !is_json {
        set_member(&parameters, &key_field(), &attempt.intent.key);
    }
    CONFIGURED.set(Some(ConfiguredRequest { config: detail, subject, attempt }));
}

/// Just before a request is sent: from here on its answers pass through us.
pub fn on_before_send(event: &Js) {
    let info = member(event, "detail");
    let Some(ConfiguredRequest { config, subject, attempt }) = CONFIGURED.take() else {
        return;
    };
    if config != member(&info, "requestConfig") {
        return;
    }
    let lock = guard::lock_intent(&subject, &attempt.intent);
    attempt.begin();
    let xhr = member(&info, "xhr");
    let mut request = XhrRequest { attempt, lock, info, xhr: xhr.clone(), body: Js::UNDEFINED };
    // Its content is made right after this event: this one xhr tells what it sends.
    let waiter = move |body, _| {
        request.body = body;
        send_attempt(request);
    };
    catch_send(&xhr, issue_ticket(Box::new(waiter)));
}

/// Sends once. What listened first is htmx's: it is kept with the description of the request.
fn send_attempt(request: XhrRequest) {
    let (xhr, body, info) = (request.xhr.clone(), request.body.clone(), request.info.clone());
    let waiter = move |event: Js, _| on_answer(request, &event);
    let listeners = send_xhr(&xhr, &body, issue_ticket(Box::new(waiter)));
    if !is_member_truthy(&info, LISTENERS) {
        set_member(&info, LISTENERS, &listeners);
    }
}

fn on_answer(mut request: XhrRequest, event: &Js) {
    let Received { mut answer, retry_after, leads_away } = read_answer(&request.xhr);
    if is_member_text(event, "type", "abort") {
        answer = AttemptAnswer::Aborted;
    }
    let Some(delay) = request.attempt.conclude(answer, retry_after) else {
        if leads_away {
            guard::lock_until_page_leaves(request.lock);
        }
        return end_request(&request, event);
    };
    let (lock, element) = (request.lock, member(&request.info, "requestConfig.elt"));
    let ticket = after_delay_on_line(delay, &Js::UNDEFINED, Box::new(move |_, ok| end_wait(request, ok)));
    WAITING.with_borrow_mut(|waiting| waiting.push(WaitingRequest { lock, element, ticket }));
}

/// The wait between two attempts is over; not `ok`: htmx takes the request back.
fn end_wait(mut request: XhrRequest, ok: bool) {
    WAITING.with_borrow_mut(|waiting| waiting.retain(|other| other.lock != request.lock));
    if ok {
        reopen_xhr(&request.info);
        send_attempt(request);
    } else {
        request.attempt.conclude(AttemptAnswer::Aborted, None);
        end_request(&request, &Js::UNDEFINED);
    }
}

/// Gives the xhr back to htmx, with the event it has waited for.
fn end_request(request: &XhrRequest, event: &Js) {
    hand_over_xhr(&request.xhr, &member(&request.info, LISTENERS), event);
    guard::unlock(request.lock);
}

/// htmx takes back what it sent; between two attempts there is nothing on the wire that could tell it.
pub fn on_abort(event: &Js) {
    let target = member(event, "target");
    let ticket = WAITING
        .with_borrow(|waiting| waiting.iter().find(|request| request.element == target).map(|request| request.ticket));
    if let Some(ticket) = ticket {
        redeem_ticket(ticket, Js::UNDEFINED, false);
    }
}
