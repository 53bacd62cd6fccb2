//! Whose key it is: the scope that makes the same key of two callers different.

use std::{fmt, rc::Rc};

use crate::{
    digest::{LengthPrefixedDigest, hmac},
    key::{
        Key,
        caller::{CallerAttribute, CallerDigest},
    },
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
    host: String,
    attributes: Vec<CallerAttribute>,
    /// Whether each caller has a space of its own for random UUIDs too.
    is_apart: bool,
    /// Hides the caller that is a part of a name.
    pub(super) names: Option<NameSecret>,
}

/// The secret under which a caller is hidden in the names of its keys. Without one whoever sees a scoped key and knows the
/// client's can try out weak credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct NameSecret(Rc<[u8]>);

impl NameSecret {
    /// Takes any secret.
    pub fn new(secret: &[u8]) -> NameSecret {
        NameSecret(secret.into())
    }

    pub(super) fn hide(&self, name: &[u8]) -> [u8; 32] {
        hmac(&self.0, name)
    }
}

/// Nothing of it belongs in a log.
impl fmt::Debug for NameSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameSecret")
    }
}

impl Scope {
    /// The scope of an anonymous caller of `host`, which is compared without regard to case (RFC 9110 §4.2.3); for what
    /// else is left out of account see [`compared_host`](crate::key::caller::compared_host).
    pub fn new(host: &str) -> Scope {
        Scope { host: host.to_ascii_lowercase(), attributes: Vec::new(), is_apart: false, names: None }
    }

    /// A space for keys that no client sends, under names that are always the same.
    pub fn of_gate(names: &[(&str, &str)]) -> Scope {
        let attribute = |(name, value): &(&str, &str)| CallerAttribute {
            name: String::from(*name),
            value: String::from(*value),
            is_proof: true,
        };
        Scope { host: String::new(), attributes: names.iter().map(attribute).collect(), is_apart: true, names: None }
    }

    /// The same with names that are hidden under a secret.
    #[must_use]
    pub fn hidden(self, names: Option<NameSecret>) -> Scope {
        Scope { names, ..self }
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

    /// The caller as a text that does not tell who it is.
    pub fn name(&self) -> String {
        let mut digest = LengthPrefixedDigest::new("oncekey caller's name 1");
        for part in self.attributes.iter().flat_map(|attribute| [&attribute.name, &attribute.value]).chain([&self.host])
        {
            digest.add_part(part.as_bytes());
        }
        digest.finish()
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

    /// What names a key's object: the host, the caller where the key names it for this caller alone, and the key.
    pub(super) fn write_name(&self, key: &Key, digest: &mut LengthPrefixedDigest) {
        digest.add_part(self.host.as_bytes());
        if self.has_own_space(key) {
            for attribute in &self.attributes {
                digest.add_optional(Some(attribute.name.as_bytes()));
                digest.add_part(attribute.value.as_bytes());
            }
        }
        digest.add_optional(None);
        digest.add_part(key.as_str().as_bytes());
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
