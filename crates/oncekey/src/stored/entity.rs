//! What is stored of an entity.

use crate::stored::frame::Extension;

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
