//! The policy: what is protected and how, with its defaults, the first route that matches, and the published form.

mod check;
mod error;
mod parse;
mod published;
mod reader;
mod value;

pub use error::{ConfigError, ConfigErrorKind};

use crate::{content::ignore::Ignore, http::percent::decode_unreserved};

/// Seconds: the longest `lease`, `patience` and `wait`. The platform keeps an object alive no longer for its own I/O.
pub const LONGEST_WAIT: u32 = 900;

/// Seconds: the longest `retention`, ten years.
pub const LONGEST_RETENTION: u32 = 315_360_000;

/// Bytes: the most that `max_content` and `max_stored` may be. An isolate has 128 MB for all of its requests.
pub const LARGEST: u64 = 104_857_600;

/// The whole policy, parsed and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Name of the key's header field, as the policy writes it. Default `Idempotency-Key`.
    pub header: String,
    /// Name of the key's form field or JSON member. Default `idempotency_key`.
    pub field: String,
    /// What identifies a caller, in order. Default: Authorization and the cookie `session`.
    pub scope: Vec<Attribute>,
    /// Bytes: the largest content that is looked into. Default 10 MiB, at most [`LARGEST`].
    pub max_content: u64,
    /// Bytes: the largest reply that is kept. Default 4 MiB, at most [`LARGEST`].
    pub max_stored: u64,
    /// Default closed.
    pub store_failure: StoreFailure,
    /// Web origins (RFC 6454 §6.2) to which the gate opens its own refusals. Default none.
    pub cors: Vec<String>,
    /// The first that matches decides. Default: one route of defaults.
    pub routes: Vec<Route>,
    /// By name. Default none.
    pub queues: Vec<Queue>,
    /// By name. Default none.
    pub machines: Vec<Machine>,
}

/// A part of a request that identifies its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A header field, its name in lower case.
    Header(String),
    /// A cookie; names of cookies are case-sensitive.
    Cookie(String),
}

impl Attribute {
    /// The attribute as the policy writes it, for [`crate::key::scope::Scope::add`].
    pub fn name(&self) -> String {
        match self {
            Attribute::Header(name) => ["header:", name].concat(),
            Attribute::Cookie(name) => ["cookie:", name].concat(),
        }
    }
}

/// What happens to a request with a key while the objects cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFailure {
    /// It is refused.
    Closed,
    /// It passes, unprotected.
    Open,
}

/// What is protected in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Default `/*`.
    pub path: PathPattern,
    /// Case-sensitive. Default POST and PATCH.
    pub methods: Vec<String>,
    /// Whether a request without a key is refused. Default false; always true in [`Mode::Accept`].
    pub require: bool,
    /// Default success.
    pub keep: Keep,
    /// Default release.
    pub server_error: ServerError,
    /// Default hold.
    pub unanswered: Unanswered,
    /// Seconds, 1 to [`LONGEST_WAIT`], until the origin's answer must begin, and of silence within it. Default 60.
    pub lease: u32,
    /// Seconds, 1 to [`LONGEST_WAIT`], that a caller is kept waiting. Default 25.
    pub patience: u32,
    /// Seconds, 0 to [`LONGEST_WAIT`], that a duplicate waits for the first attempt. Default 0.
    pub wait: u32,
    /// Seconds, 1 to [`LONGEST_RETENTION`], that a completed or unknown key is remembered. Default one day.
    pub retention: u32,
    /// Left out of the fingerprint. Default nothing.
    pub ignore: Vec<Ignore>,
    /// Default proxy.
    pub mode: Mode,
}

/// Which declined requests are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None: the key stays usable.
    Success,
    /// All: they are replayed.
    Definite,
}

/// What an ambiguous answer does to the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerError {
    /// The next attempt runs.
    Release,
    /// The outcome is unknown.
    Hold,
    /// It is stored and replayed.
    Keep,
}

/// What a missing answer does to the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The outcome is unknown.
    Hold,
    /// The next attempt runs: the origin itself honours the key.
    Rerun,
    /// The origin is asked at this path, in which `{key}` stands once for the scoped key.
    Probe(String),
}

/// What is done with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// It is sent to the origin while the caller waits.
    Proxy,
    /// It is stored, answered, and delivered later.
    Accept,
    /// Each element of its list is sent alone.
    Batch {
        /// Where the list is in the content: decoded JSON pointer, empty for the content itself.
        items: Vec<String>,
        /// Where the key is in an element: decoded JSON pointer.
        item_key: Vec<String>,
        /// Path at the origin to which each element is sent by POST.
        item_path: String,
    },
}

/// A queue whose messages are delivered once each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The queue's name, which is the scope of its messages' keys.
    pub name: String,
    /// Path at the origin to which each message is sent by POST.
    pub path: String,
    /// Where the key is in a message: decoded JSON pointer. `None`: the message's id is the key.
    pub key: Option<Vec<String>>,
    /// As in a [`Route`].
    pub lease: u32,
    /// As in a [`Route`].
    pub retention: u32,
    /// As in a [`Route`].
    pub unanswered: Unanswered,
}

/// The states of one kind of entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The name, which stands in the path of its endpoints.
    pub name: String,
    /// The state of an entity that nothing has been heard of.
    pub initial: String,
    /// By name.
    pub transitions: Vec<Transition>,
}

/// A change of an entity's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The name, which stands in the path of its endpoint.
    pub name: String,
    /// The states it may start in; every one can be reached.
    pub from: Vec<String>,
    /// The state it ends in.
    pub to: String,
    /// Path at the origin to which the winner's effect is sent by POST.
    pub effect: Option<String>,
}

impl Policy {
    /// Parses and checks a policy; blank text is the default one.
    pub fn parse(json: &str) -> Result<Policy, ConfigError> {
        parse::policy(json)
    }

    /// The policy as JSON with its defaults, for everyone to read (draft §2.5): without scope, queues and machines,
    /// which concern nobody outside.
    pub fn published(&self) -> String {
        published::document(self)
    }

    /// The first route that matches, by method and path. A query is not looked at.
    pub fn route(&self, method: &str, path: &str) -> Option<&Route> {
        let path = decode_unreserved(path.split('?').next().unwrap_or_default());
        self.routes.iter().find(|route| route.methods.iter().any(|known| known == method) && route.path.matches(&path))
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            header: "Idempotency-Key".to_owned(),
            field: "idempotency_key".to_owned(),
            scope: vec![Attribute::Header("authorization".to_owned()), Attribute::Cookie("session".to_owned())],
            max_content: 10_485_760,
            max_stored: 4_194_304,
            store_failure: StoreFailure::Closed,
            cors: Vec::new(),
            routes: vec![Route::default()],
            queues: Vec::new(),
            machines: Vec::new(),
        }
    }
}

impl Default for Route {
    fn default() -> Route {
        Route {
            path: PathPattern { written: "/*".to_owned() },
            methods: vec!["POST".to_owned(), "PATCH".to_owned()],
            require: false,
            keep: Keep::Success,
            server_error: ServerError::Release,
            unanswered: Unanswered::Hold,
            lease: 60,
            patience: 25,
            wait: 0,
            retention: 86_400,
            ignore: Vec::new(),
            mode: Mode::Proxy,
        }
    }
}

/// A path, or the beginning of paths where it ends in `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    written: String,
}

impl PathPattern {
    /// `None` unless the text begins with `/`, is printable ASCII without space, `?`, `#` and `\`, and holds `*` only as
    /// its last character.
    pub fn parse(text: &str) -> Option<PathPattern> {
        let is_path =
            text.starts_with('/') && text.bytes().all(|byte| matches!(byte, 0x21..=0x7e if !b"?#\\".contains(&byte)));
        let exact = text.strip_suffix('*').unwrap_or(text);
        (is_path && !exact.contains('*')).then(|| PathPattern { written: text.to_owned() })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a path matches that has been through [`decode_unreserved`].
    fn matches(&self, path: &str) -> bool {
        match self.written.strip_suffix('*') {
            Some(start) => path.starts_with(decode_unreserved(start).as_ref()),
            None => path == decode_unreserved(&self.written),
        }
    }
}

impl Policy {
    /// The queue of that name.
    pub fn queue(&self, name: &str) -> Option<&Queue> {
        self.queues.iter().find(|queue| queue.name == name)
    }
}
