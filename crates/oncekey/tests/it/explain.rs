//! What is said of requests, and of two of them: by vectors that the running gate is held against too.
use std::fmt::Write;

use crate::cases::{name, text, texts};
use oncekey::{
    explain::{Apart, Explanation, PairOutcome, SentRequest, Verdict, compare_requests, explain_request},
    http::fields::Fields,
    policy::Policy,
};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../../tests/vectors/explain.json");
const FINGERPRINTS: &str = include_str!("../../../../tests/vectors/fingerprints.json");

fn vectors() -> (Policy, Vec<Value>) {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    (file["policy"].to_string().parse().unwrap(), file["pairs"].as_array().unwrap().clone())
}

/// What is said of a request of the vectors: a POST of JSON to `/orders` by ann, under a random UUID, unless it says
/// otherwise.
fn explained(policy: &Policy, request: &Value) -> Explanation {
    let or = |member, usual| text(request, member).unwrap_or(usual).replace("KEY", "6894a57f9324");
    let mut fields = format!(
        "authorization,Bearer {}\ncontent-type,{}\nidempotency-key,{}",
        or("caller", "ann"),
        or("type", "application/json"),
        or("key", "8e03978e-40d5-43dd-bc93-KEY"),
    );
    for line in request["lines"].as_array().into_iter().flatten() {
        write!(fields, "\n{},{}", line[0].as_str().unwrap().to_lowercase(), line[1].as_str().unwrap()).unwrap();
    }
    let (fields, content) = (Fields::new(fields), or("content", ""));
    let (method, url) = (or("method", "POST"), format!("http://shop.test{}", or("path", "/orders")));
    explain_request(policy, &SentRequest { method: &method, url: &url, fields: &fields, content: content.as_bytes() })
}

#[test]
fn pairs() {
    let (policy, pairs) = vectors();
    assert!(pairs.len() >= 20);
    for pair in &pairs {
        let [first, second] = ["first", "second"].map(|which| explained(&policy, &pair[which]));
        let compared = compare_requests(&first, &second);
        let outcome = match compared.outcome {
            PairOutcome::Same => "same",
            PairOutcome::Other => "other",
            PairOutcome::OtherCaller => "other_caller",
            PairOutcome::Apart(_) => "apart",
        };
        assert_eq!(Some(outcome), text(pair, "outcome"), "{}: {compared}", name(pair));
        assert_eq!(compared.differences, texts(pair, "differences"), "{}", name(pair));
        assert_eq!(first.fingerprint == second.fingerprint, compared.differences.is_empty(), "{}", name(pair));
    }
}

/// Of any two requests the parts differ exactly if the fingerprints do.
#[test]
fn parts_tell_what_fingerprints_tell() {
    let (policy, pairs) = vectors();
    let all: Vec<Explanation> =
        pairs.iter().flat_map(|pair| [&pair["first"], &pair["second"]]).map(|sent| explained(&policy, sent)).collect();
    for one in &all {
        for other in &all {
            let compared = compare_requests(one, other);
            let is_same = one.fingerprint == other.fingerprint;
            assert_eq!(compared.differences.is_empty(), is_same, "{compared}\n{one}\n{other}");
        }
    }
}

#[test]
fn a_fingerprint_is_the_gates() {
    let file: Value = serde_json::from_str(FINGERPRINTS).unwrap();
    for case in file["fingerprint"].as_array().unwrap() {
        let ignore =
            serde_json::json!({"headers": [], "ignore": texts(case, "ignore"), "methods": ["POST", "PATCH", "PUT"]});
        let policy: Policy = serde_json::json!({"routes": [ignore]}).to_string().parse().unwrap();
        let lines = [("content-type", "type"), ("content-encoding", "encoding")];
        let lines = lines.iter().filter_map(|(field, member)| Some(format!("{field},{}\n", text(case, member)?)));
        let fields = Fields::new(lines.collect::<String>() + "idempotency-key,k");
        let (url, content) =
            (format!("http://a.test{}", text(case, "target").unwrap()), text(case, "content").unwrap());
        let sent = SentRequest {
            method: text(case, "method").unwrap(),
            url: &url,
            fields: &fields,
            content: content.as_bytes(),
        };
        let found = explain_request(&policy, &sent);
        if !matches!(found.verdict, Verdict::Unprotected) {
            assert_eq!(
                found.fingerprint.map(|found| found.to_string()).as_deref(),
                text(case, "expect"),
                "{}",
                name(case)
            );
        }
    }
}

#[test]
fn what_is_not_compared() {
    let policy = r#"{"routes": [{"path": "/orders", "require": true}, {"path": "/batch", "mode": "batch", "items": "", "item_key": "/k", "item_path": "/orders"}, {"path": "/free"}]}"#;
    let policy: Policy = policy.parse().unwrap();
    let check = |method: &str, path: &str, fields: &str, expect: &str| {
        let (url, fields) = (format!("http://shop.test{path}"), Fields::new(fields.replace(';', "\n")));
        let found = explain_request(&policy, &SentRequest { method, url: &url, fields: &fields, content: b"{}" });
        assert!(found.verdict.to_string().contains(expect), "{method} {path}: {found}");
        let compared = compare_requests(&found, &found).outcome;
        assert_eq!(compared, PairOutcome::Apart(Apart::NotProtected), "{method} {path}");
    };
    let json = "content-type,application/json";
    check("POST", "/orders", json, "400 key_missing");
    check("POST", "/orders", "", "400 key_missing");
    check("POST", "/free", json, "passes unprotected");
    check("GET", "/orders", json, "no route has this method and path");
    check("POST", "/elsewhere", json, "no route has this method and path");
    check("POST", "/batch", json, "each of its items");
    check("POST", "/.oncekey/health", json, "the gate's own");
    check("POST", "/free/../orders", json, "400 key_missing");
    check("POST", "/orders", "idempotency-key,a b", "400 key_invalid");
    check("POST", "/orders", "idempotency-key,order-1", "400 key_invalid");
    check("POST", "/orders", "authorization,Bearer \u{fffd};idempotency-key,order-1", "400 caller_invalid");
}

#[test]
fn a_caller_who_is_told_by_a_token_is_not_told_here() {
    let policy = r#"{"scope": ["jwt:main:sub"], "identity": {"main": {"jwks": "https://id.shop.test/k", "issuer": "i", "audience": "a"}}}"#;
    let fields = Fields::new("authorization,Bearer a.b.c\nidempotency-key,order-1".to_owned());
    let sent = SentRequest { method: "POST", url: "http://shop.test/", fields: &fields, content: b"" };
    let found = explain_request(&policy.parse().unwrap(), &sent);
    assert_eq!((&found.verdict, &found.scoped_key), (&Verdict::Protected, &None));
    assert!(found.to_string().contains("not known here"), "{found}");
    assert_eq!(compare_requests(&found, &found).outcome, PairOutcome::Same);
}

#[test]
fn what_is_said_of_one() {
    let (policy, _) = vectors();
    let request = serde_json::json!({"path": "/less/1?a", "content": "{\"b\": 1.0, \"sent_at\": 7, \"a\": [true]}"});
    let said = explained(&policy, &request).to_string();
    let expect = [
        "route        /routes/1: POST, PATCH /less/*",
        "key          8e03978e-40d5-43dd-bc93-6894a57f9324, a random UUID",
        "verdict      it happens once",
        "counts       the method: POST",
        "             the path: /less/1",
        "             the query: a",
        "             the media type: application/json",
        "             the content at /a/0: true",
        "             the content at /b: 1",
        "canonical    j{\"a\":[true],\"b\":1}",
        "fingerprint  1.",
    ];
    let mut lines = said.lines();
    for line in expect {
        assert!(lines.any(|found| found.starts_with(line)), "{line}\n{said}");
    }
}
