//! What is said of a member and of an object, in words that every form of the description shares.

use crate::{
    json::write::to_json,
    policy::member::{MemberRow, NumberUnit, ObjectShape, OnlyWith, Preset, ValueKind},
};

impl ObjectShape {
    /// Its name as a type.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            ObjectShape::Policy => "Policy",
            ObjectShape::Route => "Route",
            ObjectShape::Probe => "Probe",
            ObjectShape::Limits => "Limits",
            ObjectShape::Limit => "Limit",
            ObjectShape::Queue => "Queue",
            ObjectShape::Machine => "Machine",
            ObjectShape::Transition => "Transition",
            ObjectShape::Identity => "Identity",
            ObjectShape::OnUnknown => "OnUnknown",
        }
    }

    /// Its name in small letters, and between a README's marks.
    pub(super) fn word(self) -> String {
        self.type_name().to_ascii_lowercase()
    }

    /// What it is.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            ObjectShape::Policy => "What Oncekey protects and how; every member has a default.",
            ObjectShape::Route => "What is protected in one way.",
            ObjectShape::Probe => "How the origin is asked what became of a request.",
            ObjectShape::Limits => "How many new keys a caller may have.",
            ObjectShape::Limit => "What counts keys.",
            ObjectShape::Queue => "A queue whose messages are delivered once each.",
            ObjectShape::Machine => "The states of one kind of entity.",
            ObjectShape::Transition => "A change of an entity's state.",
            ObjectShape::Identity => "How one kind of signed token is found and verified.",
            ObjectShape::OnUnknown => "Who is told of unknown fates and dead deliveries: one of both.",
        }
    }
}

/// What a member is, with its bounds and where it applies: a clause in Markdown.
pub(super) fn clause(row: &MemberRow) -> String {
    let mut clause = row.about.to_owned();
    if let ValueKind::Number { unit, least, most } = row.kind {
        let unit = match unit {
            NumberUnit::Bytes => "bytes",
            NumberUnit::Seconds => "seconds",
            NumberUnit::Items => "items",
        };
        clause = format!("{unit} {clause}; {least} to {most}");
    }
    if let Some(OnlyWith { member, word }) = row.only {
        clause.push_str(&format!("; with `\"{member}\": \"{word}\"` only"));
    }
    clause
}

/// The same as a sentence.
pub(super) fn sentence(row: &MemberRow) -> String {
    let clause = clause(row);
    let mut rest = clause.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).chain(['.']).collect()
}

/// A default as JSON.
pub(super) fn default_json(preset: Preset) -> String {
    to_json(&preset.value())
}

/// The words beside which members of the same object have a meaning, or have to be given, each word once.
pub(super) fn conditions(shape: ObjectShape) -> Vec<OnlyWith> {
    let mut conditions: Vec<OnlyWith> = Vec::new();
    for only in shape.rows().iter().flat_map(|row| [row.needed_with, row.only]).flatten() {
        if !conditions.contains(&only) {
            conditions.push(only);
        }
    }
    conditions
}
