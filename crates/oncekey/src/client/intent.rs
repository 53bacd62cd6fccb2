//! The client's side of an intent: which key an attempt carries, what is kept of it, and when it ends.
//!
//! | stage | how it is reached | the same content again | other content |
//! |---|---|---|---|
//! | none | first submit, or the last intent ended | new key | new key |
//! | `Sent` | an attempt left | same key | same key, reported as edited |
//! | `Loose` | declined, or a look says absent or completed | same key | new key |
//!
//! Success, a mismatch, the person's own decision and the end of the gate's retention end an intent.
//! The browser module links this file, so it uses no formatting and no floating point.

use crate::client::retry::Outcome;

/// How long a gate remembers a key unless its policy says otherwise, in milliseconds.
pub const DEFAULT_RETENTION: u64 = 86_400_000;

/// What is known of a kept intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// An attempt left and its outcome is unknown.
    Sent,
    /// As `Sent`, by a plain form: its outcome is learnt on a later page.
    SentPlain,
    /// The content that was sent cannot be happening now; other content is another intent.
    Loose,
}

impl Stage {
    /// The number that stands for it in the tab's storage; never changed once given.
    pub fn code(self) -> i32 {
        match self {
            Stage::Sent => 1,
            Stage::SentPlain => 2,
            Stage::Loose => 3,
        }
    }

    /// Reads [`Stage::code`].
    pub fn from_code(code: i32) -> Option<Stage> {
        match code {
            1 => Some(Stage::Sent),
            2 => Some(Stage::SentPlain),
            3 => Some(Stage::Loose),
            _ => None,
        }
    }
}

/// What the tab keeps of an intent, beside its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What is known of it.
    pub stage: Stage,
    /// When the key was made, milliseconds since 1970.
    pub since: u64,
    /// Digest of the content first sent under the key.
    pub content: u64,
}

impl Kept {
    /// Milliseconds until the gate forgets the key; 0 once it has.
    pub fn left(&self, now: u64, retention: u64) -> u64 {
        self.since.saturating_add(retention).saturating_sub(now)
    }
}

/// Which key an attempt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The kept one.
    Same,
    /// The kept one although the content changed: the first content may have been accepted.
    Edited,
    /// A new one.
    New,
}

/// Chooses the key for content about to be sent; `now` and `retention` in milliseconds.
pub fn choose(kept: Option<Kept>, content: u64, now: u64, retention: u64) -> Choice {
    match kept {
        Some(kept) if kept.left(now, retention) > 0 => match kept.stage {
            _ if kept.content == content => Choice::Same,
            Stage::Sent | Stage::SentPlain => Choice::Edited,
            Stage::Loose => Choice::New,
        },
        _ => Choice::New,
    }
}

/// What becomes of a kept intent; `None` ends it.
pub fn after(outcome: Outcome) -> Option<Stage> {
    match outcome {
        Outcome::Succeeded | Outcome::Mismatch => None,
        Outcome::Declined => Some(Stage::Loose),
        Outcome::Unknown => Some(Stage::Sent),
    }
}

/// What the gate says of a key (`GET /.oncekey/keys/{key}`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing is remembered.
    Absent,
    /// The first attempt runs.
    Running,
    /// It ended with this status.
    Completed(u16),
    /// Its fate is unknown, or there is nobody to ask.
    Unknown,
}

impl Look {
    /// Reads the answer's members.
    pub fn parse(state: Option<&str>, status: i32) -> Look {
        match state {
            Some("absent") => Look::Absent,
            Some("running") => Look::Running,
            Some("completed") => Look::Completed(u16::try_from(status).unwrap_or(0)),
            _ => Look::Unknown,
        }
    }

    /// Whether an effect took place, or none was refused.
    pub fn succeeded(self) -> bool {
        matches!(self, Look::Completed(0..=399))
    }
}

/// What a look says about a kept intent while no attempt of this page is under way; `None` ends it.
/// `reloaded`: the person never left the page that sent it, so never saw an answer: sent again, the same content must find it.
pub fn after_look(stage: Stage, look: Look, reloaded: bool) -> Option<Stage> {
    match look {
        Look::Completed(_) if look.succeeded() && stage == Stage::SentPlain && !reloaded => None,
        Look::Completed(_) | Look::Absent => Some(Stage::Loose),
        Look::Running | Look::Unknown => Some(stage),
    }
}

/// How long a plain form whose page stays is busy at most, in milliseconds.
pub const PLAIN_BUSY: u64 = 5_000;
/// How long a page may take to leave after a success that leads elsewhere, in milliseconds.
pub const LEAVING: u64 = 30_000;

/// How long a plain form stays busy after its key is known completed, in milliseconds: a 204 leaves the page
/// where it is, a redirect is being followed, and a page would be here at once while a download never is.
pub fn plain_grace(status: u16) -> u64 {
    match status {
        204 | 205 => 0,
        300..=399 => PLAIN_BUSY,
        _ => 400,
    }
}

/// Whether a stored session is a browser's copy of a living tab's. `marked`: no page of the tab said that it was left;
/// `answered`: another page answers for the tab's name. A tab that is brought back, by a reload after a crash or opened
/// again, is marked too. Without an answer the keys stay: a key too long kept repeats nothing.
pub fn is_copy(marked: bool, answered: bool) -> bool {
    marked && answered
}

/// Whether a method may have an effect (RFC 9110 9.2.1); upper case.
pub fn is_unsafe(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "DIALOG" | "")
}

/// Whether a request with this method has content that a form field can join.
pub fn has_fields(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

/// A digest of what an intent's content is made of. Parts are length-prefixed, so no two lists of parts meet by joining.
/// It tells edits apart, it guards nothing: the gate's fingerprint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Adds one part (FNV-1a).
    pub fn part(&mut self, text: &str) {
        let length = text.len().to_le_bytes();
        for byte in length.iter().chain(text.as_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// The digest so far: below 2^53, so that it stays exact as a number of the page.
    pub fn value(self) -> u64 {
        self.0 >> 11
    }
}

/// Field names of tokens against forgery, as frameworks write them.
const TOKENS: &str = "csrf _csrf csrf_token csrfmiddlewaretoken authenticity_token _token __RequestVerificationToken";

/// Whether a field changes without the person: a token against forgery, or one that `data-once-ignore` lists
/// (names divided by commas or spaces).
pub fn is_volatile(name: &str, ignored: &str) -> bool {
    let is_listed =
        |list: &str| list.as_bytes().split(|byte| matches!(byte, b',' | b' ')).any(|each| each == name.as_bytes());
    !name.is_empty() && (is_listed(TOKENS) || is_listed(ignored))
}
