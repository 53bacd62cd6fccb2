//! Lines for the operator's log: one JSON text each, with its time. Nothing of a request stands in one but its method: no
//! key of the client's, no credentials, no cookie, no path but the route's own, no content, no address.

use serde::Serialize;

use crate::{
    answer::{cause::known_words, note::AnswerNote, word::StatusWord},
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
    fate_line(what, now, key, status, None)
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
    to_json(&LogLine { detail: Some(detail), ..LogLine::of(what, now, None) })
}

/// What the platform failed at, with what it says of that itself, as far as it may [be said](known_words).
///
/// ```
/// use oncekey::answer::log::failure_line;
///
/// let line = failure_line("store", 0, None, "Network connection lost.");
/// let head = r#"{"oncekey":"store","time":"1970-01-01T00:00:00Z""#;
/// assert_eq!(line, format!(r#"{head},"cause":"Network connection lost."}}"#));
/// ```
pub fn failure_line(what: &str, now: Millis, key: Option<&ScopedKey>, message: &str) -> String {
    fate_line(what, now, key, None, Some(message))
}

/// The same of a key's fate. `message`: what the platform says, where it failed.
pub(crate) fn fate_line(
    what: &str,
    now: Millis,
    key: Option<&ScopedKey>,
    status: Option<u16>,
    message: Option<&str>,
) -> String {
    let cause = message.map(known_words).filter(|cause| !cause.is_empty());
    to_json(&LogLine { status, cause: cause.as_deref(), ..LogLine::of(what, now, key) })
}

/// An answer of the origin's that came after its claim was given up: what it says of the effect changes nothing any more,
/// but a person who looks for the key's fate has it here. `began`: when the origin was asked.
///
/// ```
/// use oncekey::answer::log::late_line;
///
/// let key = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse()?;
/// let line = late_line(&key, "/*", 2, 201, 400, 1_000);
/// let head = r#"{"oncekey":"late","time":"1970-01-01T00:00:01Z","key":"37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY""#;
/// assert_eq!(line, format!(r#"{head},"route":"/*","generation":2,"status":201,"ms":600}}"#));
/// # Ok::<(), oncekey::key::scoped::InvalidScopedKey>(())
/// ```
pub fn late_line(key: &ScopedKey, route: &str, generation: u32, status: u16, began: Millis, now: Millis) -> String {
    to_json(&LogLine {
        route: Some(route),
        generation: Some(generation),
        status: Some(status),
        ms: Some(now.saturating_sub(began)),
        ..LogLine::of("late", now, Some(key))
    })
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
    /// What is known beside the answer.
    pub note: &'a AnswerNote,
    /// Its scoped key, where it came so far.
    pub key: Option<&'a ScopedKey>,
    /// Whether something identifies its caller.
    pub is_identified: bool,
    /// Milliseconds from its coming to its answer's head.
    pub ms: u64,
    /// Bytes of its content.
    pub bytes: u64,
    /// The gate's version.
    pub version: &'a str,
}

/// The line of an attempt that was answered.
///
/// ```
/// use oncekey::answer::{log::{AnsweredAttempt, attempt_line}, note::AnswerNote};
///
/// let key = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse()?;
/// let note = AnswerNote::of_code("idempotency_key_reused");
/// let attempt = AnsweredAttempt {
///     route: "/*", method: "POST", word: "mismatch", status: 422, note: &note, key: Some(&key), is_identified: true,
///     ms: 7, bytes: 2, version: "0.1.0",
/// };
/// let expect = concat!(
///     r#"{"oncekey":"attempt","time":"1970-01-01T00:00:01Z","route":"/*","method":"POST","word":"mismatch","#,
///     r#""code":"idempotency_key_reused","status":422,"key":"37vN-3Ph","caller":"identified","ms":7,"bytes":2,"#,
///     r#""version":"0.1.0"}"#,
/// );
/// assert_eq!(attempt_line(&attempt, 1_000), expect);
/// # Ok::<(), oncekey::key::scoped::InvalidScopedKey>(())
/// ```
pub fn attempt_line(attempt: &AnsweredAttempt<'_>, now: Millis) -> String {
    let AnsweredAttempt { route, method, word, status, note, key, is_identified, ms, bytes, version } = *attempt;
    let is_whole = word == StatusWord::Unknown.as_str();
    let shown = |key: &'_ ScopedKey| -> String {
        let key = key.as_str();
        if is_whole { key } else { key.get(..SHORT).unwrap_or(key) }.to_owned()
    };
    to_json(&AttemptLine {
        oncekey: "attempt",
        time: rfc3339(now),
        route,
        method,
        word,
        code: note.code.as_deref(),
        status,
        origin_status: note.origin_status,
        key: key.map(shown),
        caller: if is_identified { "identified" } else { "anonymous" },
        ms,
        origin_ms: note.origin_ms,
        bytes,
        version,
    })
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
    route: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    fn of(what: &'a str, now: Millis, key: Option<&'a ScopedKey>) -> Self {
        Self {
            oncekey: what,
            time: rfc3339(now),
            key: key.map(ScopedKey::as_str),
            route: None,
            generation: None,
            status: None,
            ms: None,
            cause: None,
            detail: None,
        }
    }
}

#[derive(Serialize)]
struct AttemptLine<'a> {
    oncekey: &'static str,
    time: String,
    route: &'a str,
    method: &'a str,
    word: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    caller: &'static str,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_ms: Option<u64>,
    bytes: u64,
    version: &'a str,
}
