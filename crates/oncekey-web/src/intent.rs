//! Where a tab keeps its intents: find or mint a key, keep it, end it.

use oncekey::client::intent::{Choice, Kept, Stage, choose};

use crate::{
    gate::retention,
    names::EMPTY,
    page::{Js, double, each, end_now, item, keep, millis, mint, names, now, number, recall, record, small, word},
};

/// The intent that an attempt belongs to.
pub struct Intent {
    /// Its name.
    pub name: Js,
    /// As it is sent.
    pub key: Js,
    /// What is kept of it once sent; `None` for a key that the author gave, and for a single call.
    pub kept: Option<Kept>,
    /// How the key was found, for the event.
    pub reason: &'static str,
}

/// The key and what is known, kept under a name.
pub fn kept_intent(name: &Js) -> Option<(Js, Kept)> {
    let record = recall(name);
    let stage = Stage::from_code(small(&item(&record, 1)))?;
    let since = millis(number(&item(&record, 2)));
    let content = millis(number(&item(&record, 3)));
    Some((item(&record, 0), Kept { stage, since, content }))
}

/// Whether a plain form's outcome was never learnt.
pub fn is_outcome_open(name: &Js) -> bool {
    kept_intent(name).is_some_and(|(_, kept)| kept.stage == Stage::SentPlain)
}

/// Keeps, or forgets.
pub fn save_intent(name: &Js, key: &Js, kept: Option<Kept>) {
    let value =
        kept.map_or(Js::UNDEFINED, |kept| record(key, kept.stage.code(), double(kept.since), double(kept.content)));
    keep(name, &value);
}

/// Finds or mints the key for content about to be sent. Nothing is kept before [`Intent::keep`].
pub fn find_or_mint(name: Js, content: u64, given: Option<Js>, stage: Stage) -> Intent {
    if let Some(key) = given {
        return Intent { name, key, kept: None, reason: "given" };
    }
    let before = kept_intent(&name);
    let choice = choose(before.as_ref().map(|(_, kept)| *kept), content, now(), retention());
    let (key, kept, reason) = match (choice, before) {
        (Choice::Same, Some((key, kept))) => (key, kept, "same"),
        (Choice::Edited, Some((key, kept))) => (key, kept, "edited"),
        _ => (mint(), Kept { stage, since: now(), content }, "new"),
    };
    Intent { name, key, kept: Some(Kept { stage, ..kept }), reason }
}

impl Intent {
    /// Keeps it as sent: an attempt leaves now.
    pub fn keep(&self) {
        if self.kept.is_some() {
            save_intent(&self.name, &self.key, self.kept);
        }
    }

    /// Moves what is kept to another stage, or ends it; a key that replaced it meanwhile stays.
    pub fn move_to_stage(&self, stage: Option<Stage>) {
        if let Some((key, kept)) = kept_intent(&self.name)
            && self.kept.is_some()
            && key == self.key
        {
            save_intent(&self.name, &key, stage.map(|stage| Kept { stage, ..kept }));
        }
    }

    /// Its last attempt has ended: a submit from before, which waited behind it, was this intent too. It may have been
    /// free for long, as a page is that Back shows again.
    pub fn end_attempts(&self, stage: Option<Stage>) {
        self.move_to_stage(stage);
        if self.kept.is_some() {
            end_now(&self.name);
        }
    }

    /// Milliseconds until the gate forgets the key.
    pub fn left(&self) -> u64 {
        self.kept.map_or(retention(), |kept| kept.left(now(), retention()))
    }
}

/// The names of all intents that the tab keeps.
pub fn kept_names() -> Js {
    names(&word(EMPTY))
}

/// Ends all intents whose names begin so.
pub fn forget_intents(start: &Js) {
    each(&names(start), &mut |name| {
        keep(&name, &Js::UNDEFINED);
        true
    });
}
