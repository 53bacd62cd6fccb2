//! Lines for the operator's log: one JSON text each, with its time. Nothing of a request stands in one but its method: no
//! key of the client's, no credentials, no cookie, no path but the route's own, no content, no address.

use serde::Serialize;

use crate::{
    answer::word::StatusWord,
    http::date::{Millis, rfc3339},
    json::write::to_json,
    key::scoped::ScopedKey,
};

/// Characters of a scoped key that tell one line from another where nobody has to look for the key.
const SHORT: usize = 8;

/// What became of a key that a person has to look at, with all of the scoped key, where it is known: it is how the
/// operator asks for more.
///
/// ```
/// use oncekey::answer::log::log_line;
///
/// let key = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse()?;
/// let line = log_line("dead", 1_000, Some(&key), Some(404));
/// let head = r#"{"oncekey":"dead","time":"1970-01-01T00:00:01Z""#;
/// assert_eq!(line, format!(r#"{head},"key":"37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY","status":404}}"#));
/// # Ok::<(), oncekey::key::scoped::InvalidScopedKey>(())
/// ```
pub fn log_line(what: &str, now: Millis, key: Option<&ScopedKey>, status: Option<u16>) -> String {
    line(what, now, key, status, None)
}

/// What is wrong with the gate itself, in the words of its refusal.
///
/// ```
/// use oncekey::answer::log::fault_line;
///
/// let line = fault_line("policy_invalid", 0, "/log: expected a number");
/// let head = r#"{"oncekey":"policy_invalid","time":"1970-01-01T00:00:00Z""#;
/// assert_eq!(line, format!(r#"{head},"detail":"/log: expected a number"}}"#));
/// ```
pub fn fault_line(what: &str, now: Millis, detail: &str) -> String {
    line(what, now, None, None, Some(detail))
}

fn line(what: &str, now: Millis, key: Option<&ScopedKey>, status: Option<u16>, detail: Option<&str>) -> String {
    to_json(&LogLine { oncekey: what, time: rfc3339(now), key: key.map(ScopedKey::as_str), status, detail })
}

/// An attempt with a key that was answered.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredAttempt<'a> {
    /// The path of its route.
    pub route: &'a str,
    /// Its method.
    pub method: &'a str,
    /// The gate's word on the answer, as it was sent.
    pub word: &'a str,
    /// The answer's status.
    pub status: u16,
    /// Its scoped key.
    pub key: &'a ScopedKey,
    /// Whether something identifies its caller.
    pub is_identified: bool,
    /// Bytes of its content.
    pub bytes: usize,
}

/// The line of an attempt that began then. `version`: the gate's.
///
/// ```
/// use oncekey::answer::log::{AnsweredAttempt, attempt_line};
///
/// let key = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse()?;
/// let (route, method, word) = ("/*", "POST", "mismatch");
/// let attempt = AnsweredAttempt { route, method, word, status: 422, key: &key, is_identified: true, bytes: 2 };
/// let expect = concat!(
///     r#"{"oncekey":"attempt","time":"1970-01-01T00:00:01Z","route":"/*","method":"POST","word":"mismatch","#,
///     r#""code":"idempotency_key_reused","status":422,"key":"37vN-3Ph","caller":"identified","ms":7,"bytes":2,"#,
///     r#""version":"0.1.0"}"#,
/// );
/// assert_eq!(attempt_line(&attempt, 993, 1_000, "0.1.0"), expect);
/// # Ok::<(), oncekey::key::scoped::InvalidScopedKey>(())
/// ```
pub fn attempt_line(attempt: &AnsweredAttempt<'_>, began: Millis, now: Millis, version: &str) -> String {
    let AnsweredAttempt { route, method, word, status, key, is_identified, bytes } = *attempt;
    let key = key.as_str();
    to_json(&AttemptLine {
        oncekey: "attempt",
        time: rfc3339(now),
        route,
        method,
        word,
        code: code_of(word, status),
        status,
        key: if word == StatusWord::Unknown.as_str() { key } else { key.get(..SHORT).unwrap_or(key) },
        caller: if is_identified { "identified" } else { "anonymous" },
        ms: now.saturating_sub(began),
        bytes,
        version,
    })
}

/// The refusal that an object's answer can only be.
fn code_of(word: &str, status: u16) -> Option<&'static str> {
    match (word, status) {
        ("in-progress", 409) => Some("request_in_progress"),
        ("mismatch", 422) => Some("idempotency_key_reused"),
        ("expired", 409) => Some("key_expired"),
        _ => None,
    }
}

/// Whether an attempt gets a line. `share`: millionths; `jitter`: a fraction of 2^32.
///
/// ```
/// use oncekey::answer::log::is_logged;
///
/// assert!(!is_logged(0, 0));
/// assert!(is_logged(1_000_000, u32::MAX));
/// assert!(is_logged(500_000, u32::MAX / 2 - 1) && !is_logged(500_000, u32::MAX / 2 + 2));
/// ```
pub fn is_logged(share: u32, jitter: u32) -> bool {
    u64::from(jitter) * 1_000_000 < u64::from(share) << 32
}

#[derive(Serialize)]
struct LogLine<'a> {
    oncekey: &'a str,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

#[derive(Serialize)]
struct AttemptLine<'a> {
    oncekey: &'static str,
    time: String,
    route: &'a str,
    method: &'a str,
    word: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    status: u16,
    key: &'a str,
    caller: &'static str,
    ms: u64,
    bytes: usize,
    version: &'a str,
}
