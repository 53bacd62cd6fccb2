//! Where a tab keeps its intents: find or mint a key, keep it, end it.

use std::cell::RefCell;

use oncekey::client::{
    intent::{KeptIntent, KeyChoice, Progress, choose_key},
    subject::IntentName,
};

use crate::{
    gate::{mint_key, retention},
    page::{self, Js, event_time, item, items, now, to_double, to_integer, to_millis, wall_time},
};

thread_local! {
    /// When intents last ended, by name, of the clock that stamps events.
    static ENDS: RefCell<Vec<(IntentName, f64)>> = const { RefCell::new(Vec::new()) };
}

/// Where the contents begin in what is kept of an intent.
const FIRST_CONTENT: i32 = 5;

/// The intent that an attempt belongs to.
pub struct Intent {
    /// Its name.
    pub name: IntentName,
    /// As it is sent.
    pub key: Js,
    /// What is kept of it once sent; `None` for a key that the author gave, and for a single call.
    pub kept: Option<KeptIntent>,
    /// Where a form sends it.
    pub address: Js,
    /// Digest of the content.
    pub content: u64,
    /// How the key was found, for the event.
    pub reason: &'static str,
}

fn number_at(array: &Js, index: i32) -> f64 {
    item(array, index).as_f64().unwrap_or_default()
}

fn millis_at(array: &Js, index: i32) -> u64 {
    to_millis(number_at(array, index))
}

fn record_of(name: IntentName) -> Js {
    page::recall_intent(to_double(name.place), to_double(name.target))
}

/// How many contents a key was sent with, and whether this is one of them.
pub fn known_contents(name: IntentName, content: u64) -> (i32, bool) {
    let record = record_of(name);
    let (mut count, mut is_known) = (0, false);
    while let Some(known) = item(&record, FIRST_CONTENT + count).as_f64() {
        count += 1;
        is_known |= to_millis(known) == content;
    }
    (count, is_known)
}

/// The key and what is known, kept under a name.
pub fn kept_intent(name: IntentName) -> Option<(Js, KeptIntent)> {
    let record = record_of(name);
    let progress = Progress::from_code(to_integer(&item(&record, 1)))?;
    let kept = KeptIntent { progress, minted_at: millis_at(&record, 2), at: number_at(&record, 3) };
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

fn keep_intent(name: IntentName, key: &Js, kept: KeptIntent, address: &Js, content: Option<u64>) {
    let (place, target) = (to_double(name.place), to_double(name.target));
    let (code, content) = (kept.progress.code(), content.map(to_double));
    page::keep_intent(place, target, key, code, to_double(kept.minted_at), kept.at, address, content);
}

/// Where a kept intent was sent to.
pub fn address_of(name: IntentName) -> Js {
    item(&record_of(name), 4)
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
        return Intent { name, key, kept: None, address: Js::UNDEFINED, content, reason: "given" };
    }
    let before = kept_intent(name);
    let kept = before.as_ref().map(|(_, kept)| *kept);
    let since = wall_time() - kept.map_or(0.0, |kept| kept.at);
    let choice = choose_key(kept, known_contents(name, content).1, since, now(), retention());
    let (key, kept, reason) = match (choice, before) {
        (KeyChoice::Same, Some((key, kept))) => (key, kept, "same"),
        (KeyChoice::Edited, Some((key, kept))) => (key, kept, "edited"),
        _ => (mint_key(), KeptIntent { progress, minted_at: now(), at: 0.0 }, "new"),
    };
    let kept = Some(KeptIntent { progress, at: wall_time(), ..kept });
    Intent { name, key, kept, address: Js::UNDEFINED, content, reason }
}

/// Moves what is kept under a name and this key to another progress, or ends it.
pub fn move_kept(name: IntentName, key: &Js, progress: Option<Progress>) {
    let Some((_, kept)) = kept_intent(name).filter(|(kept, _)| kept == key) else {
        return;
    };
    match progress {
        Some(progress) => {
            keep_intent(name, key, KeptIntent { progress, ..kept }, &Js::UNDEFINED, None);
        }
        None => forget_intent(name),
    }
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
            keep_intent(self.name, &self.key, kept, &self.address, Some(self.content));
        }
    }

    /// Moves what is kept to another progress, or ends it; a key that replaced it meanwhile stays.
    pub fn move_to(&self, progress: Option<Progress>) {
        if self.kept.is_some() {
            move_kept(self.name, &self.key, progress);
        }
    }

    /// It is known completed, and its page stays.
    pub fn stay(&self) {
        if let Some(kept) = self.kept {
            let kept = KeptIntent { progress: Progress::Stayed, at: wall_time(), ..kept };
            keep_intent(self.name, &self.key, kept, &self.address, Some(self.content));
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
