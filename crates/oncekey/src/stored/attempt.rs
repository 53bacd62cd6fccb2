//! One attempt on the terms of its route, and the text that carries it.

use std::{error::Error, fmt, str::FromStr};

use crate::{
    content::{Content, ignore::Ignore},
    fingerprint::{Fingerprint, fingerprint},
    http::{
        fields::{Fields, SCOPED_KEY},
        percent::{decode_segment as unescape, escape},
        target::Target,
    },
    key::{age::KeyAge, caller::CallerDigest, scoped::ScopedKey, seal::SealKeys},
    policy::{Keep, NoStore, OriginKey, Policy, Queue, Route, ServerError, Unanswered},
    stored::{basis::basis_digests, storing::Storing},
};

/// One transmission of an intent, on a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Names the object, and is what the origin sees as the key.
    pub scoped_key: ScopedKey,
    /// Tells this request from another under the same key.
    pub fingerprint: Fingerprint,
    /// What the route says.
    pub terms: Terms,
    /// The header in which the origin expects the key.
    pub header: String,
    /// Who sends it, where the key does not name its object for one caller alone; empty for an anonymous caller. It is
    /// no part of the attempt's text and is stored with the claim.
    pub callers: Option<Vec<CallerDigest>>,
    /// What the fingerprint was made of. It is no part of the attempt's text either and is stored with the claim.
    pub basis: Option<Box<str>>,
    /// The time that the key tells, where the route says how old a key may be. It is no part of the attempt's text either.
    pub age: Option<KeyAge>,
    /// Under which keys its answer is sealed. They are no part of the attempt's text, and are stored nowhere.
    pub seal: SealKeys,
}

/// A route's rules, as far as the object needs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether a declined request is remembered.
    pub keep: Keep,
    /// What an ambiguous answer does.
    pub server_error: ServerError,
    /// What the lack of an answer does.
    pub unanswered: Unanswered,
    /// Seconds until the answer must begin, then the longest silence within it.
    pub lease: u32,
    /// Seconds a caller is kept waiting.
    pub patience: u32,
    /// Seconds a duplicate waits for the first.
    pub wait: u32,
    /// Seconds that a completed or unknown key is remembered.
    pub retention: u32,
    /// Bytes of content that are kept at most.
    pub max_stored: u64,
    /// What of an answer is not stored. It is no part of the attempt's text.
    pub storing: Storing,
    /// The path of the route, as the policy writes it. It is no part of the attempt's text, and is stored with the claim.
    pub route: String,
}

impl Terms {
    /// The terms of a route under its policy.
    pub fn of(policy: &Policy, route: &Route) -> Self {
        Self {
            keep: route.keep,
            server_error: route.server_error,
            unanswered: route.unanswered.clone(),
            lease: route.lease,
            patience: route.patience,
            wait: route.wait,
            retention: route.retention,
            max_stored: policy.max_stored,
            route: route.path.as_str().to_owned(),
            storing: Storing { redact: route.redact.clone(), forget: route.no_store == NoStore::Forget },
        }
    }
}

impl Terms {
    /// The terms of a queue's messages. What was declined is remembered: nobody can send it with other content.
    pub fn of_queue(policy: &Policy, queue: &Queue) -> Self {
        let route = Route::default();
        Self {
            keep: Keep::Definite,
            unanswered: queue.unanswered.clone(),
            lease: queue.lease,
            // The lease ends first, so that its end is heard.
            patience: queue.lease.saturating_add(1),
            route: queue.path.clone(),
            retention: queue.retention,
            ..Self::of(policy, &route)
        }
    }
}

impl Attempt {
    /// A POST of JSON that the gate makes itself: an effect, a message, an item.
    pub fn of_json(
        policy: &Policy,
        scoped_key: ScopedKey,
        path_and_query: &str,
        content: &[u8],
        ignore: &[Ignore],
        terms: Terms,
    ) -> Self {
        let headers = (&[][..], &Fields::default());
        Self::of_item(policy, scoped_key, path_and_query, content, (ignore, &[]), headers, terms)
    }

    /// The same of an item, whose key stands at `key_place`, and which has the headers of its batch.
    pub(crate) fn of_item(
        policy: &Policy,
        scoped_key: ScopedKey,
        path_and_query: &str,
        content: &[u8],
        (ignore, key_place): (&[Ignore], &[Ignore]),
        headers: (&[String], &Fields),
        terms: Terms,
    ) -> Self {
        let json = Some("application/json");
        let (target, field) = (Target { method: "POST", path_and_query }, &policy.field);
        let content = Content::parse(json, None, content);
        let left_out = [ignore, key_place].concat();
        let fingerprint = fingerprint(&target, json, None, &content, field, &left_out, headers);
        let basis = basis_digests(&target, json, None, &content, field, ignore, headers).into();
        Self {
            scoped_key,
            fingerprint,
            terms,
            header: policy.header.clone(),
            callers: None,
            basis: Some(basis),
            age: None,
            seal: SealKeys::default(),
        }
    }
}

impl Attempt {
    /// The lines that tell the origin the key in this form: names and values in the place of the request's. `own`: the
    /// request has a line of the client's; where it has none, the gate made it, and there is no other key.
    ///
    /// `"original"` is for origins that verify a signature over the client's line.
    pub fn key_lines(&self, form: OriginKey, own: bool) -> Vec<(&str, String)> {
        let scoped = self.scoped_key.to_header();
        match form {
            OriginKey::Scoped => vec![(&self.header, scoped)],
            OriginKey::Uuid => vec![(&self.header, self.scoped_key.to_uuid())],
            OriginKey::Original if own => vec![(SCOPED_KEY, scoped)],
            OriginKey::Original => vec![(&self.header, scoped.clone()), (SCOPED_KEY, scoped)],
        }
    }
}

/// Not what [`Attempt`]'s `Display` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidAttempt;

impl fmt::Display for InvalidAttempt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("not the text of an attempt")
    }
}

impl Error for InvalidAttempt {}

/// The text that carries an attempt to its object: printable ASCII, words parted by single spaces. It is also a part
/// of stored forms of version 1.
impl fmt::Display for Attempt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = &self.terms;
        let keep = match terms.keep {
            Keep::Success => "s",
            Keep::Definite => "d",
        };
        let server_error = match terms.server_error {
            ServerError::Release => "r",
            ServerError::Hold => "h",
            ServerError::Keep => "k",
        };
        let unanswered = match &terms.unanswered {
            Unanswered::Hold => "h".to_owned(),
            Unanswered::Rerun => "r".to_owned(),
            Unanswered::Probe(path) => ["p", &escape(path)].concat(),
        };
        write!(
            out,
            "{} {} {} {} {} {} {} {} {} {} {}",
            self.scoped_key.as_str(),
            self.fingerprint.as_str(),
            keep,
            server_error,
            unanswered,
            terms.lease,
            terms.patience,
            terms.wait,
            terms.retention,
            terms.max_stored,
            escape(&self.header),
        )
    }
}

/// Reads what `Display` wrote, and nothing else.
impl FromStr for Attempt {
    type Err = InvalidAttempt;

    fn from_str(text: &str) -> Result<Self, InvalidAttempt> {
        let mut words = text.split(' ');
        let attempt = Self::from_words(&mut words).ok_or(InvalidAttempt)?;
        // One form of one attempt: numbers could be written in more than one.
        if words.next().is_none() && attempt.to_string() == text { Ok(attempt) } else { Err(InvalidAttempt) }
    }
}

impl Attempt {
    /// Reads the words of an attempt and leaves those that follow.
    pub(crate) fn from_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        Some(Self {
            scoped_key: words.next()?.parse::<ScopedKey>().ok()?,
            fingerprint: words.next()?.parse::<Fingerprint>().ok()?,
            terms: Terms {
                keep: match words.next()? {
                    "s" => Keep::Success,
                    "d" => Keep::Definite,
                    _ => return None,
                },
                server_error: match words.next()? {
                    "r" => ServerError::Release,
                    "h" => ServerError::Hold,
                    "k" => ServerError::Keep,
                    _ => return None,
                },
                unanswered: match words.next()? {
                    "h" => Unanswered::Hold,
                    "r" => Unanswered::Rerun,
                    probe => Unanswered::Probe(unescape(probe.strip_prefix('p')?)?),
                },
                lease: words.next()?.parse().ok()?,
                patience: words.next()?.parse().ok()?,
                wait: words.next()?.parse().ok()?,
                retention: words.next()?.parse().ok()?,
                max_stored: words.next()?.parse().ok()?,
                storing: Storing::default(),
                route: String::new(),
            },
            header: unescape(words.next()?)?,
            callers: None,
            basis: None,
            age: None,
            seal: SealKeys::default(),
        })
    }
}
