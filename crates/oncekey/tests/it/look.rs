//! What the operator is told of a key.

use oncekey::{
    answer::{own::GateAnswer, peek::KeyLook},
    decide::look::look_at_key,
    stored::record::{Cause, Claim, Claimant, KeptReply, Owner, Record},
};

/// 2026 begins.
const NOW: u64 = 1_767_225_600_000;
const SAME: &str = "1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";

fn claim() -> Claim {
    let claimant = Claimant { route: "/orders/*".to_owned(), ..Claimant::default() };
    Claim { generation: 3, fingerprint: SAME.parse().unwrap(), lease_until: NOW + 60_000, retention: 100, claimant }
}

fn check(record: &Record, owner: Owner, expect: &str) {
    let look: KeyLook = look_at_key(Some(record), owner, NOW);
    let said = GateAnswer::look(&look);
    assert_eq!(said.status, 200);
    assert_eq!(said.content, expect);
}

#[test]
fn what_the_operator_is_told() {
    let (expires, alone) = (NOW + 90_000, Owner::default());
    let end = r#""generation":3,"tries":3,"route":"/orders/*"}"#;
    let unknown = |cause, status| Record::Unknown { claim: claim(), expires, cause, status };
    let head = r#"{"state":"unknown","expires":"2026-01-01T00:01:30Z""#;
    let since = r#""since":"2025-12-31T23:59:50Z""#;
    check(&unknown(Cause::Unanswered, None), alone, &format!(r#"{head},"cause":"unanswered",{since},{end}"#));
    let said = head.replace("unknown\"", "unknown\",\"status\":500");
    check(&unknown(Cause::Ambiguous, Some(500)), alone, &format!(r#"{said},"cause":"ambiguous",{since},{end}"#));
    let kept = KeptReply::Tombstone { status: 201 };
    let completed = Record::Completed { claim: claim(), expires, kept };
    let head = r#"{"state":"completed","status":201,"expires":"2026-01-01T00:01:30Z""#;
    check(&completed, alone, &format!("{head},{since},{end}"));
    check(&Record::Claimed(claim()), Owner { running: Some(3), latest: 3 }, &format!(r#"{{"state":"running",{end}"#));
    // Its owner has died: when, nobody knows, but now at the latest.
    let head =
        r#"{"state":"unknown","expires":"2026-01-01T00:02:40Z","cause":"owner_died","since":"2026-01-01T00:00:00Z""#;
    check(&Record::Claimed(claim()), alone, &format!("{head},{end}"));
}

#[test]
fn of_nothing_nothing_is_told() {
    let said = GateAnswer::look(&look_at_key(None, Owner::default(), NOW));
    assert_eq!(said.content, r#"{"state":"absent","generation":0,"tries":0,"route":""}"#);
}
