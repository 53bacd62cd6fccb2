//! Reads a policy member by member; the first wrong one is what is told.

use super::check;
use super::error::{ConfigError, ConfigErrorKind};
use super::reader::{At, Fault, Members};
use super::value::{self, Value};
use super::{
    Attribute, Keep, LARGEST, LONGEST_RETENTION, LONGEST_WAIT, Machine, Mode, PathPattern, Policy, Queue, Route,
    ServerError, StoreFailure, Transition, Unanswered,
};
use crate::{content::ignore::Ignore, http::token::is_token};

pub(super) fn policy(json: &str) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    if json.trim_ascii().is_empty() {
        return Ok(policy);
    }
    let value = value::read(json)?;
    let fault = Fault::default();
    top(&At::whole(&value, &fault), &mut policy);
    match fault.into_inner() {
        Some(error) => Err(error),
        None => Ok(policy),
    }
}

fn top(at: &At, policy: &mut Policy) {
    let members = at.members(&[
        "header",
        "field",
        "scope",
        "max_content",
        "max_stored",
        "store_failure",
        "cors",
        "routes",
        "queues",
        "machines",
    ]);
    if let Some(at) = members.get("header") {
        policy.header = at.text_that(check::can_hold_key, "the name of a field that is free to hold the key");
    }
    if let Some(at) = members.get("field") {
        policy.field = at.text_that(is_filled, "a name that is not empty");
    }
    if let Some(at) = members.get("scope") {
        policy.scope = scope(&at, &policy.header);
    }
    policy.max_content = members.number("max_content", policy.max_content, 1, LARGEST);
    policy.max_stored = members.number("max_stored", policy.max_stored, 1, LARGEST);
    if let Some(at) = members.get("store_failure") {
        policy.store_failure = match at.word(&["closed", "open"], "\"closed\" or \"open\"") {
            0 => StoreFailure::Closed,
            _ => StoreFailure::Open,
        };
    }
    if let Some(at) = members.get("cors") {
        policy.cors = at.each(|at| {
            at.text_that(check::is_web_origin, "a web origin such as \"https://shop.example\", without a path")
        });
    }
    if let Some(at) = members.get("routes") {
        policy.routes = at.each(route);
    }
    if let Some(at) = members.get("queues") {
        policy.queues = at.named(queue);
    }
    if let Some(at) = members.get("machines") {
        policy.machines = at.named(machine);
    }
}

fn is_filled(text: &str) -> bool {
    !text.is_empty()
}

fn scope(at: &At, header: &str) -> Vec<Attribute> {
    let mut scope: Vec<Attribute> = Vec::new();
    at.each(|at| {
        let attribute = match at.text().split_once(':') {
            Some(("header", name)) if is_token(name) => Attribute::Header(name.to_ascii_lowercase()),
            Some(("cookie", name)) if is_token(name) => Attribute::Cookie(name.to_owned()),
            _ => return at.expected("\"header:NAME\" or \"cookie:NAME\""),
        };
        if matches!(&attribute, Attribute::Header(name) if name.eq_ignore_ascii_case(header)) {
            at.expected("an attribute other than the key itself");
        }
        if scope.contains(&attribute) {
            at.expected("an attribute that is not listed yet");
        }
        scope.push(attribute);
    });
    scope
}

fn route(at: &At) -> Route {
    let members = at.members(&[
        "path",
        "methods",
        "require",
        "keep",
        "server_error",
        "unanswered",
        "lease",
        "patience",
        "wait",
        "retention",
        "ignore",
        "mode",
        "items",
        "item_key",
        "item_path",
    ]);
    let mut route = Route::default();
    if let Some(at) = members.get("path") {
        match PathPattern::parse(at.text()) {
            Some(path) => route.path = path,
            None => at.expected("a path that begins with / and holds * only as its last character"),
        }
    }
    if let Some(at) = members.get("methods") {
        at.filled("a list of methods");
        route.methods = at.each(method);
    }
    if let Some(at) = members.get("require") {
        match at.value {
            Value::Bool(require) => route.require = *require,
            _ => at.expected("true or false"),
        }
    }
    if let Some(at) = members.get("keep") {
        route.keep = match at.word(&["success", "definite"], "\"success\" or \"definite\"") {
            0 => Keep::Success,
            _ => Keep::Definite,
        };
    }
    if let Some(at) = members.get("server_error") {
        let expected = "\"release\", \"hold\" or \"keep\"";
        route.server_error = match at.word(&["release", "hold", "keep"], expected) {
            0 => ServerError::Release,
            1 => ServerError::Hold,
            _ => ServerError::Keep,
        };
    }
    route.unanswered = unanswered(&members);
    route.lease = members.seconds("lease", route.lease, 1, LONGEST_WAIT);
    route.patience = members.seconds("patience", route.patience, 1, LONGEST_WAIT);
    route.wait = members.seconds("wait", route.wait, 0, LONGEST_WAIT);
    route.retention = members.seconds("retention", route.retention, 1, LONGEST_RETENTION);
    if let Some(at) = members.get("ignore") {
        at.each(|at| match Ignore::parse(at.text()) {
            Some(ignore) => route.ignore.push(ignore),
            None => at.expected("a JSON pointer or the name of a form field"),
        });
    }
    route.mode = mode(&members);
    // What is answered before it runs can be told apart from a second one by its key alone.
    route.require |= route.mode == Mode::Accept;
    route
}

fn method(at: &At) -> String {
    let text = at.text();
    if let Err(expected) = check::method(text) {
        at.expected(expected);
    }
    text.to_owned()
}

fn unanswered(members: &Members) -> Unanswered {
    let Some(at) = members.get("unanswered") else {
        return Unanswered::Hold;
    };
    match at.value {
        Value::Text(text) if text == "hold" => Unanswered::Hold,
        Value::Text(text) if text == "rerun" => Unanswered::Rerun,
        Value::Object(_) => Unanswered::Probe(
            at.members(&["probe"])
                .want("probe")
                .text_that(check::is_probe, "a path at the origin in which {key} stands once"),
        ),
        _ => {
            at.expected("\"hold\", \"rerun\" or {\"probe\": \"/path/{key}\"}");
            Unanswered::Hold
        }
    }
}

fn mode(members: &Members) -> Mode {
    let word = members.get("mode").map_or(0, |at| {
        let expected = "\"proxy\", \"accept\" or \"batch\"";
        at.word(&["proxy", "accept", "batch"], expected)
    });
    if word == 2 {
        return Mode::Batch {
            items: members.want("items").pointer(true),
            item_key: members.want("item_key").pointer(false),
            item_path: members.want("item_path").origin_path(),
        };
    }
    for name in ["items", "item_key", "item_path"] {
        if let Some(at) = members.get(name) {
            at.fail(ConfigErrorKind::Unknown);
        }
    }
    match word {
        0 => Mode::Proxy,
        _ => Mode::Accept,
    }
}

fn queue(name: &str, at: &At) -> Queue {
    let members = at.members(&["path", "key", "lease", "retention", "unanswered"]);
    let route = Route::default();
    Queue {
        name: name.to_owned(),
        path: members.want("path").origin_path(),
        key: members.get("key").map(|at| at.pointer(false)),
        lease: members.seconds("lease", route.lease, 1, LONGEST_WAIT),
        retention: members.seconds("retention", route.retention, 1, LONGEST_RETENTION),
        unanswered: unanswered(&members),
    }
}

fn machine(name: &str, at: &At) -> Machine {
    let members = at.members(&["initial", "transitions"]);
    let initial = state(&members.want("initial"));
    let listed = members.want("transitions");
    let transitions = listed.named(transition);
    let mut reached = vec![initial.as_str()];
    loop {
        let before = reached.len();
        for transition in &transitions {
            let starts = |from: &String| reached.contains(&from.as_str());
            if transition.from.iter().any(starts) && !reached.contains(&transition.to.as_str()) {
                reached.push(&transition.to);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    listed.named(|_, at| {
        let from = at.members(TRANSITION).want("from");
        from.each(|at| {
            if !reached.contains(&at.text()) {
                at.expected("a state that can be reached");
            }
        });
    });
    Machine { name: name.to_owned(), initial, transitions }
}

/// The members of a transition.
const TRANSITION: &[&str] = &["from", "to", "effect"];

fn transition(name: &str, at: &At) -> Transition {
    let members = at.members(TRANSITION);
    let from = members.want("from");
    from.filled("a list of states");
    Transition {
        name: name.to_owned(),
        from: from.each(state),
        to: state(&members.want("to")),
        effect: members.get("effect").map(|at| at.origin_path()),
    }
}

fn state(at: &At) -> String {
    at.text_that(is_filled, "a state's name")
}
