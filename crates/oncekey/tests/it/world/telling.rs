//! Who is told of the fates of a history: each that nobody resolved at least once, and none of another execution.
use oncekey::{
    decide::telling::{
        AfterTelling, OpenFate, TellingDecision, after_telling, alarm_of_claim, alarm_of_settled, decide_telling,
        ring_for_telling,
    },
    stored::{
        record::{Claim, Record},
        told::Listeners,
    },
};

use super::World;

/// Whoever is told, and what has to be.
pub struct Telling {
    pub listeners: Listeners,
    /// Who takes what is told to them.
    pub hears: Listeners,
    /// The execution whose fate is open, and nobody has resolved it.
    open: Option<u32>,
    /// Who was told of the executions before.
    heard: Vec<(u32, Listeners, String)>,
}

impl Telling {
    pub fn new(listeners: Listeners) -> Self {
        Self { listeners, hears: Listeners::default(), open: None, heard: Vec::new() }
    }

    /// Nobody knows how an execution ended.
    pub fn opens(&mut self, generation: u32) {
        self.open = Some(generation);
    }

    /// Somebody has resolved it: what is told of it now would be an error.
    pub fn is_resolved(&mut self) {
        self.open = None;
        self.heard.clear();
    }

    fn has_heard(&self, generation: u32) -> Listeners {
        let of = self.heard.iter().filter(|(told, ..)| *told == generation);
        of.fold(Listeners::default(), |all, (_, heard, _)| all.and(*heard))
    }

    /// Whether an open fate is not told yet.
    pub fn owes(&self) -> bool {
        self.open.is_some_and(|generation| self.listeners.without(self.has_heard(generation)).is_any())
    }

    fn tell(&mut self, fate: &OpenFate, generation: u32) -> Listeners {
        assert_eq!(self.open, Some(generation), "told of what is open no more");
        let heard =
            Listeners { policy: self.hears.policy && fate.untold.policy, index: self.hears.index && fate.untold.index };
        let all = self.has_heard(generation);
        assert_eq!(fate.untold, self.listeners.without(all), "told once more, or not to all");
        for (told, _, id) in &self.heard {
            assert_eq!(*told == generation, *id == fate.id(), "one name for one fate");
        }
        self.heard.push((generation, heard, fate.id()));
        heard
    }
}

impl World {
    pub fn alarm_of_claim(&self, claim: &Claim) -> Option<u64> {
        Some(alarm_of_claim(claim, self.telling.listeners, self.now))
    }

    pub fn settled(&mut self, record: &Record) {
        if let Record::Unknown { claim, .. } = record {
            self.telling.opens(claim.generation);
        }
        self.alarm = alarm_of_settled(record, self.telling.listeners, self.now).or(self.alarm);
    }

    pub fn ring_at(&self, at: u64) -> Option<u64> {
        Some(ring_for_telling((&self.found()).into(), self.owner, self.telling.listeners, at, self.now))
    }

    /// Tells what the alarm finds; says whether the alarm has more to do.
    pub fn tell(&mut self) -> bool {
        let found = self.found();
        let TellingDecision::Tell(fate) = decide_telling((&found).into(), self.owner, self.telling.listeners, self.now)
        else {
            return true;
        };
        let generation = found.as_ref().ok().and_then(Option::as_ref).map_or(0, |record| record.claim().generation);
        let heard = self.telling.tell(&fate, generation);
        let Some(AfterTelling { record, again }) =
            after_telling((&found).into(), self.owner, &fate, heard, 7, self.now)
        else {
            panic!("nobody else has decided");
        };
        self.save(&record);
        if let Some(again) = again {
            assert!(again > self.now);
            self.alarm = Some(again);
        }
        again.is_none()
    }
}
