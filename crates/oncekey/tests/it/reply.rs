//! What the gate says: problems, fragments, kept heads, header lines, and the errands between front and object.
use oncekey::{
    answer::{
        head::ReplyHead,
        own::GateAnswer,
        peek::PeekState,
        refusal::Refusal,
        word::{BypassReason, StatusWord},
    },
    http::{
        fields::Fields,
        lines::HeaderLines,
        negotiate::{Audience, RefusalForm},
    },
    identity::InvalidToken,
    key::{InvalidKey, caller::InvalidCaller, scoped::ScopedKey},
};
use serde_json::{Value, json};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
/// A text that would do harm if it were not escaped.
const SHARP: &str = "<script>\"&'\\\u{0}\n</script>";

pub fn lines(lines: HeaderLines) -> Vec<(String, String)> {
    lines.into_pairs()
}

pub fn keep(status: u16, pairs: &str) -> ReplyHead {
    ReplyHead::keep(status, &Fields::new(pairs.to_owned()))
}

fn values<'a>(lines: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    lines.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
}

/// Refusal, status, code, title, word, Retry-After, the origin's status.
type Row = (Refusal, u16, &'static str, &'static str, &'static str, Option<&'static str>, Option<u16>);

fn header_invalid() -> Refusal {
    Refusal::HeaderInvalid { name: "x-a".to_owned() }
}

fn unverified() -> Refusal {
    Refusal::CallerUnverified(InvalidCaller::Anonymous)
}

fn rows() -> Vec<Row> {
    let invalid = "Idempotency-Key is invalid";
    let unknown = "The outcome is unknown";
    vec![
        (Refusal::KeyMissing, 400, "key_missing", "Idempotency-Key is missing", "refused", None, None),
        (header_invalid(), 400, "header_invalid", "A header field is not UTF-8", "refused", None, None),
        (Refusal::CallerInvalid, 400, "caller_invalid", "The caller cannot be told", "refused", None, None),
        (unverified(), 401, "caller_unverified", "The caller is not verified", "refused", None, None),
        (
            Refusal::IdentityUnavailable,
            503,
            "identity_unavailable",
            "The caller cannot be verified now",
            "refused",
            Some("2"),
            None,
        ),
        (
            Refusal::CallerChanged,
            409,
            "caller_changed",
            "Idempotency-Key was used by another caller",
            "unknown",
            None,
            None,
        ),
        (Refusal::KeyInvalid(InvalidKey::Blank), 400, "key_invalid", invalid, "refused", None, None),
        (
            Refusal::InProgress { retry_after: 1 },
            409,
            "request_in_progress",
            "A request is outstanding for this Idempotency-Key",
            "in-progress",
            Some("1"),
            None,
        ),
        (Refusal::Reused, 422, "idempotency_key_reused", "Idempotency-Key is already used", "mismatch", None, None),
        (Refusal::OutcomeUnknown { status: None }, 409, "outcome_unknown", unknown, "unknown", None, None),
        (Refusal::OutcomeUnknown { status: Some(504) }, 409, "outcome_unknown", unknown, "unknown", None, Some(504)),
        (
            Refusal::ReplyUnavailable { status: 201 },
            409,
            "reply_unavailable",
            "The answer was not kept",
            "refused",
            None,
            Some(201),
        ),
        (
            Refusal::OriginUnreachable { status: Some(521) },
            503,
            "origin_unreachable",
            "The origin was not reached",
            "refused",
            Some("2"),
            Some(521),
        ),
        (
            Refusal::OriginUnanswered { status: None },
            504,
            "origin_unanswered",
            "The origin did not answer",
            "refused",
            Some("1"),
            None,
        ),
        (
            Refusal::UnansweredUnprotected { reason: BypassReason::NoKey, status: Some(999) },
            502,
            "origin_unanswered",
            "The origin did not answer",
            "bypassed;reason=no-key",
            None,
            Some(999),
        ),
        (
            Refusal::StoreUnavailable,
            503,
            "store_unavailable",
            "The store cannot be reached",
            "refused",
            Some("2"),
            None,
        ),
        (
            Refusal::ContentTooLarge { limit: 10 },
            413,
            "content_too_large",
            "The content is too large",
            "refused",
            None,
            None,
        ),
        (
            Refusal::TooManyItems { limit: 10 },
            413,
            "content_too_large",
            "The content is too large",
            "refused",
            None,
            None,
        ),
        (
            Refusal::Misconfigured { message: SHARP.to_owned() },
            500,
            "gate_misconfigured",
            "The gate is misconfigured",
            "refused",
            None,
            None,
        ),
        (
            Refusal::PolicyInvalid { message: SHARP.to_owned() },
            500,
            "policy_invalid",
            "The policy is invalid",
            "refused",
            None,
            None,
        ),
        (
            Refusal::ContentInvalid { message: SHARP.to_owned() },
            400,
            "content_invalid",
            "The content is invalid",
            "refused",
            None,
            None,
        ),
        (
            Refusal::StateConflict { state: SHARP.to_owned() },
            409,
            "state_conflict",
            "The state does not allow it",
            "refused",
            None,
            None,
        ),
        (Refusal::Unauthorized, 401, "unauthorized", "The secret is missing or wrong", "refused", None, None),
        (Refusal::NotDeliverable, 409, "not_deliverable", "There is nothing to deliver", "refused", None, None),
        (Refusal::StillRunning, 409, "still_running", "The request runs", "refused", None, None),
        (Refusal::NothingRemembered, 404, "nothing_remembered", "Nothing is remembered", "refused", None, None),
    ]
}

/// As [`rows`]: each refusal in both forms, with the same facts.
fn check((refusal, status, code, title, word, retry_after, origin): Row) {
    let expires = Some(784_111_777_999);
    let problem = refusal.render(&Audience::default(), expires);
    assert_eq!(problem.status, status, "{code}");
    let body: Value = serde_json::from_str(&problem.content).expect("a problem is JSON");
    assert_eq!(body["status"], json!(status), "{code}");
    assert_eq!(body["code"], json!(code));
    assert_eq!(body["title"], json!(title));
    assert!(body["type"].as_str().is_some_and(|uri| uri.ends_with(&format!("/{code}"))), "{body}");
    assert!(body["detail"].as_str().is_some_and(|detail| detail.ends_with('.')), "{body}");
    assert_eq!(body.get("origin_status"), origin.map(|status| json!(status)).as_ref(), "{code}");

    let head = lines(problem.lines);
    assert_eq!(values(&head, "content-type"), ["application/problem+json"]);
    assert_eq!(values(&head, "idempotency-status"), [word], "{code}");
    assert_eq!(values(&head, "idempotency-expires"), ["Sun, 06 Nov 1994 08:49:37 GMT"]);
    assert_eq!(values(&head, "cache-control"), ["no-store"]);
    assert_eq!(values(&head, "retry-after"), retry_after.into_iter().collect::<Vec<_>>(), "{code}");
    assert!(values(&head, "access-control-allow-origin").is_empty());

    let audience = Audience {
        form: RefusalForm::Page,
        allow_origin: Some("https://shop.example".to_owned()),
        ..Audience::default()
    };
    let page = refusal.render(&audience, None);
    assert_eq!(page.status, status);
    for fact in [code, title, &status.to_string()] {
        assert!(page.content.contains(fact), "{fact}: {}", page.content);
    }
    assert!(!page.content.contains("<script"), "{}", page.content);
    let head = lines(page.lines);
    assert_eq!(values(&head, "content-type"), ["text/html; charset=utf-8"]);
    assert_eq!(values(&head, "access-control-allow-origin"), ["https://shop.example"]);
    assert_eq!(values(&head, "retry-after"), retry_after.into_iter().collect::<Vec<_>>());
    assert!(values(&head, "access-control-expose-headers")[0].contains("Retry-After"));
    assert!(values(&head, "idempotency-expires").is_empty());
}

#[test]
fn refusals() {
    rows().into_iter().for_each(check);
}

/// A problem, byte for byte.
fn check_problem(refusal: &Refusal, expect: &str) {
    assert_eq!(refusal.render(&Audience::default(), None).content, expect);
}

#[test]
fn problems_byte_for_byte() {
    check_problem(
        &Refusal::KeyMissing,
        concat!(
            r#"{"type":"/.oncekey/problems/key_missing","title":"Idempotency-Key is missing","status":400,"#,
            r#""detail":"This operation requires an idempotency key. Send one, and the same one when you try again.","#,
            r#""code":"key_missing"}"#,
        ),
    );
    check_problem(
        &Refusal::OutcomeUnknown { status: Some(500) },
        concat!(
            r#"{"type":"/.oncekey/problems/outcome_unknown","title":"The outcome is unknown","status":409,"#,
            r#""detail":"The request with this key may or may not have taken effect, and it is not run again. "#,
            r#"The origin's status was 500. Look at the resource before you use a new key.","#,
            r#""code":"outcome_unknown","origin_status":500}"#,
        ),
    );
    check_problem(
        &Refusal::StateConflict { state: "</a>\"\\é\u{7f}\u{1f}".to_owned() },
        concat!(
            r#"{"type":"/.oncekey/problems/state_conflict","title":"The state does not allow it","status":409,"#,
            r#""detail":"The state is \"</a>\"\\é"#,
            "\u{7f}",
            r#"\u001f\". Nothing was changed.","code":"state_conflict","state":"</a>\"\\é"#,
            "\u{7f}",
            r#"\u001f"}"#,
        ),
    );
}

#[test]
fn the_gates_own_answers_byte_for_byte() {
    let key = SCOPED.parse::<ScopedKey>().unwrap();
    let check = |said: GateAnswer, status: u16, content: &str, word: Option<&str>| {
        assert_eq!((said.status, said.content.as_str()), (status, content));
        let word = word.map(|word| format!(",\"idempotency-status\":\"{word}\"")).unwrap_or_default();
        let head = r#"{"content-type":"application/json","cache-control":"no-store""#;
        assert_eq!(said.lines.into_json(), format!("{head}{word}}}"));
    };
    let expires = 784_111_777_001;
    check(GateAnswer::peek(PeekState::Absent), 200, r#"{"state":"absent"}"#, None);
    check(GateAnswer::peek(PeekState::Running), 200, r#"{"state":"running"}"#, None);
    check(
        GateAnswer::peek(PeekState::Completed { status: 201, expires }),
        200,
        r#"{"state":"completed","status":201,"expires":"1994-11-06T08:49:37Z"}"#,
        None,
    );
    check(
        GateAnswer::peek(PeekState::Unknown { status: None, expires: Some(expires) }),
        200,
        r#"{"state":"unknown","expires":"1994-11-06T08:49:37Z"}"#,
        None,
    );
    check(GateAnswer::queued(&key), 202, &format!(r#"{{"status":"queued","id":"{SCOPED}"}}"#), Some("accepted"));
    check(
        GateAnswer::duplicate(&key),
        202,
        &format!(r#"{{"status":"duplicate_ignored","id":"{SCOPED}"}}"#),
        Some("replayed"),
    );
}

#[test]
fn the_fragment_is_escaped() {
    let audience = Audience { form: RefusalForm::Page, ..Audience::default() };
    let page = Refusal::StateConflict { state: SHARP.to_owned() }.render(&audience, None);
    assert!(page.content.contains("&lt;script&gt;&quot;&amp;&#39;\\"), "{}", page.content);
    assert!(page.content.starts_with('<') && page.content.ends_with('>'));
}

#[test]
fn refusals_with_a_field_of_their_own() {
    let allow = lines(Refusal::MethodNotAllowed { allow: "GET, HEAD" }.render(&Audience::default(), None).lines);
    assert_eq!(values(&allow, "allow"), ["GET, HEAD"]);
    let expired = Refusal::CallerUnverified(InvalidCaller::Token(InvalidToken::Expired));
    let invalid = "Bearer error=\"invalid_token\"";
    for (refusal, expect) in [(Refusal::Unauthorized, "Bearer"), (unverified(), "Bearer"), (expired, invalid)] {
        let asks = lines(refusal.render(&Audience::default(), None).lines);
        assert_eq!(values(&asks, "www-authenticate"), [expect]);
    }
}

fn check_peek(peek: PeekState, expect: Value) {
    let said = GateAnswer::peek(peek);
    assert_eq!(said.status, 200);
    assert_eq!(serde_json::from_str::<Value>(&said.content).ok(), Some(expect));
    assert_eq!(values(&lines(said.lines), "cache-control"), ["no-store"]);
}

#[test]
fn peeks() {
    let expires = 784_111_777_001;
    let at = "1994-11-06T08:49:37Z";
    check_peek(PeekState::Absent, json!({"state": "absent"}));
    check_peek(PeekState::Running, json!({"state": "running"}));
    check_peek(
        PeekState::Completed { status: 201, expires },
        json!({"state": "completed", "status": 201, "expires": at}),
    );
    check_peek(PeekState::Unknown { status: None, expires: None }, json!({"state": "unknown"}));
    check_peek(PeekState::Unknown { status: None, expires: Some(expires) }, json!({"state": "unknown", "expires": at}));
    check_peek(
        PeekState::Unknown { status: Some(504), expires: Some(expires) },
        json!({"state": "unknown", "status": 504, "expires": at}),
    );
    check_peek(PeekState::Dead { status: None, expires }, json!({"state": "dead", "expires": at}));
    check_peek(PeekState::Dead { status: Some(404), expires }, json!({"state": "dead", "status": 404, "expires": at}));
}

/// What comes, as `name,value` lines, and what is kept, as `name:value` lines.
fn check_keep(pairs: &[&str], expect: &[&str]) {
    let head = keep(200, &pairs.join("\n"));
    assert_eq!(head.status, 200);
    assert_eq!(head.lines.lines().collect::<Vec<_>>(), expect, "{pairs:?}");
    assert_eq!(head.pairs().count(), expect.len());
}

#[test]
fn what_of_a_head_is_kept() {
    check_keep(&[""], &[]);
    check_keep(&["content-type,text/csv", "x-a,"], &["content-type:text/csv", "x-a:"]);
    check_keep(
        &["set-cookie,a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "x,1", "set-cookie,b:2,c"],
        &["set-cookie:a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "x:1", "set-cookie:b:2,c"],
    );
    for one_hop in [
        "connection,close",
        "content-length,3",
        "keep-alive,timeout=5",
        "proxy-connection,close",
        "te,trailers",
        "trailer,x",
        "transfer-encoding,chunked",
        "upgrade,h2c",
    ] {
        check_keep(&["a,1", one_hop, "b,2"], &["a:1", "b:2"]);
    }
    for own in [
        "idempotency-status,executed",
        "idempotency-expires,x",
        "idempotent-replayed,true",
        "oncekey-errand,release",
        "x-oncekey-a,b",
    ] {
        check_keep(&[own, "oncekeys,1"], &["oncekeys:1"]);
    }
}

#[test]
fn what_connection_names_is_not_kept() {
    check_keep(&["x-a,1", "connection,X-A ,\tx-b", "x-b,2", "x-c,3"], &["x-c:3"]);
    check_keep(&["connection,x-a", "x-a,1", "connection,x-b", "x-b,2", "x-c,3"], &["x-c:3"]);
}

#[test]
fn what_is_sent_of_a_head() {
    let head = keep(201, "location,/orders/1\nset-cookie,a=1\nset-cookie,b=2\naccess-control-allow-origin,*");
    let sent = lines(head.lines_to_send(StatusWord::Replayed, Some(784_111_777_000), false));
    assert_eq!(values(&sent, "location"), ["/orders/1"]);
    assert_eq!(values(&sent, "set-cookie"), ["a=1", "b=2"]);
    assert_eq!(values(&sent, "idempotency-status"), ["replayed"]);
    assert_eq!(values(&sent, "idempotent-replayed"), ["true"]);
    assert_eq!(values(&sent, "idempotency-expires"), ["Sun, 06 Nov 1994 08:49:37 GMT"]);
    assert!(values(&sent, "access-control-expose-headers")[0].contains("Idempotency-Status"));

    let first = lines(keep(201, "location,/orders/1").lines_to_send(StatusWord::Executed, None, false));
    assert_eq!(values(&first, "idempotency-status"), ["executed"]);
    assert!(values(&first, "idempotent-replayed").is_empty());
    assert!(values(&first, "idempotency-expires").is_empty());
    assert!(values(&first, "access-control-expose-headers").is_empty());
}

#[test]
fn statuses_without_content() {
    let without: Vec<u16> = (100..=599).filter(|status| keep(*status, "").has_no_content()).collect();
    assert_eq!(without, [204, 205, 304]);
}

#[test]
fn words() {
    let check = |word: StatusWord, expect| assert_eq!(word.as_str(), expect);
    check(StatusWord::Executed, "executed");
    check(StatusWord::Replayed, "replayed");
    check(StatusWord::InProgress, "in-progress");
    check(StatusWord::Mismatch, "mismatch");
    check(StatusWord::Unknown, "unknown");
    check(StatusWord::Refused, "refused");
    check(StatusWord::Accepted, "accepted");
    check(StatusWord::Bypassed(BypassReason::NoKey), "bypassed;reason=no-key");
    check(StatusWord::Bypassed(BypassReason::ContentTooLarge), "bypassed;reason=content-too-large");
    check(StatusWord::Bypassed(BypassReason::StoreUnavailable), "bypassed;reason=store-unavailable");
}

#[test]
fn lines_byte_for_byte() {
    let check = |pairs: &[(&str, &str)], expect: &str| {
        let mut pushed = HeaderLines::default();
        pairs.iter().for_each(|(name, value)| pushed.push(name, value));
        assert_eq!(pushed.into_json(), expect);
    };
    check(&[], "{}");
    check(&[("a", "\"\\é/\u{1f}"), ("", "")], r#"{"a":"\"\\é/\u001f","":""}"#);
    check(&[("b", "1"), ("__proto__", "2"), ("a", "3")], r#"{"b":"1","__proto__":"2","a":"3"}"#);
    // What an object would lose: a line of two with one name, the place of a name that is a number.
    check(&[("a", "1"), ("b", "2"), ("A", "3")], r#"[["a","1"],["b","2"],["A","3"]]"#);
    check(&[("a", "1"), ("7", "2")], r#"[["a","1"],["7","2"]]"#);
}
