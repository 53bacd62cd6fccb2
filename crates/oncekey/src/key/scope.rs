//! Whose key it is: the scope that makes the same key of two callers different.

use crate::key::{
    Key,
    caller::{CallerAttribute, CallerDigest},
};

/// What makes the same key of two callers different: the host, and the attributes that identify the caller.
///
/// ```
/// use oncekey::key::scope::Scope;
///
/// let mut scope = Scope::new("Shop.example");
/// assert!(scope.is_anonymous());
/// scope.add("cookie:session", "of-ann");
/// assert!(!scope.is_anonymous());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub(super) host: String,
    pub(super) attributes: Vec<CallerAttribute>,
    /// Whether each caller has a space of its own for random UUIDs too.
    is_apart: bool,
}

impl Scope {
    /// The scope of an anonymous caller of `host`, which is compared without regard to case (RFC 9110 §4.2.3); for what
    /// else is left out of account see [`compared_host`](crate::key::caller::compared_host).
    pub fn new(host: &str) -> Scope {
        Scope { host: host.to_ascii_lowercase(), attributes: Vec::new(), is_apart: false }
    }

    /// A space for keys that no client sends, under names that are always the same.
    pub fn of_gate(names: &[(&str, &str)]) -> Scope {
        let attribute = |(name, value): &(&str, &str)| CallerAttribute {
            name: String::from(*name),
            value: String::from(*value),
            is_proof: true,
        };
        Scope { host: String::new(), attributes: names.iter().map(attribute).collect(), is_apart: true }
    }

    /// The same with a space of its own for each caller, whatever the key.
    #[must_use]
    pub fn apart(self) -> Scope {
        Scope { is_apart: true, ..self }
    }

    /// Adds an attribute that the request has, in the policy's order and in the form in which it is
    /// [compared](crate::key::caller). A value that identifies nobody is left out.
    pub fn add(&mut self, attribute: &str, value: &str) {
        self.attributes.extend(CallerAttribute::of(attribute, value));
    }

    /// Adds an attribute that somebody else has read, in the form in which it is compared. `is_proof`: nobody else can send
    /// it.
    pub fn add_read(&mut self, attribute: String, value: String, is_proof: bool) {
        self.attributes.push(CallerAttribute { name: attribute, value, is_proof });
    }

    /// Whether nothing identifies the caller.
    pub fn is_anonymous(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Whether an attribute identifies the caller that nobody else can send.
    pub(super) fn is_proven(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.is_proof)
    }

    /// Whether a key names an object for this caller alone. Nobody guesses a random UUID, so that it names one for
    /// everybody, which remembers whose it is: credentials that change between two attempts make no second effect.
    pub(super) fn has_own_space(&self, key: &Key) -> bool {
        self.is_apart || !key.is_random()
    }

    /// What the caller is known again by in a key's object, where the key does not name it for this caller alone.
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key, scope::Scope, scoped::ScopedKey};
    ///
    /// let key = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
    /// let of = |session: &str| {
    ///     let mut scope = Scope::new("shop.example");
    ///     scope.add("cookie:session", session);
    ///     scope
    /// };
    /// let (ann, bob) = (of("ann"), of("bob"));
    /// assert_eq!(ScopedKey::derive(&ann, &key), ScopedKey::derive(&bob, &key));
    /// assert_ne!(ann.callers(&key), bob.callers(&key));
    /// assert_eq!(of("").callers(&key), Some(Vec::new()));
    /// assert_eq!(ann.callers(&Key::from_header("order-1042")?), None);
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn callers(&self, key: &Key) -> Option<Vec<CallerDigest>> {
        let digests = || self.attributes.iter().map(|attribute| attribute.digest(&self.host, key)).collect();
        (!self.has_own_space(key)).then(digests)
    }
}
