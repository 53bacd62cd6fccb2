//! State transitions: one winner, its effect in the same write, and what is stored of an entity.
//!
//! | state | decision |
//! |---|---|
//! | where the transition ends | nothing, not won |
//! | one that it starts from | changed, won |
//! | any other, also one that the policy no longer knows | refused: conflict |
//!
//! | asked again as the same: under one key, or by one call of the front's | decision |
//! |---|---|
//! | another transition or content | refused: reused |
//! | the same | as it was told first, however the state has moved since |
//!
//! What is to be stored is stored in one write: the entity, the entry of its history, the effect in its outbox, and what
//! the caller is told. A key's answer is kept for a day, and for as long as the history has its entry; that of a call for
//! as long as the front may repeat it, and only where it won; a conflict never.

use serde::Serialize;

use crate::{
    answer::refusal::Refusal,
    content::Content,
    fingerprint::{Fingerprint, fingerprint},
    http::{
        date::{Millis, later_by, rfc3339},
        fields::Fields,
        target::Target,
    },
    json::{
        select::{Selected, json_text, select},
        write::{RawJson, to_json},
    },
    key::{InvalidKey, Key, scope::Scope, scoped::ScopedKey},
    policy::{Keep, Machine, Policy, Route, Transition},
    stored::{
        attempt::{Attempt, Terms},
        entity::{Entity, TransitionAnswer},
    },
};

/// Seconds that a key's answer is kept at least.
pub const KEY_KEPT: u32 = 86_400;

/// Seconds that a call's answer is kept: the front repeats it at once.
const CALL_KEPT: u32 = 60;

/// Bytes of the member `by`, as written.
pub const LONGEST_BY: usize = 1024;

/// Bytes of a transition's content: with what is added it stays one row.
pub const LONGEST_CONTENT: u64 = 900_000;

/// A caller's content: nothing, or JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransitionContent<'t> {
    text: Option<&'t str>,
    by: Option<&'t str>,
}

impl<'t> TransitionContent<'t> {
    /// Reads a transition's content.
    pub fn parse(bytes: &'t [u8]) -> Result<Self, Refusal> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let invalid = |message| Err(Refusal::ContentInvalid { message });
        let text = match json_text(bytes) {
            Ok(text) => text,
            Err(not_json) => return invalid(not_json.to_string()),
        };
        let by = match select(text, &["by".to_owned()]) {
            Selected::Nothing => None,
            Selected::Value(by) if by.len() <= LONGEST_BY => Some(by),
            Selected::Value(_) => {
                return invalid(["The member by is longer than ", &LONGEST_BY.to_string(), " bytes."].concat());
            }
            Selected::Twice => return invalid("The member by occurs twice.".to_owned()),
        };
        Ok(Self { text: Some(text), by })
    }
}

/// What becomes of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransitionDecision {
    /// The caller wins: store all of it in one write.
    Won(Box<WonTransition>),
    /// It is there already.
    There,
    /// The same was asked before: tell the same.
    Again {
        /// The state that was told.
        state: String,
        /// Whether the caller won.
        won: bool,
    },
    /// Its state does not allow it, or its key was used for another one.
    Refuse(Refusal),
}

/// What makes two calls of transitions of one entity the same.
pub fn fingerprint_of_transition(policy: &Policy, transition: &str, content: &[u8]) -> Fingerprint {
    let json = Some("application/json");
    let target = Target { method: "POST", path_and_query: transition };
    let headers = (&[][..], &Fields::default());
    fingerprint(&target, json, None, &Content::parse(json, None, content), &policy.field, &[], headers)
}

/// Decides on a call whose answer is kept already; nothing where that counts no more. `version`: the entity's.
pub fn decide_repeat(
    kept: &TransitionAnswer,
    version: u32,
    asked: &Fingerprint,
    now: Millis,
) -> Option<TransitionDecision> {
    if !kept.is_kept(version, now) {
        return None;
    }
    Some(if kept.fingerprint == *asked {
        TransitionDecision::Again { state: kept.state.clone(), won: kept.won }
    } else {
        TransitionDecision::Refuse(Refusal::Reused)
    })
}

/// What is kept of an answer. `is_key`: for a key, not for a call; `to`: where the transition ends.
pub fn answer_to_keep(
    decision: &TransitionDecision,
    is_key: bool,
    asked: Fingerprint,
    to: &str,
    now: Millis,
) -> Option<TransitionAnswer> {
    let (won, version) = match decision {
        TransitionDecision::Won(won) => (true, if is_key { won.entity.version } else { 0 }),
        TransitionDecision::There if is_key => (false, 0),
        TransitionDecision::There | TransitionDecision::Again { .. } | TransitionDecision::Refuse(_) => return None,
    };
    let until = later_by(now, if is_key { KEY_KEPT } else { CALL_KEPT });
    Some(TransitionAnswer { fingerprint: asked, state: to.to_owned(), won, version, until })
}

/// What the winner's transition stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WonTransition {
    /// The entity as it now is.
    pub entity: Entity,
    /// What its history gets under the entity's version: JSON, as it is told and as it is stored.
    pub entry: String,
    /// What its outbox gets under the entity's version.
    pub effect: Option<OutgoingEffect>,
}

/// An effect on its way: what is handed to the object of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingEffect {
    /// On which terms.
    pub attempt: Attempt,
    /// Path and query at the origin.
    pub path: String,
    /// JSON: machine, id, transition, and the caller's content.
    pub content: String,
}

/// Decides on a transition of an entity; `None` is one of which nothing is stored. An error only where no key can be
/// made of the names.
///
/// ```
/// use oncekey::{decide::transition::{TransitionContent, TransitionDecision, decide_transition}, policy::Policy};
///
/// let refund = r#"{"initial": "pending", "transitions": {"approve": {"from": ["pending"], "to": "approved"}}}"#;
/// let policy = format!(r#"{{"machines": {{"refund": {refund}}}}}"#).parse::<Policy>()?;
/// let machine = policy.machine("refund").ok_or("no machine")?;
/// let content = TransitionContent::parse(br#"{"by": "ann"}"#)?;
/// let decided = decide_transition(&policy, machine, &machine.transitions[0], "42", None, &content, 784_111_777_000)?;
/// let TransitionDecision::Won(won) = decided else { unreachable!() };
/// assert_eq!(won.entry, r#"{"transition":"approve","time":"1994-11-06T08:49:37Z","by":"ann"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide_transition(
    policy: &Policy,
    machine: &Machine,
    transition: &Transition,
    id: &str,
    entity: Option<&Entity>,
    given: &TransitionContent<'_>,
    now: Millis,
) -> Result<TransitionDecision, InvalidKey> {
    let fresh = Entity { state: machine.initial.clone(), ..Entity::default() };
    let mut entity = entity.cloned().unwrap_or(fresh);
    if entity.state == transition.to {
        return Ok(TransitionDecision::There);
    }
    if !transition.from.contains(&entity.state) {
        return Ok(TransitionDecision::Refuse(Refusal::StateConflict { state: entity.state }));
    }
    entity.state.clone_from(&transition.to);
    entity.version = entity.version.saturating_add(1);
    let mut effect = None;
    if let Some(path) = &transition.effect {
        // A transition that comes round again has an effect of its own.
        let again = entity.ran.contains(&transition.name).then_some(entity.version);
        effect = Some(outgoing_effect(policy, path, &machine.name, id, &transition.name, again, given)?);
        entity.pending.push(entity.version);
        if again.is_none() {
            entity.ran.push(transition.name.clone());
        }
    }
    let entry = to_json(&Entry { transition: &transition.name, time: rfc3339(now), by: given.by.map(RawJson) });
    Ok(TransitionDecision::Won(Box::new(WonTransition { entity, entry, effect })))
}

fn outgoing_effect(
    policy: &Policy,
    path: &str,
    machine: &str,
    id: &str,
    transition: &str,
    again: Option<u32>,
    given: &TransitionContent<'_>,
) -> Result<OutgoingEffect, InvalidKey> {
    let content = to_json(&EffectContent { machine, id, transition, body: given.text.map(RawJson) });
    let scope = Scope::of_gate(&[("machine", machine), ("entity", id)]);
    let key = again.map_or_else(|| transition.to_owned(), |again| [transition, "/", &again.to_string()].concat());
    let usual = Route::default();
    let route = policy.route("POST", path).unwrap_or(&usual);
    // A declined effect is remembered: nobody could send it with other content.
    let terms = Terms { keep: Keep::Definite, ..Terms::of(policy, route) };
    let scoped_key = ScopedKey::derive(&scope, &Key::from_content(&key)?)?;
    let attempt = Attempt::of_json(policy, scoped_key, path, content.as_bytes(), &[], terms);
    Ok(OutgoingEffect { attempt, path: path.to_owned(), content })
}

/// An entry of a history.
#[derive(Serialize)]
struct Entry<'a> {
    transition: &'a str,
    time: String,
    by: Option<RawJson<'a>>,
}

/// What an effect is sent with.
#[derive(Serialize)]
struct EffectContent<'a> {
    machine: &'a str,
    id: &'a str,
    transition: &'a str,
    body: Option<RawJson<'a>>,
}
