//! What the gate says itself where nothing is refused: accepted requests.

use crate::{
    canonical::json::quote,
    key::ScopedKey,
    reply::{Lines, STATUS, Said, Word},
};

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
