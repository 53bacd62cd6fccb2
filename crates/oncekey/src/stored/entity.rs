//! What is stored of an entity.

use crate::stored::codec::{Reader, Writer};

/// The version that [`Entity::encode`] writes, the first byte of the stored form.
pub const VERSION: u8 = 1;

/// Entries of a history that are kept; older ones are given back.
pub const LONGEST_HISTORY: u32 = 1000;

/// What is stored of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Where it is.
    pub state: String,
    /// How many transitions it has made.
    pub version: u32,
    /// The transitions that have had an effect, by name.
    pub ran: Vec<String>,
    /// The versions whose effects have not been handed over yet.
    pub pending: Vec<u32>,
}

impl Entity {
    /// After an effect was handed over.
    pub fn handed_over(&mut self, version: u32) {
        self.pending.retain(|pending| *pending != version);
    }

    /// The stored form. Numbers are big-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer(vec![VERSION]);
        out.text(&self.state);
        out.u32(self.version);
        out.u32(count(self.ran.len()));
        for name in &self.ran {
            out.text(name);
        }
        out.u32(count(self.pending.len()));
        for version in &self.pending {
            out.u32(*version);
        }
        out.0
    }

    /// Reads any version ever written; `None` for bytes that are none of them.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        if bytes.byte()? != VERSION {
            return None;
        }
        let (state, version) = (bytes.text()?, bytes.u32()?);
        let (mut ran, mut pending) = (Vec::new(), Vec::new());
        for _ in 0..bytes.u32()? {
            ran.push(bytes.text()?);
        }
        for _ in 0..bytes.u32()? {
            pending.push(bytes.u32()?);
        }
        bytes.0.is_empty().then_some(Self { state, version, ran, pending })
    }
}

/// Lists of names and versions are far below 2^32.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The entries that a history of that version still has, oldest first.
pub fn kept_versions(version: u32) -> std::ops::RangeInclusive<u32> {
    version.saturating_sub(LONGEST_HISTORY).saturating_add(1)..=version
}
