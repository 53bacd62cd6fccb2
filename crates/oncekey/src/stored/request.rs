//! A request that is kept to be sent later, and its stored form. A golden file pins every version ever written.

use crate::http::{
    fields::{Fields, is_internal},
    lines::HeaderLines,
};

/// The version that [`Held::encode`] writes, the first line of the stored form.
pub const VERSION: &str = "1";

/// The head of a request; its content stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// As sent.
    pub method: String,
    /// Absolute: the host is what the caller used.
    pub url: String,
    fields: Fields,
}

impl Held {
    /// Keeps a request's head, without the fields that only the gate may set.
    pub fn keep(method: &str, url: &str, fields: &Fields) -> Self {
        let mut kept = String::new();
        for (name, value) in fields.pairs().filter(|(name, _)| !is_internal(name)) {
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(name);
            kept.push(',');
            kept.push_str(value);
        }
        Self { method: method.to_owned(), url: url.to_owned(), fields: Fields::new(kept) }
    }

    /// A POST of JSON that no client sent.
    pub fn json(url: &str) -> Self {
        let fields = Fields::new("content-type,application/json".to_owned());
        Self { method: "POST".to_owned(), url: url.to_owned(), fields }
    }

    /// The same with further fields.
    #[must_use]
    pub fn with(self, fields: &Fields) -> Self {
        let kept = Self::keep(&self.method, &self.url, fields);
        let more = [self.fields.as_text(), "\n", kept.fields.as_text()].concat();
        Self { fields: Fields::new(more), ..self }
    }

    /// The header lines.
    pub fn lines(&self) -> HeaderLines {
        let mut lines = HeaderLines::default();
        for (name, value) in self.fields.pairs() {
            lines.push(name, value);
        }
        lines
    }

    /// The stored form: version, method, URL and each `name,value` in a line of its own. None of them holds a line
    /// feed (RFC 9110 §5.5, §9.1; RFC 3986 §2).
    pub fn encode(&self) -> String {
        [VERSION, "\n", &self.method, "\n", &self.url, "\n", self.fields.as_text()].concat()
    }

    /// Reads any version ever written; `None` for a text that is none of them.
    pub fn decode(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '\n');
        if parts.next()? != VERSION {
            return None;
        }
        let (method, url, fields) = (parts.next()?, parts.next()?, parts.next()?);
        if method.is_empty() || url.is_empty() {
            return None;
        }
        Some(Self { method: method.to_owned(), url: url.to_owned(), fields: Fields::new(fields.to_owned()) })
    }
}
