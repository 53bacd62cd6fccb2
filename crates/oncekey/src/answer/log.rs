//! Lines for the operator's log: one JSON text each.

use serde::Serialize;

use crate::{json::write::to_json, key::scoped::ScopedKey};

/// What became of a key that a person has to look at, with all of the scoped key, where it is known: it is how the
/// operator asks for more.
///
/// ```
/// use oncekey::answer::log::log_line;
///
/// let key = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse()?;
/// let line = log_line("dead", Some(&key), Some(404));
/// assert_eq!(line, r#"{"oncekey":"dead","key":"37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY","status":404}"#);
/// # Ok::<(), oncekey::key::scoped::InvalidScopedKey>(())
/// ```
pub fn log_line(what: &str, key: Option<&ScopedKey>, status: Option<u16>) -> String {
    to_json(&LogLine { oncekey: what, key: key.map(ScopedKey::as_str), status })
}

#[derive(Serialize)]
struct LogLine<'a> {
    oncekey: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}
