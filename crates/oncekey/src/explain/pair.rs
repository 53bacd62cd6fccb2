//! Two requests: whether the second is the first once more, and in which part it is not.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use crate::{
    answer::refusal::Refusal,
    decide::caller::is_other_caller,
    explain::{
        canonical::{ContentPlace, PartValue},
        part::{CountedPart, PartName},
        request::{Explanation, Verdict},
    },
    stored::record::Claimant,
};

/// Differences that are told.
const TOLD: usize = 20;

/// What the second of two requests is to the gate, where the first has been completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutcome {
    /// The first once more: it is answered by the first's answer.
    Same,
    /// Another under the same key: 422.
    Other,
    /// Another caller's under the same key: 409.
    OtherCaller,
    /// They have nothing to do with each other.
    Apart(Apart),
}

/// Why two requests are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// One of them is not protected, or refused.
    NotProtected,
    /// They have two keys.
    Keys,
    /// One natural key of two callers, or of two hosts.
    Spaces,
}

/// What comes of two requests, one after the other. Displayed, a sentence and a line for each difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What the second is.
    pub outcome: PairOutcome,
    /// In which parts that count they differ, in words.
    pub differences: Vec<String>,
}

/// Compares two requests that were explained under one policy.
pub fn compare_requests(first: &Explanation, second: &Explanation) -> Comparison {
    Comparison { outcome: outcome(first, second), differences: differences(&first.parts, &second.parts) }
}

fn outcome(first: &Explanation, second: &Explanation) -> PairOutcome {
    let (Some(key), Some(other)) = (&first.key, &second.key) else {
        return PairOutcome::Apart(Apart::NotProtected);
    };
    if [first, second].iter().any(|sent| sent.verdict != Verdict::Protected) {
        return PairOutcome::Apart(Apart::NotProtected);
    }
    if key != other {
        return PairOutcome::Apart(Apart::Keys);
    }
    if first.scoped_key != second.scoped_key {
        return PairOutcome::Apart(Apart::Spaces);
    }
    if let (Some(scopes), Some(others)) = (&first.scopes, &second.scopes) {
        let claimant = Claimant { callers: scopes.callers(key), ..Claimant::default() };
        if is_other_caller(&claimant, others.callers(other).as_deref()) {
            return PairOutcome::OtherCaller;
        }
    }
    if first.fingerprint == second.fingerprint { PairOutcome::Same } else { PairOutcome::Other }
}

fn differences(first: &[CountedPart], second: &[CountedPart]) -> Vec<String> {
    let by_name = |parts: &'_ [CountedPart]| -> BTreeMap<PartName, PartValue> {
        parts.iter().map(|part| (part.name.clone(), part.value.clone())).collect()
    };
    let (of_first, of_second) = (by_name(first), by_name(second));
    let new = second.iter().filter(|part| !of_first.contains_key(&part.name));
    let mut told: Vec<String> = Vec::new();
    // What is in a container that differs is no difference of its own.
    let mut within: Vec<String> = Vec::new();
    for CountedPart { name, .. } in first.iter().chain(new) {
        let (one, other) = (of_first.get(name), of_second.get(name));
        if one == other || within.iter().any(|outer| is_within(name, outer)) {
            continue;
        }
        if let PartName::Content(ContentPlace::At(pointer)) = name {
            within.push([pointer.as_str(), "/"].concat());
        }
        told.push(difference(name, one, other));
        if told.len() > TOLD {
            told.push("and more".to_owned());
            break;
        }
    }
    told
}

fn is_within(name: &PartName, outer: &str) -> bool {
    matches!(name, PartName::Content(ContentPlace::At(pointer)) if pointer.starts_with(outer))
}

fn difference(name: &PartName, one: Option<&PartValue>, other: Option<&PartValue>) -> String {
    let shown = |value: Option<&PartValue>| match value {
        None => "nothing".to_owned(),
        Some(value) => value.long_bytes().map_or_else(|| value.to_string(), |bytes| format!("{} bytes", bytes.len())),
    };
    let mut text = format!("{name}: {} in the first, {} in the second", shown(one), shown(other));
    if let (Some(one), Some(other)) = (one, other)
        && one.long_bytes().or(other.long_bytes()).is_some()
    {
        // Their lengths may be equal.
        text.push_str(&format!(", other from byte {} on", one.common_bytes(other) + 1));
    }
    text
}

impl Display for PairOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let refused = |refusal: &Refusal| format!("{} {}", refusal.status(), refusal.code());
        match self {
            PairOutcome::Same => f.write_str("the same request: the second gets the answer of the first"),
            PairOutcome::Other => {
                write!(f, "another request under the same key: the second gets {}", refused(&Refusal::Reused))
            }
            PairOutcome::OtherCaller => {
                write!(f, "another caller's request: the second gets {}", refused(&Refusal::CallerChanged))
            }
            PairOutcome::Apart(Apart::NotProtected) => {
                f.write_str("not compared: one of them is not protected, or refused by itself")
            }
            PairOutcome::Apart(Apart::Keys) => f.write_str("not compared: two keys are two intents, and each runs"),
            PairOutcome::Apart(Apart::Spaces) => {
                f.write_str("not compared: a natural key of two callers or hosts is two keys, and each runs")
            }
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.outcome)?;
        self.differences.iter().try_for_each(|difference| writeln!(f, "  {difference}"))
    }
}
