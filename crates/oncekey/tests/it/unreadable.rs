//! What another build wrote: a record that cannot be read is of unknown fate, and what is not used yet is carried along.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState, refusal::Refusal},
    decide::{
        accepted::{
            self, AcceptDecision, DeliveryAnswer, DeliveryDecision, RedeliveryDecision, decide_accept,
            decide_after_delivery_probe, decide_delivery, decide_redelivery, look_for_request, next_alarm,
        },
        attempt::{AfterProbe, Decision, ProbeResult, decide, decide_after_probe, decide_since_probe, refuse_sealed},
        look::{ReleaseDecision, decide_release, peek_record},
        outcome::{self, RecordChange, Settlement},
        transition::{TransitionContent, TransitionDecision, decide_transition},
    },
    fingerprint::Fingerprint,
    key::{caller::CallerDigest, scoped::ScopedKey, seal::SealKeys},
    policy::{Policy, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        entity::Entity,
        frame::{Extension, Unreadable},
        record::{
            Cause, Claim, Claimant, DeathCause, Delivery, DeliveryStage, FingerprintBasis, FoundRecord, KeptReply,
            Owner, Record, Seal,
        },
    },
};
use proptest::prelude::{ProptestConfig, any, proptest};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const SAME: &str = "1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const OTHER: &str = "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM";
const NOW: u64 = 1_000_000;
const QUARTER: u64 = 900_000;
const DAY: u64 = 86_400_000;
const GONE: Owner = Owner { running: None, latest: 6 };

fn attempt(print: &str, unanswered: Unanswered) -> Attempt {
    let policy = "".parse::<Policy>().unwrap();
    let terms = Terms { unanswered, lease: 10, retention: 100, ..Terms::of(&policy, &policy.routes[0]) };
    Attempt {
        scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
        fingerprint: print.parse::<Fingerprint>().unwrap(),
        terms,
        header: "Idempotency-Key".to_owned(),
        callers: Some(vec![CallerDigest(vec![1; 8])]),
        basis: None,
        age: None,
        seal: SealKeys::default(),
    }
}

fn every_unanswered() -> [Unanswered; 3] {
    [Unanswered::Hold, Unanswered::Rerun, Unanswered::Probe("/lookup/{key}".to_owned())]
}

fn claim() -> Claim {
    Claim {
        generation: 4,
        fingerprint: SAME.parse::<Fingerprint>().unwrap(),
        lease_until: NOW - 1,
        retention: 100,
        claimant: Claimant {
            callers: Some(vec![CallerDigest(vec![1; 8])]),
            basis: Some(Box::new(FingerprintBasis {
                ignore: vec!["/a".to_owned()],
                headers: vec!["if-match".to_owned()],
                field: "k".to_owned(),
                sent: vec![2; 8],
            })),
            key_time: Some(NOW - 5),
            route: "/a/*".to_owned(),
            extensions: vec![Extension { tag: 9, is_needed: false, bytes: vec![3] }],
        },
    }
}

fn delivery(stage: DeliveryStage, unanswered: Unanswered) -> Delivery {
    let mut attempt = Attempt { callers: None, ..attempt(SAME, unanswered) };
    attempt.terms.route.clear();
    Delivery { claim: claim(), attempt, until: NOW + 50_000, tries: 2, refusals: 3, stage }
}

fn whole() -> KeptReply {
    KeptReply::Whole(ReplyHead::without_lines(201))
}

const HEARD: DeliveryAnswer = DeliveryAnswer { status: 200, is_whole: true, retry_after: 0 };

/// What an unreadable record means while it counts: `expires` is told, and `looked` is when the alarm looks again.
fn check_counts(expires: Option<u64>, looked: u64) {
    let found = FoundRecord::Unreadable(Unreadable { expires });
    let unknown = Refusal::OutcomeUnknown { status: None };
    for unanswered in every_unanswered() {
        let attempt = attempt(SAME, unanswered);
        let refused = Decision::Refuse { refusal: unknown.clone(), expires };
        assert_eq!(decide(found, GONE, &attempt, false, NOW), refused);
        let refused = AcceptDecision::Refuse { refusal: unknown.clone(), expires };
        assert_eq!(decide_accept(found, GONE, &attempt, NOW), refused);
        assert_eq!(decide_after_probe(found, GONE, &attempt, ProbeResult::Nothing, whole(), NOW), AfterProbe::Moved);
        for asked in [found, FoundRecord::Nothing, FoundRecord::Readable(&Record::Claimed(claim()))] {
            assert_eq!(
                decide_since_probe(asked, found, GONE, &attempt, ProbeResult::Nothing, whole(), NOW),
                AfterProbe::Moved
            );
        }
    }
    assert_eq!(peek_record(found, GONE, NOW), PeekState::Unknown { status: None, expires });
    assert_eq!(decide_release(found, GONE, NOW), ReleaseDecision::Done);
    assert_eq!(decide_redelivery(found, GONE, NOW), RedeliveryDecision::Refuse);
    assert_eq!(decide_delivery(found, GONE, NOW), DeliveryDecision::Later(looked));
    let asking = delivery(DeliveryStage::Asking { at: NOW }, Unanswered::Hold);
    assert_eq!(
        decide_after_delivery_probe(found, &asking, GONE, ProbeResult::Nothing, whole(), 0, NOW),
        DeliveryDecision::Nothing
    );
    assert_eq!(outcome::settle_attempt(found, &claim(), RecordChange::Keep, whole(), NOW), Settlement::Late);
    assert_eq!(
        accepted::settle_delivery(found, &claim(), RecordChange::Keep, whole(), HEARD, 0, NOW),
        Settlement::Late
    );
    assert_eq!(found.generation(), 0);
}

#[test]
fn what_cannot_be_read_is_of_unknown_fate_until_it_expires() {
    check_counts(Some(NOW + 1), NOW + 1);
    check_counts(Some(NOW + QUARTER), NOW + QUARTER);
    check_counts(Some(NOW + QUARTER + 1), NOW + QUARTER);
    check_counts(Some(u64::MAX), NOW + QUARTER);
    check_counts(None, NOW + DAY);
}

#[test]
fn after_that_it_counts_for_nothing() {
    for expires in [0, NOW - 1, NOW] {
        let found = FoundRecord::Unreadable(Unreadable { expires: Some(expires) });
        let attempt = attempt(SAME, Unanswered::Hold);
        let Decision::Execute(begun) = decide(found, GONE, &attempt, false, NOW) else { panic!("{expires}") };
        let route = "/*".to_owned();
        let claimant = Claimant { callers: attempt.callers.clone(), route, ..Claimant::default() };
        assert_eq!(begun.claimant.scoped_key().as_ref(), Some(&attempt.scoped_key));
        let begun = (begun.generation, Claimant { extensions: Vec::new(), ..begun.claimant });
        assert_eq!(begun, (GONE.latest + 1, claimant));
        assert!(matches!(decide_accept(found, GONE, &attempt, NOW), AcceptDecision::Store(_)), "{expires}");
        assert_eq!(peek_record(found, GONE, NOW), PeekState::Absent);
        assert_eq!(decide_release(found, GONE, NOW), ReleaseDecision::Absent);
        assert_eq!(decide_delivery(found, GONE, NOW), DeliveryDecision::Delete);
    }
}

#[test]
fn a_delivery_whose_request_cannot_be_read_waits_until_it_is_given_up() {
    let check = |expires, until, expect| {
        let delivery = Delivery { until, ..delivery(DeliveryStage::Waiting { at: NOW }, Unanswered::Rerun) };
        assert_eq!(look_for_request(&delivery, Unreadable { expires }, NOW), expect);
    };
    check(Some(NOW + DAY), NOW + 2 * DAY, NOW + QUARTER);
    check(None, NOW + 2 * DAY, NOW + DAY);
    check(Some(NOW + DAY), NOW + 7, NOW + 1_000);
    check(Some(NOW + DAY), NOW + 2_000, NOW + 2_000);
    // At the end the alarm gives it up, as any.
    let late = delivery(DeliveryStage::Waiting { at: NOW }, Unanswered::Rerun);
    assert!(matches!(
        decide_delivery(Some(&Record::Accepted(late)), GONE, NOW + 50_000),
        DeliveryDecision::Store(Record::Accepted(Delivery { stage: DeliveryStage::Dead { .. }, .. }))
    ));
}

#[test]
fn what_is_dead_is_kept_and_nothing_is_done_for_it() {
    let expires = NOW + 7_000;
    let stage = DeliveryStage::Dead { cause: DeathCause::Declined, status: Some(422), expires };
    let record = Record::Accepted(delivery(stage, Unanswered::Rerun));
    let found = Some(&record);
    assert_eq!(next_alarm(&record, NOW), expires);
    assert_eq!(record.expires(), expires);
    let (same, other) = (attempt(SAME, Unanswered::Rerun), attempt(OTHER, Unanswered::Rerun));
    let refused = |refusal| AcceptDecision::Refuse { refusal, expires: Some(expires) };
    assert_eq!(decide_accept(found, GONE, &same, NOW), refused(Refusal::OutcomeUnknown { status: Some(422) }));
    assert_eq!(decide_accept(found, GONE, &other, NOW), refused(Refusal::Reused));
    let refused = |refusal| Decision::Refuse { refusal, expires: Some(expires) };
    assert_eq!(decide(found, GONE, &same, false, NOW), refused(Refusal::OutcomeUnknown { status: Some(422) }));
    assert_eq!(decide(found, GONE, &other, false, NOW), refused(Refusal::Reused));
    assert_eq!(peek_record(found, GONE, NOW), PeekState::Dead { status: Some(422), expires });
    assert_eq!(decide_release(found, GONE, NOW), ReleaseDecision::Done);
    assert_eq!(decide_delivery(found, GONE, NOW), DeliveryDecision::Later(expires));
    assert_eq!(decide_delivery(found, GONE, expires), DeliveryDecision::Delete);
    assert_eq!(peek_record(found, GONE, expires), PeekState::Absent);
    assert!(matches!(decide(found, GONE, &same, false, expires), Decision::Execute(_)));
}

#[test]
fn a_sealed_reply_is_opened_and_not_run_again() {
    let seal = Box::new(Seal { secret: vec![1], nonce: vec![2], head: vec![3], content_nonce: vec![4] });
    let kept = KeptReply::Sealed { status: 201, seal };
    let record = Record::Completed { claim: claim(), expires: NOW + 1, kept };
    for unanswered in every_unanswered() {
        let decided = decide(Some(&record), GONE, &attempt(SAME, unanswered), false, NOW);
        let Decision::Open { sealed, expires } = decided else { panic!("{decided:?}") };
        assert_eq!(expires, NOW + 1);
        assert_eq!(refuse_sealed(&sealed), Refusal::ReplyUnavailable { status: 201 });
    }
    assert_eq!(peek_record(Some(&record), GONE, NOW), PeekState::Completed { status: 201, expires: NOW + 1 });
}

/// Whatever a record becomes, it tells of the same claimant, also after it was stored.
fn check_carried(record: &Record) {
    let mut claimant = claim().claimant;
    if record.claim().claimant.scoped_key().is_some() {
        claimant.note_key(&attempt(SAME, Unanswered::Hold).scoped_key);
    }
    assert_eq!(record.claim().claimant, claimant, "{record:?}");
    assert_eq!(Record::decode(&record.encode()).as_ref(), Ok(record));
}

#[test]
fn what_is_not_used_yet_is_carried_along() {
    let claimed = Record::Claimed(claim());
    let hold = RecordChange::Hold { cause: Cause::Unanswered, status: None };
    for then in [RecordChange::Keep, hold] {
        match outcome::settle_attempt(Some(&claimed), &claim(), then, whole(), NOW) {
            Settlement::Store(record) => check_carried(&record),
            other => panic!("{other:?}"),
        }
    }
    let again = attempt(SAME, Unanswered::Rerun);
    match decide(Some(&claimed), GONE, &again, false, NOW) {
        Decision::Execute(claim) => check_carried(&Record::Claimed(claim)),
        other => panic!("{other:?}"),
    }
    for found in [ProbeResult::Answer, ProbeResult::Nothing] {
        match decide_after_probe(Some(&claimed), GONE, &again, found, whole(), NOW) {
            AfterProbe::Store(record) => check_carried(&record),
            AfterProbe::Execute(claim) => check_carried(&Record::Claimed(claim)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_delivery_carries_along_what_is_not_used_yet() {
    let check = |ring: DeliveryDecision| {
        let record = match ring {
            DeliveryDecision::Store(record) => record,
            DeliveryDecision::Deliver(delivery) => Record::Accepted(delivery),
            other => panic!("{other:?}"),
        };
        check_carried(&record);
        assert!(!matches!(&record, Record::Accepted(delivery) if delivery.refusals != 3));
    };
    let waiting = Record::Accepted(delivery(DeliveryStage::Waiting { at: NOW }, Unanswered::Rerun));
    check(decide_delivery(Some(&waiting), GONE, NOW));
    check(decide_delivery(Some(&waiting), GONE, NOW + DAY));
    let asking = delivery(DeliveryStage::Asking { at: NOW }, Unanswered::Probe("/lookup/{key}".to_owned()));
    for found in [ProbeResult::Answer, ProbeResult::Nothing, ProbeResult::Unclear] {
        check(decide_after_delivery_probe(
            Some(&Record::Accepted(asking.clone())),
            &asking,
            GONE,
            found,
            whole(),
            0,
            NOW,
        ));
    }
    let running = Record::Accepted(delivery(DeliveryStage::Running, Unanswered::Hold));
    let heard = DeliveryAnswer { status: 503, is_whole: true, retry_after: 0 };
    let hold = RecordChange::Hold { cause: Cause::Unanswered, status: None };
    for (then, heard) in [(RecordChange::Keep, HEARD), (RecordChange::Release, heard), (hold, heard)] {
        match accepted::settle_delivery(Some(&running), &claim(), then, whole(), heard, 0, NOW) {
            Settlement::Store(record) => check(DeliveryDecision::Store(record)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_entity_carries_along_what_is_not_used_yet() {
    let policy = r#"{"machines":{"m":{"initial":"a","transitions":{"go":{"from":["a"],"to":"b"}}}}}"#;
    let policy = policy.parse::<Policy>().unwrap();
    let machine = policy.machine("m").unwrap();
    let extensions = vec![Extension { tag: 1, is_needed: false, bytes: vec![2] }];
    let entity = Entity { state: "a".to_owned(), extensions: extensions.clone(), ..Entity::default() };
    let given = TransitionContent::default();
    let Ok(TransitionDecision::Won(won)) =
        decide_transition(&policy, machine, &machine.transitions[0], "1", Some(&entity), &given, NOW)
    else {
        panic!("not won");
    };
    let mut entity = Entity::decode(&won.entity.encode()).unwrap();
    entity.handed_over(1);
    assert_eq!(entity.extensions, extensions);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_alarm_deletes_what_another_build_wrote(
        version in 3..=u8::MAX, expires in any::<u64>(), body in any::<Vec<u8>>(), now in 0..u64::MAX / 2,
    ) {
        let bytes = [[version].as_slice(), &expires.to_be_bytes(), &body].concat();
        let found = Record::decode(&bytes).map(Some);
        assert_eq!(found, Err(Unreadable { expires: Some(expires) }));
        match decide_delivery(&found, GONE, now) {
            DeliveryDecision::Delete => assert!(now >= expires),
            DeliveryDecision::Later(at) => assert!(now < at && at <= expires),
            other => panic!("{other:?}"),
        }
    }
}
