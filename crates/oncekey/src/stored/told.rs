//! What was told of a key's fate, and the key itself, which whoever tells has to name: extensions of its record.
//!
//! Both stay true whatever becomes of the record: the key is its object's, and what was told is told of one fate, which
//! its generation and its time tell from any later one.

use crate::{
    http::date::Millis,
    key::scoped::ScopedKey,
    stored::{
        frame::{Extension, SCOPED_KEY, TOLD},
        record::Claimant,
    },
};

/// Who is told of fates that a person has to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listeners {
    /// Whom the policy names.
    pub policy: bool,
    /// The operator's list.
    pub index: bool,
}

impl Listeners {
    /// Whether there is anybody.
    pub fn is_any(self) -> bool {
        self != Self::default()
    }

    /// Those who are not among these.
    #[must_use]
    pub fn without(self, told: Self) -> Self {
        Self { policy: self.policy && !told.policy, index: self.index && !told.index }
    }

    /// All of both.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self { policy: self.policy || more.policy, index: self.index || more.index }
    }
}

/// What was told of one fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToldFate {
    /// The execution whose fate it is.
    pub generation: u32,
    /// Since when it is open.
    pub since: Millis,
    /// Who knows.
    pub told: Listeners,
    /// How often telling failed.
    pub tries: u32,
}

impl Claimant {
    /// The scoped key, where the record says it: builds before this extension wrote none.
    pub fn scoped_key(&self) -> Option<ScopedKey> {
        str::from_utf8(self.extension(SCOPED_KEY)?).ok()?.parse().ok()
    }

    /// The same with the key.
    pub fn note_key(&mut self, key: &ScopedKey) {
        self.set_extension(SCOPED_KEY, key.as_str().into());
    }

    /// What was told last.
    pub fn told_fate(&self) -> Option<ToldFate> {
        let (generation, rest) = self.extension(TOLD)?.split_first_chunk()?;
        let (since, rest) = rest.split_first_chunk()?;
        let (tries, told) = rest.split_first_chunk()?;
        let [told @ 0..=3] = told else {
            return None;
        };
        Some(ToldFate {
            generation: u32::from_be_bytes(*generation),
            since: Millis::from_be_bytes(*since),
            told: Listeners { policy: told & 1 != 0, index: told & 2 != 0 },
            tries: u32::from_be_bytes(*tries),
        })
    }

    /// The same with what is told now.
    pub fn note_told(&mut self, fate: ToldFate) {
        let ToldFate { generation, since, told: Listeners { policy, index }, tries } = fate;
        let told = u8::from(policy) | u8::from(index) << 1;
        let bytes = [&generation.to_be_bytes()[..], &since.to_be_bytes(), &tries.to_be_bytes(), &[told]];
        self.set_extension(TOLD, bytes.concat());
    }

    fn extension(&self, tag: u32) -> Option<&[u8]> {
        let found = self.extensions.iter().find(|extension| extension.tag == tag && !extension.is_needed);
        found.map(|extension| extension.bytes.as_slice())
    }

    fn set_extension(&mut self, tag: u32, bytes: Vec<u8>) {
        match self.extensions.iter_mut().find(|extension| extension.tag == tag && !extension.is_needed) {
            Some(extension) => extension.bytes = bytes,
            None => self.extensions.push(Extension { tag, is_needed: false, bytes }),
        }
    }
}
