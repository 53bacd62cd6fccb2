//! What problems say beside their code.
use oncekey::{answer::refusal::Refusal, http::negotiate::Audience};
use serde_json::{Value, json};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";

#[test]
fn an_unknown_fate_is_found_by_its_scoped_key() {
    let audience = Audience { scoped_key: Some(SCOPED.to_owned()), ..Audience::default() };
    let check = |refusal: Refusal, expect: Value| {
        let problem: Value = serde_json::from_str(&refusal.render(&audience, None).content).unwrap();
        assert_eq!(problem["instance"], expect, "{refusal:?}");
    };
    check(Refusal::OutcomeUnknown { status: None }, json!(format!("/.oncekey/keys/{SCOPED}")));
    check(Refusal::CallerChanged, Value::Null);
    check(Refusal::Reused, Value::Null);
}
