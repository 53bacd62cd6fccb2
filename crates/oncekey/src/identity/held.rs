//! Keys that were fetched: how long they count, and when they are fetched anew.
//!
//! The first row that applies decides. *Known* says that a key of the set may be the one that the token names.
//!
//! | keys came | known | what was tried | step |
//! |---|---|---|---|
//! | less than 600 s ago | yes | | use them |
//! | less than a day ago | yes | in vain before, and another request tries again | use them |
//! | | | another request fetches | wait for it |
//! | less than a day ago | yes | in vain, for this request or less than 30 s ago | use them |
//! | less than a day ago | no | they came for this request, were asked for an unknown key less than 30 s ago, or in vain less than 2 s ago | the key is unknown; after a try in vain they cannot be had |
//! | never, or a day ago | | in vain, for this request or less than 2 s ago | they cannot be had |
//! | | | | fetch them |

use crate::{
    http::date::Millis,
    identity::{jwks::KeySet, token::JudgedToken},
};

/// How long keys are taken as they are.
const FRESH: Millis = 600_000;

/// How long they are used while no others can be had.
const USABLE: Millis = 86_400_000;

/// The time between two fetches for keys that are not in the set, and between two in vain while there are some to use.
const APART: Millis = 30_000;

/// The time between two fetches in vain while there are none.
const SOON: Millis = 2_000;

/// How long a fetch may take.
pub const FETCH_LIMIT: u32 = 3_000;

/// How long a request waits, in ms, before it asks again for keys that another one fetches.
pub const MOMENT: u32 = 20;

/// Bytes of a set that are read at most.
pub const LARGEST_SET: u64 = 65_536;

/// A fetch that has not ended by then has no one who ends it: its request has gone.
const FORGOTTEN: Millis = 4_000;

/// What an isolate has of one issuer's keys.
#[derive(Debug, Default)]
pub struct HeldKeys {
    /// The last set that came, and when.
    set: Option<(KeySet, Millis)>,
    /// When a fetch failed last, where none has come since.
    failed: Option<Millis>,
    /// When keys that are not in the set were asked for last.
    sought: Option<Millis>,
    /// Since when some request fetches.
    fetching: Option<Millis>,
}

/// What a request does next for its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeysStep<'k> {
    /// Verify by these.
    Use(&'k KeySet),
    /// Fetch them: [`HeldKeys::end_fetch`] has to follow.
    Fetch,
    /// Ask again soon.
    Wait,
    /// The token names a key that there is not.
    Unknown,
    /// The keys cannot be had.
    Unavailable,
}

impl HeldKeys {
    /// What a request does next. `began`: when it asked first. The table is in the module's documentation.
    pub fn next_step(&mut self, token: &JudgedToken, began: Millis, now: Millis) -> KeysStep<'_> {
        let set = self.set.as_ref().filter(|(_, at)| now.saturating_sub(*at) < USABLE);
        let known = set.filter(|(set, _)| set.knows(token.kid()));
        if let Some((set, at)) = known
            && now.saturating_sub(*at) < FRESH
        {
            return KeysStep::Use(set);
        }
        if self.fetching.is_some_and(|since| now.saturating_sub(since) < FORGOTTEN) {
            return match known {
                Some((set, _)) if self.failed.is_some() => KeysStep::Use(set),
                Some(_) | None => KeysStep::Wait,
            };
        }
        let failed = |within: Millis| self.failed.is_some_and(|at| at >= began || now.saturating_sub(at) < within);
        match (known, set) {
            (Some((set, _)), _) if failed(APART) => return KeysStep::Use(set),
            (None, Some((_, at))) => {
                let is_sought = self.sought.is_some_and(|sought| now.saturating_sub(sought) < APART);
                if *at >= began || is_sought || failed(SOON) {
                    let in_vain = self.failed.is_some_and(|failed| failed > *at);
                    return if in_vain { KeysStep::Unavailable } else { KeysStep::Unknown };
                }
                self.sought = Some(now);
            }
            (None, None) if failed(SOON) => return KeysStep::Unavailable,
            (Some(_), _) | (None, None) => {}
        }
        self.fetching = Some(now);
        KeysStep::Fetch
    }

    /// A fetch has ended: with keys, or in vain.
    pub fn end_fetch(&mut self, keys: Option<KeySet>, now: Millis) {
        self.fetching = None;
        match keys {
            Some(keys) => {
                self.set = Some((keys, now));
                self.failed = None;
            }
            None => self.failed = Some(now),
        }
    }

    /// A fetch has no end: its request has gone.
    pub fn abandon_fetch(&mut self) {
        self.fetching = None;
    }
}
