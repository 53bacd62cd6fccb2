//! `send`: fetch with a key. Calls of one intent that overlap share one request.

use oncekey::{
    client::{
        intent::{Digest, Stage},
        retry::Plan,
    },
    key::is_key,
};

use crate::{
    app,
    attempt::{Course, Flight, go},
    intent::find,
    names::{ARRAY, FETCH, HEADERS, INTENT, KEY, METHOD, OF, PUSH, RESOLVE, RETRY, SIGNAL, URL, WINDOW},
    page::{Js, call1, double, get, global, mint, name_of, string, text},
    subject::Subject,
};

/// A named intent under way, and who waits for its answer.
pub struct Joint {
    name: Js,
    content: u64,
    calls: Js,
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

    let mut joined = None;
    if !lone {
        app::with(|app| {
            if let Some(joint) = app.joints.iter().find(|joint| joint.name == name) {
                joined = Some((joint.content == content, joint.calls.clone()));
            }
        });
    }
    if let Some((same, calls)) = joined {
        if same {
            call1(&calls, PUSH, call);
        }
        return same;
    }
    let calls = call1(&global(ARRAY), OF, call);
    let given = if lone { Some(mint()) } else { given.map(|_| get(options, KEY)) };
    let intent = find(name.clone(), content, given, Stage::Sent);
    let plan = text(options, RETRY).and_then(|text| Plan::parse(&text));
    let plan = plan.or(app::with(|app| app.retry)).unwrap_or(Plan::DEFAULT);
    let flight = Flight::new(intent, Js::UNDEFINED, plan);
    flight.head(&get(request, HEADERS));
    if !lone {
        let calls = calls.clone();
        app::with(|app| {
            app.joints.push(Joint { name, content, calls });
        });
    }
    flight.issue();
    go(Box::new(Course {
        flight,
        fetch: global(FETCH),
        input: request.clone(),
        init: Js::UNDEFINED,
        signal: get(request, SIGNAL),
        limit: 0.0,
        calls,
        lock: 0,
    }));
    true
}

/// A named intent is under way no more.
pub fn end(name: &Js) {
    app::with(|app| app.joints.retain(|joint| &joint.name != name));
}
