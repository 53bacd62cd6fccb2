//! The fingerprint: a versioned digest of what makes two requests the same.

use std::{error::Error, fmt, str::FromStr};

use crate::{
    content::{Content, ignore::Ignore},
    digest::{LengthPrefixedDigest, is_digest},
    http::{fields::Fields, media::media_type, target::Target},
};

/// Version of what is digested, and how. A change of either is a new version.
const VERSION: &str = "1.";

/// Digest of target, media type, coding and canonical content. Made by the gate, never sent by a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The version, a full stop, and the digest in base64url: 45 ASCII characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads what [`Fingerprint::as_str`] gave.
impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Fingerprint, InvalidFingerprint> {
        let is_fingerprint = text.strip_prefix(VERSION).is_some_and(is_digest);
        is_fingerprint.then(|| Fingerprint(text.to_owned())).ok_or(InvalidFingerprint)
    }
}

/// The text is no fingerprint of the version that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidFingerprint;

impl fmt::Display for InvalidFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a fingerprint of this version")
    }
}

impl Error for InvalidFingerprint {}

/// Digests a request. Two requests under one scoped key are the same exactly if their fingerprints are equal.
///
/// The media type counts in lower case without its parameters, the codings in lower case. A missing field differs from
/// an empty one. `field` and `ignore` are as in [`Content::write_canonical`]. Of `headers`, names and fields, those count
/// that the request has: they say what is to be done, as a method override does.
///
/// ```
/// use oncekey::{content::{Content, ignore::Ignore}, fingerprint::{Fingerprint, fingerprint}};
/// use oncekey::http::{fields::Fields, target::Target};
///
/// let ignore = [Ignore::parse("/sent_at").ok_or("no pointer")?];
/// let of = |text: &str| {
///     let json = Some("application/json");
///     let target = Target { method: "POST", path_and_query: "/orders" };
///     let fields = Fields::default();
///     fingerprint(&target, json, None, &Content::parse(json, None, text.as_bytes()), "key", &ignore, (&[], &fields))
/// };
/// let first = of(r#"{"amount": 10.0, "sent_at": 1, "key": "k"}"#);
/// assert_eq!(of(r#"{"sent_at": 2, "amount": 1e1}"#), first);
/// assert_ne!(of(r#"{"amount": 11}"#), first);
/// assert_eq!(first.to_string().parse::<Fingerprint>(), Ok(first));
/// # Ok::<(), &str>(())
/// ```
pub fn fingerprint(
    target: &Target,
    content_type: Option<&str>,
    content_encoding: Option<&str>,
    content: &Content,
    field: &str,
    ignore: &[Ignore],
    headers: (&[String], &Fields),
) -> Fingerprint {
    let mut digest = LengthPrefixedDigest::new("oncekey fingerprint 1");
    write_target(target, content_type, content_encoding, &mut digest);
    write_headers(headers, &mut digest);
    // Last, since its length is not known before it has been written.
    content.write_canonical(field, ignore, &mut |bytes| digest.add_raw(bytes));
    Fingerprint([VERSION, &digest.finish()].concat())
}

/// What counts under every policy, but for the content.
pub(crate) fn write_target(
    target: &Target,
    content_type: Option<&str>,
    content_encoding: Option<&str>,
    digest: &mut LengthPrefixedDigest,
) {
    digest.add_part(target.method.as_bytes());
    digest.add_part(target.path_and_query.as_bytes());
    digest.add_optional(content_type.map(media_type).as_deref().map(str::as_bytes));
    digest.add_optional(content_encoding.map(compared_codings).as_deref().map(str::as_bytes));
}

/// Content codings as they are compared.
#[inline]
pub(crate) fn compared_codings(content_encoding: &str) -> String {
    content_encoding.trim_matches([' ', '\t']).to_ascii_lowercase()
}

/// Begins with a byte that no canonical form begins with, so that content cannot be taken for a header. The order of
/// the names does not count.
pub(crate) fn write_headers(headers: (&[String], &Fields), digest: &mut LengthPrefixedDigest) {
    for (name, value) in counted_headers(headers) {
        digest.add_raw(b"h");
        digest.add_part(name.as_bytes());
        digest.add_part(value.as_bytes());
    }
}

/// The header fields that count and that the request has, by their names in lower case.
#[inline]
pub(crate) fn counted_headers<'f>((names, fields): (&[String], &'f Fields)) -> Vec<(String, &'f str)> {
    let mut present: Vec<(String, &str)> = names
        .iter()
        .map(|name| name.to_ascii_lowercase())
        .filter_map(|name| fields.get(&name).map(|value| (name, value)))
        .collect();
    present.sort_unstable();
    present.dedup();
    present
}
