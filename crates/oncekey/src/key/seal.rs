//! The keys under which answers and accepted requests are sealed: stored in such a way that storage alone tells nothing.
//!
//! A key is derived (HKDF-SHA-256, by the shell) from the operator's secret and what stands here as its material: a digest
//! of what only whoever sends the request knows.
//!
//! | of | material |
//! |---|---|
//! | an answer to a random UUID | host and UUID |
//! | an answer to any other key, or where callers are kept apart | host, caller and key |
//! | an accepted request and its answer, which are delivered without their caller | the scoped key |
//!
//! So the caller that counts is the one in the name of the key's object. A random UUID is guessed by nobody, with or
//! without a caller beside it; its object lets in whoever has one of the first caller's attributes, and a caller whose
//! token was refreshed has to open what was sealed under the one before. With the caller in the material that would be
//! refused to the very person whose answer it is.

use std::{error::Error, fmt, str::FromStr};

use crate::{
    digest::{LengthPrefixedDigest, from_hex, to_hex},
    key::{Key, scope::Scope, scoped::ScopedKey},
};

/// Bytes of a key.
const LENGTH: usize = 32;

/// Bytes by which a key is known again.
const ID_LENGTH: usize = 8;

/// What a key is derived from, beside the operator's secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SealMaterial([u8; LENGTH]);

impl SealMaterial {
    /// Of an answer.
    pub fn of_answer(scope: &Scope, key: &Key) -> SealMaterial {
        let mut digest = LengthPrefixedDigest::new("oncekey seal 1");
        scope.write_name(key, &mut digest);
        SealMaterial(digest.finish_bytes())
    }

    /// Of an accepted request.
    pub fn of_accepted(key: &ScopedKey) -> SealMaterial {
        let mut digest = LengthPrefixedDigest::new("oncekey seal accepted 1");
        digest.add_part(key.as_str().as_bytes());
        SealMaterial(digest.finish_bytes())
    }

    /// For the derivation.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Nothing of it belongs in a log.
impl fmt::Debug for SealMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealMaterial")
    }
}

/// A key under which something is sealed.
///
/// ```
/// use oncekey::key::seal::{InvalidSealKey, SealKey};
///
/// let key = SealKey::of(&[7; 32])?;
/// assert_eq!(key.to_string().parse().as_ref(), Ok(&key));
/// assert_ne!(key.id(), SealKey::of(&[8; 32])?.id());
/// assert_eq!(SealKey::of(&[7; 31]), Err(InvalidSealKey));
/// # Ok::<(), InvalidSealKey>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey([u8; LENGTH]);

impl SealKey {
    /// What the derivation gave.
    pub fn of(bytes: &[u8]) -> Result<SealKey, InvalidSealKey> {
        bytes.try_into().map(SealKey).map_err(|_| InvalidSealKey)
    }

    /// For the cipher.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// By what it is known again: stored beside what is sealed, and of no use without the key.
    pub fn id(&self) -> Vec<u8> {
        let mut digest = LengthPrefixedDigest::new("oncekey seal id 1");
        digest.add_part(&self.0);
        digest.finish_bytes().into_iter().take(ID_LENGTH).collect()
    }
}

/// Nothing of it belongs in a log.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

/// In hexadecimal digits, for the way from the front to the object.
impl fmt::Display for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl FromStr for SealKey {
    type Err = InvalidSealKey;

    fn from_str(text: &str) -> Result<SealKey, InvalidSealKey> {
        SealKey::of(&from_hex(text).ok_or(InvalidSealKey)?)
    }
}

/// Under which keys an attempt's answer is sealed and opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealKeys {
    /// What they are derived from: known to the front alone, and no part of any text.
    pub material: Option<SealMaterial>,
    /// The first seals, each opens.
    pub keys: Vec<SealKey>,
}

impl SealKeys {
    /// To be derived.
    pub fn to_derive(material: SealMaterial) -> SealKeys {
        SealKeys { material: Some(material), keys: Vec::new() }
    }
}

/// Parted by commas.
impl fmt::Display for SealKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.keys.iter().enumerate() {
            write!(f, "{}{key}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl FromStr for SealKeys {
    type Err = InvalidSealKey;

    fn from_str(text: &str) -> Result<SealKeys, InvalidSealKey> {
        let keys = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        Ok(SealKeys { material: None, keys })
    }
}

/// Not the bytes of a [`SealKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidSealKey;

impl fmt::Display for InvalidSealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a key: 32 bytes")
    }
}

impl Error for InvalidSealKey {}
