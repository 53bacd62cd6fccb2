//! htmx 4: a request's `fetch` is ours.

use oncekey::client::retry::parse_interval;

use super::{admit_subject, first_attempt};
use crate::{
    attempt::fetch::{FetchRequest, send_request},
    guard,
    options::key_field,
    page::{
        Js, array_of, call_method1, global_member, is_member_truthy, member, member_text, replace_fetch, set_entry,
        set_member, settle_calls, to_double, to_integer, truthy_or,
    },
    subject::{Subject, is_by_hand},
    tickets::issue_ticket,
};

/// The member of htmx's context that keeps the request's address.
const ACTION: &str = "oncekey";
/// The member of htmx's context that keeps the request's lock.
const LOCK: &str = "oncekeyLock";

/// The subject of a request, if it is ours and not refused. Its address is remembered from its configuration:
/// later a DELETE's fields have joined it.
fn admit_request(ctx: &Js, event: &Js) -> Option<Subject> {
    let trigger = member(ctx, "sourceEvent");
    let element = member(ctx, "sourceElement");
    if !is_by_hand(&element, &trigger) {
        return None;
    }
    if member_text(ctx, ACTION).is_none() {
        set_member(ctx, ACTION, &member(ctx, "request.action"));
    }
    let (action, method) = (member(ctx, ACTION), member_text(ctx, "request.method"));
    admit_subject(Subject::of_htmx(&element, &trigger, method, &action), &trigger, event)
}

/// Before a request is queued: the place to refuse a second one.
pub fn on_config_request(event: &Js) {
    admit_request(&member(event, "detail.ctx"), event);
}

/// When a request is about to be sent: it gets its key, and our fetch.
pub fn on_before_request(event: &Js) {
    let ctx = member(event, "detail.ctx");
    let Some(subject) = admit_request(&ctx, event) else {
        return;
    };
    let body = truthy_or(member(&ctx, "request.body"), || member(&ctx, "request.action"));
    let attempt = first_attempt(&subject, &body, &member(&ctx, "sourceElement"));
    attempt.put_key_into(&member(&ctx, "request.headers"));
    if subject.can_carry_field() && is_member_truthy(&body, "append") {
        set_entry(&body, &key_field(), &attempt.intent.key);
    }
    let lock = guard::lock_intent(&subject, &attempt.intent);
    set_member(&ctx, LOCK, &Js::from(lock));
    let context = ctx.clone();
    let our_fetch = move |call: Js, _| {
        let init = member(&call, "init");
        // Its timeout would end the waiting between two attempts too.
        call_method1(&global_member("window"), "clearTimeout", &member(&context, "requestTimeout"));
        attempt.begin();
        send_request(FetchRequest {
            attempt,
            fetch: member(&call, "fetch"),
            input: member(&call, "url"),
            limit: time_limit(&init),
            signal: member(&init, "signal"),
            init,
            when_over: Box::new(move |end| {
                if end.leads_away {
                    guard::lock_until_page_leaves(lock);
                }
                settle_calls(&array_of(&call), &end.value, end.ok);
            }),
        });
    };
    replace_fetch(&ctx, issue_ticket(Box::new(our_fetch)));
}

/// How long htmx lets an attempt take, in ms: what the request says, else the page's default.
fn time_limit(init: &Js) -> f64 {
    let own = member(init, "timeout");
    let limit = if own.is_undefined() || own.is_null() { global_member("htmx.config.defaultTimeout") } else { own };
    match limit.as_string() {
        Some(text) => to_double(parse_interval(&text).unwrap_or(0)),
        None => limit.as_f64().unwrap_or_default(),
    }
}

/// When all is over.
pub fn on_finally_request(event: &Js) {
    guard::unlock(to_integer(&member(&member(event, "detail.ctx"), LOCK)));
}
