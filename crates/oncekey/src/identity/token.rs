//! A signed token in its compact form (RFC 7515 §3.1), and what it claims (RFC 7519 §4).

use crate::{
    digest::{base64url, read_base64url},
    http::date::Millis,
    identity::{algorithm::Algorithm, invalid::InvalidToken, jwks::KeySet, types::Identity},
    json::{
        number::NumberText,
        select::{Selected, is_json, list_elements, select, string_value},
        tokens::{Token, Tokens},
        write::to_json,
    },
};

/// How deep the JSON of a token may be nested.
const DEEPEST: usize = 32;

/// How many members an object of a token may have: each is held against the others.
const MOST_MEMBERS: usize = 256;

/// A token of which all was judged but the signature, and the claim that tells the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedToken {
    algorithm: Option<Algorithm>,
    kid: Option<String>,
    /// The parts that are signed, as sent.
    signed: String,
    signature: Vec<u8>,
    issuer: String,
    /// A JSON object whose members occur once.
    claims: String,
    is_proof: bool,
}

/// What the platform is asked: whether the bytes are signed so by the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureCheck {
    /// The algorithm's parameters, as JSON.
    pub parameters: &'static str,
    /// The key, as JSON (RFC 7517 §4).
    pub jwk: String,
    /// The signature.
    pub signature: Vec<u8>,
    /// What is signed.
    pub signed: String,
}

/// A secret as the platform takes it: a key (RFC 7517 §4, RFC 7518 §6.4) that no set of public keys can bring.
fn secret_jwk(secret: &str) -> String {
    ["{\"kty\":\"oct\",\"k\":\"", &base64url(secret.as_bytes()), "\"}"].concat()
}

/// A JSON object of a token, whose members occur once.
#[derive(Clone, Copy)]
struct Members<'t>(&'t str);

impl Members<'_> {
    /// Reads a part of a token, decoded.
    fn read(bytes: &[u8]) -> Option<Members<'_>> {
        let text = is_json(bytes, DEEPEST).then(|| str::from_utf8(bytes).ok()).flatten()?;
        let mut names = Vec::with_capacity(16);
        let mut tokens = Tokens::new(text);
        while let Ok(Some(token)) = tokens.next() {
            if let Token::Name(name) = token
                && tokens.depth() == 1
            {
                let name = name.decode()?;
                if names.len() == MOST_MEMBERS || names.contains(&name) {
                    return None;
                }
                names.push(name);
            }
        }
        text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{').then_some(Members(text))
    }
}

impl<'t> Members<'t> {
    /// A member as written.
    fn get(self, name: &str) -> Option<&'t str> {
        match select(self.0, &[name.to_owned()]) {
            Selected::Value(value) => Some(value),
            Selected::Nothing | Selected::Twice => None,
        }
    }

    /// A point in time in milliseconds (RFC 7519 §2, "`NumericDate`"); an error where the member is no number.
    fn time(self, name: &str) -> Result<Option<Millis>, InvalidToken> {
        self.get(name).map(|value| millis_of(value).ok_or(InvalidToken::Malformed)).transpose()
    }

    /// A text; an error where the member is none.
    fn text(self, name: &str) -> Result<Option<String>, InvalidToken> {
        self.get(name).map(|value| string_value(value).ok_or(InvalidToken::Malformed)).transpose()
    }
}

/// Seconds since 1970 as JSON writes a number, in milliseconds: before 1970 it is 0, and beyond all time the last.
fn millis_of(written: &str) -> Option<Millis> {
    if !written.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    let is_plain = written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = if is_plain { None } else { Some(NumberText::of(written)?) };
    let text = number.as_ref().map_or(Some(written), |number| str::from_utf8(number.as_bytes()).ok())?;
    if text.starts_with('-') {
        return Some(0);
    }
    if let Some((_, exponent)) = text.split_once('e') {
        return Some(if exponent.starts_with('-') { 0 } else { Millis::MAX });
    }
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let thousandths =
        fraction.bytes().chain([b'0'; 3]).take(3).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some(seconds.parse::<Millis>().unwrap_or(Millis::MAX).saturating_mul(1000).saturating_add(thousandths))
}

impl Identity {
    /// Judges a token as far as no key is needed. `now`: milliseconds since 1970.
    pub fn judge(&self, token: &str, now: Millis) -> Result<JudgedToken, InvalidToken> {
        let (signed, signature) = token.rsplit_once('.').ok_or(InvalidToken::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(InvalidToken::Malformed)?;
        let decode = |part: &str| read_base64url(part).ok_or(InvalidToken::Malformed);
        let (header, claims, signature) = (decode(header)?, decode(claims)?, decode(signature)?);
        let header = Members::read(&header).ok_or(InvalidToken::Malformed)?;
        let claims = Members::read(&claims).ok_or(InvalidToken::Malformed)?;
        let mut judged = JudgedToken {
            algorithm: None,
            kid: None,
            signed: signed.to_owned(),
            signature,
            issuer: claims.text("iss")?.unwrap_or_default(),
            claims: claims.0.to_owned(),
            is_proof: self.is_proof(),
        };
        if self.issuer.as_ref().is_some_and(|issuer| *issuer != judged.issuer) {
            return Err(InvalidToken::Issuer);
        }
        if !self.audience.is_empty() && !self.is_meant(claims) {
            return Err(InvalidToken::Audience);
        }
        if !self.is_proof() {
            return Ok(judged);
        }
        if header.get("crit").is_some() || header.get("b64").is_some() {
            return Err(InvalidToken::Critical);
        }
        judged.algorithm = header.text("alg")?.and_then(|word| Algorithm::of_word(&word));
        if !judged.algorithm.is_some_and(|algorithm| self.algorithms.contains(&algorithm)) {
            return Err(InvalidToken::Algorithm);
        }
        judged.kid = header.text("kid")?;
        let leeway = Millis::from(self.leeway) * 1000;
        if claims.time("exp")?.is_none_or(|exp| exp.saturating_add(leeway) <= now) {
            return Err(InvalidToken::Expired);
        }
        if claims.time("nbf")?.is_some_and(|nbf| nbf > now.saturating_add(leeway)) {
            return Err(InvalidToken::Early);
        }
        Ok(judged)
    }

    /// Whether a token is for one of the audiences (RFC 7519 §4.1.3).
    fn is_meant(&self, claims: Members<'_>) -> bool {
        let is_ours = |value: &str| string_value(value).is_some_and(|one| self.audience.contains(&one));
        claims.get("aud").is_some_and(|aud| match list_elements(aud) {
            Some(mut list) => list.any(is_ours),
            None => is_ours(aud),
        })
    }
}

impl JudgedToken {
    /// How the platform verifies it by a secret.
    pub fn check_by_secret(&self, secret: &str) -> Option<SignatureCheck> {
        self.check(secret_jwk(secret))
    }

    /// How the platform verifies it by each key of a set that fits it, few as they are.
    pub fn checks_by_keys(&self, keys: &KeySet) -> Vec<SignatureCheck> {
        let fitting = self.algorithm.into_iter().flat_map(|algorithm| keys.fitting(algorithm, self.kid()));
        fitting.filter_map(|jwk| self.check(jwk.to_owned())).collect()
    }

    fn check(&self, jwk: String) -> Option<SignatureCheck> {
        let parameters = self.algorithm?.parameters();
        Some(SignatureCheck { parameters, jwk, signature: self.signature.clone(), signed: self.signed.clone() })
    }

    /// The name of the key by which it is signed, where it gives one.
    pub(super) fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Whether nobody else can make it, once its signature is verified.
    pub(crate) fn is_proof(&self) -> bool {
        self.is_proof
    }

    /// The caller: issuer and claim. `claim`: decoded reference tokens of a JSON pointer. A number and a text of the same
    /// digits are two callers.
    pub(crate) fn caller(&self, claim: &[String]) -> Result<String, InvalidToken> {
        let Selected::Value(value) = select(&self.claims, claim) else {
            return Err(InvalidToken::Claim);
        };
        let compared = if value.starts_with('"') {
            string_value(value).filter(|text| !text.is_empty()).map(|text| to_json(&text))
        } else if value.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            NumberText::of(value).and_then(|number| String::from_utf8(number.as_bytes().to_vec()).ok())
        } else {
            None
        };
        Ok([&to_json(&self.issuer), " ", &compared.ok_or(InvalidToken::Claim)?].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::millis_of;

    #[test]
    fn numeric_dates() {
        let check = |written: &str, expect: Option<u64>| assert_eq!(millis_of(written), expect, "{written}");
        check("1767225600", Some(1_767_225_600_000));
        check("1767225600.5", Some(1_767_225_600_500));
        check("1767225600.0625", Some(1_767_225_600_062));
        check("1767225600.12345678901234567890", Some(1_767_225_600_123));
        check("99999999999999999999999", Some(u64::MAX));
        check("1.7672256e9", Some(1_767_225_600_000));
        check("0", Some(0));
        check("-1", Some(0));
        check("0.0000001", Some(0));
        check("1e300", Some(u64::MAX));
        check("\"1767225600\"", None);
        check("null", None);
        check("[1]", None);
    }
}
