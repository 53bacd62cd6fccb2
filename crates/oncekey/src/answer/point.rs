//! Points of measurement: one for each attempt with a key, as the platform's Analytics Engine takes it.
//!
//! | column | what |
//! |---|---|
//! | `index1` | the route's path |
//! | `blob1` to `blob7` | the route's path, method, word, code, status, the origin's status, the gate's version |
//! | `double1` to `double4` | 1, ms, ms until the origin's head, bytes of the request's content |
//!
//! There is no caller, no key and nothing else of a request in one. A blob of which there is none is empty, a double 0.

use serde::Serialize;

use crate::{answer::log::AnsweredAttempt, json::write::to_json};

/// Bytes of an index that the platform takes. It drops a point that is over one of its limits, and says nothing
/// ("Limits" of Workers Analytics Engine, 23 April 2026: 20 blobs, 20 doubles and one index a point, 96 bytes an index,
/// 16 kB of blobs together, 5,120 bytes before June 2025; 250 points an invocation).
const LONGEST_INDEX: usize = 96;

/// Bytes that are kept of a route's path, so that all blobs together stay below 5,120.
const LONGEST_ROUTE: usize = 4_096;

/// Bytes that are kept of each other blob.
const LONGEST_WORD: usize = 128;

/// Points that one invocation may write: a batch has more items.
pub const MOST_POINTS: u32 = 250;

/// The point of an attempt that was answered, as JSON.
///
/// ```
/// use oncekey::answer::{log::AnsweredAttempt, note::AnswerNote, point::point_of};
///
/// let note = AnswerNote { code: None, origin_status: Some(201), origin_ms: Some(5) };
/// let attempt = AnsweredAttempt {
///     route: "/é*", method: "POST", word: "executed", status: 201, note: &note, key: None, is_identified: true, ms: 7,
///     bytes: 2, version: "0.1.0",
/// };
/// let blobs = r#""blobs":["/é*","POST","executed","","201","201","0.1.0"]"#;
/// assert_eq!(point_of(&attempt), format!(r#"{{"indexes":["/é*"],{blobs},"doubles":[1,7,5,2]}}"#));
///
/// let long = AnsweredAttempt { route: &"é".repeat(9_000), ..attempt };
/// assert!(point_of(&long).starts_with(&format!(r#"{{"indexes":["{}"]"#, "é".repeat(48))));
/// assert!(point_of(&long).len() < 5_120);
/// ```
pub fn point_of(attempt: &AnsweredAttempt<'_>) -> String {
    let AnsweredAttempt { route, method, word, status, note, ms, bytes, version, .. } = *attempt;
    let origin_status = note.origin_status.map_or_else(String::new, |status| status.to_string());
    let code = note.code.as_deref().unwrap_or_default();
    let word_of = |text| cut(text, LONGEST_WORD);
    to_json(&Point {
        indexes: [cut(route, LONGEST_INDEX)],
        blobs: [
            cut(route, LONGEST_ROUTE),
            word_of(method),
            word_of(word),
            word_of(code),
            &status.to_string(),
            &origin_status,
            word_of(version),
        ],
        doubles: [1, ms, note.origin_ms.unwrap_or(0), bytes],
    })
}

/// At most so many bytes of a text, whole characters.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

#[derive(Serialize)]
struct Point<'a> {
    indexes: [&'a str; 1],
    blobs: [&'a str; 7],
    doubles: [u64; 4],
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_before_a_character_that_does_not_fit() {
        for (text, most, expect) in [("ab", 3, "ab"), ("ab", 1, "a"), ("aé", 2, "a"), ("aé", 3, "aé"), ("😀", 3, "")]
        {
            assert_eq!(cut(text, most), expect, "{text} within {most}");
        }
    }
}
