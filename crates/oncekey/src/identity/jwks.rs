//! Sets of public keys (RFC 7517 §5), and which of them may have signed a token.

use crate::{
    identity::algorithm::{Algorithm, KeyType},
    json::{
        select::{Selected, is_json, list_elements, select, string_value},
        write::to_json,
    },
};

/// How many keys are tried on one token where more than one fits: two may have one `kid` while one takes the other's place.
const MOST_TRIED: usize = 4;

/// Letters of the modulus of an RSA key of 2048 bits, the fewest that are taken (RFC 7518 §3.3).
const SHORTEST_MODULUS: usize = 342;

/// How deep the JSON of a set may be nested.
const DEEPEST: usize = 32;

/// The keys of an issuer that can be used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySet(Vec<PublicKey>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct PublicKey {
    kid: Option<String>,
    /// The one algorithm that it is for, where it says so.
    alg: Option<String>,
    key_type: KeyType,
    /// What is needed of it.
    jwk: String,
}

impl KeySet {
    /// Reads a set. A key that is of no use here is left out; a set without keys is none.
    ///
    /// ```
    /// use oncekey::identity::KeySet;
    ///
    /// let key = r#"{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    /// assert!(KeySet::read(format!("{{\"keys\":[{key}]}}").as_bytes()).is_some());
    /// assert!(KeySet::read(b"{\"keys\":[]}").is_none());
    /// assert!(KeySet::read(b"<html>").is_none());
    /// ```
    pub fn read(bytes: &[u8]) -> Option<KeySet> {
        let text = is_json(bytes, DEEPEST).then(|| str::from_utf8(bytes).ok()).flatten()?;
        let keys = list_elements(member(text, "keys")?)?;
        let keys: Vec<PublicKey> = keys.filter_map(PublicKey::read).collect();
        (!keys.is_empty()).then_some(KeySet(keys))
    }

    /// Whether a key may be the one that a token names. One that names none takes any.
    pub(super) fn knows(&self, kid: Option<&str>) -> bool {
        self.0.iter().any(|key| key.is_called(kid))
    }

    /// The keys by which a token may be signed, as JSON: few, and each of the algorithm's type.
    pub(super) fn fitting(&self, algorithm: Algorithm, kid: Option<&str>) -> impl Iterator<Item = &str> {
        let is_for = move |alg: &str| Algorithm::of_word(alg) == Some(algorithm);
        let fits = move |key: &&PublicKey| {
            key.is_called(kid) && key.key_type == algorithm.key_type() && key.alg.as_deref().is_none_or(is_for)
        };
        self.0.iter().filter(fits).take(MOST_TRIED).map(|key| key.jwk.as_str())
    }
}

impl PublicKey {
    fn is_called(&self, kid: Option<&str>) -> bool {
        kid.is_none() || self.kid.as_deref() == kid
    }

    fn read(text: &str) -> Option<PublicKey> {
        let text_of = |name: &str| member(text, name).and_then(string_value);
        let is_for_signatures = member(text, "use").is_none() || text_of("use").as_deref() == Some("sig");
        let is_verify = |operation: &str| string_value(operation).as_deref() == Some("verify");
        let verifies = |list: &str| list_elements(list).is_some_and(|mut operations| operations.any(is_verify));
        let is_for_verifying = member(text, "key_ops").is_none_or(verifies);
        if !is_for_signatures || !is_for_verifying {
            return None;
        }
        let (kty, crv) = (text_of("kty")?, text_of("crv").unwrap_or_default());
        let (key_type, parts): (KeyType, &[&str]) = match (kty.as_str(), crv.as_str()) {
            ("RSA", _) => (KeyType::Rsa, &["n", "e"]),
            ("EC", "P-256") => (KeyType::P256, &["crv", "x", "y"]),
            ("EC", "P-384") => (KeyType::P384, &["crv", "x", "y"]),
            ("EC", "P-521") => (KeyType::P521, &["crv", "x", "y"]),
            ("OKP", "Ed25519") => (KeyType::Ed25519, &["crv", "x"]),
            _ => return None,
        };
        let mut jwk = ["{\"kty\":", &to_json(&kty)].concat();
        for name in parts {
            let part = text_of(name)?;
            if *name == "n" && part.len() < SHORTEST_MODULUS {
                return None;
            }
            jwk.push_str(&[",\"", name, "\":", &to_json(&part)].concat());
        }
        jwk.push('}');
        Some(PublicKey { kid: text_of("kid"), alg: text_of("alg"), key_type, jwk })
    }
}

/// A member of a JSON object, as written.
fn member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    match select(text, &[name.to_owned()]) {
        Selected::Value(value) => Some(value),
        Selected::Nothing | Selected::Twice => None,
    }
}
