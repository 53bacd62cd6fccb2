//! The client's side of an intent: which key an attempt carries, what is kept of it, and when it ends.
//!
//! | progress | how it is reached | the same content again | other content |
//! |---|---|---|---|
//! | none | first submit, or the last intent ended | new key | new key |
//! | `Sent`, `SentPlain` | an attempt left | same key | same key, reported as edited |
//! | `Idle` | declined, or a look says absent or completed | same key | new key |
//! | `Stayed` | completed, and the page of the plain form stayed | same key for a minute, then a new one | new key |
//!
//! Success, a page that answers a plain form, a mismatch, the person's own decision and the end of the gate's retention end
//! an intent. A key goes with every content that it was sent with.

use crate::client::retry::IntentOutcome;

/// How long a gate remembers a key unless its policy says otherwise, in milliseconds.
pub const DEFAULT_RETENTION: u64 = 86_400_000;
/// How long the same content is the same intent after it is known completed while its page stayed, in milliseconds.
pub const SAME_AGAIN: f64 = 60_000.0;
/// How long after a plain form's submit the navigation that answers it begins at most, in milliseconds: on a busy machine it
/// takes some hundred. Whoever goes on by hand is slower.
pub const LONGEST_START: f64 = 600.0;

/// How far a kept intent has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// An attempt left and its outcome is unknown.
    Sent,
    /// As `Sent`, by a plain form: its outcome is learnt on a later page.
    SentPlain,
    /// The content that was sent cannot be happening now; other content is another intent.
    Idle,
    /// It is known completed, by a plain form whose page stayed.
    Stayed,
}

impl Progress {
    /// The number that stands for it in the tab's storage; never changed once given.
    pub fn code(self) -> i32 {
        match self {
            Progress::Sent => 1,
            Progress::SentPlain => 2,
            Progress::Idle => 3,
            Progress::Stayed => 4,
        }
    }

    /// Reads [`Progress::code`].
    pub fn from_code(code: i32) -> Option<Progress> {
        match code {
            1 => Some(Progress::Sent),
            2 => Some(Progress::SentPlain),
            3 => Some(Progress::Idle),
            4 => Some(Progress::Stayed),
            _ => None,
        }
    }
}

/// What the tab keeps of an intent, beside its key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptIntent {
    /// How far it has come.
    pub progress: Progress,
    /// When the key was made, milliseconds since 1970.
    pub minted_at: u64,
    /// When it was sent by a plain form, or known completed: milliseconds since 1970 by the clock that stamps events.
    pub at: f64,
}

impl KeptIntent {
    /// Milliseconds until the gate forgets the key; 0 once it has.
    pub fn time_left(&self, now: u64, retention: u64) -> u64 {
        self.minted_at.saturating_add(retention).saturating_sub(now)
    }
}

/// Which key an attempt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyChoice {
    /// The kept one.
    Same,
    /// The kept one although the content changed: the first content may have been accepted.
    Edited,
    /// A new one.
    New,
}

/// Chooses the key for content about to be sent; `now` and `retention` in milliseconds. `is_known`: the content was sent
/// under the kept key before; `since`: milliseconds since [`KeptIntent::at`].
pub fn choose_key(kept: Option<KeptIntent>, is_known: bool, since: f64, now: u64, retention: u64) -> KeyChoice {
    match kept {
        Some(kept) if kept.time_left(now, retention) > 0 => match kept.progress {
            Progress::Stayed if since >= SAME_AGAIN => KeyChoice::New,
            _ if is_known => KeyChoice::Same,
            Progress::Sent | Progress::SentPlain => KeyChoice::Edited,
            Progress::Idle | Progress::Stayed => KeyChoice::New,
        },
        _ => KeyChoice::New,
    }
}

/// Whether the page that is shown answers a plain form that was sent at that time: its navigation began then.
/// `status`: of the answer, 0 where the browser does not tell, below 0 where the page was not navigated to.
pub fn is_answer(sent_at: f64, began_at: f64, status: i32) -> bool {
    let took = began_at - sent_at;
    status >= 0 && (-50.0..LONGEST_START).contains(&took)
}

/// What a page that answers a plain form does to its intent; `None` ends it. `is_edited`: the key was sent with other
/// content before, so that a 422 may be the gate's mismatch.
pub fn progress_after_page(status: i32, is_edited: bool) -> Option<Progress> {
    match status {
        200..=399 => None,
        422 if is_edited => None,
        _ => Some(Progress::SentPlain),
    }
}

/// What becomes of a kept intent; `None` ends it.
pub fn progress_after(outcome: IntentOutcome) -> Option<Progress> {
    match outcome {
        IntentOutcome::Succeeded | IntentOutcome::Mismatch => None,
        IntentOutcome::Declined => Some(Progress::Idle),
        IntentOutcome::Unknown => Some(Progress::Sent),
    }
}

/// How long all keys of a gate are remembered, by its routes' retentions: the shortest, since the page does not know which
/// route its request takes. 0 is none.
pub fn shortest_retention(retentions: impl IntoIterator<Item = u64>) -> Option<u64> {
    retentions.into_iter().filter(|retention| *retention > 0).min()
}
