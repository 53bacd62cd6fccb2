//! Effects of one entity: handed to the objects of their keys one after the other, each when the one before has ended.
//!
//! | waiting | pending | step |
//! |---|---|---|
//! | one | | look what became of it |
//! | none | some that do not stand aside | hand over the first of them |
//! | none | only such as stand aside | hand over the first of them |
//! | none | none | rest |
//!
//! | hand-over | then |
//! |---|---|
//! | taken | it is waiting |
//! | failed | again, later; the fifth time it stands aside |
//! | what is stored of it cannot be read | it stands aside |
//! | failed, of one that stands aside | again, later, when the others that do have had their turn |
//!
//! | look | then |
//! |---|---|
//! | goes on, or not to be had | again, later |
//! | delivered, dead, unknown | it has ended: the next one |
//!
//! What stands aside is told as of unknown fate, with a line in the log, and holds up nobody. It comes first among the
//! pending, so that those behind it are in the order of their transitions.

use crate::{
    decide::backoff::{BACKOFF, backoff},
    stored::{
        entity::Entity,
        outbox::{EffectFate, OutboxProgress},
    },
};

/// How often an effect may not be handed over before it stands aside.
const MOST_FAILURES: u32 = 5;

/// Milliseconds after which what stands aside is handed over again.
const ASIDE: u64 = 60_000;

/// Milliseconds: the longest delay of the next look at an effect, or of the next try to hand one over.
const LONGEST: u64 = 60_000;

/// How often a look waits for the effect's end, and for how many seconds: most end soon.
const PATIENT_LOOKS: (u32, u32) = (3, 20);

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxStep {
    /// Ask the object of its key what became of the effect of this version, and wait so long for its end.
    Look {
        /// Which.
        version: u32,
        /// Seconds.
        wait: u32,
    },
    /// Hand the effect of this version to the object of its key.
    HandOver {
        /// Which.
        version: u32,
    },
    /// Nothing is left.
    Rest,
}

/// What follows a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterStep {
    /// Remember this of the effect, and go on.
    Note(EffectFate),
    /// Remember that nothing is known of the effect, write a line in the log, and go on.
    Aside,
    /// Go on after so many milliseconds.
    Later(u64),
}

/// What came of handing an effect over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// The object of its key has it.
    Taken,
    /// It was not reached, or did not take it.
    Failed,
    /// This build cannot read what is stored of it.
    Unreadable,
}

/// What is done next.
pub fn next_step(entity: &Entity, progress: &OutboxProgress) -> OutboxStep {
    if let Some(version) = progress.waiting {
        let wait = if progress.tries < PATIENT_LOOKS.0 { PATIENT_LOOKS.1 } else { 0 };
        return OutboxStep::Look { version, wait };
    }
    let aside = aside_of(progress);
    // Those that stand aside take turns.
    let turn = || entity.pending.get(usize::try_from(progress.tries).ok()?.checked_rem(aside)?);
    match entity.pending.get(aside).or_else(turn) {
        Some(version) => OutboxStep::HandOver { version: *version },
        None => OutboxStep::Rest,
    }
}

fn aside_of(progress: &OutboxProgress) -> usize {
    usize::try_from(progress.aside).unwrap_or(usize::MAX)
}

/// After the effect of that version was handed over, or was not. Both are stored in the same write as what is to be
/// remembered.
pub fn after_hand_over(
    entity: &mut Entity,
    progress: &mut OutboxProgress,
    version: u32,
    result: HandOver,
    jitter: u32,
) -> AfterStep {
    let was_aside = entity.pending.iter().take(aside_of(progress)).any(|aside| *aside == version);
    progress.tries = progress.tries.saturating_add(1);
    match result {
        HandOver::Taken => {
            entity.handed_over(version);
            progress.aside -= u32::from(was_aside);
            progress.waiting = Some(version);
            progress.tries = 0;
            return AfterStep::Note(EffectFate::Waiting);
        }
        HandOver::Failed if !was_aside && progress.tries < MOST_FAILURES => {
            return AfterStep::Later(backoff(progress.tries, BACKOFF, LONGEST, jitter, 0));
        }
        HandOver::Failed | HandOver::Unreadable => {}
    }
    if was_aside {
        return AfterStep::Later(ASIDE);
    }
    progress.tries = 0;
    progress.aside = progress.aside.saturating_add(1);
    AfterStep::Aside
}

/// After a look at the effect that waits; `fate`: what was heard, if anything.
pub fn after_look(progress: &mut OutboxProgress, fate: Option<EffectFate>, jitter: u32) -> AfterStep {
    match fate {
        None | Some(EffectFate::Waiting) => {
            progress.tries = progress.tries.saturating_add(1);
            AfterStep::Later(backoff(progress.tries, BACKOFF, LONGEST, jitter, 0))
        }
        Some(fate) => {
            progress.waiting = None;
            progress.tries = 0;
            AfterStep::Note(fate)
        }
    }
}
