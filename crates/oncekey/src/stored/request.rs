//! A request that is kept to be sent later.

use crate::http::{
    fields::{Fields, is_internal},
    lines::HeaderLines,
};

/// The head of a request; its content stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRequest {
    /// As sent.
    pub method: String,
    /// Absolute: the host is what the caller used.
    pub url: String,
    fields: Fields,
}

impl StoredRequest {
    /// Keeps a request's head, without the fields that only the gate may set and those of one connection.
    pub fn keep(method: &str, url: &str, fields: &Fields) -> Self {
        let hop = fields.hop_names();
        let mut kept = String::new();
        for (name, value) in fields.pairs().filter(|(name, _)| !is_internal(name) && !hop.contains(name)) {
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

    pub(crate) fn of_parts(method: &str, url: &str, fields: Fields) -> Option<Self> {
        if method.is_empty() || url.is_empty() {
            return None;
        }
        Some(Self { method: method.to_owned(), url: url.to_owned(), fields })
    }

    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }
}
