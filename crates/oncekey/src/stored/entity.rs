//! What is stored of an entity.

use std::{fmt, str::FromStr};

use crate::{
    fingerprint::Fingerprint,
    http::{
        date::Millis,
        percent::{decode_segment as unescape, escape},
    },
    stored::frame::Extension,
};

/// Entries of a history that are kept; older ones are given back.
pub const LONGEST_HISTORY: u32 = 1000;

/// What is stored of an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Where it is.
    pub state: String,
    /// How many transitions it has made.
    pub version: u32,
    /// The transitions that have had an effect, by name.
    pub ran: Vec<String>,
    /// The versions whose effects have not been handed over yet.
    pub pending: Vec<u32>,
    /// What a newer build added.
    pub extensions: Vec<Extension>,
}

impl Entity {
    /// After an effect was handed over.
    pub fn handed_over(&mut self, version: u32) {
        self.pending.retain(|pending| *pending != version);
    }
}

/// The entries that a history of that version still has, oldest first.
pub fn kept_versions(version: u32) -> std::ops::RangeInclusive<u32> {
    version.saturating_sub(LONGEST_HISTORY).saturating_add(1)..=version
}

/// What a caller of a transition was told, kept for whoever asks again as the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionAnswer {
    /// What was asked.
    pub fingerprint: Fingerprint,
    /// The state that was told.
    pub state: String,
    /// Whether the caller won.
    pub won: bool,
    /// The version whose entry of the history it stays with, 0 for none.
    pub version: u32,
    /// Until when it is kept at least.
    pub until: Millis,
}

impl TransitionAnswer {
    /// Whether it still counts, for an entity of that version.
    pub fn is_kept(&self, version: u32, now: Millis) -> bool {
        now < self.until || (self.version > 0 && kept_versions(version).contains(&self.version))
    }
}

/// The stored form, a text: `1`, the fingerprint, 1 for won, the version, until when, and the state.
impl fmt::Display for TransitionAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fingerprint, state, won, version, until } = self;
        write!(out, "1 {fingerprint} {} {version} {until} {}", u8::from(*won), escape(state))
    }
}

/// Reads what `Display` wrote.
impl FromStr for TransitionAnswer {
    type Err = fmt::Error;

    fn from_str(text: &str) -> Result<Self, fmt::Error> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["1", fingerprint, won @ ("0" | "1"), version, until, state] = words.as_slice() else {
            return Err(fmt::Error);
        };
        Ok(Self {
            fingerprint: fingerprint.parse().map_err(|_| fmt::Error)?,
            state: unescape(state).ok_or(fmt::Error)?,
            won: *won == "1",
            version: version.parse().map_err(|_| fmt::Error)?,
            until: until.parse().map_err(|_| fmt::Error)?,
        })
    }
}

/// The row that stands for an answer's time: rows are ordered by their names, so that the next to go comes first.
pub fn expiry_row(until: Millis, identity: &str) -> String {
    format!("x{until:016}{identity}")
}

/// Whose row that is.
pub fn identity_of_row(row: &str) -> Option<&str> {
    row.get(17..)
}
