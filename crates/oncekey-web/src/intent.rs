//! Where a tab keeps its intents, and whose they are.

use oncekey::client::intent::{Choice, Kept, Look, Stage, after_look, choose, is_copy};

use crate::{
    app, guard,
    names::{EMPTY, KEYS, Name, RELOAD, RETENTION, ROUTES, STATE, STATUS, TOP, WELL_KNOWN, WINDOW},
    page::{
        Js, ask, came_by, claim, double, each, end_now, get, global, item, keep, later, millis, mint, names, now,
        number, recall, record, small, text, then, word, yield_name,
    },
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
fn load(name: &Js) -> Option<(Js, Kept)> {
    let record = recall(name);
    let stage = Stage::from_code(small(&item(&record, 1)))?;
    let since = millis(number(&item(&record, 2)));
    let content = millis(number(&item(&record, 3)));
    Some((item(&record, 0), Kept { stage, since, content }))
}

/// Whether a plain form's outcome was never learnt.
pub fn is_open(name: &Js) -> bool {
    load(name).is_some_and(|(_, kept)| kept.stage == Stage::SentPlain)
}

/// Keeps, or forgets.
fn save(name: &Js, key: &Js, kept: Option<Kept>) {
    let value =
        kept.map_or(Js::UNDEFINED, |kept| record(key, kept.stage.code(), double(kept.since), double(kept.content)));
    keep(name, &value);
}

/// Finds or mints the key for content about to be sent. Nothing is kept before [`Intent::keep`].
pub fn find(name: Js, content: u64, given: Option<Js>, stage: Stage) -> Intent {
    if let Some(key) = given {
        return Intent { name, key, kept: None, reason: "given" };
    }
    let before = load(&name);
    let choice = choose(before.as_ref().map(|(_, kept)| *kept), content, now(), app::with(|app| app.retention));
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
            save(&self.name, &self.key, self.kept);
        }
    }

    /// Moves what is kept to another stage, or ends it; a key that replaced it meanwhile stays.
    pub fn move_to(&self, stage: Option<Stage>) {
        if let Some((key, kept)) = load(&self.name)
            && self.kept.is_some()
            && key == self.key
        {
            save(&self.name, &key, stage.map(|stage| Kept { stage, ..kept }));
        }
    }

    /// Its last attempt has ended: a submit from before, which waited behind it, was this intent too. It may have been
    /// free for long, as a page is that Back shows again.
    pub fn end(&self, stage: Option<Stage>) {
        self.move_to(stage);
        if self.kept.is_some() {
            end_now(&self.name);
        }
    }

    /// Milliseconds until the gate forgets the key.
    pub fn left(&self) -> u64 {
        let retention = app::with(|app| app.retention);
        self.kept.map_or(retention, |kept| kept.left(now(), retention))
    }
}

/// Ends all intents whose names begin so.
pub fn forget(start: &Js) {
    each(&names(start), &mut |name| {
        keep(&name, &Js::UNDEFINED);
        true
    });
}

/// Whether this page is the tab's own, and no frame in it: a frame shares the tab's intents.
fn is_top() -> bool {
    global(TOP) == global(WINDOW)
}

/// Takes the tab's intents over from the page before; a copy of a living tab starts with none, and with a name of its own.
/// `answered`: another page answers for the name that is kept.
pub fn take_over(answered: bool) {
    let mark = word(EMPTY);
    let marked = recall(&mark).is_truthy();
    if is_top() && is_copy(marked, answered) {
        forget(&mark);
        call_it();
    } else if !marked {
        call_it();
    }
}

/// Gives the tab a new name, for which this page answers while it is shown.
pub fn call_it() {
    if is_top() {
        // Nobody waits for it.
        later(
            0,
            Box::new(|_, _| {
                let name = mint();
                keep(&word(EMPTY), &name);
                claim(&name);
            }),
        );
    }
}

/// Marks the tab as left, so that the next page takes its intents over.
pub fn leave() {
    if is_top() {
        keep(&word(EMPTY), &Js::UNDEFINED);
        yield_name();
    }
}

/// Asks the gate what became of a key; `wait` is a query that says how long.
pub fn look(key: &Js, wait: Name, f: impl FnOnce(Look) + 'static) {
    then(
        &ask(KEYS, key, wait),
        Box::new(|json, _| {
            let state = text(&json, STATE);
            f(Look::parse(state.as_deref(), small(&get(&json, STATUS))));
        }),
    );
}

/// Looks at all intents whose outcome this tab never learnt.
/// `again`: this page itself is shown once more.
pub fn look_back(again: bool) {
    each(&names(&word(EMPTY)), &mut |name| {
        look_at(name, again);
        true
    });
}

fn look_at(name: Js, again: bool) {
    let Some((key, kept)) = load(&name) else {
        return;
    };
    learn_retention();
    if kept.left(now(), app::with(|app| app.retention)) == 0 {
        save(&name, &key, None);
    } else if kept.stage != Stage::Loose && !guard::is_held(&name) {
        app::with(|app| app.looks += 1);
        look(&key.clone(), EMPTY, move |look| {
            // The person may have submitted meanwhile; then that attempt learns the outcome.
            if !guard::is_held(&name) {
                let stage = after_look(kept.stage, look, !again && came_by(RELOAD));
                let intent = Intent { name, key, kept: Some(kept), reason: "" };
                intent.move_to(stage);
            }
            crate::door::form::let_go(false);
        });
    }
}

/// Learns from the gate's policy how long keys are remembered: the shortest of its routes. Asked once, when it first matters.
pub fn learn_retention() {
    if app::with(|app| core::mem::replace(&mut app.learning, true)) {
        return;
    }
    then(
        &ask(WELL_KNOWN, &word(EMPTY), EMPTY),
        Box::new(|policy, _| {
            let mut least = number(&get(&policy, RETENTION));
            each(&get(&policy, ROUTES), &mut |route| {
                let own = number(&get(&route, RETENTION));
                if own > 0.0 && (least <= 0.0 || own < least) {
                    least = own;
                }
                true
            });
            if least > 0.0 {
                app::with(|app| app.retention = millis(least * 1000.0));
            }
        }),
    );
}
