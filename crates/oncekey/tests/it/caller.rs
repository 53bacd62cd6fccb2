//! Random histories of callers at one key: whose it is, told as which of three attributes each request has.
use oncekey::{
    answer::{head::ReplyHead, refusal::Refusal},
    decide::{
        accepted::{AcceptDecision, decide_accept},
        attempt::{Decision, decide},
        look::is_peek_of_other,
        outcome::{RecordChange, Settlement, settle_attempt},
    },
    errand::Errand,
    key::{
        Key,
        scope::{NameSecret, Scope},
        scoped::ScopedKey,
    },
    policy::Policy,
    stored::{
        attempt::{Attempt, Terms},
        record::{KeptReply, Owner, Record},
    },
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

const UUID: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const ATTRIBUTES: [(&str, &str); 3] =
    [("header:authorization", "Bearer t"), ("cookie:session", "s"), ("header:x-tenant", "Digest username=\"t\"")];

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A request with the attributes of these bits, of the first content or another.
    Arrive { has: usize, content: &'static str },
    /// The execution ends.
    End(RecordChange),
    /// The object loses its memory.
    Crash,
    /// Retention ends.
    Forget,
}

fn some_event() -> impl Strategy<Value = Event> {
    let content = prop_oneof![3 => Just("{}"), 1 => Just("[]")];
    prop_oneof![
        8 => (0..8_usize, content).prop_map(|(has, content)| Event::Arrive { has, content }),
        2 => prop_oneof![Just(RecordChange::Keep), Just(RecordChange::Release)].prop_map(Event::End),
        1 => Just(Event::Crash),
        1 => Just(Event::Forget),
    ]
}

/// The attempt as its object reads it.
fn attempt(has: usize, content: &str) -> Attempt {
    let (policy, key) = (Policy::default(), Key::from_content(UUID).unwrap());
    let mut scope = Scope::new("shop.example");
    for (at, (name, value)) in ATTRIBUTES.iter().enumerate() {
        if has & (1 << at) != 0 {
            scope.add(name, value);
        }
    }
    let terms = Terms::of(&policy, &policy.routes[0]);
    let scoped_key = ScopedKey::derive(&scope, &key).unwrap();
    let attempt = Attempt::of_json(&policy, scoped_key, "/", content.as_bytes(), &[], terms);
    let sent = Errand::Attempt(Attempt { callers: scope.callers(&key), ..attempt }).to_string();
    match sent.parse() {
        Ok(Errand::Attempt(read)) => read,
        other => panic!("{other:?}"),
    }
}

/// A record as it is read back.
fn stored(record: Record) -> Option<Record> {
    Some(Record::decode(&record.encode()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_is_its_first_callers(events in vec(some_event(), 1..24)) {
        let (mut now, mut owner, mut record) = (1_000_000, Owner::default(), None::<Record>);
        // Which attributes the first has, while something is remembered.
        let mut first: Option<usize> = None;
        let scoped_key = attempt(0, "").scoped_key;
        for event in events {
            match event {
                Event::Arrive { has, content } => {
                    let attempt = attempt(has, content);
                    assert_eq!(attempt.scoped_key, scoped_key);
                    let is_other = first.is_some_and(|first| first != 0 && first & has == 0);
                    let accepted = decide_accept(record.as_ref(), owner, &attempt, now);
                    let changed = AcceptDecision::Refuse { refusal: Refusal::CallerChanged, expires: None };
                    assert_eq!(accepted == changed, is_other);
                    assert_eq!(is_peek_of_other(record.as_ref(), owner, attempt.callers.as_deref(), now), is_other);
                    match decide(record.as_ref(), owner, &attempt, false, now) {
                        Decision::Execute(claim) => {
                            assert_eq!(first, None);
                            first = Some(has);
                            owner = Owner { running: Some(claim.generation), latest: claim.generation };
                            record = stored(Record::Claimed(claim));
                        }
                        Decision::Refuse { refusal: Refusal::CallerChanged, expires } => {
                            assert!(is_other);
                            assert_eq!(expires, None);
                        }
                        other => assert!(!is_other && first.is_some(), "{other:?}"),
                    }
                }
                Event::End(then) => {
                    let Some(Record::Claimed(claim)) = record.clone().filter(|_| owner.running.is_some()) else {
                        continue;
                    };
                    let kept = KeptReply::Whole(ReplyHead::without_lines(201));
                    owner.running = None;
                    match settle_attempt(record.as_ref(), &claim, then, kept, now) {
                        Settlement::Store(settled) => record = stored(settled),
                        Settlement::Release => (record, first) = (None, None),
                        Settlement::Late => panic!("late"),
                    }
                }
                Event::Crash => owner = Owner::default(),
                Event::Forget if owner.running.is_none() => {
                    now += 1_000_000_000;
                    first = None;
                }
                Event::Forget => {}
            }
        }
    }
}

#[test]
fn a_secret_hides_the_caller_in_a_name_and_nothing_else() {
    let mut scope = Scope::new("shop.example");
    scope.add("header:authorization", "Basic YTpi");
    let hidden = |secret: &str| scope.clone().hidden(Some(NameSecret::new(secret.as_bytes())));
    let name = |scope: &Scope, key: &str| ScopedKey::derive(scope, &Key::from_header(key).unwrap()).unwrap();
    let natural = name(&scope, "order-1042");
    assert_ne!(name(&hidden("one"), "order-1042"), natural);
    assert_eq!(name(&hidden("one"), "order-1042"), name(&hidden("one"), "order-1042"));
    assert_ne!(name(&hidden("one"), "order-1042"), name(&hidden("two"), "order-1042"));
    assert_ne!(name(&hidden("one"), "order-1042"), name(&hidden("one"), "order-1043"));
    // Nobody guesses a random UUID, and its name has no caller in it, unless callers are kept apart.
    let uuid = "8e03978e-40d5-43dd-bc93-6894a57f9324";
    assert_eq!(name(&hidden("one"), uuid), name(&scope, uuid));
    assert_ne!(name(&hidden("one").apart(), uuid), name(&scope.clone().apart(), uuid));
    assert_eq!(format!("{:?}", NameSecret::new(b"one")), "NameSecret");
}
