//! What the front asks of an object, and the text that carries it between them.

use crate::{
    http::percent::{decode_segment as unescape, escape},
    policy::Policy,
    stored::attempt::Attempt,
};

/// The header that carries an [`Errand`] from the front to the object. A client cannot send it: the front
/// removes every field with the prefix first ([`crate::http::fields::is_internal`]).
pub const ERRAND: &str = "oncekey-errand";

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
    },
    /// Forget the key, unless its request runs.
    Release,
}

/// The longest that a peek may wait, in seconds.
pub const MAX_PEEK_WAIT: u32 = 30;

impl Errand {
    /// Printable ASCII, words parted by single spaces.
    pub fn encode(&self) -> String {
        match self {
            Self::Attempt(attempt) => ["attempt ", &attempt.encode()].concat(),
            Self::Accept(attempt) => ["accept ", &attempt.encode()].concat(),
            Self::Peek { wait } => format!("peek {wait}"),
            Self::Release => "release".to_owned(),
        }
    }

    /// The errand that [`Errand::encode`] wrote; `None` for anything else.
    pub fn decode(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let errand = match words.next()? {
            "attempt" => Self::Attempt(Attempt::decode(&mut words)?),
            "accept" => Self::Accept(Attempt::decode(&mut words)?),
            "peek" => Self::Peek { wait: words.next()?.parse().ok()? },
            "release" => Self::Release,
            _ => return None,
        };
        words.next().is_none().then_some(errand)
    }
}

/// Bytes of an entity's id.
pub const LONGEST_ID: usize = 255;

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

impl Policy {
    /// Whether there is such a machine and, where one is named, such a transition.
    pub fn knows(&self, order: &Order) -> bool {
        self.machine(&order.machine)
            .is_some_and(|machine| order.transition.as_ref().is_none_or(|name| machine.transition(name).is_some()))
    }
}

/// Whether an object has an accepted request for good: it said so, or that it has another one under the key, which
/// only an earlier version can have made of the same effect.
pub fn is_handed_over(status: u16) -> bool {
    matches!(status, 202 | 422)
}
