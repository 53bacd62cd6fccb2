//! State transitions: one winner, its effect in the same write, and what is stored of an entity.
//!
//! | state | decision |
//! |---|---|
//! | where the transition ends | nothing, not won |
//! | one that it starts from | changed, won |
//! | any other, also one that the policy no longer knows | conflict |
//!
//! What is to be stored is stored in one write: the entity, the entry of its history, and the effect in its outbox.

use crate::{
    attempt::{Attempt, Terms, escape},
    canonical::json::quote,
    date::{Millis, rfc3339},
    key::{InvalidKey, Key, Scope, ScopedKey},
    policy::{Keep, Machine, Policy, Route, Transition},
    record::{Reader, Writer},
    reply::{Refusal, Said},
    select::{Found, find, json},
    target::decode_segment as unescape,
};

/// The version that [`Entity::encode`] writes, the first byte of the stored form.
pub const VERSION: u8 = 1;
/// Entries of a history that are kept; older ones are given back.
pub const LONGEST_HISTORY: u32 = 1000;
/// Bytes of an entity's id.
pub const LONGEST_ID: usize = 255;
/// Bytes of the member `by`, as written.
pub const LONGEST_BY: usize = 1024;
/// Bytes of a transition's content: with what is added it stays one row.
pub const LONGEST_CONTENT: u64 = 900_000;

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

/// What is asked of an entity, by the front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The machine's name.
    pub machine: String,
    /// The entity's id.
    pub id: String,
    /// The transition to make; without one it is only looked at.
    pub transition: Option<String>,
}

impl Order {
    /// Reads what follows `/.oncekey/machines/` in a path. An id may hold anything, percent-encoded.
    pub fn parse(path: &str) -> Option<Self> {
        let mut segments = path.split('/');
        let (machine, id) = (segments.next()?, unescape(segments.next()?)?);
        let transition = segments.next().map(str::to_owned);
        if segments.next().is_some() || id.trim().is_empty() || id.len() > LONGEST_ID {
            return None;
        }
        Some(Self { machine: machine.to_owned(), id, transition })
    }

    /// Names the entity's object.
    pub fn name(&self) -> String {
        [self.machine.as_str(), "/", &self.id].concat()
    }

    /// Printable ASCII, words parted by single spaces.
    pub fn encode(&self) -> String {
        let mut out = escape(&self.machine);
        for word in [Some(&self.id), self.transition.as_ref()].into_iter().flatten() {
            out.push(' ');
            out.push_str(&escape(word));
        }
        out
    }

    /// What [`Order::encode`] wrote; `None` for anything else.
    pub fn decode(text: &str) -> Option<Self> {
        let mut words = text.split(' ').map(unescape);
        let (machine, id) = (words.next()??, words.next()??);
        let transition = words.next();
        if words.next().is_some() || transition == Some(None) {
            return None;
        }
        Some(Self { machine, id, transition: transition.flatten() })
    }
}

/// A caller's content: nothing, or JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given<'t> {
    text: Option<&'t str>,
    by: Option<&'t str>,
}

impl<'t> Given<'t> {
    /// Reads a transition's content.
    pub fn parse(bytes: &'t [u8]) -> Result<Self, Refusal> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let invalid = |message| Err(Refusal::ContentInvalid { message });
        let text = match json(bytes) {
            Ok(text) => text,
            Err(not_json) => return invalid(not_json.sentence()),
        };
        let by = match find(text, &["by".to_owned()]) {
            Found::Nothing => None,
            Found::Value(by) if by.len() <= LONGEST_BY => Some(by),
            Found::Value(_) => {
                return invalid(["The member by is longer than ", &LONGEST_BY.to_string(), " bytes."].concat());
            }
            Found::Twice => return invalid("The member by occurs twice.".to_owned()),
        };
        Ok(Self { text: Some(text), by })
    }
}

/// What becomes of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The caller wins: store all of it in one write.
    Won(Box<Won>),
    /// It is there already.
    There,
    /// Its state does not allow it.
    Conflict(Refusal),
}

/// What the winner's transition stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Won {
    /// The entity as it now is.
    pub entity: Entity,
    /// What its history gets under the entity's version: JSON, as it is told and as it is stored.
    pub entry: String,
    /// What its outbox gets under the entity's version.
    pub effect: Option<Outgoing>,
}

/// An effect on its way: what is handed to the object of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// On which terms.
    pub attempt: Attempt,
    /// Path and query at the origin.
    pub path: String,
    /// JSON: machine, id, transition, and the caller's content.
    pub content: String,
}

/// Decides on a transition of an entity; `None` is one of which nothing is stored. An error only where no key can be
/// made of the names.
pub fn step(
    policy: &Policy,
    machine: &Machine,
    transition: &Transition,
    id: &str,
    entity: Option<&Entity>,
    given: &Given<'_>,
    now: Millis,
) -> Result<Step, InvalidKey> {
    let fresh = Entity { state: machine.initial.clone(), version: 0, ran: Vec::new(), pending: Vec::new() };
    let mut entity = entity.cloned().unwrap_or(fresh);
    if entity.state == transition.to {
        return Ok(Step::There);
    }
    if !transition.from.contains(&entity.state) {
        return Ok(Step::Conflict(Refusal::StateConflict { state: entity.state }));
    }
    entity.state.clone_from(&transition.to);
    entity.version = entity.version.saturating_add(1);
    let mut effect = None;
    if let Some(path) = &transition.effect {
        // A transition that comes round again has an effect of its own.
        let again = entity.ran.contains(&transition.name).then_some(entity.version);
        effect = Some(outgoing(policy, path, &machine.name, id, &transition.name, again, given)?);
        entity.pending.push(entity.version);
        if again.is_none() {
            entity.ran.push(transition.name.clone());
        }
    }
    let mut entry = String::from("{\"transition\":");
    quote(&transition.name, &mut entry);
    entry.push_str(",\"time\":");
    quote(&rfc3339(now), &mut entry);
    entry.push_str(",\"by\":");
    entry.push_str(given.by.unwrap_or("null"));
    entry.push('}');
    Ok(Step::Won(Box::new(Won { entity, entry, effect })))
}

fn outgoing(
    policy: &Policy,
    path: &str,
    machine: &str,
    id: &str,
    transition: &str,
    again: Option<u32>,
    given: &Given<'_>,
) -> Result<Outgoing, InvalidKey> {
    let mut content = String::from("{\"machine\":");
    quote(machine, &mut content);
    content.push_str(",\"id\":");
    quote(id, &mut content);
    content.push_str(",\"transition\":");
    quote(transition, &mut content);
    content.push_str(",\"body\":");
    content.push_str(given.text.unwrap_or("null"));
    content.push('}');
    let mut scope = Scope::new("");
    scope.add("machine", machine);
    scope.add("entity", id);
    let key = again.map_or_else(|| transition.to_owned(), |again| [transition, "/", &again.to_string()].concat());
    let usual = Route::default();
    let route = policy.route("POST", path).unwrap_or(&usual);
    // A declined effect is remembered: nobody could send it with other content.
    let terms = Terms { keep: Keep::Definite, ..Terms::of(policy, route) };
    let scoped_key = ScopedKey::derive(&scope, &Key::from_content(&key)?)?;
    let attempt = Attempt::of_json(policy, scoped_key, path, content.as_bytes(), &[], terms);
    Ok(Outgoing { attempt, path: path.to_owned(), content })
}

impl Policy {
    /// The machine of that name.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.name == name)
    }

    /// Whether there is such a machine and, where one is named, such a transition.
    pub fn knows(&self, order: &Order) -> bool {
        self.machine(&order.machine).is_some_and(|machine| {
            order.transition.as_ref().is_none_or(|name| machine.transitions.iter().any(|known| known.name == *name))
        })
    }
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
pub fn kept(version: u32) -> std::ops::RangeInclusive<u32> {
    version.saturating_sub(LONGEST_HISTORY).saturating_add(1)..=version
}

impl Said {
    /// 200 `{"state":…,"won":…}`.
    pub fn moved(state: &str, won: bool) -> Self {
        let mut content = String::from("{\"state\":");
        quote(state, &mut content);
        content.push_str(if won { ",\"won\":true}" } else { ",\"won\":false}" });
        Self::json(content)
    }

    /// 200 `{"state":…,"version":…,"history":[{"transition":…,"time":…,"by":…}]}`; `history`: its entries, parted by
    /// commas.
    pub fn entity(state: &str, version: u32, history: &str) -> Self {
        let mut content = String::from("{\"state\":");
        quote(state, &mut content);
        for part in [",\"version\":", &version.to_string(), ",\"history\":[", history, "]}"] {
            content.push_str(part);
        }
        Self::json(content)
    }
}
