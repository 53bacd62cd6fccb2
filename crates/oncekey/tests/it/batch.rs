//! Batches and queues: the line's order against random histories, lists and keys, what an item is told as.
use oncekey::{
    answer::refusal::Refusal,
    batch::{BatchPlan, ItemLine, batch_head, item_answer, items_of},
    http::{fields::Fields, lines::HeaderLines, negotiate::Audience},
    key::{scope::Scope, scoped::ScopedKey, scopes::CallerScopes},
    policy::{Keep, Mode, Policy, Unanswered},
    queue::{attempt_of_message, content_of_text, redelivery_delay},
    stored::attempt::Attempt,
};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

fn pairs(lines: HeaderLines) -> Vec<(String, String)> {
    lines.into_pairs()
}

fn policy() -> Policy {
    let policy = json!({
        "max_stored": 77,
        "routes": [{
            "mode": "batch", "items": "/items", "item_key": "/meta/key", "item_path": "/orders?a=1", "ignore": ["/at"],
            "keep": "definite", "lease": 9,
        }],
        "queues": {
            "mail": { "path": "/mail", "key": "/event_id", "lease": 5, "retention": 9, "unanswered": "rerun" },
            "ids": { "path": "/mail", "unanswered": "hold" },
        },
    });
    policy.to_string().parse().unwrap()
}

fn plan(policy: &Policy, fields: &str) -> BatchPlan {
    let Mode::Batch { item_key, item_path, .. } = &policy.routes[0].mode else { panic!() };
    let mut scope = Scope::new("gate.example");
    scope.add("header:authorization", "Bearer ann");
    let fields = Fields::new(fields.to_owned());
    let scopes = CallerScopes { now: scope, before: None };
    BatchPlan::new(policy, &policy.routes[0], (item_key, item_path), scopes, "http://gate.example", &fields)
}

/// An attempt without what tells how its content was written.
fn unwritten(attempt: Attempt) -> Attempt {
    Attempt { basis: None, ..attempt }
}

fn item(element: &str) -> Result<Attempt, Refusal> {
    let policy = policy();
    plan(&policy, "").attempt_of_item(&policy, element).map(|(attempt, _)| unwritten(attempt))
}

#[test]
fn an_item_is_a_request_of_its_own() {
    let first = item("{\"meta\":{\"key\":\"k\"},\"n\":1,\"at\":5}").unwrap();
    assert_eq!((first.terms.lease, first.terms.keep, first.terms.max_stored), (9, Keep::Definite, 77));
    // The key's own place and what is ignored do not count; the rest does.
    assert_eq!(item("{ \"n\" : 1.0, \"at\":6, \"meta\":{\"key\":\"k\"} }").unwrap(), first);
    let other = item("{\"meta\":{\"key\":\"k\"},\"n\":2}").unwrap();
    assert_eq!(other.scoped_key, first.scoped_key);
    assert_ne!(other.fingerprint, first.fingerprint);
    assert_ne!(item("{\"meta\":{\"key\":\"l\"},\"n\":1}").unwrap().scoped_key, first.scoped_key);
}

#[test]
fn an_item_without_a_usable_key() {
    let check = |element: &str, code: &str| assert_eq!(item(element).unwrap_err().code(), code, "{element}");
    for element in ["{}", "{\"meta\":{}}", "7", "null", "[]", "\"k\"", "{\"meta\":[{\"key\":\"k\"}]}"] {
        check(element, "key_missing");
    }
    for key in ["5", "null", "\"\"", "\" \"", "[\"k\"]", "\"\\u00e9\"", "\"\\ud800\""] {
        check(&format!("{{\"meta\":{{\"key\":{key}}}}}"), "key_invalid");
    }
    check("{\"meta\":{\"key\":\"a\",\"key\":\"a\"}}", "key_invalid");
    check("{\"meta\":{\"key\":\"a\"},\"meta\":{}}", "key_invalid");
}

#[test]
fn an_item_has_the_callers_head_but_for_the_content() {
    let policy = policy();
    let head = |fields: &str| {
        let plan = plan(&policy, fields);
        assert_eq!((plan.head().method.as_str(), plan.head().url.as_str()), ("POST", "http://gate.example/orders?a=1"));
        pairs(plan.head().lines())
    };
    let json = ("content-type".to_owned(), "application/json".to_owned());
    assert_eq!(head(""), std::slice::from_ref(&json));
    let sent = "authorization,Bearer ann\ncontent-type,application/json; charset=x\ncontent-length,5\naccept-encoding,br\naccept,a/b\noncekey-errand,x\nx-a,1, 2";
    let kept = [("authorization", "Bearer ann"), ("accept", "a/b"), ("x-a", "1, 2")];
    let kept = kept.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(head(sent), [vec![json.clone()], kept.to_vec()].concat());
    assert_eq!(head("accept,text/html\nhx-request,true"), [json]);
}

#[test]
fn lists() {
    let check = |kind: Option<&str>, coding: Option<&str>, content: &[u8], at: &[&str], expect: Result<&str, &str>| {
        let at: Vec<String> = at.iter().map(|&token| token.to_owned()).collect();
        match (items_of(kind, coding, content, &at, 3), expect) {
            (Ok(found), Ok(expect)) => assert_eq!(found, expect),
            (Err(Refusal::ContentInvalid { message }), Err(says)) => assert!(message.contains(says), "{message}"),
            (found, expect) => panic!("{found:?} where {expect:?}"),
        }
    };
    let json = Some("application/json");
    check(json, None, b" [1, 2] ", &[], Ok("[1, 2]"));
    check(Some("application/x+json; a=b"), Some("identity"), b"{\"a\":[[],[3]]}", &["a", "1"], Ok("[3]"));
    check(json, None, "\u{feff}[]".as_bytes(), &[], Ok("[]"));
    check(json, None, b"[1,{},[2,3]]", &[], Ok("[1,{},[2,3]]"));
    assert_eq!(items_of(json, None, b"[1,2,3,4]", &[], 3), Err(Refusal::TooManyItems { limit: 3 }));
    check(json, None, b"{\"a/b\":{}}", &["a/b"], Err("\"/a~1b\""));
    check(json, None, b"{\"a\":[],\"a\":[]}", &["a"], Err("one list"));
    check(json, None, b"[", &[], Err("line 1, column 2"));
    for (kind, coding) in [(None, None), (Some("text/json"), None), (json, Some("gzip"))] {
        check(kind, coding, b"[]", &[], Err("JSON is taken"));
    }
}

#[test]
fn what_an_item_is_told_as() {
    let check = |status, after, content: Option<&[u8]>, expect: Value| {
        let told: Value = serde_json::from_str(&item_answer(status, "executed", None, after, content)).unwrap();
        let mut wanted = json!({ "status": status, "idempotency_status": "executed" });
        wanted.as_object_mut().unwrap().extend(expect.as_object().unwrap().clone());
        assert_eq!(told, wanted);
    };
    check(201, None, Some(b"{\"a\":[1]}"), json!({ "body": { "a": [1] } }));
    check(429, Some(7), Some(b"null"), json!({ "retry_after": 7, "body": null }));
    check(200, None, Some(b""), json!({ "body": "", "encoding": "base64" }));
    check(204, None, Some(b""), json!({ "body": null }));
    check(200, None, None, json!({ "body": null, "omitted": true }));
    for (content, text) in
        [(&b"f"[..], "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"\xff\xfe\xfb", "//77"), (b"{", "ew==")]
    {
        check(200, None, Some(content), json!({ "body": text, "encoding": "base64" }));
    }
    let deep = "[".repeat(129) + &"]".repeat(129);
    assert!(item_answer(200, "executed", None, None, Some(deep.as_bytes())).contains("base64"));
    assert!(item_answer(200, "executed", None, None, Some(b" 1.0 ")).contains("\"body\": 1.0 }"));
    assert!(!pairs(batch_head(&Audience::default())).iter().any(|(name, _)| name.starts_with("access-control-")));
    let head =
        pairs(batch_head(&Audience { allow_origin: Some("https://shop.example".to_owned()), ..Audience::default() }));
    assert!(head.contains(&("access-control-allow-origin".to_owned(), "https://shop.example".to_owned())));
    assert!(head.contains(&("idempotency-status".to_owned(), "bypassed;reason=batch".to_owned())));
}

#[test]
fn an_items_answer_byte_for_byte() {
    let check = |after, content: Option<&[u8]>, expect: &str| {
        assert_eq!(
            item_answer(200, "a\"\n", None, after, content),
            format!(r#"{{"status":200,"idempotency_status":"a\"\n",{expect}}}"#)
        );
    };
    check(Some(7), Some(b" {\"a\" :1.0}\n"), "\"retry_after\":7,\"body\": {\"a\" :1.0}\n");
    check(None, Some(b"\"\\ud800\""), r#""body":"\ud800""#);
    check(None, Some(b"foo"), r#""body":"Zm9v","encoding":"base64""#);
    check(None, None, r#""body":null,"omitted":true"#);
    assert_eq!(
        item_answer(201, "executed", Some("/o/\"1\""), Some(2), Some(b"{}")),
        r#"{"status":201,"idempotency_status":"executed","location":"/o/\"1\"","retry_after":2,"body":{}}"#
    );
}

#[test]
fn messages() {
    let policy = policy();
    let of = |queue: &str, id: &str, content: &str| {
        attempt_of_message(&policy, policy.queue(queue).unwrap(), id, content.as_bytes()).map(unwritten)
    };
    let key = |queue: &str, id: &str, content: &str| of(queue, id, content).unwrap().scoped_key;
    let first = of("mail", "m1", "{\"event_id\":\"e\",\"n\":1}").unwrap();
    assert_eq!((first.terms.lease, first.terms.retention, first.terms.keep), (5, 9, Keep::Definite));
    assert_eq!((first.terms.unanswered.clone(), first.terms.patience), (Unanswered::Rerun, 6));
    assert_eq!(of("mail", "m2", "{\"n\":1.0,\"event_id\":\"e\"}").unwrap(), first);
    assert_ne!(of("mail", "m1", "{\"event_id\":\"e\",\"n\":2}").unwrap().fingerprint, first.fingerprint);
    assert_ne!(key("mail", "e", "{}"), first.scoped_key, "a key and an id are apart");
    assert_ne!(key("ids", "e", "{}"), first.scoped_key);
    for content in ["{}", "null", "[]", "\"event_id\"", "{\"event\":5}"] {
        assert_eq!(key("mail", "m1", content), key("mail", "m1", "1"), "{content}");
    }
    assert_eq!(key("ids", "m1", "{\"event_id\":\"e\"}"), key("ids", "m1", "1"));
    for (number, digits) in [
        ("7", "7"),
        ("0", "0"),
        ("-0", "0"),
        ("-12", "-12"),
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991"),
    ] {
        let held = |value: &str| key("mail", "m1", &format!("{{\"event_id\":{value}}}"));
        assert_eq!(held(number), held(&format!("\"{digits}\"")), "{number}");
    }
    for value in [
        "\"\"",
        "\" \"",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "\"a\",\"event_id\":\"a\"",
        "null",
        "true",
        "false",
        "{}",
        "[]",
        "[\"a\"]",
        "{\"a\":1}",
        "7.5",
        "7.0",
        "7e0",
        "1e3",
        "9007199254740992",
        "-9007199254740992",
        "123456789012345678901234567890",
    ] {
        assert_eq!(of("mail", "m1", &format!("{{\"event_id\":{value}}}")), None, "{value}");
    }
    for content in ["", "{"] {
        assert_eq!(of("mail", "m1", content), None, "{content}");
    }
    assert_eq!(of("mail", "m1", &format!("{{\"event_id\":\"{}\"}}", "x".repeat(256))), None);
    assert_eq!(of("ids", " ", "{}"), None);
    assert!(policy.queue("none").is_none());
}

#[test]
fn a_text_that_is_json_is_that_json() {
    for (text, expect) in [
        (r#""{\"event_id\": 7}""#, r#"{"event_id": 7}"#),
        (r#""5""#, "5"),
        (r#""\"a\"""#, r#""a""#),
        (r#""a""#, r#""a""#),
        (r#""{""#, r#""{""#),
        (r#""\ud800""#, r#""\ud800""#),
        ("{}", "{}"),
        ("", ""),
    ] {
        assert_eq!(content_of_text(text), expect, "{text}");
    }
}

#[test]
fn delays() {
    let check = |attempts, jitter, retry_after, expect| {
        assert_eq!(redelivery_delay(attempts, jitter, retry_after), expect, "{attempts} {jitter} {retry_after}");
    };
    check(0, 0, 0, 1);
    check(1, 0, 0, 1);
    check(1, u32::MAX, 0, 2);
    check(5, u32::MAX, 0, 32);
    check(u32::MAX, u32::MAX, 0, 600);
    check(1, 0, 7_001, 8);
    check(1, 0, u64::MAX, 43_200);
}

fn key(number: u8) -> ScopedKey {
    let policy = policy();
    attempt_of_message(&policy, policy.queue("ids").unwrap(), &number.to_string(), b"1").unwrap().scoped_key
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// `None` is an item for which nothing is sent; the choices say which of those under way ends next.
    #[test]
    fn six_at_most_and_one_key_in_order(
        items in vec(proptest::option::of(0..9_u8), 0..200), choices in vec(any::<usize>(), 1..50),
    ) {
        let (mut line, mut running, mut begun) = (ItemLine::default(), Vec::new(), Vec::new());
        let mut next = 0;
        let mut choice = choices.iter().cycle();
        loop {
            while next < items.len() && line.has_room(0, 0) {
                assert_eq!(line.join_item(items[next].map(key).as_ref()), next);
                next += 1;
            }
            while let Some(number) = line.begin_next() {
                let mine = items[number].expect("nothing is sent for it");
                assert!(!running.iter().any(|other: &usize| items[*other] == Some(mine)), "two of one key at once");
                running.push(number);
                begun.push(number);
            }
            assert!(running.len() <= 6);
            if running.is_empty() {
                break;
            }
            let ended = running.swap_remove(choice.next().unwrap() % running.len());
            line.end_item(ended);
            line.end_item(ended);
        }
        assert_eq!(next, items.len());
        for number in 0..9 {
            let expect: Vec<usize> = (0..items.len()).filter(|at| items[*at] == Some(number)).collect();
            let found: Vec<usize> = begun.iter().copied().filter(|at| items[*at] == Some(number)).collect();
            assert_eq!(found, expect, "out of order");
        }
        assert_eq!(begun.len(), items.iter().flatten().count());
    }

    #[test]
    fn any_bytes_are_a_batch_or_refused(bytes in any::<Vec<u8>>(), id in any::<String>(), status in 200..600_u16) {
        let _ = items_of(Some("application/json"), None, &bytes, &["a".to_owned()], 10);
        let policy = policy();
        let _ = attempt_of_message(&policy, policy.queue("mail").unwrap(), &id, &bytes);
        let told: Value = serde_json::from_str(&item_answer(status, &id, Some(&id), None, Some(&bytes))).unwrap();
        assert_eq!((&told["idempotency_status"], &told["location"]), (&json!(id), &json!(id)));
    }
}

#[test]
fn no_room_behind_answers_that_wait() {
    let mut line = ItemLine::default();
    assert!(line.has_room(63, 0) && !line.has_room(64, 0) && !line.has_room(0, 5_000_000));
    for at in 0..64 {
        assert!(line.has_room(0, 0), "{at}");
        line.join_item(Some(&key(at)));
    }
    assert!(!line.has_room(0, 0));
    line.end_item(1);
    assert!(!line.has_room(0, 0), "the first is not done");
    line.end_item(0);
    assert!(line.has_room(0, 0));
}
