//! Where a tab keeps its intents: find or mint a key, keep it, end it.

use std::cell::RefCell;

use oncekey::client::{
    intent::{KeptIntent, KeyChoice, Progress, choose_key},
    subject::IntentName,
};

use crate::{
    gate::retention,
    page::{self, Js, event_time, item, items, mint_key, now, to_double, to_integer, to_millis},
};

thread_local! {
    /// When intents last ended, by name, of the clock that stamps events.
    static ENDS: RefCell<Vec<(IntentName, f64)>> = const { RefCell::new(Vec::new()) };
}

/// The intent that an attempt belongs to.
pub struct Intent {
    /// Its name.
    pub name: IntentName,
    /// As it is sent.
    pub key: Js,
    /// What is kept of it once sent; `None` for a key that the author gave, and for a single call.
    pub kept: Option<KeptIntent>,
    /// How the key was found, for the event.
    pub reason: &'static str,
}

fn millis_at(array: &Js, index: i32) -> u64 {
    to_millis(item(array, index).as_f64().unwrap_or_default())
}

/// The key and what is known, kept under a name.
pub fn kept_intent(name: IntentName) -> Option<(Js, KeptIntent)> {
    let record = page::recall_intent(to_double(name.place), to_double(name.target));
    let progress = Progress::from_code(to_integer(&item(&record, 1)))?;
    let kept = KeptIntent { progress, minted_at: millis_at(&record, 2), content: millis_at(&record, 3) };
    Some((item(&record, 0), kept))
}

/// The names of all intents that are kept.
pub fn kept_names() -> impl Iterator<Item = IntentName> {
    items(page::kept_intents()).map(|name| IntentName { place: millis_at(&name, 0), target: millis_at(&name, 1) })
}

/// Whether a plain form's outcome was never learnt.
pub fn is_outcome_open(name: IntentName) -> bool {
    kept_intent(name).is_some_and(|(_, kept)| kept.progress == Progress::SentPlain)
}

fn keep_intent(name: IntentName, key: &Js, kept: KeptIntent) {
    let (place, target) = (to_double(name.place), to_double(name.target));
    page::keep_intent(place, target, key, kept.progress.code(), to_double(kept.minted_at), to_double(kept.content));
}

/// Ends an intent.
pub fn forget_intent(name: IntentName) {
    page::forget_intent(to_double(name.place), to_double(name.target));
}

/// Ends all intents of a place.
pub fn forget_place(place: u64) {
    for name in kept_names().filter(|name| name.place == place) {
        forget_intent(name);
    }
}

/// Finds or mints the key for content about to be sent. Nothing is kept before [`Intent::keep`].
pub fn find_or_mint(name: IntentName, content: u64, given: Option<Js>, progress: Progress) -> Intent {
    if let Some(key) = given {
        return Intent { name, key, kept: None, reason: "given" };
    }
    let before = kept_intent(name);
    let choice = choose_key(before.as_ref().map(|(_, kept)| *kept), content, now(), retention());
    let (key, kept, reason) = match (choice, before) {
        (KeyChoice::Same, Some((key, kept))) => (key, kept, "same"),
        (KeyChoice::Edited, Some((key, kept))) => (key, kept, "edited"),
        _ => (mint_key(), KeptIntent { progress, minted_at: now(), content }, "new"),
    };
    Intent { name, key, kept: Some(KeptIntent { progress, ..kept }), reason }
}

/// Remembers that an intent is free again, from now on.
pub fn note_end(name: IntentName) {
    let now = event_time();
    ENDS.with_borrow_mut(|ends| match ends.iter_mut().find(|(ended, _)| *ended == name) {
        Some((_, at)) => *at = now,
        None => ends.push((name, now)),
    });
}

/// When an intent was last free again, of the clock that stamps events.
pub fn last_end(name: IntentName) -> Option<f64> {
    ENDS.with_borrow(|ends| ends.iter().find(|(ended, _)| *ended == name).map(|(_, at)| *at))
}

impl Intent {
    /// Keeps it as sent: an attempt leaves now.
    pub fn keep(&self) {
        if let Some(kept) = self.kept {
            keep_intent(self.name, &self.key, kept);
        }
    }

    /// Moves what is kept to another progress, or ends it; a key that replaced it meanwhile stays.
    pub fn move_to(&self, progress: Option<Progress>) {
        if self.kept.is_some()
            && let Some((key, kept)) = kept_intent(self.name)
            && key == self.key
        {
            match progress {
                Some(progress) => keep_intent(self.name, &key, KeptIntent { progress, ..kept }),
                None => forget_intent(self.name),
            }
        }
    }

    /// Its last attempt has ended: a submit from before, which waited behind it, was this intent too. It may have been
    /// free for long, as a page is that Back shows again.
    pub fn end_attempts(&self, progress: Option<Progress>) {
        self.move_to(progress);
        if self.kept.is_some() {
            note_end(self.name);
        }
    }

    /// Milliseconds until the gate forgets the key.
    pub fn time_left(&self) -> u64 {
        self.kept.map_or(retention(), |kept| kept.time_left(now(), retention()))
    }
}
