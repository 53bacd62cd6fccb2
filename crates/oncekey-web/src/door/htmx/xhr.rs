//! htmx 1.9 and 2: a request's xhr passes its answers through us, and is sent again as it was.

use std::cell::RefCell;

use oncekey::client::retry::AttemptAnswer;

use super::{admit_subject, first_attempt};
use crate::{
    attempt::{Attempt, Received, read_answer},
    guard,
    options::key_field,
    page::{
        Js, catch_abort, catch_send, closest, hand_over_xhr, is_member_text, is_member_truthy, item, member,
        member_text, reopen_xhr, send_xhr, set_member, truthy_or,
    },
    subject::{Subject, is_by_hand},
    tickets::{after_delay, after_delay_on_line, issue_ticket},
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
    /// Names and values of its header lines.
    lines: Js,
}

thread_local! {
    static CONFIGURED: RefCell<Vec<ConfiguredRequest>> = const { RefCell::new(Vec::new()) };
}

/// Before a request is queued: the place to refuse a second one.
pub fn on_confirm(event: &Js) {
    admit_request(event);
}

/// The subject of a request, if it is ours and not refused.
fn admit_request(event: &Js) -> Option<Subject> {
    let detail = member(event, "detail");
    let trigger = member(&detail, "triggeringEvent");
    let element = member(&detail, "elt");
    if is_member_truthy(&detail, "ctx") || !is_by_hand(&element, &trigger) {
        return None;
    }
    let (path, verb) = (member(&detail, "path"), member_text(&detail, "verb"));
    admit_subject(Subject::of_htmx(&element, &trigger, verb, &path), &trigger, event)
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
    CONFIGURED.with_borrow_mut(|configured| configured.push(ConfiguredRequest { config: detail, subject, attempt }));
    // Whoever is not sent now is not sent.
    after_delay(0, Box::new(|_, _| CONFIGURED.with_borrow_mut(Vec::clear)));
}

/// Just before a request is sent: from here on its answers pass through us.
pub fn on_before_send(event: &Js) {
    let info = member(event, "detail");
    let config = member(&info, "requestConfig");
    let found = CONFIGURED.with_borrow_mut(|configured| {
        let place = configured.iter().position(|request| request.config == config)?;
        Some(configured.swap_remove(place))
    });
    let Some(ConfiguredRequest { subject, attempt, .. }) = found else {
        return;
    };
    let lock = guard::lock_intent(&subject, &attempt.intent);
    attempt.begin();
    let xhr = member(&info, "xhr");
    // Its content is made right after this event: this one xhr tells what it sends.
    let described = info.clone();
    let waiter = move |sent: Js, _| {
        send_attempt(XhrRequest { attempt, lock, info, xhr, body: item(&sent, 0), lines: item(&sent, 1) });
    };
    catch_send(&described, issue_ticket(Box::new(waiter)));
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
    let xhr = request.xhr.clone();
    let ticket = after_delay_on_line(delay, &Js::UNDEFINED, Box::new(move |_, ok| end_wait(request, ok)));
    catch_abort(&xhr, ticket);
}

/// The wait between two attempts is over; not `ok`: the request is taken back.
fn end_wait(mut request: XhrRequest, ok: bool) {
    if ok {
        request.body = request.attempt.with_key(&request.body);
        request.lines = request.attempt.with_key(&request.lines);
        reopen_xhr(&request.info, &request.lines);
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
