//! State transitions: the table, random histories of one entity against a model, and the stored forms.
use std::collections::BTreeMap;

use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    decide::transition::{
        KEY_KEPT, LONGEST_BY, TransitionContent, TransitionDecision, WonTransition, answer_to_keep, decide_repeat,
        decide_transition, fingerprint_of_transition,
    },
    errand::{EntityErrand, LONGEST_ID},
    policy::{Keep, Policy, Unanswered},
    stored::{
        attempt::Attempt,
        entity::{Entity, LONGEST_HISTORY, TransitionAnswer, expiry_row, identity_of_row, kept_versions},
        frame::Extension,
    },
};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde_json::{Value, json};

const NOW: u64 = 784_111_777_000;
const TIME: &str = "1994-11-06T08:49:37Z";

fn entry(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn policy() -> Policy {
    let policy = json!({
        "routes": [{ "path": "/payouts", "unanswered": "rerun", "lease": 7, "keep": "success" }, { "unanswered": "hold" }],
        "machines": {
            "refund": { "initial": "pending", "transitions": {
                "approve": { "from": ["pending"], "to": "approved", "effect": "/payouts?by=gate" },
                "reject": { "from": ["pending", "approved"], "to": "rejected" },
                "reopen": { "from": ["approved", "rejected"], "to": "pending", "effect": "/mails" },
                "stay": { "from": ["pending"], "to": "pending" },
            } },
        },
    });
    policy.to_string().parse().unwrap()
}

fn entity(state: &str, version: u32) -> Entity {
    Entity { state: state.to_owned(), version, ..Entity::default() }
}

fn make(entity: Option<&Entity>, name: &str, content: &str) -> TransitionDecision {
    let policy = policy();
    let machine = policy.machine("refund").unwrap();
    let transition = machine.transition(name).unwrap();
    let given = TransitionContent::parse(content.as_bytes()).unwrap();
    decide_transition(&policy, machine, transition, "42", entity, &given, NOW).unwrap()
}

fn check(state: Option<&str>, name: &str, expect: &str) {
    let found = match make(state.map(|state| entity(state, 3)).as_ref(), name, "") {
        TransitionDecision::Won(won) => {
            assert_eq!(won.entity.version, state.map_or(1, |_| 4));
            assert_eq!(entry(&won.entry), json!({ "transition": name, "time": TIME, "by": null }));
            assert_eq!(won.entity.pending.is_empty(), won.effect.is_none());
            format!("{} {}", won.entity.state, won.effect.map_or_else(|| "-".to_owned(), |effect| effect.path))
        }
        TransitionDecision::There => "there".to_owned(),
        TransitionDecision::Again { .. } => panic!("nothing was asked before"),
        TransitionDecision::Refuse(Refusal::StateConflict { state }) => format!("conflict {state}"),
        TransitionDecision::Refuse(refusal) => panic!("{refusal:?}"),
    };
    assert_eq!(found, expect, "{state:?} {name}");
}

#[test]
fn by_the_table() {
    check(None, "approve", "approved /payouts?by=gate");
    check(None, "reject", "rejected -");
    check(None, "reopen", "there");
    check(None, "stay", "there");
    check(Some("pending"), "approve", "approved /payouts?by=gate");
    check(Some("approved"), "approve", "there");
    check(Some("rejected"), "approve", "conflict rejected");
    check(Some("approved"), "reject", "rejected -");
    check(Some("approved"), "reopen", "pending /mails");
    // A state of another policy stays, and is told.
    for name in ["approve", "reject", "reopen", "stay"] {
        check(Some("frozen"), name, "conflict frozen");
    }
}

#[test]
fn the_effect_says_what_happened_under_the_transitions_own_key() {
    let effect = |entity: Option<&Entity>, name: &str, content: &str| match make(entity, name, content) {
        TransitionDecision::Won(won) => won.effect.unwrap(),
        other => panic!("{other:?}"),
    };
    let first = effect(None, "approve", " {\"by\": \"ann\", \"amount\": 1.50} ");
    assert_eq!(
        first.content,
        "{\"machine\":\"refund\",\"id\":\"42\",\"transition\":\"approve\",\"body\": {\"by\": \"ann\", \"amount\": 1.50} }"
    );
    let terms = &first.attempt.terms;
    assert_eq!((terms.unanswered.clone(), terms.lease, terms.keep), (Unanswered::Rerun, 7, Keep::Definite));
    let again = effect(Some(&entity("pending", 9)), "approve", "");
    assert!(again.content.ends_with("\"body\":null}"), "{}", again.content);
    assert_eq!(again.attempt.scoped_key, first.attempt.scoped_key);
    assert_ne!(again.attempt.fingerprint, first.attempt.fingerprint);
    let mut ran = entity("pending", 2);
    ran.ran.push("approve".to_owned());
    assert_ne!(effect(Some(&ran), "approve", "").attempt.scoped_key, first.attempt.scoped_key);
    assert_ne!(effect(Some(&entity("approved", 1)), "reopen", "").attempt.scoped_key, first.attempt.scoped_key);
}

#[test]
fn what_a_caller_may_say() {
    let check = |content: &[u8], says: &str| match TransitionContent::parse(content) {
        Err(Refusal::ContentInvalid { message }) => assert!(message.contains(says), "{message}"),
        other => panic!("{other:?}"),
    };
    check(b"{", "line 1, column 2");
    check(b"{}\n{}", "line 2, column 1");
    check(b"{\"a\":\n  nul}", "line 2");
    check(b"\"\xff\"", "line 1, column 2");
    check(br#"{"by":1,"by":2}"#, "twice");
    check(format!("{{\"by\":\"{}\"}}", "x".repeat(LONGEST_BY)).as_bytes(), "longer than");
    for content in ["", "null", "[1]", "{\"by\":{\"a\":[1]}}", "\u{feff}{}", "\"by\"", "[[[[[[]]]]]]"] {
        TransitionContent::parse(content.as_bytes()).unwrap();
    }
    let TransitionDecision::Won(won) = make(None, "approve", "\u{feff}{\"x\":{\"by\":1}, \"by\" : \"Žofie\"}") else {
        panic!()
    };
    assert_eq!(won.entry, include_str!("../../../../tests/golden/entry-v1.json"));
    let TransitionDecision::Won(won) = make(None, "approve", "{\"x\":{\"by\":1}}") else { panic!() };
    assert_eq!(entry(&won.entry)["by"], Value::Null);
}

#[test]
fn orders() {
    let check = |path: &str, expect: Option<(&str, &str, Option<&str>)>| {
        let order = EntityErrand::of_path(path);
        let found = order.as_ref().map(|o| (o.machine.as_str(), o.id.as_str(), o.transition.as_deref()));
        assert_eq!(found, expect, "{path}");
        if let Some(order) = order {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
    };
    check("refund/42", Some(("refund", "42", None)));
    check("refund/42/approve", Some(("refund", "42", Some("approve"))));
    check("refund/a%2Fb%20%C3%BC/approve", Some(("refund", "a/b ü", Some("approve"))));
    for path in ["", "refund", "refund/", "refund/%20", "refund/42/approve/", "refund/42/approve/x", "refund/%ff/x"] {
        check(path, None);
    }
    check(&format!("refund/{}", "x".repeat(LONGEST_ID + 1)), None);
    let of_key = |header: Option<&str>, id: &str| {
        let order = EntityErrand::of_path(&format!("refund/{id}/approve")).unwrap().with_key(header).unwrap();
        assert_eq!(order.to_string().parse(), Ok(order.clone()));
        order
    };
    let key = "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"";
    assert_eq!(of_key(None, "42").key, None);
    assert_eq!(of_key(Some(key), "42").key, of_key(Some(key.trim_matches('"')), "42").key);
    assert_ne!(of_key(Some(key), "42").key, of_key(Some(key), "43").key);
    assert_ne!(of_key(Some(key), "42").key, of_key(Some("natural"), "42").key);
    assert!(of_key(Some(key), "42").to_string().starts_with("refund 42 approve !key="), "older builds refuse it");
    assert!(EntityErrand::of_path("refund/42/approve").unwrap().with_key(Some("a b")).is_err());
    let policy = policy();
    let known = |path: &str| EntityErrand::of_path(path).is_some_and(|errand| policy.knows(&errand));
    assert!(known("refund/1") && known("refund/1/approve"));
    assert!(!known("refund/1/pay") && !known("order/1") && !known("refund/1/"));
}

#[test]
fn an_errand_with_further_words() {
    let check = |text: &str, expect: Option<(&str, Option<&str>)>| {
        let errand = text.parse::<EntityErrand>();
        let found = errand.as_ref().ok().map(|errand| (errand.id.as_str(), errand.transition.as_deref()));
        assert_eq!(found, expect, "{text}");
    };
    check("m 1", Some(("1", None)));
    check("m 1 go", Some(("1", Some("go"))));
    check("m !1 go", Some(("!1", Some("go"))));
    check("m 1 go more b=1", Some(("1", Some("go"))));
    check("m 1 ", Some(("1", None)));
    check("m 1  more", Some(("1", None)));
    for text in [
        "",
        "m",
        "m 1 !more",
        "m 1 %21more",
        "m 1  !more",
        "m 1 go !more",
        "m 1 go !key=",
        "m 1 go !key=x",
        "m 1 go a !b",
        "m %ff",
        "m 1 %",
    ] {
        check(text, None);
    }
}

fn answer(version: u32, until: u64) -> TransitionAnswer {
    let fingerprint = fingerprint_of_transition(&policy(), "approve", b"{}");
    TransitionAnswer { fingerprint, state: "a b".to_owned(), won: true, version, until }
}

#[test]
fn the_same_again_is_told_the_same() {
    let same = |name: &str, content: &[u8]| fingerprint_of_transition(&policy(), name, content);
    let check = |kept: &TransitionAnswer, asked, version, now, expect: Option<&str>| {
        let found = decide_repeat(kept, version, &asked, now).map(|decision| match decision {
            TransitionDecision::Again { state, won } => format!("{state} {won}"),
            TransitionDecision::Refuse(refusal) => refusal.code().to_owned(),
            decision => panic!("{decision:?}"),
        });
        assert_eq!(found.as_deref(), expect, "{kept:?} {version} {now}");
    };
    let kept = answer(7, NOW);
    check(&kept, same("approve", b" { } "), 7, NOW - 1, Some("a b true"));
    check(&kept, same("approve", b"{\"by\":1}"), 7, NOW - 1, Some("idempotency_key_reused"));
    check(&kept, same("reject", b"{}"), 7, NOW - 1, Some("idempotency_key_reused"));
    // For as long as the history has its entry, and for its time.
    check(&kept, same("approve", b"{}"), 6 + LONGEST_HISTORY, u64::MAX, Some("a b true"));
    check(&kept, same("approve", b"{}"), 7 + LONGEST_HISTORY, NOW, None);
    check(&kept, same("approve", b"{}"), 7 + LONGEST_HISTORY, NOW - 1, Some("a b true"));
    check(&answer(0, NOW), same("approve", b"{}"), 1, NOW, None);
}

#[test]
fn what_is_kept_of_an_answer() {
    let keep = |decision: &TransitionDecision, is_key| {
        let asked = fingerprint_of_transition(&policy(), "approve", b"");
        answer_to_keep(decision, is_key, asked, "approved", NOW).map(|kept| (kept.won, kept.version, kept.until - NOW))
    };
    let day = u64::from(KEY_KEPT) * 1000;
    let won = make(Some(&entity("pending", 3)), "approve", "");
    assert_eq!((keep(&won, true), keep(&won, false)), (Some((true, 4, day)), Some((true, 0, 60_000))));
    let there = TransitionDecision::There;
    assert_eq!((keep(&there, true), keep(&there, false)), (Some((false, 0, day)), None));
    let again = TransitionDecision::Again { state: "approved".to_owned(), won: true };
    for decision in [TransitionDecision::Refuse(Refusal::Reused), again] {
        assert_eq!((keep(&decision, true), keep(&decision, false)), (None, None));
    }
}

/// Pinned: the form as it was first written.
#[test]
fn the_stored_form_of_an_answer() {
    let text = format!("1 {} 1 7 784111777000 a%20b", answer(0, 0).fingerprint);
    assert_eq!(answer(7, NOW).to_string(), text);
    assert_eq!(text.parse(), Ok(answer(7, NOW)));
    for other in
        ["", "1", &text[2..], &text.replacen('1', "2", 1), &[&text, " x"].concat(), &text.replace(" 7 ", " x ")]
    {
        assert!(other.parse::<TransitionAnswer>().is_err(), "{other}");
    }
    let row = expiry_row(NOW, "who");
    assert_eq!((row.as_str(), identity_of_row(&row)), ("x0000784111777000who", Some("who")));
    assert!(expiry_row(999, "z") < expiry_row(1_000, "a"));
    assert_eq!(identity_of_row("x"), None);
}

#[test]
fn a_history_keeps_its_newest() {
    assert_eq!(kept_versions(1), 1..=1);
    assert_eq!(kept_versions(LONGEST_HISTORY), 1..=LONGEST_HISTORY);
    assert_eq!(kept_versions(LONGEST_HISTORY + 5), 6..=LONGEST_HISTORY + 5);
    assert!(kept_versions(0).is_empty());
}

#[test]
fn what_is_said() {
    let said = GateAnswer::entity("a \"b\"", 2, &["{\"transition\":\"on\"}".to_owned(), "{}".to_owned()]);
    let expect = json!({ "state": "a \"b\"", "version": 2, "history": [{ "transition": "on" }, {}] });
    assert_eq!(serde_json::from_str::<Value>(&said.content).unwrap(), expect);
    assert_eq!(GateAnswer::transition("approved", true).content, "{\"state\":\"approved\",\"won\":true}");
    assert_eq!(GateAnswer::transition("approved", false).content, "{\"state\":\"approved\",\"won\":false}");
    assert_eq!(GateAnswer::entity("pending", 0, &[]).content, "{\"state\":\"pending\",\"version\":0,\"history\":[]}");
}

/// What happens to an entity.
#[derive(Clone, Debug)]
enum Event {
    /// `key`: one of few; `lost`: the answer of the call is lost, and the front repeats it later.
    Ask { name: usize, by: u8, key: Option<u8>, lost: bool },
    /// The front repeats the call whose answer was lost.
    Repeat,
    /// The alarm hands over, and is cut off after that many writes.
    HandOver { until: usize },
    /// Nothing that is not stored is known any more: the same as nothing, since nothing else is known.
    Crash,
}

const NAMES: [&str; 4] = ["approve", "reject", "reopen", "stay"];

/// The entity's storage, and what the objects of keys have taken.
#[derive(Default)]
struct World {
    stored: Option<Vec<u8>>,
    outbox: BTreeMap<u32, (Attempt, String)>,
    /// By scoped key: the fingerprints that were taken, once each.
    taken: BTreeMap<String, Vec<String>>,
    state: String,
    version: u32,
    effects: usize,
    /// What was told under keys and to calls, as it is stored.
    kept: BTreeMap<String, String>,
    /// What the first was told under a key, and for what: the model's own memory.
    first: BTreeMap<u8, (usize, u8, (String, bool))>,
    /// The call that will be repeated: its name, what was asked, and what was told.
    lost: Option<(String, usize, u8, (String, bool))>,
    calls: u32,
}

impl World {
    fn entity(&self) -> Option<Entity> {
        self.stored.as_deref().map(|bytes| Entity::decode(bytes).expect("what was stored can be read"))
    }

    /// One call, as the entity takes it; what it is told.
    fn call(&mut self, identity: &str, is_key: bool, name: usize, by: u8) -> Result<(String, bool), String> {
        let (name, content) = (NAMES[name], format!("{{\"by\":{by}}}"));
        let asked = fingerprint_of_transition(&policy(), name, content.as_bytes());
        let kept = self.kept.get(identity).map(|text| text.parse::<TransitionAnswer>().unwrap());
        let again = kept.and_then(|kept| decide_repeat(&kept, self.version, &asked, NOW));
        let decision = again.unwrap_or_else(|| make(self.entity().as_ref(), name, &content));
        let to = policy().machine("refund").unwrap().transition(name).unwrap().to.clone();
        if let Some(told) = answer_to_keep(&decision, is_key, asked, &to, NOW) {
            self.kept.insert(identity.to_owned(), told.to_string());
        }
        match decision {
            TransitionDecision::Again { state, won } => Ok((state, won)),
            TransitionDecision::Refuse(Refusal::Reused) => Err("reused".to_owned()),
            decision => self.take(name, by, decision),
        }
    }

    fn ask(&mut self, name: usize, by: u8, key: Option<u8>, lost: bool) {
        let version = self.version;
        self.calls += 1;
        let identity = key.map_or_else(|| format!("call {}", self.calls), |key| format!("key {key}"));
        let told = self.call(&identity, key.is_some(), name, by);
        if let Some(first) = key.and_then(|key| self.first.get(&key)) {
            let expect = if (first.0, first.1) == (name, by) { Ok(first.2.clone()) } else { Err("reused".to_owned()) };
            assert_eq!((told, self.version), (expect, version), "the same again moves nothing");
            return;
        }
        if let Ok(told) = told {
            if let Some(key) = key {
                self.first.insert(key, (name, by, told.clone()));
            }
            if lost && told.1 {
                self.lost = Some((identity, name, by, told));
            }
        }
    }

    fn repeat(&mut self) {
        if let Some((identity, name, by, told)) = self.lost.take() {
            let version = self.version;
            let is_key = identity.starts_with("key");
            assert_eq!(self.call(&identity, is_key, name, by), Ok(told), "the winner hears that it won");
            assert_eq!(self.version, version, "and wins once");
        }
    }

    fn take(&mut self, name: &str, by: u8, decision: TransitionDecision) -> Result<(String, bool), String> {
        let (starts, to, effect): (&[&str], &str, bool) = match name {
            "approve" => (&["pending"], "approved", true),
            "reject" => (&["pending", "approved"], "rejected", false),
            "reopen" => (&["approved", "rejected"], "pending", true),
            _ => (&["pending"], "pending", false),
        };
        match decision {
            TransitionDecision::Won(won) => {
                assert!(self.state != to && starts.contains(&self.state.as_str()), "won in {}", self.state);
                let WonTransition { entity, entry: told, effect: outgoing } = *won;
                assert_eq!(entry(&told)["by"], json!(by));
                self.state = to.to_owned();
                self.version += 1;
                assert_eq!((entity.state.as_str(), entity.version), (to, self.version));
                assert_eq!(outgoing.is_some(), effect);
                if let Some(effect) = outgoing {
                    self.effects += 1;
                    self.outbox.insert(self.version, (effect.attempt, effect.content));
                }
                self.stored = Some(entity.encode());
                Ok((to.to_owned(), true))
            }
            TransitionDecision::There => {
                assert_eq!(self.state, to);
                Ok((to.to_owned(), false))
            }
            TransitionDecision::Again { .. } => panic!("decided anew"),
            TransitionDecision::Refuse(refusal) => {
                assert_eq!(refusal, Refusal::StateConflict { state: self.state.clone() });
                assert!(!starts.contains(&self.state.as_str()) && self.state != to);
                Err("conflict".to_owned())
            }
        }
    }

    /// Each step is a write of its own, and any may be the last before a crash.
    fn hand_over(&mut self, until: usize) {
        for at in (0..until).step_by(2) {
            let Some(mut entity) = self.entity() else { return };
            let Some(version) = entity.pending.first().copied() else { return };
            let (attempt, _) = self.outbox.get(&version).expect("what is pending is in the outbox");
            let key = attempt.scoped_key.as_str().to_owned();
            let fingerprint = attempt.fingerprint.as_str().to_owned();
            let taken = self.taken.entry(key).or_default();
            if !taken.contains(&fingerprint) {
                taken.push(fingerprint);
            }
            if at + 1 < until {
                entity.handed_over(version);
                self.stored = Some(entity.encode());
                self.outbox.remove(&version);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_change_has_one_winner_and_one_effect(events in vec(prop_oneof![
        6 => (0..NAMES.len(), 0..3_u8, proptest::option::of(0..3_u8), any::<bool>())
            .prop_map(|(name, by, key, lost)| Event::Ask { name, by, key, lost }),
        2 => proptest::prelude::Just(Event::Repeat),
        2 => (0..6_usize).prop_map(|until| Event::HandOver { until }),
        1 => proptest::prelude::Just(Event::Crash),
    ], 0..40)) {
        let mut world = World { state: "pending".to_owned(), ..World::default() };
        for event in events {
            match event {
                Event::Ask { name, by, key, lost } => world.ask(name, by, key, lost),
                Event::Repeat => world.repeat(),
                Event::HandOver { until } => world.hand_over(until),
                Event::Crash => assert!(world.entity().is_none_or(|entity| entity.version == world.version)),
            }
        }
        world.hand_over(usize::MAX);
        // Each effect under a key of its own, each once, none left.
        assert!(world.taken.values().all(|taken| taken.len() == 1), "{:?}", world.taken);
        assert_eq!(world.taken.len(), world.effects);
        assert!(world.outbox.is_empty());
        assert!(world.entity().is_none_or(|entity| entity.pending.is_empty()));
    }

    #[test]
    fn any_bytes_are_one_form_or_none(bytes in any::<Vec<u8>>(), state in any::<String>(), version in any::<u32>()) {
        let _ = TransitionContent::parse(&bytes);
        if let Ok(entity) = Entity::decode(&bytes) {
            assert_eq!(Entity::decode(&entity.encode()), Ok(entity));
        }
        let extensions = vec![Extension { tag: version, is_needed: false, bytes }];
        let (ran, pending) = (vec![state.clone(); 2], vec![version]);
        let entity = Entity { state: state.clone(), version, ran, pending, extensions };
        assert_eq!(Entity::decode(&entity.encode()), Ok(entity.clone()));
    }

    #[test]
    fn any_path_is_an_order_or_none(path in any::<String>()) {
        if let Some(order) = EntityErrand::of_path(&path) {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        if let Ok(errand) = path.parse::<EntityErrand>() {
            assert_eq!(errand.to_string().parse(), Ok(errand));
        }
    }
}
