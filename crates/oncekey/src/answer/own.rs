//! What the gate says itself where nothing is refused.

use std::fmt::Write;

use crate::{
    answer::{peek::Peek, word::Word},
    http::{date, fields::STATUS, lines::Lines},
    json::write::quote,
    key::scoped::ScopedKey,
};

/// An answer of the gate's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// HTTP status.
    pub status: u16,
    /// Header lines.
    pub lines: Lines,
    /// Content.
    pub content: String,
}

impl Said {
    /// JSON that must not be cached.
    pub fn json(content: String) -> Self {
        let mut lines = Lines::default();
        lines.push("content-type", "application/json");
        lines.push("cache-control", "no-store");
        Self { status: 200, lines, content }
    }

    /// What a peek says: `{"state":…,"status":…,"expires":…}`.
    pub fn peek(peek: Peek) -> Self {
        let (state, status, expires) = match peek {
            Peek::Absent => ("absent", None, None),
            Peek::Running => ("running", None, None),
            Peek::Completed { status, expires } => ("completed", Some(status), Some(expires)),
            Peek::Unknown { expires } => ("unknown", None, Some(expires)),
        };
        let mut out = format!("{{\"state\":\"{state}\"");
        if let Some(status) = status {
            let _ = write!(out, ",\"status\":{status}");
        }
        if let Some(at) = expires {
            let _ = write!(out, ",\"expires\":\"{}\"", date::rfc3339(at));
        }
        out.push('}');
        Self::json(out)
    }
}

impl Said {
    /// The policy document, which every page may read and caches may keep for a minute.
    pub fn published(content: String) -> Self {
        let mut lines = Lines::default();
        lines.push("content-type", "application/json");
        lines.push("cache-control", "public, max-age=60");
        lines.push("access-control-allow-origin", "*");
        Self { status: 200, lines, content }
    }
}

impl Said {
    /// 200 `{"state":…,"won":…}`.
    pub fn moved(state: &str, won: bool) -> Self {
        let mut content = String::from("{\"state\":");
        quote(state, &mut content);
        content.push_str(if won { ",\"won\":true}" } else { ",\"won\":false}" });
        Self::json(content)
    }

    /// 200 `{"state":…,"version":…,"history":[{"transition":…,"time":…,"by":…}]}`; `history`: its entries, parted by
    /// commas.
    pub fn entity(state: &str, version: u32, history: &str) -> Self {
        let mut content = String::from("{\"state\":");
        quote(state, &mut content);
        for part in [",\"version\":", &version.to_string(), ",\"history\":[", history, "]}"] {
            content.push_str(part);
        }
        Self::json(content)
    }
}

impl Said {
    /// 202 `{"status":"queued","id":…}`: the request is kept and will be delivered.
    pub fn queued(key: &ScopedKey) -> Self {
        accepted("queued", key, Word::Accepted)
    }

    /// 202 `{"status":"duplicate_ignored","id":…}`: the request was accepted before.
    pub fn duplicate(key: &ScopedKey) -> Self {
        accepted("duplicate_ignored", key, Word::Replayed)
    }
}

fn accepted(status: &str, key: &ScopedKey, word: Word) -> Said {
    let mut lines = Lines::default();
    lines.push("content-type", "application/json");
    lines.push("cache-control", "no-store");
    lines.push(STATUS, word.as_str());
    let mut content = String::from("{\"status\":");
    quote(status, &mut content);
    content.push_str(",\"id\":");
    quote(key.as_str(), &mut content);
    content.push('}');
    Said { status: 202, lines, content }
}
