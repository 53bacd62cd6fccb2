//! Keys that tell their own time: what is decided, until when it is remembered, what a peek says.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState, refusal::Refusal, word::StatusWord},
    decide::{
        accepted::{AcceptDecision, decide_accept},
        alarm::first_alarm,
        attempt::{Decision, decide},
        look::{peek_key, peek_record},
        outcome::{RecordChange, Settlement, settle_attempt},
    },
    key::{Key, age::KeyAge, mint::mint_v7, scope::Scope, scoped::ScopedKey},
    policy::Policy,
    stored::{
        attempt::{Attempt, Terms},
        record::{Claim, KeptReply, Owner, Record},
    },
};

const NOW: u64 = 1_767_225_600_000;
/// Seconds.
const AGE: u32 = 3_540;
const RETENTION: u32 = 3_600;

fn policy(text: &str) -> Policy {
    text.parse().unwrap()
}

/// An attempt under a key whose time is so many milliseconds from now.
fn attempt(ahead: i64) -> Attempt {
    let policy = policy(r#"{"routes": [{"key_age": 3540, "retention": 3600, "lease": 10}]}"#);
    let key = mint_v7(NOW.saturating_add_signed(ahead), [7; 10]);
    let age = policy.routes[0].age_of(&key).unwrap();
    let scoped_key = ScopedKey::derive(&Scope::new("shop.example"), &key).unwrap();
    let terms = Terms::of(&policy, &policy.routes[0]);
    Attempt { age, ..Attempt::of_json(&policy, scoped_key, "/orders", b"{}", &[], terms) }
}

fn claim(ahead: i64) -> Claim {
    match decide(None, Owner::default(), &attempt(ahead), false, NOW) {
        Decision::Execute(claim) => claim,
        decided => panic!("{decided:?}"),
    }
}

#[test]
fn of_which_nothing_is_remembered() {
    let check = |ahead: i64, expect: Option<&str>| {
        let code = match decide(None, Owner::default(), &attempt(ahead), false, NOW) {
            Decision::Execute(_) => None,
            Decision::Refuse { refusal, expires: None } => Some(refusal.code()),
            decided => panic!("{decided:?}"),
        };
        assert_eq!(code, expect, "{ahead}");
        let code = match decide_accept(None, Owner::default(), &attempt(ahead), NOW) {
            AcceptDecision::Store(_) => None,
            AcceptDecision::Refuse { refusal, expires: None } => Some(refusal.code()),
            decided => panic!("{decided:?}"),
        };
        assert_eq!(code, expect, "accepted, {ahead}");
    };
    check(0, None);
    check(300_000, None);
    check(300_001, Some("key_invalid"));
    check(31_536_000_000, Some("key_invalid"));
    check(-i64::from(AGE) * 1000, None);
    check(-i64::from(AGE) * 1000 - 1, Some("key_expired"));
    check(-31_536_000_000, Some("key_expired"));
}

#[test]
fn what_has_expired_is_nothing() {
    let record = Record::Claimed(claim(0));
    let at = |now: u64| decide(Some(&record), Owner::default(), &attempt(0), false, now);
    assert!(matches!(at(record.expires() - 1), Decision::Refuse { refusal: Refusal::OutcomeUnknown { .. }, .. }));
    assert_eq!(at(record.expires()), Decision::Refuse { refusal: Refusal::KeyExpired, expires: None });
}

#[test]
fn what_is_remembered_is_replayed_at_any_age() {
    let expires = NOW + 10 * u64::from(RETENTION) * 1000;
    let head = ReplyHead::without_lines(201);
    let record = Record::Completed { claim: claim(0), expires, kept: KeptReply::Whole(head.clone()) };
    let decided = decide(Some(&record), Owner::default(), &attempt(0), false, expires - 1);
    assert_eq!(decided, Decision::Replay { head, expires });
}

/// The later of the end and the key's own time, and a retention from then.
#[test]
fn until_when_it_is_remembered() {
    let retention = u64::from(RETENTION) * 1000;
    for (ahead, later) in [(0, 0), (-60_000, 0), (300_000, 300_000)] {
        let claim = claim(ahead);
        let end = NOW.max(NOW + later);
        assert_eq!(claim.claimant.key_time, Some(NOW.saturating_add_signed(ahead)));
        assert_eq!(claim.remembered_until(NOW), end + retention);
        assert!(first_alarm(&claim, NOW) >= end + retention);
        let record = Record::Claimed(claim.clone());
        assert_eq!(record.expires(), claim.lease_until.max(end) + retention);
        let kept = KeptReply::Tombstone { status: 201 };
        for then in
            [RecordChange::Keep, RecordChange::Hold { cause: oncekey::stored::record::Cause::Ambiguous, status: None }]
        {
            let settled = settle_attempt(Some(&record), &claim, then, kept.clone(), NOW);
            let Settlement::Store(settled) = settled else { panic!("{settled:?}") };
            assert_eq!(settled.expires(), end + retention);
            assert_eq!(Record::decode(&settled.encode()).as_ref(), Ok(&settled));
        }
    }
}

#[test]
fn a_route_that_says_nothing_remembers_no_time() {
    let key = mint_v7(NOW + 1_000_000_000, [7; 10]);
    assert_eq!(Policy::default().routes[0].age_of(&key), Ok(None));
    let of_any_time = Attempt { age: None, ..attempt(0) };
    let decided = decide(None, Owner::default(), &of_any_time, false, NOW);
    assert!(matches!(decided, Decision::Execute(Claim { claimant, .. }) if claimant.key_time.is_none()));
}

#[test]
fn which_keys_a_route_takes() {
    let timed = policy(r#"{"routes": [{"keys": "uuidv7"}]}"#);
    let check = |key: &str, is_taken: bool| {
        let found = timed.routes[0].age_of(&Key::from_header(key).unwrap());
        assert_eq!(found.is_ok(), is_taken, "{key}");
    };
    check("019b7c01-047c-7bab-abab-abababababab", true);
    check("019B7C01-047C-7BAB-ABAB-ABABABABABAB", true);
    check("019b7c01-047c-4bab-abab-abababababab", false);
    // Another variant is no UUID of this RFC's.
    check("019b7c01-047c-7bab-cbab-abababababab", false);
    check("order-1042", false);
}

#[test]
fn a_peek_goes_by_the_largest_age_where_every_route_has_one() {
    let key = mint_v7(NOW, [7; 10]);
    let age = |text: &str| policy(text).age_to_peek(&key);
    assert_eq!(age(r#"{"routes": [{"key_age": 5}, {}]}"#), None);
    let both = age(r#"{"routes": [{"path": "/a", "key_age": 5}, {"key_age": 60}]}"#);
    assert_eq!(both, Some(KeyAge { time: NOW, most: 60 }));
    let at = |now: u64| peek_key(None, Owner::default(), both, now);
    assert_eq!((at(NOW + 60_000), at(NOW + 60_001)), (PeekState::Absent, PeekState::Expired));
    assert_eq!(peek_key(None, Owner::default(), None, u64::MAX), PeekState::Absent);
    let record = Record::Claimed(claim(0));
    let late = record.expires() - 1;
    assert_eq!(
        peek_key(Some(&record), Owner::default(), both, late),
        peek_record(Some(&record), Owner::default(), late)
    );
}

#[test]
fn what_the_refusal_is() {
    let refusal = Refusal::KeyExpired;
    assert_eq!((refusal.status(), refusal.status_word(), refusal.retry_after()), (409, StatusWord::Expired, None));
    assert_eq!(StatusWord::Expired.as_str(), "expired");
}
