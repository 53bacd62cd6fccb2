//! What `Server-Timing` says of an attempt (W3C Server Timing §2).

use crate::http::date::Millis;

/// The field's name.
pub const TIMING: &str = "server-timing";

/// Its value: the gate's word, the milliseconds until the answer's head, and those of them until the origin's, where it
/// was asked.
///
/// ```
/// use oncekey::answer::timing::server_timing;
///
/// assert_eq!(server_timing("executed", 12, Some(9)), r#"oncekey;desc="executed";dur=12, origin;dur=9"#);
/// assert_eq!(server_timing("replayed", 3, None), r#"oncekey;desc="replayed";dur=3"#);
/// ```
pub fn server_timing(word: &str, ms: Millis, origin_ms: Option<Millis>) -> String {
    let mut said = format!("oncekey;desc=\"{word}\";dur={ms}");
    if let Some(origin_ms) = origin_ms {
        said.push_str(&format!(", origin;dur={origin_ms}"));
    }
    said
}
