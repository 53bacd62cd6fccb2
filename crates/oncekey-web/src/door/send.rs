//! `send`: fetch with a key. Calls of one intent that overlap share one request.

use std::cell::RefCell;

use oncekey::{
    client::{
        intent::Progress,
        retry::RetryPlan,
        subject::{ContentDigest, IntentName},
    },
    key::is_key,
};

use crate::{
    attempt::{
        Attempt,
        fetch::{FetchRequest, send_request},
    },
    intent::find_or_mint,
    options::default_retries,
    page::{
        Js, array_of, call_method1, global_member, member, member_text, member_text_or_empty, mint_key, settle_calls,
    },
    subject::Subject,
};

/// A `send` of a named intent under way, and who waits for its answer.
struct NamedSend {
    name: IntentName,
    content: u64,
    calls: Js,
}

thread_local! {
    static UNDER_WAY: RefCell<Vec<NamedSend>> = const { RefCell::new(Vec::new()) };
}

/// Sends a `Request` that is already built; `body` is what its content was made from, `call` gets the answer.
/// False where the intent is under way with other content.
pub fn send(request: &Js, body: &Js, options: &Js, call: &Js) -> bool {
    let url = member(request, "url");
    let subject = Subject::new(Js::UNDEFINED, Js::UNDEFINED, member_text(request, "method"), &url);
    if !subject.is_ours() {
        call_method1(call, "resolve", &call_method1(&global_member("window"), "fetch", request));
        return true;
    }
    let given = member_text(options, "key").filter(|key| is_key(key));
    let intent = member_text(options, "intent");
    let is_named = given.is_some() || intent.is_some();
    let mut digest = ContentDigest::default();
    digest.add_part("send");
    digest.add_part(given.as_deref().or(intent.as_deref()).unwrap_or_default());
    let name = IntentName { place: digest.value(), target: 0 };
    let content = subject.read_content(body).digest;
    digest.add_part(&subject.method);
    digest.add_part(&member_text_or_empty(request, "url"));
    let content = content ^ digest.value();

    let joined = UNDER_WAY.with_borrow(|sends| {
        let under_way = sends.iter().find(|send| is_named && send.name == name)?;
        Some((under_way.content == content, under_way.calls.clone()))
    });
    if let Some((is_same, calls)) = joined {
        if is_same {
            call_method1(&calls, "push", call);
        }
        return is_same;
    }
    let calls = array_of(call);
    let given = if is_named { given.map(Js::from) } else { Some(mint_key()) };
    let intent = find_or_mint(name, content, given, Progress::Sent);
    let plan = RetryPlan::of_send(member_text(options, "retry").as_deref(), default_retries().as_deref());
    let attempt = Attempt::first(intent, Js::UNDEFINED, plan);
    attempt.put_key_into(&member(request, "headers"));
    if is_named {
        let send = NamedSend { name, content, calls: calls.clone() };
        UNDER_WAY.with_borrow_mut(|sends| sends.push(send));
    }
    attempt.begin();
    send_request(FetchRequest {
        attempt,
        fetch: global_member("fetch"),
        input: request.clone(),
        init: Js::UNDEFINED,
        signal: member(request, "signal"),
        limit: 0.0,
        when_over: Box::new(move |end| {
            UNDER_WAY.with_borrow_mut(|sends| sends.retain(|send| send.name != name));
            settle_calls(&calls, &end.value, end.ok);
        }),
    });
    true
}
