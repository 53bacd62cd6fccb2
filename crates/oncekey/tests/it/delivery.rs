//! Accepted requests: the tables of `delivery.rs`, the back-off, and what a message's answer means.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState, refusal::Refusal},
    decide::{
        accepted::{
            AcceptDecision, DeliveryAnswer, DeliveryDecision, RedeliveryDecision, decide_accept,
            decide_after_delivery_probe, decide_delivery, decide_redelivery, line_of_end, next_alarm, settle_delivery,
        },
        attempt::{Decision, ProbeResult, decide},
        backoff::{BACKOFF, LONGEST_BACKOFF, backoff},
        look::{ReleaseDecision, decide_release, peek_record},
        outcome::{Settlement, outcome_of_status},
    },
    errand::is_handed_over,
    fingerprint::Fingerprint,
    key::{scoped::ScopedKey, seal::SealKeys},
    policy::{Keep, Policy, ServerError, Unanswered},
    queue::{Receipt, read_receipt},
    stored::{
        attempt::{Attempt, Terms},
        record::{Cause, Claim, Claimant, DeathCause, Delivery, DeliveryStage, KeptReply, Owner, Record},
    },
};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const SAME: &str = "1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const OTHER: &str = "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM";
const NOW: u64 = 1_000_000;
/// Until when it is tried, where it is.
const UNTIL: u64 = NOW + 50_000;
/// Jitter that adds nothing, and that adds all.
const LEAST: u32 = 0;
const MOST: u32 = u32::MAX;

fn attempt(print: &str, unanswered: &str) -> Attempt {
    let policy = Policy::default();
    let mut terms = Terms::of(&policy, &policy.routes[0]);
    terms.lease = 10;
    terms.retention = 100;
    terms.unanswered = match unanswered {
        "hold" => Unanswered::Hold,
        "rerun" => Unanswered::Rerun,
        _ => Unanswered::Probe("/lookup/{key}".to_owned()),
    };
    Attempt {
        scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
        fingerprint: print.parse::<Fingerprint>().unwrap(),
        terms,
        header: "Idempotency-Key".to_owned(),
        callers: None,
        basis: None,
        age: None,
        seal: SealKeys::default(),
    }
}

fn delivery(stage: DeliveryStage, unanswered: &str) -> Delivery {
    let claim = Claim {
        generation: 4,
        fingerprint: SAME.parse::<Fingerprint>().unwrap(),
        lease_until: NOW + 1_500,
        retention: 100,
        claimant: Claimant::default(),
    };
    Delivery { claim, attempt: attempt(SAME, unanswered), until: UNTIL, tries: 2, refusals: 0, stage }
}

const ALIVE: Owner = Owner { running: Some(4), latest: 4 };
const GONE: Owner = Owner { running: None, latest: 0 };

fn words(ring: DeliveryDecision) -> String {
    match ring {
        DeliveryDecision::Delete => "delete".to_owned(),
        DeliveryDecision::Nothing => "nothing".to_owned(),
        DeliveryDecision::Later(at) => format!("later {}", at - NOW),
        DeliveryDecision::Deliver(begun) => {
            assert_eq!((begun.stage, begun.tries, begun.until), (DeliveryStage::Running, 3, UNTIL));
            format!("deliver {} until {}", begun.claim.generation, begun.claim.lease_until - NOW)
        }
        DeliveryDecision::Probe { path, .. } => format!("ask {path}"),
        DeliveryDecision::Store(Record::Accepted(Delivery { stage, tries, .. })) => match stage {
            DeliveryStage::Unknown { expires, cause: Cause::Unanswered, status: None } => {
                format!("unknown until {}", expires - NOW)
            }
            DeliveryStage::Dead { expires, cause: DeathCause::Exhausted, status: None } => {
                format!("dead until {}", expires - NOW)
            }
            DeliveryStage::Asking { at } => format!("asking {} tries {tries}", at - NOW),
            stage => panic!("{stage:?}"),
        },
        DeliveryDecision::Store(Record::Completed { expires, .. }) => format!("completed until {}", expires - NOW),
        DeliveryDecision::Store(record) => panic!("{record:?}"),
    }
}

fn check_ring(stage: DeliveryStage, owner: Owner, unanswered: &str, later: u64, expect: &str) {
    let mut found = delivery(stage, unanswered);
    found.until = NOW + UNTIL - NOW;
    let record = Record::Accepted(found);
    let now = NOW + later;
    let rung = decide_delivery(Some(&record), owner, now);
    assert_eq!(words(rung), expect, "{stage:?} {owner:?} {unanswered} {later}");
}

/// Every stage that has ended, kept until then, and how long that is from now.
fn ended(expires: u64) -> [(u64, DeliveryStage); 4] {
    let (dead, unknown) = (
        |cause| DeliveryStage::Dead { cause, status: Some(404), expires },
        |cause| DeliveryStage::Unknown { cause, status: Some(404), expires },
    );
    [dead(DeathCause::Declined), dead(DeathCause::Exhausted), unknown(Cause::Ambiguous), unknown(Cause::Unanswered)]
        .map(|stage| (expires - NOW, stage))
}

#[test]
fn the_alarm_by_the_table() {
    let (waits, asks) = (DeliveryStage::Waiting { at: NOW + 5 }, DeliveryStage::Asking { at: NOW + 5 });
    for unanswered in ["hold", "rerun", "probe"] {
        for owner in [GONE, Owner { running: None, latest: 9 }] {
            let next = owner.latest.max(4) + 1;
            check_ring(waits, owner, unanswered, 4, "later 5");
            check_ring(waits, owner, unanswered, 5, &format!("deliver {next} until 10005"));
        }
        check_ring(waits, GONE, unanswered, 50_000, "dead until 150000");
        check_ring(asks, GONE, unanswered, 50_000, "unknown until 150000");
        for (kept, stage) in ended(NOW + 70_000) {
            check_ring(stage, GONE, unanswered, 69_999, &format!("later {kept}"));
            check_ring(stage, GONE, unanswered, 70_000, "delete");
        }
        check_ring(DeliveryStage::Running, ALIVE, unanswered, 0, "later 10000");
        check_ring(DeliveryStage::Running, ALIVE, unanswered, 90_000, "later 100000");
        check_ring(DeliveryStage::Running, GONE, unanswered, 50_000, "unknown until 150000");
    }
    check_ring(DeliveryStage::Running, GONE, "hold", 0, "unknown until 100000");
    check_ring(DeliveryStage::Running, GONE, "probe", 0, &format!("ask /lookup/{SCOPED}"));
    check_ring(DeliveryStage::Running, GONE, "rerun", 0, "later 1500");
    check_ring(DeliveryStage::Running, GONE, "rerun", 1_500, "deliver 5 until 11500");
    check_ring(asks, GONE, "rerun", 4, "later 5");
    check_ring(asks, GONE, "rerun", 5, "deliver 5 until 10005");
    check_ring(asks, GONE, "probe", 4, "later 5");
    check_ring(asks, GONE, "probe", 5, &format!("ask /lookup/{SCOPED}"));
    // An owner of another generation is none.
    check_ring(DeliveryStage::Running, Owner { running: Some(3), latest: 4 }, "hold", 0, "unknown until 100000");
}

#[test]
fn other_records_are_tidied() {
    let claim = delivery(DeliveryStage::Running, "hold").claim;
    let completed =
        |expires| Record::Completed { claim: claim.clone(), expires, kept: KeptReply::Tombstone { status: 200 } };
    assert_eq!(decide_delivery(None, GONE, NOW), DeliveryDecision::Delete);
    assert_eq!(decide_delivery(Some(&completed(NOW)), GONE, NOW), DeliveryDecision::Delete);
    assert_eq!(decide_delivery(Some(&completed(NOW + 9_000)), GONE, NOW), DeliveryDecision::Later(NOW + 9_000));
}

#[test]
fn the_alarm_rings_when_something_is_due() {
    let check = |stage, expect: u64| {
        assert_eq!(next_alarm(&Record::Accepted(delivery(stage, "hold")), NOW), NOW + expect, "{stage:?}");
    };
    check(DeliveryStage::Waiting { at: NOW + 7 }, 7);
    check(DeliveryStage::Asking { at: NOW + 7 }, 7);
    // What is due and being done is looked at again, should its owner die.
    check(DeliveryStage::Waiting { at: NOW }, 10_000);
    check(DeliveryStage::Asking { at: NOW }, 10_000);
    check(DeliveryStage::Running, 10_000);
    for (kept, stage) in ended(NOW + 70_000) {
        check(stage, kept);
    }
}

fn check_settle(status: Option<u16>, terms: (&str, &str, &str), retry_after: u64, jitter: u32, expect: &str) {
    check_settle_after(0, status, terms, retry_after, jitter, expect);
}

fn check_settle_after(
    refusals: u32,
    status: Option<u16>,
    terms: (&str, &str, &str),
    retry_after: u64,
    jitter: u32,
    expect: &str,
) {
    let mut running = Delivery { refusals, ..delivery(DeliveryStage::Running, terms.0) };
    running.attempt.terms.keep = if terms.1 == "definite" { Keep::Definite } else { Keep::Success };
    running.attempt.terms.server_error = match terms.2 {
        "hold" => ServerError::Hold,
        "keep" => ServerError::Keep,
        _ => ServerError::Release,
    };
    let (oncekey::decide::outcome::EffectOutcome::Pass { then, .. }
    | oncekey::decide::outcome::EffectOutcome::Refuse { then, .. }) = outcome_of_status(status, &running.attempt.terms);
    let claim = running.claim.clone();
    let kept = KeptReply::Whole(ReplyHead::without_lines(status.unwrap_or(0)));
    let settled = settle_delivery(
        Some(&Record::Accepted(running)),
        &claim,
        then,
        kept,
        DeliveryAnswer { status: status.unwrap_or(0), is_whole: true, retry_after },
        jitter,
        NOW,
    );
    let words = match settled {
        Settlement::Late => "late".to_owned(),
        Settlement::Release => "forgotten".to_owned(),
        Settlement::Store(Record::Completed { expires, .. }) => format!("completed {}", expires - NOW),
        Settlement::Store(Record::Accepted(Delivery { stage, tries: 2, refusals: counted, .. })) => {
            assert_eq!(counted - refusals, u32::from(matches!(status, Some(401 | 403 | 407 | 425))));
            match stage {
                DeliveryStage::Waiting { at } => format!("again {}", at - NOW),
                DeliveryStage::Asking { at } => format!("ask {}", at - NOW),
                DeliveryStage::Unknown { status, expires, .. } => {
                    assert_eq!(expires, NOW + 100_000);
                    format!("unknown {}", status.unwrap_or(0))
                }
                DeliveryStage::Dead { status, expires, cause: DeathCause::Declined } => {
                    assert_eq!(expires, NOW + 100_000);
                    format!("dead {}", status.unwrap_or(0))
                }
                stage => panic!("{stage:?}"),
            }
        }
        Settlement::Store(record) => panic!("{record:?}"),
    };
    assert_eq!(words, expect, "{status:?} {terms:?} {retry_after} {jitter}");
}

#[test]
fn a_delivery_ends_by_the_table() {
    let usual = ("hold", "success", "release");
    for status in [200, 204, 299, 303] {
        check_settle(Some(status), usual, 0, LEAST, "completed 100000");
    }
    for status in [400, 404, 422, 307, 308] {
        check_settle(Some(status), usual, 0, LEAST, &format!("dead {status}"));
        check_settle(Some(status), ("rerun", "definite", "keep"), 9_000, MOST, &format!("dead {status}"));
    }
    for status in [401, 403, 407, 425] {
        check_settle_after(4, Some(status), usual, 0, LEAST, "again 1000");
        check_settle_after(5, Some(status), usual, 0, LEAST, &format!("dead {status}"));
    }
    for status in [429, 503, 500, 521] {
        check_settle_after(5, Some(status), usual, 0, LEAST, "again 1000");
    }
    for status in [401, 403, 407, 425, 429, 503, 521, 523, 525, 526, 530, 500, 501, 599] {
        check_settle(Some(status), usual, 0, LEAST, "again 1000");
        check_settle(Some(status), usual, 0, MOST, "again 2000");
        check_settle(Some(status), usual, 7_000, MOST, "again 7000");
        check_settle(Some(status), usual, 1, LEAST, "again 1000");
        // Never after the retention.
        check_settle(Some(status), usual, 90_000, LEAST, "again 50000");
    }
    check_settle(Some(500), ("rerun", "success", "hold"), 0, LEAST, "unknown 500");
    check_settle(Some(500), ("probe", "success", "hold"), 0, LEAST, "unknown 500");
    check_settle(Some(500), ("hold", "success", "keep"), 0, LEAST, "completed 100000");
    for status in [Some(408), Some(502), Some(504), None] {
        check_settle(status, usual, 0, LEAST, &format!("unknown {}", status.unwrap_or(0)));
        check_settle(status, ("rerun", "success", "release"), 0, LEAST, "ask 1000");
        check_settle(status, ("rerun", "success", "release"), 3_000, LEAST, "ask 3000");
        check_settle(status, ("probe", "success", "release"), 0, LEAST, "ask 1000");
    }
}

#[test]
fn what_is_not_its_own_is_settled_by_nobody() {
    let running = delivery(DeliveryStage::Running, "hold");
    let old = Claim { generation: 3, ..running.claim.clone() };
    let heard = DeliveryAnswer { status: 200, is_whole: true, retry_after: 0 };
    let kept = || KeptReply::Whole(ReplyHead::without_lines(200));
    let then = oncekey::decide::outcome::RecordChange::Keep;
    let late = |record: Option<&Record>, claim: &Claim| {
        assert_eq!(settle_delivery(record, claim, then, kept(), heard, 0, NOW), Settlement::Late, "{record:?}");
    };
    late(None, &running.claim);
    late(Some(&Record::Accepted(running.clone())), &old);
    late(Some(&Record::Claimed(running.claim.clone())), &running.claim);
    late(
        Some(&Record::Accepted(Delivery { stage: DeliveryStage::Waiting { at: 1 }, ..running.clone() })),
        &running.claim,
    );
    late(
        Some(&Record::Accepted(Delivery { stage: DeliveryStage::Asking { at: 1 }, ..running.clone() })),
        &running.claim,
    );
    // And no claim of a proxied request is settled on what was accepted.
    let accepted = Record::Accepted(running.clone());
    assert_eq!(
        oncekey::decide::outcome::settle_attempt(Some(&accepted), &running.claim, then, kept(), NOW),
        Settlement::Late
    );
}

fn check_asked(found: ProbeResult, now: u64, expect: &str) {
    let asking = delivery(DeliveryStage::Running, "probe");
    let record = Record::Accepted(asking.clone());
    let kept = KeptReply::Whole(ReplyHead::without_lines(200));
    assert_eq!(
        words(decide_after_delivery_probe(Some(&record), &asking, GONE, found, kept.clone(), LEAST, NOW + now)),
        expect
    );
    let moved = Record::Accepted(Delivery { tries: 9, ..asking.clone() });
    for other in [None, Some(&moved)] {
        assert_eq!(
            decide_after_delivery_probe(other, &asking, GONE, found, kept.clone(), LEAST, NOW),
            DeliveryDecision::Nothing
        );
    }
}

#[test]
fn what_the_origin_says_when_asked() {
    check_asked(ProbeResult::Answer, 0, "completed until 100000");
    check_asked(ProbeResult::Answer, 60_000, "completed until 160000");
    check_asked(ProbeResult::Nothing, 0, "deliver 5 until 10000");
    check_asked(ProbeResult::Nothing, 50_000, "dead until 150000");
    check_asked(ProbeResult::TooEarly, 0, "asking 1500 tries 3");
    let mut long = delivery(DeliveryStage::Running, "probe");
    long.claim.lease_until = NOW + 7_000;
    let decided = decide_after_delivery_probe(
        Some(&Record::Accepted(long.clone())),
        &long,
        GONE,
        ProbeResult::TooEarly,
        KeptReply::Whole(ReplyHead::without_lines(404)),
        LEAST,
        NOW,
    );
    assert_eq!(words(decided), "asking 7000 tries 3");
    check_asked(ProbeResult::TooEarly, 49_500, "asking 50000 tries 3");
    check_asked(ProbeResult::Unclear, 0, "asking 2000 tries 3");
    check_asked(ProbeResult::Unclear, 49_500, "asking 50000 tries 3");
}

/// What a caller sees of an accepted request, and what the operator may do: peek, accept again, accept other content, a
/// proxied attempt, release, delivery.
fn check_seen(stage: DeliveryStage, owner: Owner, unanswered: &str, later: u64, expect: (&str, Option<u16>, u64)) {
    let (state, status, kept) = expect;
    let record = Record::Accepted(delivery(stage, unanswered));
    let now = NOW + later;
    let place = format!("{stage:?} {owner:?} {unanswered} {later}");
    let expires = NOW + kept;
    let found = match state {
        "dead" => PeekState::Dead { status, expires },
        "unknown" => PeekState::Unknown { status, expires: Some(expires) },
        _ => PeekState::Running,
    };
    assert_eq!(peek_record(Some(&record), owner, now), found, "{place}");
    let ended = ["dead", "unknown"].contains(&state);
    let refused = AcceptDecision::Refuse { refusal: Refusal::OutcomeUnknown { status }, expires: Some(expires) };
    let again = if ended { refused } else { AcceptDecision::Duplicate };
    assert_eq!(decide_accept(Some(&record), owner, &attempt(SAME, "hold"), now), again, "{place}");
    let AcceptDecision::Refuse { refusal: Refusal::Reused, .. } =
        decide_accept(Some(&record), owner, &attempt(OTHER, "hold"), now)
    else {
        panic!("{place}");
    };
    let code = |print| match decide(Some(&record), owner, &attempt(print, "rerun"), false, now) {
        Decision::Refuse { refusal, .. } => refusal.code(),
        decision => panic!("{place}: {decision:?}"),
    };
    assert_eq!(code(OTHER), "idempotency_key_reused");
    let freed = if state == "runs" { ReleaseDecision::Running } else { ReleaseDecision::Done };
    assert_eq!(decide_release(Some(&record), owner, now), freed, "{place}");
    let delivered = decide_redelivery(Some(&record), owner, now);
    if ended {
        assert_eq!(code(SAME), "outcome_unknown");
        let RedeliveryDecision::Store(Delivery { stage, until, tries, refusals, claim, attempt: terms }) = delivered
        else {
            panic!("{place}: {delivered:?}");
        };
        assert_eq!((stage, until), (DeliveryStage::Waiting { at: now }, now + 100_000), "{place}");
        assert_eq!((tries, refusals, claim.generation), (0, 0, 4));
        assert_eq!(terms, attempt(SAME, unanswered), "the terms are those of the first time");
    } else {
        assert_eq!((code(SAME), delivered), ("request_in_progress", RedeliveryDecision::Refuse), "{place}");
        let mut waits = attempt(SAME, "hold");
        waits.terms.wait = 3;
        assert_eq!(decide(Some(&record), owner, &waits, false, now), Decision::Wait { seconds: 3 });
    }
}

#[test]
fn it_is_seen_as_what_it_is_by_everybody() {
    let (waits, asks) = (DeliveryStage::Waiting { at: NOW }, DeliveryStage::Asking { at: NOW });
    let (queued, runs) = (("waits", None, 0), ("runs", None, 0));
    let over = |state| (state, None, 150_000);
    for unanswered in ["hold", "rerun", "probe"] {
        check_seen(waits, GONE, unanswered, 0, queued);
        check_seen(waits, GONE, unanswered, 49_999, queued);
        check_seen(waits, GONE, unanswered, 50_000, over("dead"));
        check_seen(DeliveryStage::Running, ALIVE, unanswered, 90_000, runs);
        let gone = if unanswered == "hold" { over("unknown") } else { queued };
        check_seen(DeliveryStage::Running, GONE, unanswered, 0, gone);
        check_seen(DeliveryStage::Running, GONE, unanswered, 50_000, over("unknown"));
        check_seen(asks, GONE, unanswered, 0, queued);
        check_seen(asks, GONE, unanswered, 50_000, over("unknown"));
        for (kept, stage) in ended(NOW + 70_000) {
            let state = if matches!(stage, DeliveryStage::Dead { .. }) { "dead" } else { "unknown" };
            check_seen(stage, GONE, unanswered, 69_999, (state, Some(404), kept));
            let over = Record::Accepted(delivery(stage, unanswered));
            assert_eq!(peek_record(Some(&over), GONE, NOW + 70_000), PeekState::Absent);
            assert_eq!(decide_redelivery(Some(&over), GONE, NOW + 70_000), RedeliveryDecision::Absent);
            assert_eq!(decide_release(Some(&over), GONE, NOW + 70_000), ReleaseDecision::Absent);
        }
    }
}

#[test]
fn only_what_was_accepted_is_delivered_again() {
    let claim = delivery(DeliveryStage::Running, "hold").claim;
    let kept = KeptReply::Tombstone { status: 200 };
    assert_eq!(decide_redelivery(None, GONE, NOW), RedeliveryDecision::Absent);
    for record in [
        Record::Claimed(claim.clone()),
        Record::Completed { claim: claim.clone(), expires: NOW + 1, kept },
        Record::Unknown { claim, expires: NOW + 1, cause: Cause::Unanswered, status: None },
    ] {
        assert_eq!(decide_redelivery(Some(&record), GONE, NOW), RedeliveryDecision::Refuse, "{record:?}");
    }
}

#[test]
fn the_operator_is_told_of_an_end_without_an_answer() {
    let line = |stage| line_of_end(&Record::Accepted(delivery(stage, "hold")), None, 0);
    for (_, stage) in ended(NOW + 1) {
        let what = if matches!(stage, DeliveryStage::Dead { .. }) { "dead" } else { "unknown" };
        let time = "1970-01-01T00:00:00Z";
        let told = format!("{{\"oncekey\":\"{what}\",\"time\":\"{time}\",\"key\":\"{SCOPED}\",\"status\":404}}");
        assert_eq!(line(stage), Some(told));
    }
    for stage in [DeliveryStage::Waiting { at: 1 }, DeliveryStage::Running, DeliveryStage::Asking { at: 1 }] {
        assert_eq!(line(stage), None);
    }
}

#[test]
fn a_free_key_is_taken() {
    let taken = |record: Option<&Record>, owner, generation| {
        let AcceptDecision::Store(Record::Accepted(queued)) =
            decide_accept(record, owner, &attempt(SAME, "rerun"), NOW)
        else {
            panic!("{record:?}");
        };
        assert_eq!(queued.stage, DeliveryStage::Waiting { at: NOW });
        assert_eq!((queued.until, queued.tries, queued.claim.generation), (NOW + 100_000, 0, generation));
        let mut stored = attempt(SAME, "rerun");
        stored.terms.route.clear();
        assert_eq!((&queued.attempt, queued.claim.claimant.route.as_str()), (&stored, "/*"));
        words(decide_delivery(Some(&Record::Accepted(Delivery { tries: 2, until: UNTIL, ..queued })), owner, NOW))
    };
    assert_eq!(taken(None, GONE, 0), "deliver 1 until 10000");
    assert_eq!(taken(None, Owner { running: None, latest: 6 }, 6), "deliver 7 until 10000");
    let claim = delivery(DeliveryStage::Running, "hold").claim;
    let kept = KeptReply::Tombstone { status: 200 };
    let over = Record::Completed { claim: claim.clone(), expires: NOW, kept: kept.clone() };
    assert_eq!(taken(Some(&over), GONE, 4), "deliver 5 until 10000");
    let check = |known: Record, owner: Owner, expect: AcceptDecision| {
        assert_eq!(decide_accept(Some(&known), owner, &attempt(SAME, "hold"), NOW), expect, "{known:?}");
    };
    let refused = |status, expires| AcceptDecision::Refuse { refusal: Refusal::OutcomeUnknown { status }, expires };
    let unknown =
        Record::Unknown { claim: claim.clone(), expires: NOW + 1, cause: Cause::Ambiguous, status: Some(500) };
    check(Record::Completed { claim: claim.clone(), expires: NOW + 1, kept }, GONE, AcceptDecision::Duplicate);
    check(unknown, GONE, refused(Some(500), Some(NOW + 1)));
    check(Record::Claimed(claim.clone()), ALIVE, AcceptDecision::Duplicate);
    check(Record::Claimed(claim), GONE, refused(None, None));
}

#[test]
fn back_off_doubles_to_a_limit() {
    let check = |tries, jitter, least, expect| {
        assert_eq!(backoff(tries, BACKOFF, LONGEST_BACKOFF, jitter, least), expect, "{tries} {jitter} {least}");
    };
    check(0, LEAST, 0, 500);
    check(1, LEAST, 0, 500);
    check(1, MOST, 0, 1_000);
    check(2, MOST, 0, 2_000);
    check(9, LEAST, 0, 128_000);
    check(10, MOST, 0, 300_000);
    check(u32::MAX, LEAST, 0, 150_000);
    check(u32::MAX, MOST, 400_000, 400_000);
    check(1, 1 << 31, 0, 750);
}

#[test]
fn what_an_answer_to_a_message_means() {
    let check = |status, word: &str, taken| {
        let word = Some(word).filter(|word| !word.is_empty());
        assert_eq!(read_receipt(status, word) == Receipt::Taken, taken, "{status} {word:?}");
    };
    for status in [200, 201, 204, 303, 400, 404, 409, 422] {
        check(status, "executed", true);
        check(status, "replayed", true);
    }
    for status in [401, 403, 407, 425, 429, 503, 500, 501, 599] {
        check(status, "executed", false);
        check(status, "unknown", false);
    }
    check(500, "replayed", true);
    check(409, "refused", true);
    check(409, "in-progress", false);
    check(409, "unknown", false);
    check(422, "mismatch", false);
    for status in [400, 413, 500, 503, 504] {
        check(status, "refused", false);
    }
    check(200, "", false);
    check(200, "bypassed;reason=no-key", false);
    for (status, handed) in [(202, true), (422, true), (404, false), (409, true), (500, false), (503, false)] {
        assert_eq!(is_handed_over(status), handed, "{status}");
    }
}
