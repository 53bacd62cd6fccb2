//! What the front asks of an object, and the text that carries it between them.
//!
//! The text is the errand's name and the words that it takes, printable ASCII, parted by single spaces. Words may follow
//! that a newer build added: one that begins with `!` is needed, any other is left out of account. A name, a word or a
//! needed further word that this build does not know makes the errand [`NotUnderstood`]; the object then answers 503
//! `store_unavailable`, whose `Retry-After` outlasts the moment in which it runs older code than the front.
//!
//! `!callers=` and digests, parted by commas, follow where the key names its object for everybody: without them an object
//! would show a caller what another has got. `basis=` comes last with an attempt; an
//! object that does not know it remembers none, and is asked without it where it understands no further words.
//!
//! Builds before that rule answer 404 `no_such_endpoint` to what they do not understand, and understand no further word
//! at all. So what they know is written as they know it, and [`is_not_understood`] knows their answer.

use std::{error::Error, fmt, str::FromStr};

use crate::{
    answer::{note::is_note_word, refusal::Refusal, word::StatusWord},
    http::percent::{decode_segment as unescape, escape},
    key::{
        InvalidKey, Key,
        age::KeyAge,
        caller::CallerDigest,
        scope::Scope,
        scoped::ScopedKey,
        seal::{SealKey, SealKeys},
    },
    policy::Policy,
    stored::{attempt::Attempt, storing::Storing},
};

/// The header that carries an [`Errand`] from the front to the object. A client cannot send it: the front
/// removes every field with the prefix first ([`is_internal`](crate::http::fields::is_internal)).
pub const ERRAND: &str = "oncekey-errand";

/// Begins a further word that must be understood.
const NEEDED: char = '!';

/// Begins the further word that says under which key a transition is made.
const TRANSITION_KEY: &str = "!key=";

/// The header that tells one call of a transition from another, so that one that the front repeats is known again. It is
/// no word of the errand: builds that do not know it can do without.
pub const CALL: &str = "oncekey-call";

/// Begins the further word that says who asks.
const CALLERS: &str = "!callers=";

/// Begins the further word that says how old the key may be.
const AGE: &str = "!age=";

/// Begins the further word that brings the keys under which the answer is sealed.
const SEAL: &str = "!seal=";

/// Begins the further word that says what of an answer is not stored.
const STORING: &str = "!storing=";

/// Begins the further word that says on which route.
const ROUTE: &str = "route=";

/// Begins the further word that says what the fingerprint was made of.
const BASIS: &str = "basis=";

/// An errand of another build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood;

impl fmt::Display for NotUnderstood {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the errand is not understood")
    }
}

impl Error for NotUnderstood {}

/// Whether an object's answer may say that it does not understand the errand, so that its content has to be looked at:
/// it is a refusal, and no answer of an origin's. `word`: that of `Idempotency-Status`.
pub fn may_be_not_understood(status: u16, word: impl FnOnce() -> Option<String>) -> bool {
    status == Refusal::NoSuchEndpoint.status() && word().as_deref() == Some(StatusWord::Refused.as_str())
}

/// Whether a refusal's content says so, as builds before [`NotUnderstood`] say it.
pub fn is_not_understood(content: &str) -> bool {
    content.contains(Refusal::NoSuchEndpoint.code())
}

/// An errand's text without the further words that ask for a note, say what the fingerprint was made of and on which
/// route, where there are some: a build that understands no further words does the rest.
///
/// ```
/// use oncekey::errand::for_older_build;
///
/// assert_eq!(for_older_build("attempt a b route=c basis=d note"), Some("attempt a b"));
/// assert_eq!(for_older_build("attempt a b"), None);
/// ```
pub fn for_older_build(text: &str) -> Option<&str> {
    let is_plain = |word: &str| word.starts_with(BASIS) || word.starts_with(ROUTE) || is_note_word(word);
    let without = |text| str::rsplit_once(text, ' ').filter(|(_, word)| is_plain(word)).map(|(before, _)| before);
    let mut older = without(text)?;
    while let Some(rest) = without(older) {
        older = rest;
    }
    Some(older)
}

/// The scoped key of an attempt, from its errand's text.
///
/// ```
/// use oncekey::errand::scoped_key_of;
///
/// assert_eq!(scoped_key_of("attempt KEY 1.PRINT s"), Some("KEY"));
/// assert_eq!(scoped_key_of("peek 30"), None);
/// ```
pub fn scoped_key_of(text: &str) -> Option<&str> {
    let mut words = text.split(' ');
    words.next().filter(|name| matches!(*name, "attempt" | "accept")).and_then(|_| words.next())
}

/// What the front asks of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Run the request once, or say what became of it.
    Attempt(Attempt),
    /// Keep the request and deliver it later, or say that it is a duplicate.
    Accept(Attempt),
    /// Say what is remembered, waiting up to so many seconds for a running first request to end.
    Peek {
        /// Seconds, at most [`MAX_PEEK_WAIT`].
        wait: u32,
        /// Who asks, as in an [`Attempt`].
        callers: Option<Vec<CallerDigest>>,
        /// The time that the key tells, where every route says how old a key may be, and the largest of these ages.
        age: Option<KeyAge>,
    },
    /// Tell the operator what is remembered.
    Look,
    /// Forget the key, unless its request runs.
    Release,
    /// Deliver once more what was accepted and is dead or of unknown fate.
    Deliver,
}

/// The longest that a peek may wait, in seconds.
pub const MAX_PEEK_WAIT: u32 = 30;

impl fmt::Display for Errand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempt(attempt) => write!(out, "attempt {attempt}")?,
            Self::Accept(attempt) => write!(out, "accept {attempt}")?,
            Self::Peek { wait, .. } => write!(out, "peek {wait}")?,
            Self::Look => out.write_str("look")?,
            Self::Release => out.write_str("release")?,
            Self::Deliver => out.write_str("deliver")?,
        }
        if let Some(callers) = self.callers() {
            write!(out, " {CALLERS}")?;
            for (at, caller) in callers.iter().enumerate() {
                write!(out, "{}{caller}", if at == 0 { "" } else { "," })?;
            }
        }
        if let Some(age) = self.age() {
            write!(out, " {AGE}{age}")?;
        }
        if let Self::Attempt(Attempt { terms, .. }) | Self::Accept(Attempt { terms, .. }) = self
            && terms.storing != Storing::default()
        {
            write!(out, " {STORING}{}", terms.storing)?;
        }
        if let Self::Attempt(Attempt { seal, .. }) = self
            && !seal.keys.is_empty()
        {
            write!(out, " {SEAL}{seal}")?;
        }
        if let Self::Attempt(Attempt { terms, .. }) | Self::Accept(Attempt { terms, .. }) = self
            && !terms.route.is_empty()
        {
            write!(out, " {ROUTE}{}", escape(&terms.route))?;
        }
        match self {
            Self::Attempt(Attempt { basis: Some(basis), .. }) | Self::Accept(Attempt { basis: Some(basis), .. }) => {
                write!(out, " {BASIS}{basis}")
            }
            Self::Attempt(_) | Self::Accept(_) | Self::Peek { .. } | Self::Look | Self::Release | Self::Deliver => {
                Ok(())
            }
        }
    }
}

impl Errand {
    /// The same with the keys under which the answer is sealed.
    #[must_use]
    pub fn with_seal(&self, keys: Vec<SealKey>) -> Self {
        match self {
            Self::Attempt(attempt) => {
                Self::Attempt(Attempt { seal: SealKeys { material: None, keys }, ..attempt.clone() })
            }
            Self::Accept(_) | Self::Peek { .. } | Self::Look | Self::Release | Self::Deliver => self.clone(),
        }
    }

    fn callers(&self) -> Option<&[CallerDigest]> {
        match self {
            Self::Attempt(attempt) | Self::Accept(attempt) => attempt.callers.as_deref(),
            Self::Peek { callers, .. } => callers.as_deref(),
            Self::Look | Self::Release | Self::Deliver => None,
        }
    }

    fn age(&self) -> Option<KeyAge> {
        match self {
            Self::Attempt(Attempt { age, .. }) | Self::Accept(Attempt { age, .. }) | Self::Peek { age, .. } => *age,
            Self::Look | Self::Release | Self::Deliver => None,
        }
    }

    /// Takes a further word in; not where it is needed and means nothing here.
    fn take_word(&mut self, word: &str) -> Result<(), NotUnderstood> {
        match self {
            Self::Attempt(attempt) | Self::Accept(attempt) => {
                if let Some(basis) = word.strip_prefix(BASIS) {
                    attempt.basis = Some(basis.into());
                } else if let Some(route) = word.strip_prefix(ROUTE) {
                    attempt.terms.route = unescape(route).unwrap_or_default();
                } else if let Some(callers) = word.strip_prefix(CALLERS) {
                    attempt.callers = Some(read_callers(callers)?);
                } else if let Some(age) = word.strip_prefix(AGE) {
                    attempt.age = Some(age.parse().map_err(|_| NotUnderstood)?);
                } else if let Some(storing) = word.strip_prefix(STORING) {
                    attempt.terms.storing = storing.parse().map_err(|_| NotUnderstood)?;
                } else if let Some(seal) = word.strip_prefix(SEAL) {
                    attempt.seal = seal.parse().map_err(|_| NotUnderstood)?;
                } else {
                    return skip_word(word);
                }
            }
            Self::Peek { callers, age, .. } => {
                if let Some(said) = word.strip_prefix(CALLERS) {
                    *callers = Some(read_callers(said)?);
                } else if let Some(said) = word.strip_prefix(AGE) {
                    *age = Some(said.parse().map_err(|_| NotUnderstood)?);
                } else {
                    return skip_word(word);
                }
            }
            Self::Look | Self::Release | Self::Deliver => return skip_word(word),
        }
        Ok(())
    }
}

/// ```
/// use oncekey::errand::{Errand, NotUnderstood};
///
/// assert_eq!("peek 30".parse(), Ok(Errand::Peek { wait: 30, callers: None, age: None }));
/// assert_eq!("peek 30 since=5".parse(), Ok(Errand::Peek { wait: 30, callers: None, age: None }));
/// assert_eq!("peek 30 !callers=".parse(), Ok(Errand::Peek { wait: 30, callers: Some(Vec::new()), age: None }));
/// assert_eq!("peek 30 !as=operator".parse::<Errand>(), Err(NotUnderstood));
/// assert_eq!("remember".parse::<Errand>(), Err(NotUnderstood));
/// ```
impl FromStr for Errand {
    type Err = NotUnderstood;

    fn from_str(text: &str) -> Result<Self, NotUnderstood> {
        let mut words = text.split(' ');
        let errand = match words.next() {
            Some("attempt") => Attempt::from_words(&mut words).map(Self::Attempt),
            Some("accept") => Attempt::from_words(&mut words).map(Self::Accept),
            Some("peek") => {
                let wait = words.next().and_then(|wait| wait.parse().ok());
                wait.map(|wait| Self::Peek { wait, callers: None, age: None })
            }
            Some("look") => Some(Self::Look),
            Some("release") => Some(Self::Release),
            Some("deliver") => Some(Self::Deliver),
            _ => None,
        };
        let mut errand = errand.ok_or(NotUnderstood)?;
        for word in words {
            errand.take_word(word)?;
        }
        Ok(errand)
    }
}

/// Leaves a further word out of account, where it may be.
fn skip_word(word: &str) -> Result<(), NotUnderstood> {
    if word.starts_with(NEEDED) { Err(NotUnderstood) } else { Ok(()) }
}

fn read_callers(text: &str) -> Result<Vec<CallerDigest>, NotUnderstood> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(|digest| digest.parse().map_err(|_| NotUnderstood)).collect()
}

/// Bytes of an entity's id.
pub const LONGEST_ID: usize = 255;

/// What is asked of an entity, by the front.
///
/// Its text is the machine, the id and, where there is one, the transition. No transition's name is empty or begins with
/// `!`, so that further words may follow a look too, after an empty third.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityErrand {
    /// The machine's name.
    pub machine: String,
    /// The entity's id.
    pub id: String,
    /// The transition to make; without one it is only looked at.
    pub transition: Option<String>,
    /// The key of the transition, as the entity knows it.
    pub key: Option<ScopedKey>,
}

impl EntityErrand {
    /// Reads what follows `/.oncekey/machines/` in a path. An id may hold anything, percent-encoded.
    pub fn of_path(path: &str) -> Option<Self> {
        let mut segments = path.split('/');
        let (machine, id) = (segments.next()?, unescape(segments.next()?)?);
        let transition = segments.next();
        let is_none = transition.is_some_and(|name| name.is_empty() || name.starts_with(NEEDED));
        if is_none || segments.next().is_some() || id.trim().is_empty() || id.len() > LONGEST_ID {
            return None;
        }
        Some(Self { machine: machine.to_owned(), id, transition: transition.map(str::to_owned), key: None })
    }

    /// The same under the key of a header, where there is one. It is the entity's own.
    pub fn with_key(self, header: Option<&str>) -> Result<Self, InvalidKey> {
        let scope = Scope::of_gate(&[("machine", &self.machine), ("transitions of", &self.id)]);
        let key = header.map(|header| ScopedKey::derive(&scope, &Key::from_header(header)?)).transpose()?;
        Ok(Self { key, ..self })
    }

    /// Names the entity's object.
    pub fn name(&self) -> String {
        [self.machine.as_str(), "/", &self.id].concat()
    }
}

impl fmt::Display for EntityErrand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", escape(&self.machine), escape(&self.id))?;
        self.transition.as_ref().map_or(Ok(()), |name| write!(out, " {}", escape(name)))?;
        self.key.as_ref().map_or(Ok(()), |key| write!(out, " {TRANSITION_KEY}{key}"))
    }
}

impl FromStr for EntityErrand {
    type Err = NotUnderstood;

    fn from_str(text: &str) -> Result<Self, NotUnderstood> {
        let mut words = text.split(' ');
        let (machine, id) = words.next().zip(words.next()).ok_or(NotUnderstood)?;
        let transition = words.next().filter(|name| !name.is_empty());
        let mut key = None;
        for word in transition.into_iter().chain(words) {
            match word.strip_prefix(TRANSITION_KEY) {
                Some(text) => key = Some(text.parse().map_err(|_| NotUnderstood)?),
                None if word.starts_with(NEEDED) => return Err(NotUnderstood),
                None => {}
            }
        }
        let read = |word: &str| unescape(word).ok_or(NotUnderstood);
        let transition = transition.map(read).transpose()?;
        if transition.as_ref().is_some_and(|name| name.starts_with(NEEDED)) {
            return Err(NotUnderstood);
        }
        Ok(Self { machine: read(machine)?, id: read(id)?, transition, key })
    }
}

impl Policy {
    /// Whether there is such a machine and, where one is named, such a transition.
    pub fn knows(&self, order: &EntityErrand) -> bool {
        self.machine(&order.machine)
            .is_some_and(|machine| order.transition.as_ref().is_none_or(|name| machine.transition(name).is_some()))
    }
}

/// Whether an object has an accepted request for good: it said so, or that the request is dead or of unknown fate, or that
/// it has another one under the key, which only an earlier version can have made of the same effect.
pub fn is_handed_over(status: u16) -> bool {
    matches!(status, 202 | 409 | 422)
}
