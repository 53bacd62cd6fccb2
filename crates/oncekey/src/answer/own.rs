//! What the gate says itself where nothing is refused.

use serde::Serialize;

use crate::{
    answer::{
        peek::{KeyLook, PeekState},
        word::StatusWord,
    },
    http::{
        date,
        fields::{EXPOSED, STATUS},
        lines::HeaderLines,
        negotiate::Audience,
    },
    json::write::{RawJson, to_json},
    key::scoped::ScopedKey,
};

/// An answer of the gate's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateAnswer {
    /// HTTP status.
    pub status: u16,
    /// Header lines.
    pub lines: HeaderLines,
    /// Content.
    pub content: String,
}

impl GateAnswer {
    /// The same, which a page of the audience's web origin may read, with what it says of itself.
    #[must_use]
    pub fn opened_to(mut self, audience: &Audience) -> Self {
        open_lines(&mut self.lines, audience);
        self
    }

    /// 204 to the preflight of a page that may ask what became of a key: with those of its headers that it `wants`,
    /// since they may say who the caller is (Fetch §4.8, "CORS-preflight fetch").
    pub fn preflight(audience: &Audience, wants: &str) -> Self {
        let mut lines = HeaderLines::default();
        lines.push("access-control-allow-methods", "GET, HEAD");
        if !wants.is_empty() {
            lines.push("access-control-allow-headers", wants);
        }
        lines.push("cache-control", "no-store");
        Self { status: 204, lines, content: String::new() }.opened_to(audience)
    }

    /// JSON that must not be cached.
    pub fn json(content: String) -> Self {
        let mut lines = HeaderLines::default();
        lines.push("content-type", "application/json");
        lines.push("cache-control", "no-store");
        Self { status: 200, lines, content }
    }

    /// Whether requests can be protected: 200 `{"healthy":true}`, or 503 `{"healthy":false}`.
    pub fn health(is_healthy: bool) -> Self {
        let content = to_json(&HealthJson { healthy: is_healthy });
        Self { status: if is_healthy { 200 } else { 503 }, ..Self::json(content) }
    }

    /// What a peek says to another caller than the one whose key it is: `{"state":…}`.
    pub fn peek_of_other(peek: PeekState) -> Self {
        Self::json(to_json(&PeekJson { status: None, expires: None, ..PeekJson::of(peek) }))
    }

    /// What the operator is told: as a peek, and `"cause"`, `"since"`, `"generation"`, `"tries"`, `"route"`.
    pub fn look(look: &KeyLook) -> Self {
        let peek = PeekJson::of(look.state);
        let (since, route) = (look.since.map(date::rfc3339), &look.route);
        let KeyLook { cause, generation, tries, .. } = look;
        Self::json(to_json(&LookJson { peek, cause: *cause, since, generation: *generation, tries: *tries, route }))
    }

    /// What is told of an open fate: `{"key":…,"state":…,"since":…,"route":…,"status":…}`.
    pub fn telling(key: &ScopedKey, look: &KeyLook) -> String {
        let PeekJson { state, status, .. } = PeekJson::of(look.state);
        let since = look.since.map(date::rfc3339);
        to_json(&TellingJson { key: key.as_str(), state, since, route: &look.route, status })
    }

    /// A page of the operator's list: `{"items":[{"key":…, what a look says …}],"unlisted":…,"cursor":…}`. `items`: keys
    /// and what is known of them, each an object of JSON already; `cursor`: where the next page begins, if there is one.
    pub fn open_fates(items: &[(ScopedKey, String)], unlisted: u32, cursor: Option<&str>) -> Self {
        let mut content = "{\"items\":[".to_owned();
        for (at, (key, known)) in items.iter().enumerate() {
            // The members of a look follow the key. Neither it nor a cursor has a character that JSON escapes.
            let before = if at == 0 { "{\"key\":\"" } else { ",{\"key\":\"" };
            content.extend([before, key.as_str(), "\",", known.strip_prefix('{').unwrap_or("}")]);
        }
        content.extend(["],\"unlisted\":", &unlisted.to_string(), ",\"cursor\":"]);
        match cursor {
            Some(cursor) => content.extend(["\"", cursor, "\"}"]),
            None => content.push_str("null}"),
        }
        Self::json(content)
    }

    /// What a peek says: `{"state":…,"status":…,"expires":…}`.
    pub fn peek(peek: PeekState) -> Self {
        Self::json(to_json(&PeekJson::of(peek)))
    }
}

impl GateAnswer {
    /// The policy document, which every page may read and caches may keep for a minute.
    pub fn policy(content: String) -> Self {
        let mut lines = HeaderLines::default();
        lines.push("content-type", "application/json");
        lines.push("cache-control", "public, max-age=60");
        lines.push("access-control-allow-origin", "*");
        Self { status: 200, lines, content }
    }
}

impl GateAnswer {
    /// 200 `{"state":…,"won":…}`.
    pub fn transition(state: &str, won: bool) -> Self {
        Self::json(to_json(&TransitionJson { state, won }))
    }

    /// 200 `{"state":…,"version":…,"history":[{"transition":…,"time":…,"by":…,"effect":…,"status":…}]}`; `history`: its
    /// entries as they are told, each JSON already.
    pub fn entity(state: &str, version: u32, history: &[String]) -> Self {
        let history = history.iter().map(|entry| RawJson(entry)).collect();
        Self::json(to_json(&EntityJson { state, version, history }))
    }
}

impl GateAnswer {
    /// 202 `{"status":"queued","id":…}`: the request is kept and will be delivered.
    pub fn queued(key: &ScopedKey) -> Self {
        accepted_answer("queued", key, StatusWord::Accepted)
    }

    /// 202 `{"status":"duplicate_ignored","id":…}`: the request was accepted before.
    pub fn duplicate(key: &ScopedKey) -> Self {
        accepted_answer("duplicate_ignored", key, StatusWord::Replayed)
    }
}

/// Lets a page of the audience's web origin read an answer, where there is one.
pub(crate) fn open_lines(lines: &mut HeaderLines, audience: &Audience) {
    if let Some(origin) = &audience.allow_origin {
        lines.push("access-control-allow-origin", origin);
        lines.push("access-control-allow-credentials", "true");
        lines.push("access-control-expose-headers", EXPOSED);
        lines.push("vary", "Origin");
    }
}

fn accepted_answer(status: &str, key: &ScopedKey, word: StatusWord) -> GateAnswer {
    let mut lines = HeaderLines::default();
    lines.push("content-type", "application/json");
    lines.push("cache-control", "no-store");
    lines.push(STATUS, word.as_str());
    let content = to_json(&AcceptedJson { status, id: key.as_str() });
    GateAnswer { status: 202, lines, content }
}

#[derive(Serialize)]
struct PeekJson {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

impl PeekJson {
    fn of(peek: PeekState) -> Self {
        let (state, status, expires) = match peek {
            PeekState::Absent => ("absent", None, None),
            PeekState::Expired => ("expired", None, None),
            PeekState::Running => ("running", None, None),
            PeekState::Completed { status, expires } => ("completed", Some(status), Some(expires)),
            PeekState::Dead { status, expires } => ("dead", status, Some(expires)),
            PeekState::Unknown { status, expires } => ("unknown", status, expires),
        };
        Self { state, status, expires: expires.map(date::rfc3339) }
    }
}

#[derive(Serialize)]
struct LookJson<'a> {
    #[serde(flatten)]
    peek: PeekJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    generation: u32,
    tries: u32,
    route: &'a str,
}

#[derive(Serialize)]
struct TellingJson<'a> {
    key: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    route: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

#[derive(Serialize)]
struct HealthJson {
    healthy: bool,
}

#[derive(Serialize)]
struct TransitionJson<'a> {
    state: &'a str,
    won: bool,
}

#[derive(Serialize)]
struct EntityJson<'a> {
    state: &'a str,
    version: u32,
    history: Vec<RawJson<'a>>,
}

#[derive(Serialize)]
struct AcceptedJson<'a> {
    status: &'a str,
    id: &'a str,
}
