//! Effects of one entity: the tables, the stored forms, and random histories in which each is handed over once, in its
//! turn, and none is lost or holds up the others for good.
use std::collections::BTreeMap;

use oncekey::{
    decide::outbox::{AfterStep, HandOver, OutboxStep, after_hand_over, after_look, next_step},
    key::scoped::ScopedKey,
    stored::{
        entity::Entity,
        outbox::{EffectFate, EffectNote, OutboxProgress, told_entry},
    },
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";

fn entity(pending: &[u32]) -> Entity {
    Entity { state: "a".to_owned(), version: 9, pending: pending.to_vec(), ..Entity::default() }
}

fn progress(waiting: Option<u32>, tries: u32, aside: u32) -> OutboxProgress {
    OutboxProgress { waiting, tries, aside }
}

#[test]
fn the_next_step_by_the_table() {
    let check = |pending: &[u32], at: OutboxProgress, expect| {
        assert_eq!(next_step(&entity(pending), &at), expect, "{pending:?} {at:?}");
    };
    check(&[], progress(None, 0, 0), OutboxStep::Rest);
    check(&[3, 4], progress(None, 0, 0), OutboxStep::HandOver { version: 3 });
    check(&[3, 4], progress(None, 4, 1), OutboxStep::HandOver { version: 4 });
    check(&[4, 3], progress(None, 0, 2), OutboxStep::HandOver { version: 4 });
    check(&[4, 3], progress(None, 1, 2), OutboxStep::HandOver { version: 3 });
    check(&[4, 3], progress(None, 2, 2), OutboxStep::HandOver { version: 4 });
    check(&[], progress(None, 0, 1), OutboxStep::Rest);
    check(&[3, 4], progress(Some(2), 0, 0), OutboxStep::Look { version: 2, wait: 20 });
    check(&[3], progress(Some(2), 2, 1), OutboxStep::Look { version: 2, wait: 20 });
    check(&[3], progress(Some(2), 3, 0), OutboxStep::Look { version: 2, wait: 0 });
}

#[test]
fn what_follows_a_hand_over() {
    let check = |before: (&[u32], u32, u32), result, expect: AfterStep, after: (&[u32], OutboxProgress)| {
        let (mut found, mut at) = (entity(before.0), progress(None, before.1, before.2));
        assert_eq!(after_hand_over(&mut found, &mut at, 3, result, 0), expect, "{before:?} {result:?}");
        assert_eq!((found.pending.as_slice(), at), after);
    };
    let waiting = AfterStep::Note(EffectFate::Waiting);
    check((&[3, 4], 3, 0), HandOver::Taken, waiting, (&[4], progress(Some(3), 0, 0)));
    check((&[2, 3, 4], 3, 1), HandOver::Taken, waiting, (&[2, 4], progress(Some(3), 0, 1)));
    check((&[3, 2], 0, 2), HandOver::Taken, waiting, (&[2], progress(Some(3), 0, 1)));
    check((&[3, 4], 0, 0), HandOver::Failed, AfterStep::Later(500), (&[3, 4], progress(None, 1, 0)));
    check((&[3, 4], 3, 0), HandOver::Failed, AfterStep::Later(4_000), (&[3, 4], progress(None, 4, 0)));
    check((&[3, 4], 4, 0), HandOver::Failed, AfterStep::Aside, (&[3, 4], progress(None, 0, 1)));
    check((&[2, 3], 4, 1), HandOver::Failed, AfterStep::Aside, (&[2, 3], progress(None, 0, 2)));
    check((&[3, 4], 0, 0), HandOver::Unreadable, AfterStep::Aside, (&[3, 4], progress(None, 0, 1)));
    for result in [HandOver::Failed, HandOver::Unreadable] {
        check((&[3, 2, 4], 0, 2), result, AfterStep::Later(60_000), (&[3, 2, 4], progress(None, 1, 2)));
    }
}

#[test]
fn what_follows_a_look() {
    let check = |fate, expect: AfterStep, then: OutboxProgress| {
        let mut at = progress(Some(3), 2, 1);
        assert_eq!(after_look(&mut at, fate, 0), expect, "{fate:?}");
        assert_eq!(at, then);
    };
    for goes_on in [None, Some(EffectFate::Waiting)] {
        check(goes_on, AfterStep::Later(2_000), progress(Some(3), 3, 1));
    }
    for fate in
        [EffectFate::Delivered(200), EffectFate::Dead(None), EffectFate::Unknown(Some(504)), EffectFate::Forgotten]
    {
        check(Some(fate), AfterStep::Note(fate), progress(None, 0, 1));
    }
    let mut long = progress(Some(3), 40, 0);
    assert_eq!(after_look(&mut long, None, u32::MAX), AfterStep::Later(60_000));
}

#[test]
fn what_an_object_says_of_an_effect() {
    let check = |peek: &str, expect| assert_eq!(EffectFate::of_peek(peek), expect, "{peek}");
    check(r#"{"state":"running"}"#, Some(EffectFate::Waiting));
    check(r#"{"state":"completed","status":201,"expires":"x"}"#, Some(EffectFate::Delivered(201)));
    check(r#"{"state":"dead","status":404,"expires":"x"}"#, Some(EffectFate::Dead(Some(404))));
    check(r#"{"state":"dead","expires":"x"}"#, Some(EffectFate::Dead(None)));
    check(r#"{"state":"unknown","status":504}"#, Some(EffectFate::Unknown(Some(504))));
    check(r#"{"state":"unknown"}"#, Some(EffectFate::Unknown(None)));
    check(r#"{"state":"absent"}"#, Some(EffectFate::Forgotten));
    for other in ["", "{}", r#"{"state":"asleep"}"#, r#"{"state":"completed"}"#, r#"{"code":"store_unavailable"}"#] {
        check(other, None);
    }
}

/// Pinned: each form as it was first written.
#[test]
fn the_stored_forms() {
    let check = |at: OutboxProgress, text: &str| {
        assert_eq!(at.to_string(), text);
        assert_eq!(text.parse(), Ok(at));
    };
    check(progress(None, 0, 0), "1 0 0 0");
    check(progress(Some(7), 4_294_967_295, 2), "1 7 4294967295 2");
    for none in ["", "1", "1 2", "1 2 3", "2 0 0 0", "1 0 0 0 ", "1  0 0", "1 0 0 x", "1 4294967296 0 0", "1 0 0 0 0"] {
        assert!(none.parse::<OutboxProgress>().is_err(), "{none}");
    }
    let key = || Some(SCOPED.parse::<ScopedKey>().unwrap());
    let check = |fate, key, text: &str| {
        let note = EffectNote { fate, key };
        assert_eq!(note.to_string(), text);
        assert_eq!(text.parse(), Ok(note));
    };
    check(EffectFate::Waiting, key(), &format!(r#"{{"effect":"waiting","key":"{SCOPED}"}}"#));
    check(EffectFate::Delivered(201), key(), &format!(r#"{{"effect":"delivered","status":201,"key":"{SCOPED}"}}"#));
    check(EffectFate::Dead(Some(404)), None, r#"{"effect":"dead","status":404}"#);
    check(EffectFate::Dead(None), None, r#"{"effect":"dead"}"#);
    check(EffectFate::Unknown(None), None, r#"{"effect":"unknown"}"#);
    let forgotten = EffectNote { fate: EffectFate::Forgotten, key: None };
    assert_eq!(forgotten.to_string(), r#"{"effect":"unknown"}"#);
    for none in ["", "{}", r#"{"effect":"gone"}"#, r#"{"effect":"delivered"}"#, "effect"] {
        assert!(none.parse::<EffectNote>().is_err(), "{none}");
    }
}

#[test]
fn an_entry_as_it_is_told() {
    let note = EffectNote { fate: EffectFate::Dead(Some(404)), key: None };
    let entry = r#"{"transition":"go","time":"t","by":{"effect":1}}"#;
    let told = r#"{"transition":"go","time":"t","by":{"effect":1},"effect":"dead","status":404}"#;
    assert_eq!(told_entry(entry, Some(&note)), told);
    assert_eq!(told_entry(entry, None), entry);
    assert_eq!(told_entry("no entry", Some(&note)), "no entry");
}

#[derive(Clone, Debug)]
enum Event {
    /// A transition with an effect, whose object can be reached or not.
    Win { reached: bool },
    /// The alarm rings, and what it asks for comes so.
    Ring { fate: Option<EffectFate> },
    /// An object can be reached again.
    Mend,
}

/// The entity's storage as it is written, and the objects of the effects' keys.
#[derive(Default)]
struct World {
    version: u32,
    entity: Vec<u8>,
    progress: String,
    notes: BTreeMap<u32, String>,
    /// By version: whether its object can be reached.
    reached: BTreeMap<u32, bool>,
    /// In the order in which they were taken.
    taken: Vec<u32>,
    ended: Vec<u32>,
}

impl World {
    fn entity(&self) -> Entity {
        if self.entity.is_empty() { Entity::default() } else { Entity::decode(&self.entity).unwrap() }
    }

    fn win(&mut self, reached: bool) {
        self.version += 1;
        let mut entity = self.entity();
        entity.version = self.version;
        entity.pending.push(self.version);
        self.entity = entity.encode();
        self.reached.insert(self.version, reached);
    }

    /// Says whether it goes on at once.
    fn ring(&mut self, fate: Option<EffectFate>) -> bool {
        let mut entity = self.entity();
        let mut progress = self.progress.parse::<OutboxProgress>().unwrap_or_default();
        let (version, after) = match next_step(&entity, &progress) {
            OutboxStep::Rest => {
                assert!(progress.waiting.is_none() && entity.pending.is_empty());
                return false;
            }
            OutboxStep::Look { version, .. } => {
                assert_eq!(self.taken.last(), Some(&version), "looked at another than the last");
                let after = after_look(&mut progress, fate, 7);
                if matches!(after, AfterStep::Note(_)) {
                    self.ended.push(version);
                }
                (version, after)
            }
            OutboxStep::HandOver { version } => {
                assert_eq!(self.taken.len(), self.ended.len(), "one before it has not ended");
                assert!(!self.taken.contains(&version), "handed over twice");
                let aside = usize::try_from(progress.aside).unwrap();
                let earlier = entity.pending.iter().skip(aside).any(|other| *other < version);
                assert!(!earlier, "out of its turn");
                let result = if self.reached[&version] { HandOver::Taken } else { HandOver::Failed };
                let after = after_hand_over(&mut entity, &mut progress, version, result, 7);
                if result == HandOver::Taken {
                    self.taken.push(version);
                }
                (version, after)
            }
        };
        self.entity = entity.encode();
        self.progress = progress.to_string();
        match after {
            AfterStep::Note(fate) => drop(self.notes.insert(version, EffectNote { fate, key: None }.to_string())),
            AfterStep::Aside => {
                let note = EffectNote { fate: EffectFate::Unknown(None), key: None };
                self.notes.insert(version, note.to_string());
            }
            AfterStep::Later(later) => {
                assert!(later > 0);
                return false;
            }
        }
        true
    }
}

fn some_fate() -> impl Strategy<Value = Option<EffectFate>> {
    let status = any::<Option<u16>>();
    prop_oneof![
        1 => Just(None),
        3 => Just(Some(EffectFate::Waiting)),
        1 => any::<u16>().prop_map(|status| Some(EffectFate::Delivered(status))),
        1 => status.prop_map(|status| Some(EffectFate::Dead(status))),
        1 => any::<Option<u16>>().prop_map(|status| Some(EffectFate::Unknown(status))),
        1 => Just(Some(EffectFate::Forgotten)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn effects_keep_their_order_and_none_is_lost(events in vec(prop_oneof![
        3 => prop_oneof![4 => Just(true), 1 => Just(false)].prop_map(|reached| Event::Win { reached }),
        8 => some_fate().prop_map(|fate| Event::Ring { fate }),
        1 => Just(Event::Mend),
    ], 0..80)) {
        let mut world = World::default();
        for event in events {
            match event {
                Event::Win { reached } => world.win(reached),
                Event::Ring { fate } => drop(world.ring(fate)),
                Event::Mend => world.reached.values_mut().for_each(|reached| *reached = true),
            }
        }
        // What cannot be handed over holds up no other for good.
        let lost = world.reached.values().filter(|reached| !**reached).count();
        for _ in 0..world.version * 8 + 40 {
            world.ring(Some(EffectFate::Delivered(200)));
        }
        assert_eq!(world.taken.len() + lost, usize::try_from(world.version).unwrap());
        assert!(world.entity().pending.iter().all(|version| world.notes[version].contains("unknown")));
        // Once they can be reached, they are all delivered, each once.
        world.reached.values_mut().for_each(|reached| *reached = true);
        for _ in 0..world.version * 8 + 40 {
            world.ring(Some(EffectFate::Delivered(200)));
        }
        let mut taken = world.taken.clone();
        taken.sort_unstable();
        assert_eq!(taken, (1..=world.version).collect::<Vec<_>>());
        assert_eq!(world.ended, world.taken);
        assert!(world.entity().pending.is_empty() && world.notes.len() == taken.len());
    }
}
