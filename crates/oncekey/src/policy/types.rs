//! A policy as the gate uses it: what is protected and how, and the first route that matches.

use crate::{
    content::ignore::Ignore,
    http::percent::decode_unreserved,
    identity::Identity,
    key::{
        InvalidKey, Key,
        age::KeyAge,
        scope::Scope,
        seal::{SealKeys, SealMaterial},
    },
    policy::{attribute::Attribute, path_pattern::PathPattern},
};

/// The whole policy, parsed and checked. Its default is that of an empty text.
///
/// ```
/// use oncekey::policy::{Keep, Policy};
///
/// let policy: Policy = r#"{"routes": [{"path": "/payments/*", "keep": "definite"}, {}]}"#.parse()?;
/// assert_eq!(policy.route("POST", "/payments/7?dry").map(|route| route.keep), Some(Keep::Definite));
/// assert_eq!(policy.route("POST", "/orders").map(|route| route.keep), Some(Keep::Success));
/// assert!(policy.route("GET", "/orders").is_none());
///
/// let wrong = r#"{"routes": [{"keep": "all"}]}"#.parse::<Policy>().unwrap_err();
/// assert_eq!(wrong.to_string(), r#"/routes/0/keep: expected "success" or "definite""#);
/// # Ok::<(), oncekey::policy::InvalidPolicy>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Name of the key's header field, as the policy writes it.
    pub header: String,
    /// Name of the key's form field or JSON member.
    pub field: String,
    /// What identifies a caller, in order: of each list the first that a request has.
    pub scope: Vec<Vec<Attribute>>,
    /// The scope of the policy before this one, under which keys are looked for first.
    pub scope_before: Option<Vec<Vec<Attribute>>>,
    /// By name: the tokens of which the scope takes claims.
    pub identity: Vec<Identity>,
    /// Bytes: the largest content that is looked into.
    pub max_content: u64,
    /// Bytes: the largest reply that is kept.
    pub max_stored: u64,
    /// What happens while the objects cannot be reached.
    pub store_failure: StoreFailure,
    /// What a random UUID names.
    pub bind: Bind,
    /// Which keys are taken from a caller without attributes.
    pub anonymous: Anonymous,
    /// Web origins (RFC 6454 §6.2) to which the gate opens its own answers.
    pub cors: Vec<String>,
    /// In which form the origin gets the key.
    pub origin_key: OriginKey,
    /// Millionths of the ordinary attempts with a key that get a line in the log.
    pub log: u32,
    /// Whether answers to requests with a key say how long what took.
    pub server_timing: bool,
    /// Who is told of each unknown fate and dead delivery.
    pub on_unknown: Option<OnUnknown>,
    /// How many new keys a caller may have.
    pub limits: Limits,
    /// Whether heads and contents are stored encrypted.
    pub seal: bool,
    /// The first that matches decides.
    pub routes: Vec<Route>,
    /// By name.
    pub queues: Vec<Queue>,
    /// By name.
    pub machines: Vec<Machine>,
}

/// Who is told of unknown fates and dead deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnUnknown {
    /// The queue that the binding of this name is bound to.
    Queue(String),
    /// This path at the origin.
    Post(String),
}

/// How many new keys a caller may have: what counts them, where something does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// For callers without attributes, by address.
    pub anonymous: Option<Limit>,
    /// For the others, by caller.
    pub identified: Option<Limit>,
}

/// What counts keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The name of the platform's rate limit binding.
    pub binding: String,
    /// Seconds over which it counts.
    pub period: u32,
}

/// In which form the origin gets the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginKey {
    /// The scoped key.
    Scoped,
    /// A UUID made of it.
    Uuid,
    /// The client's own, with the scoped one beside it.
    Original,
}

/// What happens to a request with a key while the objects cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFailure {
    /// It is refused.
    Closed,
    /// It passes, unprotected.
    Open,
}

/// What a random UUID names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bind {
    /// One object for everybody, which is bound to its first caller inside.
    Inside,
    /// An object for each caller.
    Apart,
}

/// Which keys are taken from a caller without attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    /// Random UUIDs.
    Uuid,
    /// None.
    Refuse,
}

/// What is protected in one way. Its default is that of an object without members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Which paths.
    pub path: PathPattern,
    /// Which methods; case-sensitive.
    pub methods: Vec<String>,
    /// Whether a request without a key is refused; always true in [`Mode::Accept`].
    pub require: bool,
    /// Which declined requests are stored.
    pub keep: Keep,
    /// What an ambiguous answer does to the key.
    pub server_error: ServerError,
    /// What a missing answer does to the key.
    pub unanswered: Unanswered,
    /// Seconds until the origin's answer must begin, and of silence within it.
    pub lease: u32,
    /// Seconds that a caller is kept waiting.
    pub patience: u32,
    /// Seconds that a duplicate waits for the first attempt.
    pub wait: u32,
    /// Seconds that a completed or unknown key is remembered.
    pub retention: u32,
    /// Left out of the fingerprint.
    pub ignore: Vec<Ignore>,
    /// Names of the header fields that are part of the fingerprint.
    pub headers: Vec<String>,
    /// Which keys are taken.
    pub keys: Keys,
    /// Seconds that a key with a time of its own may be old of which nothing is remembered.
    pub key_age: Option<u32>,
    /// What is stored of an answer that says `Cache-Control: no-store`.
    pub no_store: NoStore,
    /// Names of the answer header fields that are not stored.
    pub redact: Vec<String>,
    /// What is done with a request.
    pub mode: Mode,
}

/// Which keys are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Any.
    Any,
    /// UUIDs of version 7.
    UuidV7,
}

/// What is stored of an answer that says `Cache-Control: no-store`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoStore {
    /// All of it.
    Keep,
    /// Its status.
    Forget,
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
        /// How many elements the list may have.
        max_items: u64,
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

impl Route {
    /// The time that a key tells, where the route says how old one may be; an error where the route does not take it.
    pub fn age_of(&self, key: &Key) -> Result<Option<KeyAge>, InvalidKey> {
        if self.keys == Keys::UuidV7 && key.time().is_none() {
            return Err(InvalidKey::NotTimed);
        }
        Ok(KeyAge::of(key, self.key_age))
    }
}

impl Policy {
    /// What the keys are derived from under which an answer is sealed; nothing where none is.
    pub fn seal_keys(&self, scope: &Scope, key: &Key) -> SealKeys {
        if self.seal { SealKeys::to_derive(SealMaterial::of_answer(scope, key)) } else { SealKeys::default() }
    }

    /// The time that a key tells, and how old it may be on any route; nothing where one takes keys of any age.
    pub fn age_to_peek(&self, key: &Key) -> Option<KeyAge> {
        let ages: Option<Vec<u32>> = self.routes.iter().map(|route| route.key_age).collect();
        KeyAge::of(key, ages?.into_iter().max())
    }

    /// The first route that matches, by method and path. A query is not looked at.
    pub fn route(&self, method: &str, path: &str) -> Option<&Route> {
        let path = decode_unreserved(path.split('?').next().unwrap_or_default());
        self.routes.iter().find(|route| route.methods.iter().any(|known| known == method) && route.path.matches(&path))
    }

    /// The identity of that name.
    pub fn identity(&self, name: &str) -> Option<&Identity> {
        self.identity.iter().find(|identity| identity.name == name)
    }

    /// The names of the secrets that verify tokens.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.identity.iter().filter_map(Identity::secret)
    }

    /// The queue of that name.
    pub fn queue(&self, name: &str) -> Option<&Queue> {
        self.queues.iter().find(|queue| queue.name == name)
    }

    /// The machine of that name.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.name == name)
    }
}

impl Machine {
    /// The transition of that name.
    pub fn transition(&self, name: &str) -> Option<&Transition> {
        self.transitions.iter().find(|transition| transition.name == name)
    }
}

/// The words of a type, one for each variant.
macro_rules! words {
    ($name:ident { $first:ident = $first_word:literal $(, $variant:ident = $word:literal)* }) => {
        impl $name {
            /// All of them, as the policy writes them.
            pub(super) const WORDS: &'static [&'static str] = &[$first_word $(, $word)*];

            /// As the policy writes it.
            pub(super) const fn word(self) -> &'static str {
                match self {
                    $name::$first => $first_word,
                    $($name::$variant => $word,)*
                }
            }

            /// What the policy writes so; the first for any other text, of which the check lets none pass.
            pub(super) fn of_word(word: &str) -> $name {
                match word {
                    $($word => $name::$variant,)*
                    _ => $name::$first,
                }
            }
        }
    };
}

words!(OriginKey { Scoped = "scoped", Uuid = "uuid", Original = "original" });
words!(StoreFailure { Closed = "closed", Open = "open" });
words!(Bind { Inside = "inside", Apart = "apart" });
words!(Anonymous { Uuid = "uuid", Refuse = "refuse" });
words!(Keys { Any = "any", UuidV7 = "uuidv7" });
words!(NoStore { Keep = "keep", Forget = "forget" });
words!(Keep { Success = "success", Definite = "definite" });
words!(ServerError { Release = "release", Hold = "hold", Keep = "keep" });

impl Unanswered {
    pub(super) const HOLD: &'static str = "hold";
    pub(super) const RERUN: &'static str = "rerun";
    /// All of them, as the policy writes them.
    pub(super) const WORDS: &'static [&'static str] = &[Unanswered::HOLD, Unanswered::RERUN];
}

impl Mode {
    pub(super) const PROXY: &'static str = "proxy";
    pub(super) const ACCEPT: &'static str = "accept";
    pub(super) const BATCH: &'static str = "batch";
    /// All of them, as the policy writes them.
    pub(super) const WORDS: &'static [&'static str] = &[Mode::PROXY, Mode::ACCEPT, Mode::BATCH];
}
