//! The same request, where a deploy lies between its attempts.
use oncekey::{
    answer::refusal::Refusal,
    content::Content,
    decide::{
        accepted::{AcceptDecision, decide_accept},
        attempt::{Decision, decide},
        same::{Likeness, compare},
    },
    errand::Errand,
    fingerprint::fingerprint,
    http::{fields::Fields, target::Target},
    key::seal::SealKeys,
    policy::Policy,
    stored::{
        attempt::{Attempt, Terms},
        basis::basis_digests,
        record::{Cause, Claim, Owner, Record},
    },
};

const NOW: u64 = 1_767_225_600_000;
const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const FORM: &str = "content-type,application/x-www-form-urlencoded";

/// A POST to `/a` under a policy with this route, in which `'` stands for `"`; `lines` are its header's.
fn attempt(route: &str, field: &str, path: &str, lines: &str, content: &str) -> Attempt {
    let policy = format!(r#"{{"field": "{field}", "routes": [{{{}}}]}}"#, route.replace('\'', "\""));
    let policy = policy.parse::<Policy>().unwrap();
    let fields = Fields::new(lines.to_owned());
    let content_type = fields.get("content-type").or(Some("application/json"));
    let content = Content::parse(content_type, None, content.as_bytes());
    let (target, route) = (Target { method: "POST", path_and_query: path }, &policy.routes[0]);
    let headers = (&*route.headers, &fields);
    let basis = basis_digests(&target, content_type, None, &content, field, &route.ignore, headers);
    Attempt {
        scoped_key: SCOPED.parse().unwrap(),
        fingerprint: fingerprint(&target, content_type, None, &content, field, &route.ignore, headers),
        terms: Terms::of(&policy, route),
        header: policy.header.clone(),
        callers: None,
        age: None,
        seal: SealKeys::default(),
        basis: Some(basis.into()),
    }
}

fn claim(attempt: &Attempt) -> Claim {
    let Decision::Execute(claim) = decide(None, Owner::default(), attempt, false, NOW) else { unreachable!() };
    claim
}

#[test]
fn of_one_policy_the_fingerprint_tells() {
    let check = |one: &str, two: &str, expect| {
        let of = |content| attempt("'ignore': ['/t']", "k", "/a", "", content);
        assert_eq!(compare(&claim(&of(one)), &of(two)), expect, "{one} {two}");
    };
    check(r#"{"a":1,"t":1}"#, r#"{"t":2, "a":1.0}"#, Likeness::Same);
    check(r#"{"a":1}"#, r#"{"a":2}"#, Likeness::Other);
}

#[test]
fn under_another_policy() {
    let check = |(route, content): (&str, &str), (later, again): (&str, &str), lines: &str, expect| {
        let first = attempt(route, "k", "/a", lines, content);
        let second = attempt(later, "k", "/a", lines, again);
        assert_eq!(compare(&claim(&first), &second), expect, "{route} {content} / {later} {again}");
    };
    let (bare, sent_at, both) = ("", "'ignore': ['/t']", "'ignore': ['/t', '/u']");
    let body = r#"{"a":1,"t":1}"#;
    for (then, now) in
        [(bare, sent_at), (sent_at, bare), (sent_at, both), (bare, "'headers': []"), (bare, "'ignore': ['t']")]
    {
        check((then, body), (now, body), "", Likeness::Same);
    }
    // What differs counts on one side alone, or on both: which of them cannot be told from a digest.
    check((bare, body), (sent_at, r#"{"a":1,"t":2}"#), "", Likeness::Unsure);
    check((sent_at, r#"{"a":1}"#), (bare, body), "", Likeness::Unsure);
    check((bare, body), (sent_at, r#"{"a":2,"t":1}"#), "", Likeness::Unsure);
    // Equal by what is left of it now, but not by what counted then.
    check((bare, r#"{"a":1}"#), (sent_at, body), "", Likeness::Unsure);
    // Where the content counts alike, it tells.
    check((bare, body), ("'headers': []", r#"{"t":1, "a":1}"#), "", Likeness::Same);
    check((bare, "a=1&csrf=x"), ("'ignore': ['csrf']", "a=1&csrf=x"), FORM, Likeness::Same);
    check((bare, "a=1&csrf=x"), ("'ignore': ['csrf']", "a=1&csrf=y"), FORM, Likeness::Unsure);
}

#[test]
fn what_counts_for_both_tells() {
    let check = |one: (&str, &str, &str), two: (&str, &str, &str), expect| {
        let of = |(route, path, lines): (&str, &str, &str)| attempt(route, "k", path, lines, "{}");
        assert_eq!(compare(&claim(&of(one)), &of(two)), expect, "{one:?} {two:?}");
    };
    let (then, now) = ("'headers': ['If-Match', 'X-A']", "'headers': ['If-Match', 'X-A'], 'ignore': ['/t']");
    check((then, "/a", ""), (now, "/b", ""), Likeness::Other);
    check((then, "/a", ""), (now, "/a", "content-type,text/plain"), Likeness::Other);
    check((then, "/a", "if-match,1"), (now, "/a", "if-match,2"), Likeness::Other);
    check((then, "/a", ""), (now, "/a", "if-match,2"), Likeness::Other);
    check((then, "/a", "if-match,1"), (now, "/a", ""), Likeness::Other);
    check((then, "/a", "if-match,1"), (now, "/a", "if-match,1"), Likeness::Same);
    // The same bytes, whatever headers count on one side alone.
    let other = "'headers': ['X-B']";
    check((then, "/a", "x-a,1"), (other, "/a", "x-b,1"), Likeness::Same);
    check((then, "/a", ""), (other, "/b", ""), Likeness::Other);
}

#[test]
fn the_field_is_part_of_it() {
    let of = |field, content| attempt("", field, "/a", "", content);
    let first = claim(&of("once", r#"{"once":"k","key":1}"#));
    assert_eq!(compare(&first, &of("key", r#"{"once":"k","key":1}"#)), Likeness::Same);
    assert_eq!(compare(&first, &of("key", r#"{"once":"k","key":2}"#)), Likeness::Unsure);
}

#[test]
fn without_a_basis_the_fingerprint_tells() {
    let (first, second) = (attempt("", "k", "/a", "", "{}"), attempt("'ignore': ['/t']", "k", "/a", "", "{}"));
    let other = attempt("'ignore': ['/t']", "k", "/a", "", "[]");
    let check = |claim: &Claim, attempt: &Attempt, expect| assert_eq!(compare(claim, attempt), expect);
    let unmarked = |attempt: &Attempt| Attempt { basis: None, age: None, ..attempt.clone() };
    check(&claim(&unmarked(&first)), &second, Likeness::Same);
    check(&claim(&first), &unmarked(&other), Likeness::Other);
}

#[test]
fn an_unsure_one_never_runs() {
    let first = attempt("'unanswered': 'rerun'", "k", "/a", "", r#"{"t":1}"#);
    let second = attempt("'unanswered': 'rerun', 'ignore': ['/t']", "k", "/a", "", r#"{"t":2}"#);
    let held = claim(&first);
    let later = held.lease_until + 1;
    let unsure = Refusal::OutcomeUnknown { status: None };
    let record = Record::Unknown { claim: held.clone(), expires: later + 9, cause: Cause::Unanswered, status: None };
    for record in [Record::Claimed(held.clone()), record] {
        let said = decide(Some(&record), Owner::default(), &second, false, later);
        assert!(matches!(&said, Decision::Refuse { refusal, .. } if *refusal == unsure), "{said:?}");
        let said = decide_accept(Some(&record), Owner::default(), &second, later);
        assert!(matches!(&said, AcceptDecision::Refuse { refusal, .. } if *refusal == unsure), "{said:?}");
    }
    // The same bytes run again, and what is remembered then is what the new fingerprint was made of.
    let again = attempt("'unanswered': 'rerun', 'ignore': ['/t']", "k", "/a", "", r#"{"t":1}"#);
    let Decision::Execute(next) = decide(Some(&Record::Claimed(held)), Owner::default(), &again, false, later) else {
        unreachable!()
    };
    assert_eq!((next.generation, &next.fingerprint), (2, &again.fingerprint));
    assert_eq!(next.claimant.basis.unwrap().sent, again.basis.unwrap().as_bytes());
}

#[test]
fn an_errand_carries_it() {
    for (route, field) in
        [("", "k"), ("'ignore': ['/a,b/ü', 'c d', 'x'], 'headers': []", "né, é%"), ("'ignore': []", "=")]
    {
        let attempt = attempt(route, field, "/a", "if-match,1", "{}");
        for errand in [Errand::Attempt(attempt.clone()), Errand::Accept(attempt)] {
            let text = errand.to_string();
            assert!(text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{text}");
            assert_eq!(text.parse(), Ok(errand), "{text}");
        }
    }
}
