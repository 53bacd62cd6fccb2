//! Policies: what is taken, what is refused and where, what is published, which route matches.
mod description;

use crate::cases::{cases, name, text};
use oncekey::{
    http::percent::decode_unreserved,
    policy::{Attribute, InvalidPolicy, Mode, PathPattern, Policy, Route},
};
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

const POLICIES: &str = include_str!("../../../../tests/vectors/policies.json");

fn parse(text: &str) -> Result<Policy, InvalidPolicy> {
    text.parse()
}

#[test]
fn valid() {
    for case in cases(POLICIES, "valid") {
        let policy = parse(&case["input"].to_string());
        assert!(policy.is_ok(), "{}: {policy:?}", name(&case));
    }
}

#[test]
fn invalid() {
    for case in cases(POLICIES, "invalid") {
        let policy = text(&case, "text").map_or_else(|| case["input"].to_string(), str::to_owned);
        let error = parse(&policy).expect_err(name(&case));
        let (message, pointer) = (error.to_string(), text(&case, "pointer").unwrap());
        assert_eq!(error.pointer(), pointer, "{}: {message}", name(&case));
        assert!(
            message.contains(pointer) && message.contains(text(&case, "says").unwrap()),
            "{}: {message}",
            name(&case)
        );
    }
}

#[test]
fn depth_is_no_danger() {
    for depth in [129, 1_000_000] {
        let error = parse(&"[".repeat(depth)).unwrap_err();
        assert!(error.to_string().contains("column 130") || depth > 129, "{}", error.to_string());
    }
}

#[test]
fn nothing_is_the_default() {
    for text in ["", " \n", "{}"] {
        assert_eq!(parse(text).unwrap(), Policy::default());
    }
}

#[test]
fn the_published_default() {
    let published: Value = serde_json::from_str(&Policy::default().published()).unwrap();
    let wanted = json!({
        "header": "Idempotency-Key",
        "field": "idempotency_key",
        "max_content": 10_485_760,
        "max_stored": 4_194_304,
        "store_failure": "closed",
        "cors": [],
        "bind": "inside",
        "anonymous": "uuid",
        "origin_key": "scoped",
        "log": 0,
        "server_timing": false,
        "seal": false,
        "routes": [{
            "path": "/*",
            "methods": ["POST", "PATCH"],
            "require": false,
            "keep": "success",
            "server_error": "release",
            "unanswered": "hold",
            "lease": 60,
            "patience": 25,
            "wait": 0,
            "retention": 86400,
            "ignore": [],
            "headers": ["content-range", "if-match", "soapaction", "upload-offset", "x-amz-target", "x-http-method-override"],
            "keys": "any",
            "no_store": "keep",
            "redact": [],
            "mode": "proxy",
        }],
    });
    assert_eq!(published, wanted);
}

#[test]
fn what_is_published_is_pinned_byte_for_byte() {
    for case in cases(POLICIES, "published") {
        let policy = parse(&case["input"].to_string()).unwrap();
        assert_eq!(policy.published(), text(&case, "expect").unwrap(), "{}", name(&case));
    }
}

#[test]
fn what_is_published_is_a_policy() {
    for case in cases(POLICIES, "valid") {
        let policy = parse(&case["input"].to_string()).unwrap();
        let again = parse(&policy.published()).unwrap();
        let Policy { scope, scope_before, identity, limits, queues, machines, .. } = Policy::default();
        let shown = Policy { scope, scope_before, identity, limits, queues, machines, ..policy };
        assert_eq!(again, shown, "{}", name(&case));
    }
}

#[test]
fn scope_identity_queues_and_machines_are_nobodys_business() {
    let published = parse(
        r#"{"scope":["cookie:hidden"],"scope_before":["cookie:hidden"],"identity":{"hidden":{"unverified":true}},"queues":{"hidden":{"path":"/hidden","unanswered":"hold"}},"machines":{"hidden":{"initial":"a","transitions":{"go":{"from":["a"],"to":"b"}}}}}"#,
    )
    .unwrap()
    .published();
    assert!(!published.contains("hidden"), "{published}");
}

#[test]
fn what_is_accepted_requires_a_key() {
    let policy = parse(r#"{"routes":[{"mode":"accept","unanswered":"hold"}]}"#).unwrap();
    assert_eq!(policy.routes, [Route { mode: Mode::Accept, require: true, ..Route::default() }]);
}

#[test]
fn paths() {
    for case in cases(POLICIES, "match") {
        let path = text(&case, "path").unwrap().parse::<PathPattern>().unwrap();
        let policy = Policy { routes: vec![Route { path, ..Route::default() }], ..Policy::default() };
        let found = policy.route("POST", text(&case, "input").unwrap()).is_some();
        assert_eq!(Value::from(found), case["expect"], "{}", name(&case));
    }
}

#[test]
fn an_attribute_is_written_as_it_is_read() {
    let check = |text: &str, wanted: &str| assert_eq!(text.parse::<Attribute>().unwrap().to_string(), wanted);
    check("header:X-Api-Key", "header:x-api-key");
    check("cookie:Session", "cookie:Session");
    check("jwt:main:sub", "jwt:main:/sub");
    check("jwt:main:/realm~1x/0", "jwt:main:/realm~1x/0");
    check("jwt:main:https://id.example/org", "jwt:main:/https:~1~1id.example~1org");
    check("mtls", "mtls");
    for wrong in [
        "",
        "header",
        "header:",
        "cookie: a",
        "query:user",
        "jwt",
        "jwt:main",
        "jwt::sub",
        "jwt:main:",
        "jwt:main:/~",
        "mtls:x",
    ] {
        let told = wrong.parse::<Attribute>().unwrap_err().to_string();
        assert!(told.contains("header:NAME"), "{wrong}: {told}");
    }
}

#[test]
fn a_path_is_written_as_it_is_read() {
    assert_eq!("/a/*".parse::<PathPattern>().unwrap().to_string(), "/a/*");
    assert!("a".parse::<PathPattern>().unwrap_err().to_string().contains("begins with /"));
}

#[test]
fn what_a_policy_names_is_found() {
    let policy = parse(
        r#"{"queues":{"q":{"path":"/q","unanswered":"hold"}},"machines":{"m":{"initial":"a","transitions":{"go":{"from":["a"],"to":"b"}}}}}"#,
    )
    .unwrap();
    assert_eq!(policy.queue("q").map(|queue| queue.path.as_str()), Some("/q"));
    let machine = policy.machine("m").unwrap();
    assert_eq!(machine.transition("go").map(|transition| transition.to.as_str()), Some("b"));
    assert!(policy.queue("m").is_none() && policy.machine("q").is_none() && machine.transition("m").is_none());
}

#[test]
fn the_first_match_decides() {
    let policy =
        parse(r#"{"routes":[{"path":"/a","methods":["PUT"],"wait":1},{"path":"/a","wait":2},{"wait":3}]}"#).unwrap();
    let check = |method: &str, path: &str, wait: Option<u32>| {
        assert_eq!(policy.route(method, path).map(|route| route.wait), wait, "{method} {path}");
    };
    check("PUT", "/a", Some(1));
    check("POST", "/a", Some(2));
    check("PATCH", "/b", Some(3));
    check("PUT", "/b", None);
    check("post", "/a", None);
    check("GET", "/a", None);
    check("DELETE", "/a", None);
}

#[test]
fn unreserved_characters_are_decoded_and_no_others() {
    let check = |path: &str, wanted: &str| assert_eq!(decode_unreserved(path), wanted);
    check("/%41%7a%30%2D%2e%5f%7E", "/Az0-._~");
    check("/%2F%3f%25%20%C3%A9", "/%2F%3f%25%20%C3%A9");
    check("/%2541", "/%2541");
    check("/%", "/%");
    check("/%4", "/%4");
    check("/%zz%+1", "/%zz%+1");
    check("/é%é", "/é%é");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_policy_or_an_error(text in any::<String>(), path in any::<String>()) {
        let _ = parse(&text);
        let quoted = Value::from(text.as_str()).to_string();
        for member in ["header", "field", "store_failure", "scope", "cors"] {
            let _ = parse(&format!("{{\"{member}\":{quoted}}}"));
            let _ = parse(&format!("{{\"{member}\":[{quoted}]}}"));
        }
        for member in ["path", "methods", "ignore", "unanswered", "mode"] {
            let _ = parse(&format!("{{\"routes\":[{{\"{member}\":{quoted}}}]}}"));
            let _ = parse(&format!("{{\"routes\":[{{\"{member}\":[{quoted}]}}]}}"));
        }
        let _ = Policy::default().route("POST", &path);
        let _ = decode_unreserved(&path);
    }
}
