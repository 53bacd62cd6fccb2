//! The scoped key, which scope and key become.

use std::{error::Error, fmt, str::FromStr};

use uuid::{Builder, fmt::Hyphenated};

use crate::{
    digest::{LengthPrefixedDigest, base64url, is_digest},
    key::{InvalidKey, Key, quote_key, scope::Scope},
};

/// Scope and key together, as an opaque text of 43 characters of `[A-Za-z0-9_-]`: names the object, and is the key
/// that the origin sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScopedKey(String);

impl ScopedKey {
    /// Derives the scoped key; the same scope and key always give the same one.
    ///
    /// A random UUID names the object with the host alone, unless callers are kept apart: the object remembers its
    /// [callers](Scope::callers). Any other key may be guessed, so it names one for its caller alone, and needs a caller
    /// of whom an attribute proves who it is. There the name is hidden under a secret, where the scope has one.
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key, scope::Scope, scoped::ScopedKey};
    ///
    /// let key = Key::from_header("order-1042")?;
    /// let of = |caller: &str| {
    ///     let mut scope = Scope::new("shop.example");
    ///     scope.add("header:authorization", caller);
    ///     ScopedKey::derive(&scope, &key)
    /// };
    /// assert_ne!(of("Bearer of-ann")?, of("Bearer of-bob")?);
    /// assert_eq!(of(""), Err(InvalidKey::NotRandom));
    /// assert_eq!(of("Bearer of-ann")?.as_str().len(), 43);
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn derive(scope: &Scope, key: &Key) -> Result<ScopedKey, InvalidKey> {
        if !key.is_random() && !scope.is_proven() {
            return Err(InvalidKey::NotRandom);
        }
        let mut digest = LengthPrefixedDigest::new("oncekey scoped key 1");
        scope.write_name(key, &mut digest);
        let name = digest.finish_bytes();
        let name = match &scope.names {
            Some(secret) if scope.has_own_space(key) => secret.hide(&name),
            Some(_) | None => name,
        };
        Ok(ScopedKey(base64url(&name)))
    }

    /// Names the object that is asked whether any answers. No caller's key becomes it.
    pub fn of_health() -> ScopedKey {
        ScopedKey(LengthPrefixedDigest::new("oncekey health 1").finish())
    }

    /// The text without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a structured-field String.
    pub fn to_header(&self) -> String {
        quote_key(&self.0)
    }

    /// A UUID made of it, for origins that take no other key: version 8 (RFC 9562 §5.8), bare.
    pub fn to_uuid(&self) -> String {
        let mut digest = LengthPrefixedDigest::new("oncekey origin uuid 1");
        digest.add_part(self.0.as_bytes());
        let mut text = [0; Hyphenated::LENGTH];
        let uuid = Builder::from_custom_bytes(digest.finish_half()).into_uuid();
        uuid.hyphenated().encode_lower(&mut text).to_owned()
    }
}

impl fmt::Display for ScopedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads what [`ScopedKey::as_str`] gave.
impl FromStr for ScopedKey {
    type Err = InvalidScopedKey;

    fn from_str(text: &str) -> Result<ScopedKey, InvalidScopedKey> {
        is_digest(text).then(|| ScopedKey(text.to_owned())).ok_or(InvalidScopedKey)
    }
}

/// The text is no scoped key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidScopedKey;

impl fmt::Display for InvalidScopedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a scoped key: 43 characters of base64url")
    }
}

impl Error for InvalidScopedKey {}
