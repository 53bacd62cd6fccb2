//! `send`: fetch with a key. Calls of one intent that overlap share one request.

use std::cell::RefCell;

use oncekey::{
    client::{
        intent::{Digest, Stage},
        retry::Plan,
    },
    key::is_key,
};

use crate::{
    attempt::{Course, Flight, go},
    intent::find_or_mint,
    names::{ARRAY, FETCH, HEADERS, INTENT, KEY, METHOD, OF, PUSH, RESOLVE, RETRY, SIGNAL, URL, WINDOW},
    options,
    page::{Js, call1, double, get, global, mint, name_of, settle, string, text},
    subject::Subject,
};

/// A named intent under way, and who waits for its answer.
struct NamedSend {
    name: Js,
    content: u64,
    calls: Js,
}

thread_local! {
    static UNDER_WAY: RefCell<Vec<NamedSend>> = const { RefCell::new(Vec::new()) };
}

/// Sends a `Request` that is already built; `body` is what its content was made from, `call` gets the answer.
/// False where the intent is under way with other content.
pub fn send(request: &Js, body: &Js, options: &Js, call: &Js) -> bool {
    let url = get(request, URL);
    let subject = Subject::new(Js::UNDEFINED, Js::UNDEFINED, text(request, METHOD), &url);
    if !subject.is_ours() {
        call1(call, RESOLVE, &call1(&global(WINDOW), FETCH, request));
        return true;
    }
    let given = text(options, KEY).filter(|key| is_key(key));
    let named = text(options, INTENT);
    let lone = given.is_none() && named.is_none();
    let mut digest = Digest::default();
    digest.part("send");
    digest.part(given.as_deref().or(named.as_deref()).unwrap_or_default());
    let name = name_of(double(digest.value()), 0.0);
    let (content, _) = subject.read(body);
    digest.part(&subject.method);
    digest.part(&string(&url).unwrap_or_default());
    let content = content ^ digest.value();

    let joined = UNDER_WAY.with_borrow(|sends| {
        let of_intent = sends.iter().find(|send| !lone && send.name == name)?;
        Some((of_intent.content == content, of_intent.calls.clone()))
    });
    if let Some((same, calls)) = joined {
        if same {
            call1(&calls, PUSH, call);
        }
        return same;
    }
    let calls = call1(&global(ARRAY), OF, call);
    let given = if lone { Some(mint()) } else { given.map(|_| get(options, KEY)) };
    let intent = find_or_mint(name.clone(), content, given, Stage::Sent);
    let plan = text(options, RETRY).and_then(|text| Plan::parse(&text));
    let plan = plan.or(options::retry_plan()).unwrap_or(Plan::DEFAULT);
    let flight = Flight::new(intent, Js::UNDEFINED, plan);
    flight.head(&get(request, HEADERS));
    if !lone {
        let send = NamedSend { name: name.clone(), content, calls: calls.clone() };
        UNDER_WAY.with_borrow_mut(|sends| sends.push(send));
    }
    flight.issue();
    go(Box::new(Course {
        flight,
        fetch: global(FETCH),
        input: request.clone(),
        init: Js::UNDEFINED,
        signal: get(request, SIGNAL),
        limit: 0.0,
        ended: Box::new(move |ended| {
            UNDER_WAY.with_borrow_mut(|sends| sends.retain(|send| send.name != name));
            settle(&calls, &ended.value, i32::from(ended.ok));
        }),
    }));
    true
}
