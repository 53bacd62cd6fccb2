//! Policies: what is taken, what is refused and where, what is published, which route matches.
use crate::cases::{cases, name, text};
use oncekey::{
    http::percent::decode_unreserved,
    policy::{Mode, PathPattern, Policy, Route},
};
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

const POLICIES: &str = include_str!("../../../../tests/vectors/policies.json");

#[test]
fn valid() {
    for case in cases(POLICIES, "valid") {
        let policy = Policy::parse(&case["input"].to_string());
        assert!(policy.is_ok(), "{}: {policy:?}", name(&case));
    }
}

#[test]
fn invalid() {
    for case in cases(POLICIES, "invalid") {
        let policy = text(&case, "text").map_or_else(|| case["input"].to_string(), str::to_owned);
        let error = Policy::parse(&policy).expect_err(name(&case));
        let (message, pointer) = (error.message(), text(&case, "pointer").unwrap());
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
        let error = Policy::parse(&"[".repeat(depth)).unwrap_err();
        assert!(error.message().contains("column 130") || depth > 129, "{}", error.message());
    }
}

#[test]
fn nothing_is_the_default() {
    for text in ["", " \n", "{}"] {
        assert_eq!(Policy::parse(text).unwrap(), Policy::default());
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
            "mode": "proxy",
        }],
    });
    assert_eq!(published, wanted);
}

#[test]
fn what_is_published_is_a_policy() {
    for case in cases(POLICIES, "valid") {
        let policy = Policy::parse(&case["input"].to_string()).unwrap();
        let again = Policy::parse(&policy.published()).unwrap();
        let Policy { scope, queues, machines, .. } = Policy::default();
        assert_eq!(again, Policy { scope, queues, machines, ..policy }, "{}", name(&case));
    }
}

#[test]
fn scope_queues_and_machines_are_nobodys_business() {
    let published = Policy::parse(
        r#"{"scope":["cookie:hidden"],"queues":{"hidden":{"path":"/hidden"}},"machines":{"hidden":{"initial":"a","transitions":{"go":{"from":["a"],"to":"b"}}}}}"#,
    )
    .unwrap()
    .published();
    assert!(!published.contains("hidden"), "{published}");
}

#[test]
fn what_is_accepted_requires_a_key() {
    let policy = Policy::parse(r#"{"routes":[{"mode":"accept"}]}"#).unwrap();
    assert_eq!(policy.routes, [Route { mode: Mode::Accept, require: true, ..Route::default() }]);
}

#[test]
fn paths() {
    for case in cases(POLICIES, "match") {
        let path = PathPattern::parse(text(&case, "path").unwrap()).unwrap();
        let policy = Policy { routes: vec![Route { path, ..Route::default() }], ..Policy::default() };
        let found = policy.route("POST", text(&case, "input").unwrap()).is_some();
        assert_eq!(Value::from(found), case["expect"], "{}", name(&case));
    }
}

#[test]
fn the_first_match_decides() {
    let policy =
        Policy::parse(r#"{"routes":[{"path":"/a","methods":["PUT"],"wait":1},{"path":"/a","wait":2},{"wait":3}]}"#)
            .unwrap();
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
        let _ = Policy::parse(&text);
        let quoted = Value::from(text.as_str()).to_string();
        for member in ["header", "field", "store_failure", "scope", "cors"] {
            let _ = Policy::parse(&format!("{{\"{member}\":{quoted}}}"));
            let _ = Policy::parse(&format!("{{\"{member}\":[{quoted}]}}"));
        }
        for member in ["path", "methods", "ignore", "unanswered", "mode"] {
            let _ = Policy::parse(&format!("{{\"routes\":[{{\"{member}\":{quoted}}}]}}"));
            let _ = Policy::parse(&format!("{{\"routes\":[{{\"{member}\":[{quoted}]}}]}}"));
        }
        let _ = Policy::default().route("POST", &path);
        let _ = decode_unreserved(&path);
    }
}
