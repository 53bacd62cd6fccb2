//! htmx 1.9, 2 and 4: where a request gets its key, where a second one is refused, and how it is sent again.
//!
//! 1.9 and 2: after its configuration a request is an `XMLHttpRequest` of its own. It is opened and sent again with the
//! first attempt's content, and htmx hears of the last answer only; nothing is serialised twice.
//! 4: the request's `fetch` is ours, so retries stay inside the request.

use std::cell::RefCell;

use oncekey::client::{
    intent::Stage,
    retry::{Answer, interval},
};

use crate::{
    attempt::{Course, Flight, go, read, retry_plan},
    guard,
    intent::find_or_mint,
    names::{
        ABORT, APPEND, ARRAY, CLEAR_TIMEOUT, CONTENT_TYPE, CTX, DETAIL, DETAIL_CTX, DETAIL_CTX_LOCK, ELT, FETCH,
        FORM_DATA, HEADERS, INIT, IS_JSON, LOCK, OF, OURS, PARAMETERS, PATH, REQUEST_ACTION, REQUEST_BODY,
        REQUEST_CONFIG, REQUEST_CONFIG_ELT, REQUEST_HEADERS, REQUEST_METHOD, REQUEST_TIMEOUT, SET, SIGNAL,
        SOURCE_ELEMENT, SOURCE_EVENT, TARGET, TRIGGERING_EVENT, TYPE, URL, VERB, WINDOW, XHR,
    },
    options,
    page::{
        Js, call1, call2, catch_send, closest, double, get, global, hand_over, is, number, put, refuse, reopen,
        replace_fetch, says, set, settle, small, string, text, time_limit, transmit,
    },
    subject::{Subject, is_by_hand},
    tickets::{after_delay_on_line, issue_ticket},
};

/// A request of htmx 1.9 or 2 under way.
pub struct Wire {
    flight: Box<Flight>,
    lock: i32,
    /// htmx's description of the request.
    info: Js,
    xhr: Js,
    body: Js,
}

thread_local! {
    /// A request of 1.9 or 2 between its configuration and its sending.
    static CONFIGURED: RefCell<Option<(Js, Subject, Box<Flight>)>> = const { RefCell::new(None) };
    /// Requests of 1.9 or 2 between two attempts.
    #[allow(clippy::vec_box, reason = "moved between closures: a pointer is less code than the whole")]
    static WAITING: RefCell<Vec<Box<Wire>>> = const { RefCell::new(Vec::new()) };
}

/// 1.9 and 2, before a request is queued: the place to refuse a second one.
pub fn confirm(event: &Js) {
    ours_or_refused(event);
}

/// The subject of a request of 1.9 or 2, if it is ours and not refused.
fn ours_or_refused(event: &Js) -> Option<Subject> {
    let detail = get(event, DETAIL);
    let trigger = get(&detail, TRIGGERING_EVENT);
    if is(&detail, CTX) || !is_by_hand(&trigger) {
        return None;
    }
    let (path, verb) = (get(&detail, PATH), text(&detail, VERB));
    admit(Subject::of_htmx(&get(&detail, ELT), &trigger, verb, &path), &trigger, event)
}

fn admit(subject: Subject, trigger: &Js, event: &Js) -> Option<Subject> {
    if !subject.is_ours() {
        return None;
    }
    if guard::refuses(&subject, trigger) {
        refuse(event);
        return None;
    }
    Some(subject)
}

/// 1.9 and 2, once a request leaves the queue: it gets its key.
pub fn configure(event: &Js) {
    let Some(subject) = ours_or_refused(event) else {
        return;
    };
    let detail = get(event, DETAIL);
    let parameters = get(&detail, PARAMETERS);
    let mut body = get(&detail, FORM_DATA);
    if !body.is_truthy() {
        body = parameters.clone();
    }
    let element = get(&detail, ELT);
    let flight = begin(&subject, &body, &element);
    let headers = get(&detail, HEADERS);
    flight.head(&headers);
    let json = text(&headers, CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"))
        || closest(&element, IS_JSON).is_truthy();
    if subject.has_fields() && !json {
        put(&parameters, &options::field(), &flight.intent.key);
    }
    CONFIGURED.set(Some((detail, subject, flight)));
}

#[allow(clippy::unnecessary_box_returns, reason = "as `Flight::new`")]
fn begin(subject: &Subject, body: &Js, element: &Js) -> Box<Flight> {
    let (content, given) = subject.read(body);
    Flight::new(find_or_mint(subject.name(), content, given, Stage::Sent), subject.owner.clone(), retry_plan(element))
}

/// 1.9 and 2, just before a request is sent: from here on its answers pass through us.
pub fn before_send(event: &Js) {
    let info = get(event, DETAIL);
    let Some((config, subject, flight)) = CONFIGURED.take() else {
        return;
    };
    if config != get(&info, REQUEST_CONFIG) {
        return;
    }
    let lock = guard::lock_intent(&subject, &flight.intent);
    flight.issue();
    let xhr = get(&info, XHR);
    let mut wire = Box::new(Wire { flight, lock, info, xhr: xhr.clone(), body: Js::UNDEFINED });
    // Its content is made right after this event: this one xhr tells what it sends.
    catch_send(
        &xhr,
        issue_ticket(Box::new(move |body, _| {
            wire.body = body;
            attempt(wire);
        })),
    );
}

/// Sends once. What listened first is htmx's: it is kept with the description of the request.
fn attempt(wire: Box<Wire>) {
    let (xhr, body) = (wire.xhr.clone(), wire.body.clone());
    let info = wire.info.clone();
    let listeners = transmit(&xhr, &body, issue_ticket(Box::new(move |event, _| answered(wire, &event))));
    if !is(&info, OURS) {
        set(&info, OURS, &listeners);
    }
}

fn answered(mut wire: Box<Wire>, event: &Js) {
    let (mut answer, asked, leads_away) = read(&wire.xhr);
    if says(event, TYPE, ABORT) {
        answer = Answer::Aborted;
    }
    match wire.flight.conclude(answer, asked) {
        None => {
            if leads_away {
                guard::lock_until_page_leaves(wire.lock);
            }
            end(&wire, event);
        }
        Some(delay) => {
            let lock = wire.lock;
            WAITING.with_borrow_mut(|waiting| waiting.push(wire));
            after_delay_on_line(
                delay,
                &Js::UNDEFINED,
                Box::new(move |_, _| {
                    if let Some(wire) = take_waiting(lock) {
                        reopen(&wire.info);
                        attempt(wire);
                    }
                }),
            );
        }
    }
}

fn take_waiting(lock: i32) -> Option<Box<Wire>> {
    WAITING.with_borrow_mut(|waiting| {
        let place = waiting.iter().position(|wire| wire.lock == lock)?;
        Some(waiting.swap_remove(place))
    })
}

/// Gives the xhr back to htmx, with the event it has waited for.
fn end(wire: &Wire, event: &Js) {
    hand_over(&wire.xhr, &get(&wire.info, OURS), event);
    guard::unlock(wire.lock);
}

/// htmx takes back what it sent; between two attempts there is nothing on the wire that could tell it.
pub fn abort(event: &Js) {
    let target = get(event, TARGET);
    let waiting: Vec<(i32, Js)> =
        WAITING.with_borrow(|waiting| waiting.iter().map(|wire| (wire.lock, wire.info.clone())).collect());
    let aborted = waiting.iter().find(|(_, info)| get(info, REQUEST_CONFIG_ELT) == target);
    if let Some(mut wire) = aborted.and_then(|(lock, _)| take_waiting(*lock)) {
        wire.flight.conclude(Answer::Aborted, None);
        end(&wire, &Js::UNDEFINED);
    }
}

/// The subject of a request of 4, if it is ours and not refused. Its address is remembered from its configuration:
/// later a DELETE's fields have joined it.
fn subject_of(ctx: &Js, event: &Js) -> Option<Subject> {
    let trigger = get(ctx, SOURCE_EVENT);
    if !is_by_hand(&trigger) {
        return None;
    }
    if text(ctx, OURS).is_none() {
        set(ctx, OURS, &get(ctx, REQUEST_ACTION));
    }
    let (action, method) = (get(ctx, OURS), text(ctx, REQUEST_METHOD));
    admit(Subject::of_htmx(&get(ctx, SOURCE_ELEMENT), &trigger, method, &action), &trigger, event)
}

/// 4, before a request is queued.
pub fn config_request(event: &Js) {
    subject_of(&get(event, DETAIL_CTX), event);
}

/// 4, when a request is about to be sent.
pub fn before_request(event: &Js) {
    let ctx = get(event, DETAIL_CTX);
    let Some(subject) = subject_of(&ctx, event) else {
        return;
    };
    let mut body = get(&ctx, REQUEST_BODY);
    if !body.is_truthy() {
        body = get(&ctx, REQUEST_ACTION);
    }
    let flight = begin(&subject, &body, &get(&ctx, SOURCE_ELEMENT));
    flight.head(&get(&ctx, REQUEST_HEADERS));
    if subject.has_fields() && is(&body, APPEND) {
        call2(&body, SET, &options::field(), &flight.intent.key);
    }
    let lock = guard::lock_intent(&subject, &flight.intent);
    set(&ctx, LOCK, &Js::from_f64(f64::from(lock)));
    let own = ctx.clone();
    replace_fetch(
        &ctx,
        issue_ticket(Box::new(move |call, _| {
            let init = get(&call, INIT);
            call1(&global(WINDOW), CLEAR_TIMEOUT, &get(&own, REQUEST_TIMEOUT));
            flight.issue();
            go(Box::new(Course {
                flight,
                fetch: get(&call, FETCH),
                input: get(&call, URL),
                limit: limit(&init),
                signal: get(&init, SIGNAL),
                init,
                ended: Box::new(move |ended| {
                    if ended.leads_away {
                        guard::lock_until_page_leaves(lock);
                    }
                    settle(&call1(&global(ARRAY), OF, &call), &ended.value, i32::from(ended.ok));
                }),
            }));
        })),
    );
}

/// How long 4 lets an attempt take, in ms.
fn limit(init: &Js) -> f64 {
    let limit = time_limit(init);
    match string(&limit) {
        Some(text) => double(interval(&text).unwrap_or(0)),
        None => number(&limit),
    }
}

/// 4, when all is over.
pub fn finally(event: &Js) {
    guard::unlock(small(&get(event, DETAIL_CTX_LOCK)));
}
