//! Who is told of which fate, row by row, and the form in which that is remembered.
use oncekey::{
    decide::telling::{
        AfterTelling, OpenFate, TellingDecision, after_telling, alarm_of_claim, alarm_of_notice, alarm_of_settled,
        decide_telling, ring_for_telling,
    },
    fingerprint::Fingerprint,
    index::{IndexErrand, SeenFate, hour_of_cursor, key_of_row, read_look, read_rows, shard_name},
    key::{scoped::ScopedKey, seal::SealKeys},
    policy::Policy,
    stored::{
        attempt::{Attempt, Terms},
        frame::{Extension, Unreadable},
        record::{Cause, Claim, Claimant, DeathCause, Delivery, DeliveryStage, FoundRecord, KeptReply, Owner, Record},
        told::{Listeners, ToldFate},
    },
};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const PRINT: &str = "1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
/// 2026 begins.
const NOW: u64 = 1_767_225_600_000;
const DAY: u64 = 86_400_000;
const NOBODY: Listeners = Listeners { policy: false, index: false };
const POLICY: Listeners = Listeners { policy: true, index: false };
const INDEX: Listeners = Listeners { policy: false, index: true };
const BOTH: Listeners = Listeners { policy: true, index: true };
const GONE: Owner = Owner { running: None, latest: 3 };
const ALIVE: Owner = Owner { running: Some(3), latest: 3 };

fn key() -> ScopedKey {
    SCOPED.parse().unwrap()
}

/// Its lease ends then.
fn claim(lease_until: u64) -> Claim {
    let mut claimant = Claimant { route: "/orders/*".to_owned(), ..Claimant::default() };
    claimant.note_key(&key());
    Claim { generation: 3, fingerprint: PRINT.parse::<Fingerprint>().unwrap(), lease_until, retention: 100, claimant }
}

fn unknown(expires: u64) -> Record {
    Record::Unknown { claim: claim(NOW - 100_000), expires, cause: Cause::Ambiguous, status: Some(500) }
}

fn accepted(stage: DeliveryStage) -> Record {
    let policy = Policy::default();
    let terms = Terms::of(&policy, &policy.routes[0]);
    let attempt = Attempt { seal: SealKeys::default(), ..Attempt::of_json(&policy, key(), "/a", b"{}", &[], terms) };
    let claim = Claim { claimant: Claimant::default(), ..claim(NOW) };
    Record::Accepted(Delivery { claim, attempt, until: NOW + 5, tries: 2, refusals: 0, stage })
}

fn told(record: &Record, owner: Owner, listeners: Listeners, now: u64) -> OpenFate {
    match decide_telling(Some(record).into(), owner, listeners, now) {
        TellingDecision::Tell(fate) => fate,
        decided => panic!("{decided:?}"),
    }
}

fn check(record: &Record, owner: Owner, listeners: Listeners, expect: TellingDecision) {
    assert_eq!(decide_telling(Some(record).into(), owner, listeners, NOW), expect, "{record:?}");
}

#[test]
fn by_the_table() {
    let (nothing, later) = (|| TellingDecision::Nothing, TellingDecision::Later);
    let (runs, over) = (Record::Claimed(claim(NOW + 1)), Record::Claimed(claim(NOW)));
    for record in [&runs, &over, &unknown(NOW + 1)] {
        check(record, GONE, NOBODY, nothing());
    }
    check(&runs, ALIVE, INDEX, nothing());
    check(&over, ALIVE, INDEX, nothing());
    check(&runs, ALIVE, POLICY, later(NOW + 10_000));
    check(&Record::Claimed(claim(NOW + DAY)), ALIVE, POLICY, later(NOW + DAY));
    for listeners in [INDEX, POLICY, BOTH] {
        check(&runs, GONE, listeners, later(NOW + 1));
        let fate = told(&over, GONE, listeners, NOW);
        assert_eq!(
            (fate.untold, fate.since, fate.is_news, fate.look.cause),
            (listeners, NOW, true, Some("owner_died"))
        );
        let fate = told(&unknown(NOW + 1), GONE, listeners, NOW);
        assert_eq!((fate.untold, fate.is_news, fate.key), (listeners, false, key()));
    }
    let (cause, expires) = (DeathCause::Declined, NOW + 1);
    told(&accepted(DeliveryStage::Dead { cause, status: Some(404), expires }), GONE, INDEX, NOW);
    told(&accepted(DeliveryStage::Unknown { cause: Cause::Unanswered, status: None, expires }), GONE, INDEX, NOW);
    for stage in [DeliveryStage::Running, DeliveryStage::Waiting { at: NOW }, DeliveryStage::Asking { at: NOW }] {
        check(&accepted(stage), GONE, BOTH, nothing());
    }
    let kept = KeptReply::Tombstone { status: 200 };
    check(&Record::Completed { claim: claim(NOW), expires, kept }, GONE, BOTH, nothing());
    // What an earlier build claimed does not say which key it is.
    let claim = Claim { claimant: Claimant::default(), ..claim(NOW) };
    check(&Record::Claimed(claim), GONE, BOTH, nothing());
    assert_eq!(decide_telling(None.into(), GONE, BOTH, NOW), nothing());
    let unreadable = FoundRecord::Unreadable(Unreadable { expires: None });
    assert_eq!(decide_telling(unreadable, GONE, BOTH, NOW), nothing());
}

#[test]
fn what_has_expired_is_told_for_a_day() {
    for record in [unknown(NOW), Record::Claimed(claim(NOW - 100_000))] {
        assert_eq!(told(&record, GONE, BOTH, NOW).expires, NOW);
        told(&record, GONE, BOTH, NOW + DAY - 1);
        assert_eq!(decide_telling(Some(&record).into(), GONE, BOTH, NOW + DAY), TellingDecision::Nothing);
    }
}

#[test]
fn whoever_heard_it_hears_it_no_more() {
    let record = unknown(NOW + DAY);
    let fate = told(&record, GONE, BOTH, NOW);
    let after = after_telling(Some(&record).into(), GONE, &fate, INDEX, 0, NOW).unwrap();
    let AfterTelling { record, again: Some(again) } = after else { panic!("not all have heard it") };
    assert_eq!(again, NOW + 500);
    let rest = told(&record, GONE, BOTH, again);
    assert_eq!((rest.untold, rest.id()), (POLICY, fate.id()));
    let failed = after_telling(Some(&record).into(), GONE, &rest, NOBODY, u32::MAX, again).unwrap();
    assert_eq!(failed.again, Some(again + 2_000));
    let AfterTelling { record, again } =
        after_telling(Some(&failed.record).into(), GONE, &rest, POLICY, 0, again).unwrap();
    assert_eq!(again, None);
    assert_eq!(decide_telling(Some(&record).into(), GONE, BOTH, NOW + 1), TellingDecision::Nothing);
    assert_eq!(Record::decode(&record.encode()).as_ref(), Ok(&record));
    // A fate of later is another one.
    let mut other = record.clone();
    if let Record::Unknown { expires, .. } = &mut other {
        *expires += 1;
    }
    let second = told(&other, GONE, BOTH, NOW + 1);
    assert_ne!(second.id(), fate.id());
    assert_eq!(second.untold, BOTH);
    // And what became of the first is nobody's business any more.
    assert_eq!(after_telling(Some(&other).into(), GONE, &fate, BOTH, 0, NOW), None);
    assert_eq!(after_telling(None.into(), GONE, &fate, BOTH, 0, NOW), None);
}

#[test]
fn when_the_alarm_rings() {
    let running = claim(NOW + 60_000);
    assert_eq!(alarm_of_claim(&running, POLICY, NOW), NOW + 61_000);
    for listeners in [NOBODY, INDEX] {
        assert_eq!(alarm_of_claim(&running, listeners, NOW), NOW + 105_000);
    }
    let completed =
        Record::Completed { claim: claim(NOW), expires: NOW + 9, kept: KeptReply::Tombstone { status: 200 } };
    assert_eq!(alarm_of_settled(&completed, POLICY, NOW), Some(NOW + 9));
    assert_eq!(alarm_of_settled(&completed, INDEX, NOW), None);
    assert_eq!(alarm_of_settled(&unknown(NOW + 9), INDEX, NOW), Some(NOW));
    assert_eq!(alarm_of_settled(&unknown(NOW + 9), NOBODY, NOW), None);
    let ring =
        |record: &Record, owner, listeners| ring_for_telling(Some(record).into(), owner, listeners, NOW + DAY, NOW);
    assert_eq!(ring(&completed, GONE, BOTH), NOW + DAY);
    assert_eq!(ring(&unknown(NOW + 9), GONE, INDEX), NOW);
    assert_eq!(ring(&Record::Claimed(running.clone()), ALIVE, POLICY), NOW + 60_000);
    let notice = |record: &Record, owner| alarm_of_notice(Some(record).into(), owner, INDEX, NOW);
    assert_eq!(notice(&Record::Claimed(running.clone()), GONE), Some(NOW + 60_000));
    assert_eq!(notice(&Record::Claimed(running), ALIVE), None);
    assert_eq!(notice(&unknown(NOW + 9), GONE), Some(NOW));
    let fate = told(&unknown(NOW + 9), GONE, INDEX, NOW);
    let failed = after_telling(Some(&unknown(NOW + 9)).into(), GONE, &fate, NOBODY, 0, NOW).unwrap();
    // Its next try has a time already.
    assert_eq!(notice(&failed.record, GONE), None);
}

#[test]
fn a_claimant_remembers_it_beside_what_a_newer_build_wrote() {
    let later = Extension { tag: 300, is_needed: false, bytes: vec![1] };
    let mut claimant = Claimant { extensions: vec![later.clone()], ..Claimant::default() };
    assert_eq!((claimant.scoped_key(), claimant.told_fate()), (None, None));
    for tries in [0, 1, u32::MAX] {
        let fate = ToldFate { generation: 7, since: NOW, told: INDEX, tries };
        claimant.note_told(fate);
        claimant.note_key(&key());
        assert_eq!((claimant.scoped_key(), claimant.told_fate()), (Some(key()), Some(fate)));
    }
    assert_eq!(claimant.extensions.len(), 3);
    assert_eq!(claimant.extensions[0], later);
    for bytes in [vec![], vec![0xff; 3]] {
        let extensions = vec![4, 5].into_iter().map(|tag| Extension { tag, is_needed: false, bytes: bytes.clone() });
        let claimant = Claimant { extensions: extensions.collect(), ..Claimant::default() };
        assert_eq!((claimant.scoped_key(), claimant.told_fate()), (None, None));
    }
}

#[test]
fn a_fate_on_the_list() {
    let fate = told(&unknown(NOW + 100_000), GONE, INDEX, NOW);
    let (shard, [hour, row]) = IndexErrand::to_add(&fate);
    assert_eq!(shard, "index/490896");
    let until = NOW + 3_600_000;
    assert_eq!(hour, IndexErrand::Add { name: "490896".to_owned(), until });
    let name = format!("1767225600000-{SCOPED}");
    assert_eq!(row, IndexErrand::Add { name: name.clone(), until });
    assert_eq!((hour_of_cursor(&name).as_deref(), key_of_row(&name)), (Some("490896"), Some(key())));
    assert_eq!(shard, shard_name("490896"));
    assert_eq!(hour_of_cursor(&shard[6..]).as_deref(), Some("490896"));
    for errand in [hour, row, IndexErrand::Remove { name: name.clone() }] {
        assert_eq!(errand.to_string().parse(), Ok(errand));
    }
    assert_eq!(read_rows("7\nb,{\"a\":1,\"b\":2}\na,"), Some((7, vec![("b", "{\"a\":1,\"b\":2}"), ("a", "")])));
    assert_eq!(read_rows("0"), Some((0, vec![])));
    assert_eq!(read_rows("{\"status\":503}"), None);
    let open = r#"{"state":"dead"}"#;
    assert_eq!(read_look(200, open), SeenFate::Open);
    assert_eq!(read_look(200, r#"{"state":"completed"}"#), SeenFate::Resolved);
    assert_eq!(read_look(503, r#"{"status":503}"#), SeenFate::Unseen);
}
