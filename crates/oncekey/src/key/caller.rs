//! Who is calling: in which form what identifies a caller is compared, and the digests by which it is known again.
//!
//! | attribute | form |
//! |---|---|
//! | `Authorization` of a scheme that is made anew for each request | scheme and what stays; it proves nothing |
//! | any other `Authorization` | the scheme without regard to case (RFC 9110 §11.1), the rest byte for byte |
//! | a claim of a token | its issuer and the claim, as JSON, wherever the token is |
//! | the client's certificate | its fingerprint, in small letters |
//! | any other | byte for byte |
//!
//! | scheme | what stays | source |
//! |---|---|---|
//! | `AWS4-…` | access key id | AWS Signature Version 4: `Credential=ID/date/…` |
//! | `Digest` | username | RFC 7616 §3.4 |
//! | `OAuth` | consumer key and token | RFC 5849 §3.1 |
//! | `Hawk` | id | hapi's Hawk |
//! | `Signature` | keyId | draft-cavage-http-signatures §2.1 |
//!
//! Without its signature what stays can be written by anybody, so it proves nothing: it tells callers of one random UUID
//! apart, and names no space of its own. Where nothing stays the request has no such attribute.

use std::{error::Error, fmt, str::FromStr};

use crate::{
    digest::{LengthPrefixedDigest, from_hex, to_hex},
    http::token::is_token,
    identity::InvalidToken,
    key::Key,
};

/// The attribute whose schemes are looked at, as the policy writes it.
const AUTHORIZATION: &str = "header:authorization";

/// Stands in a text for bytes that are no UTF-8: what the platform cannot give exactly.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Bytes of a [`CallerDigest`]: nobody finds a second value for one by trying.
const DIGEST_LENGTH: usize = 16;

/// One attribute of a caller in the form in which it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallerAttribute {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether nobody else can send the value.
    pub(super) is_proof: bool,
}

impl CallerAttribute {
    /// The attribute of a request; nothing where the value identifies nobody.
    pub(super) fn of(name: &str, value: &str) -> Option<CallerAttribute> {
        let value = value.trim_matches([' ', '\t']);
        if value.is_empty() {
            return None;
        }
        let attribute = |value: String, is_proof| CallerAttribute { name: name.to_owned(), value, is_proof };
        let Some((scheme, rest)) =
            value.split_once(' ').filter(|(scheme, _)| name == AUTHORIZATION && is_token(scheme))
        else {
            return Some(attribute(value.to_owned(), true));
        };
        let rest = rest.trim_start_matches(' ');
        let scheme = scheme.to_ascii_lowercase();
        let parameter = |name: &str| parameter(rest, name);
        let stays = match scheme.as_str() {
            "digest" => parameter("username").or_else(|| parameter("username*")),
            "oauth" => parameter("oauth_consumer_key")
                .map(|consumer| [consumer.as_str(), "\n", &parameter("oauth_token").unwrap_or_default()].concat()),
            "hawk" => parameter("id"),
            "signature" => parameter("keyid"),
            scheme if scheme.starts_with("aws4-") => {
                parameter("credential").map(|all| all.split('/').next().unwrap_or_default().to_owned())
            }
            _ => return Some(attribute([&with_capital(&scheme), " ", rest].concat(), true)),
        };
        stays.filter(|stays| !stays.is_empty()).map(|stays| attribute([&scheme, " ", &stays].concat(), false))
    }

    /// What it is known again by under a key of a host: another under each key, so that what is stored does not tell
    /// what a caller has sent.
    pub(super) fn digest(&self, host: &str, key: &Key) -> CallerDigest {
        let mut digest = LengthPrefixedDigest::new("oncekey caller 1");
        for part in [host, key.as_str(), &self.name, &self.value] {
            digest.add_part(part.as_bytes());
        }
        CallerDigest(digest.finish_bytes().into_iter().take(DIGEST_LENGTH).collect())
    }
}

/// A scheme as it is mostly written, which is how it was compared before case was left out of account.
fn with_capital(scheme: &str) -> String {
    let (first, rest) = scheme.split_at_checked(1).unwrap_or(("", scheme));
    [&first.to_ascii_uppercase(), rest].concat()
}

/// The value of a parameter (RFC 9110 §11.2): a token or a quoted string. `name` in lower case.
fn parameter(parameters: &str, name: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        let (known, after) = rest.split_once('=')?;
        let (value, after) = parameter_value(after.trim_start_matches([' ', '\t']));
        if known.trim_matches([' ', '\t', ',']).eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
}

/// A parameter's value, and what follows it.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_once(',').unwrap_or((text, ""));
        return (value.trim_matches([' ', '\t']).to_owned(), rest);
    };
    let mut value = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next()),
            letter => value.push(letter),
        }
    }
    (value, letters.as_str())
}

/// A host as it is compared: without regard to case (RFC 9110 §4.2.3), without the default port of its scheme (§4.2.1,
/// §4.2.2) and without the dot of a fully qualified name (RFC 3986 §3.2.2).
///
/// ```
/// use oncekey::key::caller::compared_host;
///
/// assert_eq!(compared_host("http", "Shop.Example.:80"), "shop.example");
/// assert_eq!(compared_host("https", "shop.example:80"), "shop.example:80");
/// ```
pub fn compared_host(scheme: &str, host: &str) -> String {
    let host = host.to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':') {
        // The colons of an IPv6 address stand within brackets.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host.as_str(), ""),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    let usual = match scheme {
        "http" => "80",
        "https" => "443",
        _ => "",
    };
    if port.is_empty() || port == usual { name.to_owned() } else { [name, ":", port].concat() }
}

/// Whether a value identifies a caller as this attribute.
pub(crate) fn is_attribute(name: &str, value: &str) -> bool {
    CallerAttribute::of(name, value).is_some()
}

/// The fingerprint of a client's certificate in the form in which it is compared, where the platform says that it is
/// verified.
///
/// ```
/// use oncekey::key::caller::verified_certificate;
///
/// assert_eq!(verified_certificate("SUCCESS", "0AFF").as_deref(), Some("0aff"));
/// assert_eq!(verified_certificate("FAILED:self signed certificate", "0AFF"), None);
/// ```
pub fn verified_certificate(verified: &str, fingerprint: &str) -> Option<String> {
    (verified == "SUCCESS" && !fingerprint.is_empty()).then(|| fingerprint.to_ascii_lowercase())
}

/// A value of the scope as the platform gives it, where that is exactly what was sent.
///
/// ```
/// use oncekey::key::caller::{InvalidCaller, exact_value};
///
/// assert_eq!(exact_value("Bearer of-ann"), Ok("Bearer of-ann"));
/// assert_eq!(exact_value("Ren\u{fffd}"), Err(InvalidCaller::Inexact));
/// ```
pub fn exact_value(value: &str) -> Result<&str, InvalidCaller> {
    if value.contains(REPLACEMENT) { Err(InvalidCaller::Inexact) } else { Ok(value) }
}

/// A short digest of one attribute of a caller, under one key.
///
/// ```
/// use oncekey::key::caller::CallerDigest;
///
/// let digest: CallerDigest = "0aff".parse()?;
/// assert_eq!(digest, CallerDigest(vec![10, 255]));
/// assert_eq!(digest.to_string(), "0aff");
/// # Ok::<(), oncekey::key::caller::InvalidDigest>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerDigest(pub Vec<u8>);

/// In hexadecimal digits.
impl fmt::Display for CallerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl FromStr for CallerDigest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<CallerDigest, InvalidDigest> {
        from_hex(text).filter(|bytes| !bytes.is_empty()).map(CallerDigest).ok_or(InvalidDigest)
    }
}

/// A text that is no [`CallerDigest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidDigest;

impl fmt::Display for InvalidDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a digest: pairs of hexadecimal digits")
    }
}

impl Error for InvalidDigest {}

/// Why a caller is refused. Nothing of the request is repeated in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidCaller {
    /// Bytes that are not UTF-8: two values that differ there look the same.
    Inexact,
    /// Nothing identifies the caller, and the policy wants that.
    Anonymous,
    /// A token that does not verify.
    Token(InvalidToken),
}

impl From<InvalidToken> for InvalidCaller {
    fn from(why: InvalidToken) -> InvalidCaller {
        InvalidCaller::Token(why)
    }
}

/// What is wrong, as a sentence for the `detail` of a problem (RFC 9457 §3.1.4).
impl fmt::Display for InvalidCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidCaller::Inexact => {
                f.write_str("A header or cookie that tells callers apart holds bytes that are not UTF-8.")
            }
            InvalidCaller::Anonymous => f.write_str("A key is taken only from a caller with credentials."),
            InvalidCaller::Token(why) => why.fmt(f),
        }
    }
}

impl Error for InvalidCaller {}

#[cfg(test)]
mod tests {
    use super::{AUTHORIZATION, CallerAttribute, compared_host};

    fn check(value: &str, expect: Option<(&str, bool)>) {
        let found = CallerAttribute::of(AUTHORIZATION, value);
        assert_eq!(found.as_ref().map(|found| (found.value.as_str(), found.is_proof)), expect, "{value}");
    }

    #[test]
    fn schemes() {
        check("Bearer tOken", Some(("Bearer tOken", true)));
        check("bearer  tOken", Some(("Bearer tOken", true)));
        check("BEARER tOken ", Some(("Bearer tOken", true)));
        check("bASIC YTpi", Some(("Basic YTpi", true)));
        check("tOken", Some(("tOken", true)));
        check("(a) b", Some(("(a) b", true)));
        check(" ", None);
    }

    #[test]
    fn what_stays_of_what_is_made_anew() {
        check(
            "AWS4-HMAC-SHA256 Credential=AKID/2026/x/y, SignedHeaders=host, Signature=f",
            Some(("aws4-hmac-sha256 AKID", false)),
        );
        check(
            "aws4-hmac-sha256 SignedHeaders=host,Signature=f,credential=AKID/2026",
            Some(("aws4-hmac-sha256 AKID", false)),
        );
        check(
            "AWS4-ECDSA-P256-SHA256 Credential=AKID/2026/y, Signature=f",
            Some(("aws4-ecdsa-p256-sha256 AKID", false)),
        );
        check("Digest username=\"a, \\\"b=\", realm=\"username=x\", nc=1", Some(("digest a, \"b=", false)));
        check("digest realm=\"r, username=x\" , username = ann", Some(("digest ann", false)));
        check("Digest username*=UTF-8''J%C3%A4s, realm=r", Some(("digest UTF-8''J%C3%A4s", false)));
        check("OAuth realm=\"r\", oauth_consumer_key=\"ck\", oauth_token=\"tk\"", Some(("oauth ck\ntk", false)));
        check("OAuth oauth_consumer_key=\"ck\", oauth_nonce=\"1\"", Some(("oauth ck\n", false)));
        check("Hawk id=\"h\", ts=\"1\", mac=\"a=\"", Some(("hawk h", false)));
        check("SIGNATURE headers=\"a b\",KeyId=\"k\",signature=\"a==\"", Some(("signature k", false)));
        check("Digest realm=\"r\"", None);
        check("Signature keyId=\"\"", None);
        check("Hawk x", None);
        check("OAuth oauth_token=\"tk\"", None);
        check("Digest username=\"ann", Some(("digest ann", false)));
    }

    #[test]
    fn other_attributes_stay_as_they_are() {
        let found = CallerAttribute::of("header:x-user", "Digest username=\"a\"");
        assert_eq!(found.map(|found| (found.value, found.is_proof)), Some(("Digest username=\"a\"".to_owned(), true)));
    }

    #[test]
    fn hosts() {
        let check = |scheme: &str, host: &str, expect: &str| {
            assert_eq!(compared_host(scheme, host), expect, "{scheme} {host}");
        };
        check("http", "A.Example:80", "a.example");
        check("http", "a.example.", "a.example");
        check("http", "a.example.:8080", "a.example:8080");
        check("https", "a.example:443", "a.example");
        check("https", "a.example:80", "a.example:80");
        check("http", "a.example:", "a.example");
        check("http", "[::1]:80", "[::1]");
        check("http", "[::80]", "[::80]");
        check("", "a.example:80", "a.example:80");
        check("", "", "");
    }
}
