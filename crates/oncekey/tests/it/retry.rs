//! The client's side of an attempt: plans, delays, and what answers mean.
use crate::cases::{cases, name, text};
use oncekey::{
    client::retry::{
        AttemptAnswer, GateWord, IntentOutcome, MAX_BACKOFF, MAX_RETRY_AFTER, NextStep, RetryPlan, next_step,
        parse_interval,
    },
    http::retry_after::retry_after,
};
use proptest::prelude::{any, prop_assert, proptest};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../../tests/vectors/retry.json");
/// A key that is remembered for long.
const LEFT: u64 = 86_400_000;

fn number(case: &Value, member: &str) -> Option<u64> {
    case.get(member).and_then(Value::as_u64)
}

fn plan(retries: u32) -> RetryPlan {
    RetryPlan { base: 500, retries, asked: true }
}

#[test]
fn plans() {
    for case in cases(VECTORS, "plans") {
        let found =
            text(&case, "input").unwrap().parse::<RetryPlan>().ok().map(|plan| (plan.base, u64::from(plan.retries)));
        assert_eq!(found, number(&case, "base").zip(number(&case, "retries")), "{}", name(&case));
    }
}

#[test]
fn whose_plan_holds() {
    let of_element =
        |attribute, page, wanted| assert_eq!(RetryPlan::of_element(attribute, page), wanted, "{attribute:?} {page:?}");
    of_element(None, None, RetryPlan::UNASKED);
    of_element(None, Some("1"), plan(1));
    of_element(None, Some("often"), RetryPlan::UNASKED);
    of_element(Some("2"), Some("1"), plan(2));
    of_element(Some("often"), Some("1"), RetryPlan::UNASKED);
    of_element(Some("often"), None, RetryPlan::UNASKED);
    let of_send = |option, page, wanted| assert_eq!(RetryPlan::of_send(option, page), wanted, "{option:?} {page:?}");
    of_send(None, None, RetryPlan::OF_SEND);
    of_send(None, Some("1"), plan(1));
    of_send(Some("2"), Some("1"), plan(2));
    of_send(Some("often"), Some("1"), plan(1));
    of_send(Some("often"), Some("often"), RetryPlan::OF_SEND);
    assert_eq!(parse_interval("60s"), Some(60_000));
}

#[test]
fn retry_after_in_seconds_and_as_a_date() {
    for case in cases(VECTORS, "retry_after") {
        let found =
            retry_after(text(&case, "input").unwrap(), number(&case, "date"), number(&case, "now").unwrap_or(0));
        assert_eq!(found, number(&case, "expect"), "{}", name(&case));
    }
}

#[test]
fn delays() {
    for case in cases(VECTORS, "delays") {
        let plan = RetryPlan { base: number(&case, "base").unwrap(), retries: 9, asked: true };
        let n = u32::try_from(number(&case, "n").unwrap()).unwrap();
        let jitter = u32::try_from(number(&case, "jitter").unwrap()).unwrap();
        let found = plan.delay_before(n, jitter, number(&case, "least").unwrap_or(0));
        assert_eq!(Some(found), number(&case, "expect"), "{}", name(&case));
    }
}

#[test]
fn what_answers_mean_and_which_deserve_another_attempt() {
    for case in cases(VECTORS, "outcomes") {
        let answer = match u16::try_from(number(&case, "status").unwrap()).unwrap() {
            0 => AttemptAnswer::Nothing,
            status => AttemptAnswer::Status(status, GateWord::from_field(text(&case, "word"))),
        };
        let outcome = match text(&case, "outcome").unwrap() {
            "succeeded" => IntentOutcome::Succeeded,
            "declined" => IntentOutcome::Declined,
            "mismatch" => IntentOutcome::Mismatch,
            _ => IntentOutcome::Unknown,
        };
        assert_eq!(answer.outcome(), outcome, "{}", name(&case));
        let again = |plan| matches!(next_step(answer, plan, 1, None, LEFT, 0), NextStep::Retry(_));
        assert_eq!(Some(again(plan(1))), case["again"].as_bool(), "{}", name(&case));
        assert_eq!(again(RetryPlan::UNASKED), case["unasked"] == true, "{}, nobody asked", name(&case));
    }
}

#[test]
fn retries_end() {
    let busy = AttemptAnswer::Status(503, GateWord::Other);
    let last = NextStep::Finish(IntentOutcome::Unknown);
    assert_eq!(next_step(busy, plan(2), 1, None, LEFT, 0), NextStep::Retry(0));
    assert_eq!(next_step(busy, plan(2), 2, None, LEFT, 0), NextStep::Retry(0));
    assert_eq!(next_step(busy, plan(2), 3, None, LEFT, 0), last, "two retries are three attempts");
    assert_eq!(next_step(busy, plan(2), 1, Some(MAX_RETRY_AFTER), LEFT, 0), NextStep::Retry(MAX_RETRY_AFTER));
    assert_eq!(next_step(busy, plan(2), 1, Some(MAX_RETRY_AFTER + 1), LEFT, 0), last, "too long to wait for");
    assert_eq!(next_step(busy, plan(2), 1, Some(2000), 2000, 0), last, "the key is forgotten before");
    assert_eq!(next_step(AttemptAnswer::Aborted, plan(2), 1, None, LEFT, 0), last, "taken back");
}

proptest! {
    #[test]
    fn reading_never_fails(text in any::<String>()) {
        let _ = (text.parse::<RetryPlan>().is_ok(), parse_interval(&text), retry_after(&text, None, 0));
    }

    #[test]
    fn a_delay_is_between_what_the_server_asks_and_the_longest(base: u64, n: u32, jitter: u32, least in 0..MAX_RETRY_AFTER) {
        let delay = RetryPlan { base, retries: 1, asked: true }.delay_before(n, jitter, least);
        prop_assert!(delay >= least && delay <= least.max(MAX_BACKOFF));
    }
}
