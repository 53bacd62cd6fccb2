//! Whether a second submit of an intent is refused, and how long an intent is busy at most.

/// How long a plain form whose page stays is busy at most, in milliseconds.
pub const PLAIN_BUSY: u64 = 5_000;
/// How long a page may take to leave after a success that leads elsewhere, in milliseconds: a download never does.
pub const LEAVING: u64 = 5_000;

/// Why another submit must be refused, as the event says it; `None` lets it pass.
///
/// | the intent | the submit | reason |
/// |---|---|---|
/// | is busy | any | `busy` |
/// | is free again | happened before that, and waited behind the first one's work | `queued` |
/// | is free again, or never was busy | happened since, or its time is not known | |
///
/// `happened_at` and `ended_at` are of the clock that stamps events.
pub fn refusal_reason(is_busy: bool, happened_at: Option<f64>, ended_at: Option<f64>) -> Option<&'static str> {
    if is_busy {
        return Some("busy");
    }
    match (happened_at, ended_at) {
        (Some(happened_at), Some(ended_at)) if happened_at < ended_at => Some("queued"),
        _ => None,
    }
}
