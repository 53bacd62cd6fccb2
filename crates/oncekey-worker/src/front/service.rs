//! The gate's own endpoints: the published policy, the browser module, peek and release.

use std::cell::RefCell;

use js_sys::Array;
use oncekey::{
    answer::{
        own::GateAnswer,
        refusal::Refusal,
        script::{Script, operator_part},
    },
    errand::{Errand, MAX_PEEK_WAIT},
    http::{
        credentials::is_secret,
        percent::decode_segment,
        target::{HEALTH_PATH, POLICY_PATH, UrlParts},
    },
    key::{Key, scoped::ScopedKey},
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    call::name_in_use,
    front::{
        incoming::{Incoming, Stop},
        machines, operator,
    },
    platform::message,
    refusal::audience_of,
};

const KEYS: &str = "/.oncekey/keys/";

/// What is of unknown fate or dead.
const OPEN_FATES: &str = "/.oncekey/unknown";

const MACHINES: &str = "/.oncekey/machines/";

/// Answers a request to one of the gate's own paths.
pub async fn answer_service(
    incoming: &Incoming<'_>,
    method: &str,
    path: &str,
    parts: &UrlParts<'_>,
    scripts: &Array,
) -> Result<Response, Stop> {
    let read = matches!(method, "GET" | "HEAD");
    if path == POLICY_PATH {
        return if read {
            Ok(message::own_response(GateAnswer::policy(incoming.gate.policy.published()))?)
        } else {
            refuse_method("GET, HEAD")
        };
    }
    if let Some((script, asked)) = Script::of_path(path) {
        return if read { answer_script(incoming, scripts, script, asked) } else { refuse_method("GET, HEAD") };
    }
    if path == HEALTH_PATH {
        return if read { answer_health(incoming).await } else { refuse_method("GET, HEAD") };
    }
    if let Some(order) = path.strip_prefix(MACHINES) {
        return machines::answer_machine(incoming, method, order).await;
    }
    if let Some((part, lines)) = operator_part(path)
        && incoming.gate.has_operator
    {
        return if read {
            Ok(message::new_response(200, lines, &scripts.get(2 + part))?)
        } else {
            refuse_method("GET, HEAD")
        };
    }
    if path == OPEN_FATES {
        if !read {
            return refuse_method("GET, HEAD");
        }
        check_operator(incoming)?;
        return operator::answer_list(incoming, parts).await;
    }
    let Some(name) = path.strip_prefix(KEYS).filter(|name| !name.is_empty()) else {
        return Err(Refusal::NoSuchEndpoint.into());
    };
    if let Some(name) = name.strip_suffix("/deliver") {
        return if method == "POST" {
            answer_operator(incoming, name, &Errand::Deliver).await
        } else {
            refuse_method("POST")
        };
    }
    // The segment as sent: a route's path is compared decoded, a key is compared byte for byte.
    let name = decode_segment(name).ok_or(Refusal::NoSuchEndpoint)?;
    match method {
        "OPTIONS" => answer_peek_preflight(incoming),
        "GET" | "HEAD" if is_operator(incoming) && name.trim_matches('"').parse::<ScopedKey>().is_ok() => {
            answer_operator(incoming, &name, &Errand::Look).await
        }
        "GET" | "HEAD" => answer_peek(incoming, &name, parts).await,
        "DELETE" => answer_operator(incoming, &name, &Errand::Release).await,
        _ => refuse_method("GET, HEAD, DELETE"),
    }
}

fn refuse_method(allow: &'static str) -> Result<Response, Stop> {
    Err(Refusal::MethodNotAllowed { allow }.into())
}

thread_local! {
    /// The tags of the scripts, in their order, once they have been asked for.
    static TAGS: RefCell<[Option<String>; 2]> = const { RefCell::new([None, None]) };
}

/// A script for pages. `scripts`: the texts of the browser module and of its bootstrap.
fn answer_script(
    incoming: &Incoming<'_>,
    scripts: &Array,
    script: Script,
    asked: Option<&str>,
) -> Result<Response, Stop> {
    let [module, bootstrap] = [0, 1].map(|at| scripts.get(at));
    let answer = TAGS.with_borrow_mut(|[of_module, of_bootstrap]| {
        let (text, tag) = match script {
            Script::Module => (module, of_module),
            Script::Bootstrap => (bootstrap, of_bootstrap),
        };
        let tag = tag.get_or_insert_with(|| script.tag_of(&text.as_string().unwrap_or_default()));
        Some((script.head(tag, asked, incoming.fields.get("if-none-match"))?, text))
    });
    let ((status, lines), text) = answer.ok_or(Refusal::NoSuchEndpoint)?;
    let content = if status == 304 { JsValue::NULL } else { text };
    Ok(message::new_response(status, lines, &content)?)
}

/// Whether requests can be protected: the policy stands, or nothing would have come here, and one object answers.
async fn answer_health(incoming: &Incoming<'_>) -> Result<Response, Stop> {
    let errand = Errand::Peek { wait: 0, callers: None, age: None };
    let called = call_key_object(incoming, &ScopedKey::of_health(), &errand).await;
    Ok(message::own_response(GateAnswer::health(called.is_ok_and(|answer| answer.ok())))?)
}

/// Whether a page of another web origin may ask what became of a key: where the policy lists it.
fn answer_peek_preflight(incoming: &Incoming<'_>) -> Result<Response, Stop> {
    let audience = audience_of(&incoming.gate.policy, &incoming.fields);
    if audience.allow_origin.is_none() || incoming.fields.get("access-control-request-method").is_none() {
        return refuse_method("GET, HEAD, DELETE");
    }
    let wants = incoming.fields.get("access-control-request-headers").unwrap_or_default();
    Ok(message::own_response(GateAnswer::preflight(&audience, wants))?)
}

/// What became of a key, for the caller who sent it.
async fn answer_peek(incoming: &Incoming<'_>, name: &str, parts: &UrlParts<'_>) -> Result<Response, Stop> {
    let key = if name.starts_with('"') { Key::from_header(name) } else { Key::from_content(name) }?;
    let scopes = incoming.caller_scopes(parts).await?;
    let (now, before) = (ScopedKey::derive(&scopes.now, &key)?, scopes.name_before(&key));
    let scoped_key = name_in_use(incoming.gate, now, before, &incoming.request.url())
        .await
        .map_err(|_| incoming.gate.failed_call())?;
    let wait = parts
        .query
        .split('&')
        .find_map(|pair| pair.strip_prefix("wait="))
        .and_then(|seconds| seconds.parse::<u32>().ok())
        .unwrap_or(0)
        .min(MAX_PEEK_WAIT);
    let age = incoming.gate.policy.age_to_peek(&key);
    call_key_object(incoming, &scoped_key, &Errand::Peek { wait, callers: scopes.callers(&key), age }).await
}

/// Whether the request carries the operator's secret.
fn is_operator(incoming: &Incoming<'_>) -> bool {
    let given = incoming.fields.get("authorization").unwrap_or_default();
    incoming.gate.secret("ONCEKEY_ADMIN").is_some_and(|secret| is_secret(given, &secret))
}

/// Refuses whoever is not the operator; without one there is no such endpoint.
fn check_operator(incoming: &Incoming<'_>) -> Result<(), Refusal> {
    match incoming.gate.has_operator {
        false => Err(Refusal::NoSuchEndpoint),
        true if is_operator(incoming) => Ok(()),
        true => Err(Refusal::Unauthorized),
    }
}

/// What only the operator may ask of a key.
async fn answer_operator(incoming: &Incoming<'_>, name: &str, errand: &Errand) -> Result<Response, Stop> {
    check_operator(incoming)?;
    let scoped_key = name.trim_matches('"').parse::<ScopedKey>().map_err(|_| Refusal::NothingRemembered)?;
    call_key_object(incoming, &scoped_key, errand).await
}

async fn call_key_object(incoming: &Incoming<'_>, key: &ScopedKey, errand: &Errand) -> Result<Response, Stop> {
    match incoming.call_key_object(key, errand, &JsValue::NULL).await {
        Ok(response) => Ok(response),
        Err(_) => Err(incoming.gate.failed_call().into()),
    }
}
