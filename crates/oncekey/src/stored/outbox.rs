//! Effects of an entity's transitions: on their way to the objects of their keys, and what became of them.

use std::{fmt, str::FromStr};

use serde::Serialize;

use crate::{
    json::{
        select::{Selected, select, string_value},
        write::to_json,
    },
    key::scoped::ScopedKey,
    stored::{attempt::Attempt, request::StoredRequest},
};

/// What is stored of an effect until it is handed over; its content stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// On which terms.
    pub attempt: Attempt,
    /// The request's head.
    pub request: StoredRequest,
}

/// How far the effects of an entity have come. Without it none has been handed over that is not pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxProgress {
    /// The version whose effect was handed over and has not ended: the next one waits for it.
    pub waiting: Option<u32>,
    /// How often it was looked at, or how often the next one could not be handed over.
    pub tries: u32,
    /// How many of the pending effects, the first of them, could not be handed over: no other waits for them.
    pub aside: u32,
}

/// The stored form, a text: `1`, the version that waits or 0, the tries, how many stand aside.
impl fmt::Display for OutboxProgress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "1 {} {} {}", self.waiting.unwrap_or(0), self.tries, self.aside)
    }
}

/// Reads what `Display` wrote; what is no such text says nothing.
impl FromStr for OutboxProgress {
    type Err = fmt::Error;

    fn from_str(text: &str) -> Result<Self, fmt::Error> {
        let mut words = text.split(' ').map(|word| word.parse::<u32>().map_err(|_| fmt::Error));
        let mut next = || words.next().unwrap_or(Err(fmt::Error));
        let (version, waiting, tries, aside) = (next()?, next()?, next()?, next()?);
        if version != 1 || words.next().is_some() {
            return Err(fmt::Error);
        }
        Ok(Self { waiting: Some(waiting).filter(|version| *version > 0), tries, aside })
    }
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectFate {
    /// It is on its way.
    Waiting,
    /// The origin has answered it.
    Delivered(u16),
    /// It took no effect; the origin's last status, where that is known.
    Dead(Option<u16>),
    /// It may or may not have taken effect; the origin's status, where there was one.
    Unknown(Option<u16>),
    /// Nothing is remembered under its key any more: told as of unknown fate, unless more was known before.
    Forgotten,
}

impl EffectFate {
    /// Reads what the object of its key says of it.
    pub fn of_peek(peek: &str) -> Option<Self> {
        Self::at(peek, "state")
    }

    /// Reads the word at that name, a peek's or a note's, and the status beside it.
    fn at(json: &str, name: &str) -> Option<Self> {
        let status = match value_at(json, "status") {
            Some(value) => Some(value.parse().ok()?),
            None => None,
        };
        Some(match text_at(json, name)?.as_str() {
            "running" | "waiting" => Self::Waiting,
            "completed" | "delivered" => Self::Delivered(status?),
            "dead" => Self::Dead(status),
            "unknown" => Self::Unknown(status),
            "absent" => Self::Forgotten,
            _ => return None,
        })
    }

    fn parts(self) -> (&'static str, Option<u16>) {
        match self {
            Self::Waiting => ("waiting", None),
            Self::Delivered(status) => ("delivered", Some(status)),
            Self::Dead(status) => ("dead", status),
            Self::Unknown(status) => ("unknown", status),
            Self::Forgotten => ("unknown", None),
        }
    }
}

/// What an entity remembers of an effect: JSON, as it is told and as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectNote {
    /// What became of it.
    pub fate: EffectFate,
    /// Its scoped key, by which the operator has it delivered once more; none where it cannot be read.
    pub key: Option<ScopedKey>,
}

/// The stored form.
impl fmt::Display for EffectNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (effect, status) = self.fate.parts();
        out.write_str(&to_json(&NoteJson { effect, status, key: self.key.as_ref().map(ScopedKey::as_str) }))
    }
}

/// Reads what `Display` wrote.
impl FromStr for EffectNote {
    type Err = fmt::Error;

    fn from_str(text: &str) -> Result<Self, fmt::Error> {
        let fate = EffectFate::at(text, "effect").ok_or(fmt::Error)?;
        Ok(Self { fate, key: text_at(text, "key").and_then(|key| key.parse().ok()) })
    }
}

/// An entry of a history with what became of its effect, both as they are stored.
///
/// ```
/// use oncekey::stored::outbox::{EffectFate, EffectNote, told_entry};
///
/// let note = EffectNote { fate: EffectFate::Delivered(201), key: None };
/// let told = r#"{"transition":"pay","effect":"delivered","status":201}"#;
/// assert_eq!(told_entry(r#"{"transition":"pay"}"#, Some(&note)), told);
/// ```
pub fn told_entry(entry: &str, note: Option<&EffectNote>) -> String {
    match (entry.strip_suffix('}'), note) {
        (Some(entry), Some(note)) => [entry, ",", note.to_string().split_at(1).1].concat(),
        _ => entry.to_owned(),
    }
}

fn text_at(json: &str, name: &str) -> Option<String> {
    string_value(value_at(json, name)?)
}

fn value_at<'t>(json: &'t str, name: &str) -> Option<&'t str> {
    match select(json, &[name.to_owned()]) {
        Selected::Value(value) => Some(value),
        Selected::Nothing | Selected::Twice => None,
    }
}

#[derive(Serialize)]
struct NoteJson<'a> {
    effect: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
}
