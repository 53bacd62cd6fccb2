//! What the gate says of a key (`GET /.oncekey/keys/{key}`): what it means for a kept intent, and when to ask again.

use crate::client::{guard::PLAIN_BUSY, intent::Progress};

/// How long a submit waits at most to learn what became of the one before, in milliseconds.
pub const LONGEST_WAIT: u64 = 1_000;
/// How long after a plain form's submit the gate is first asked, in milliseconds: most pages have left by then.
pub const FIRST_LOOK: u64 = 600;
/// How long after a look that found nothing the next follows, in milliseconds.
pub const NEXT_LOOK: u64 = 400;
/// How many looks follow the first while a plain form's page stays.
pub const MORE_LOOKS: u32 = 12;

/// What the gate knows of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Nothing is remembered.
    Absent,
    /// The first attempt runs.
    Running,
    /// It ended with this status.
    Completed(u16),
    /// Its fate is unknown, or there is nobody to ask.
    Unknown,
}

impl KeyState {
    /// Reads the answer's members.
    pub fn from_members(state: Option<&str>, status: i32) -> KeyState {
        match state {
            Some("absent") => KeyState::Absent,
            Some("running") => KeyState::Running,
            Some("completed") => KeyState::Completed(u16::try_from(status).unwrap_or(0)),
            _ => KeyState::Unknown,
        }
    }

    /// Whether an effect took place, or none was refused.
    pub fn is_success(self) -> bool {
        matches!(self, KeyState::Completed(0..=399))
    }
}

/// How the person came to the page that looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The page answers a plain form, with a status that the browser does not tell.
    Answer,
    /// By a navigation of its own: an answer may have been shown by a page without the module.
    Elsewhere,
    /// By a reload, by Back or Forward: nothing was shown since.
    Again,
}

/// What a look says about a kept intent while no attempt of this page is under way; `None` ends it. Whoever saw no answer must
/// find it by the same content; whoever may have seen it, for a minute. `is_edited`: the key was sent with other content too.
/// A key of unknown fate never takes that, so that once it was refused there is no use in sending a third.
pub fn progress_after_look(progress: Progress, state: KeyState, arrival: Arrival, is_edited: bool) -> Option<Progress> {
    match state {
        KeyState::Completed(_) if state.is_success() && progress == Progress::SentPlain => match arrival {
            Arrival::Answer => None,
            Arrival::Elsewhere => Some(Progress::Stayed),
            Arrival::Again => Some(Progress::Idle),
        },
        KeyState::Completed(_) | KeyState::Absent => Some(Progress::Idle),
        KeyState::Unknown if is_edited => Some(Progress::Idle),
        KeyState::Running | KeyState::Unknown => Some(progress),
    }
}

/// What follows a look at a plain form's key while its page stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainStep {
    /// The form's answer had this status: it is over after so many milliseconds.
    Finish(u16, u64),
    /// Look again after so many milliseconds: it has not arrived yet, or it takes long.
    LookAgain(u64),
    /// Nothing more is learnt here.
    GiveUp,
}

/// Decides on a look at a plain form's key; `more` looks may follow. `stays`: its answer goes to a frame.
pub fn plain_step(state: KeyState, more: u32, stays: bool) -> PlainStep {
    match state {
        KeyState::Completed(status) => PlainStep::Finish(status, plain_grace(status, stays)),
        KeyState::Absent | KeyState::Running if more > 0 => PlainStep::LookAgain(NEXT_LOOK),
        KeyState::Absent | KeyState::Running | KeyState::Unknown => PlainStep::GiveUp,
    }
}

/// How long a plain form stays busy after its key is known completed, in milliseconds: a 204 leaves the page where it is,
/// anything else is still on its way, or a download.
pub fn plain_grace(status: u16, stays: bool) -> u64 {
    match status {
        204 | 205 => 0,
        _ if stays => 400,
        _ => PLAIN_BUSY,
    }
}
