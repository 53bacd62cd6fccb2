//! What the gate makes of one request.

use std::fmt::{self, Display, Formatter};

use crate::{
    answer::refusal::Refusal,
    content::{Content, choose_key, coding::undo_coding, may_hold_key},
    explain::{
        canonical::{ContentPlace, PartValue},
        part::{CountedPart, PartName, canonical_form, counted_parts},
    },
    fingerprint::{Fingerprint, fingerprint},
    http::{
        fields::Fields,
        target::{Target, is_own_path, routing_path, split_url},
    },
    key::{Key, scoped::ScopedKey, scopes::CallerScopes},
    policy::{CallerParts, Mode, Policy, Route},
};

/// Parts that are listed.
const LISTED: usize = 40;

/// Bytes of a canonical form that are shown.
const SHOWN: usize = 2000;

/// A request as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentRequest<'r> {
    /// As sent.
    pub method: &'r str,
    /// Absolute.
    pub url: &'r str,
    /// Its head.
    pub fields: &'r Fields,
    /// Its content.
    pub content: &'r [u8],
}

/// What the gate does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The path is the gate's own.
    Own,
    /// No route takes it: it passes unprotected.
    Unprotected,
    /// Each item of it is sent alone, under a key of its own.
    Batch,
    /// It has no key and none is required: it passes unprotected.
    Keyless,
    /// It is refused, whatever was sent before.
    Refused(Refusal),
    /// It happens once.
    Protected,
}

/// What the gate makes of a request. Displayed, one line for each finding.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What is done with it.
    pub verdict: Verdict,
    /// The JSON pointer of the route that takes it, and the route in words.
    pub route: Option<(String, String)>,
    /// Its key.
    pub key: Option<Key>,
    /// The name of the key's object; nothing where who sends it cannot be told from its head alone.
    pub scoped_key: Option<ScopedKey>,
    /// The canonical form of its content.
    pub canonical: Vec<u8>,
    /// What makes it the same as another.
    pub fingerprint: Option<Fingerprint>,
    pub(super) scopes: Option<CallerScopes>,
    pub(super) parts: Vec<CountedPart>,
}

impl Explanation {
    fn of(verdict: Verdict) -> Explanation {
        Explanation {
            verdict,
            route: None,
            key: None,
            scoped_key: None,
            canonical: Vec::new(),
            fingerprint: None,
            scopes: None,
            parts: Vec::new(),
        }
    }
}

/// Says what the gate makes of a request, by the steps of the front: the route, the content, the key, the caller, the
/// fingerprint. A caller who is told by a token or a certificate is not: here nothing is verified.
pub fn explain_request(policy: &Policy, sent: &SentRequest<'_>) -> Explanation {
    let url = split_url(sent.url);
    let path = routing_path(url.path);
    if is_own_path(&path) {
        return Explanation::of(Verdict::Own);
    }
    let Some(route) = policy.route(sent.method, &path) else {
        return Explanation::of(Verdict::Unprotected);
    };
    let mut explained = Explanation { route: Some(route_words(policy, route)), ..Explanation::of(Verdict::Protected) };
    if matches!(route.mode, Mode::Batch { .. }) {
        explained.verdict = Verdict::Batch;
        return explained;
    }
    let (header, content_type) = (sent.fields.get(&policy.header), sent.fields.get("content-type"));
    let content_encoding = sent.fields.get("content-encoding");
    let keyless = if route.require { Verdict::Refused(Refusal::KeyMissing) } else { Verdict::Keyless };
    if header.is_none() && !may_hold_key(content_type, content_encoding) {
        explained.verdict = keyless;
        return explained;
    }
    let length = u64::try_from(sent.content.len()).unwrap_or(u64::MAX);
    if length > policy.max_content {
        let too_large = header.is_some() || route.require;
        let refusal = Verdict::Refused(Refusal::ContentTooLarge { limit: policy.max_content });
        explained.verdict = if too_large { refusal } else { Verdict::Keyless };
        return explained;
    }
    let plain = content_encoding.and_then(|coding| undo_coding(coding, sent.content, policy.max_content));
    let content = match &plain {
        Some(plain) => Content::parse_decoded(content_type, plain),
        None => Content::parse(content_type, content_encoding, sent.content),
    };
    let headers = (&*route.headers, sent.fields);
    let target = Target { method: sent.method, path_and_query: url.path_and_query };
    explained.canonical = canonical_form(&content, &policy.field, &route.ignore);
    let described = (content_type, content_encoding);
    explained.parts = counted_parts((sent.method, &url), described, headers, &explained.canonical);
    explained.fingerprint =
        Some(fingerprint(&target, content_type, content_encoding, &content, &policy.field, &route.ignore, headers));
    let key = choose_key(header, &content, &policy.field).and_then(|key| {
        key.as_ref().map_or(Ok(None), |key| route.age_of(key))?;
        Ok(key)
    });
    match key {
        Err(why) => explained.verdict = Verdict::Refused(Refusal::KeyInvalid(why)),
        Ok(None) => explained.verdict = keyless,
        Ok(Some(key)) => {
            tell_caller(policy, sent, &key, &mut explained);
            explained.key = Some(key);
        }
    }
    explained
}

/// Whose key it is, where the head alone tells.
fn tell_caller(policy: &Policy, sent: &SentRequest<'_>, key: &Key, explained: &mut Explanation) {
    let url = split_url(sent.url);
    let parts = CallerParts { url: &url, fields: sent.fields, certificate: None };
    if policy.asks_certificate() || !policy.identities_of(parts).is_empty() {
        return;
    }
    match policy.caller_scopes(parts, &[]) {
        Err(why) => explained.verdict = Verdict::Refused(why.into()),
        Ok(scopes) => {
            match ScopedKey::derive(&scopes.now, key) {
                Err(why) => explained.verdict = Verdict::Refused(Refusal::KeyInvalid(why)),
                Ok(scoped_key) => explained.scoped_key = Some(scoped_key),
            }
            explained.scopes = Some(scopes);
        }
    }
}

fn route_words(policy: &Policy, route: &Route) -> (String, String) {
    let number = policy.routes.iter().position(|known| std::ptr::eq(known, route)).unwrap_or_default();
    (format!("/routes/{number}"), format!("{} {}", route.methods.join(", "), route.path.as_str()))
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Own => f.write_str("the path is the gate's own: it answers by itself"),
            Verdict::Unprotected => f.write_str("no route has this method and path: it passes unprotected"),
            Verdict::Batch => f.write_str("a batch: each of its items is sent alone, under a key of its own"),
            Verdict::Keyless => f.write_str("it has no key, and none is required: it passes unprotected"),
            Verdict::Refused(refusal) => write!(f, "{} {}: {refusal}", refusal.status(), refusal.code()),
            Verdict::Protected => f.write_str("it happens once"),
        }
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((pointer, words)) = &self.route {
            writeln!(f, "route        {pointer}: {words}")?;
        }
        if let Some(key) = &self.key {
            let kind = if key.is_random() { "a random UUID" } else { "a natural key" };
            writeln!(f, "key          {}, {kind}", key.as_str())?;
            match (&self.scoped_key, &self.verdict) {
                (Some(scoped_key), _) => writeln!(f, "scoped key   {scoped_key}")?,
                (None, Verdict::Refused(_)) => {}
                (None, _) => {
                    writeln!(f, "scoped key   not known here: the caller is told by what is not verified here")?;
                }
            }
        }
        writeln!(f, "verdict      {}", self.verdict)?;
        for (number, part) in self.parts.iter().take(LISTED).enumerate() {
            let label = if number == 0 { "counts" } else { "" };
            writeln!(f, "{label:<12} {part}")?;
        }
        if self.parts.len() > LISTED {
            writeln!(f, "             and {} parts more", self.parts.len() - LISTED)?;
        }
        if let Some(fingerprint) = &self.fingerprint {
            writeln!(f, "canonical    {}", shown_form(&self.canonical))?;
            writeln!(f, "fingerprint  {fingerprint}")?;
        }
        Ok(())
    }
}

impl Display for CountedPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.value) {
            (PartName::Content(ContentPlace::Whole), PartValue::Bytes(bytes)) => {
                write!(f, "{}: {} bytes", self.name, bytes.len())
            }
            (name, value) => write!(f, "{name}: {value}"),
        }
    }
}

/// A canonical form with the letters that say which it is; what is no text is escaped.
fn shown_form(form: &[u8]) -> String {
    let shown = form.get(..SHOWN).unwrap_or(form);
    let text = match str::from_utf8(shown) {
        Ok(text) if !text.contains(char::is_control) => text.to_owned(),
        Ok(_) | Err(_) => shown.escape_ascii().to_string(),
    };
    if shown.len() < form.len() { format!("{text}… ({} bytes)", form.len()) } else { text }
}
