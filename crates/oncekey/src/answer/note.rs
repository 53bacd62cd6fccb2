//! What an object tells the front beside its answer, for the line and the point of the attempt.
//!
//! The note is a field of the answer's head that the front asks for by a further word of the errand and takes out again.
//! An object of an earlier build gives none; then nothing is known of what it would say.

use std::fmt;

/// The header field of an answer that carries a note: from an object to the front, and no further.
pub const NOTE: &str = "oncekey-note";

/// The further word of an errand that asks for a note.
const WANTED: &str = "note";

/// Stands in a note for what there is none of.
const NONE: &str = "-";

/// What is told beside an answer.
///
/// ```
/// use oncekey::answer::note::AnswerNote;
///
/// let note = AnswerNote { code: Some("outcome_unknown".into()), origin_status: Some(502), origin_ms: None };
/// assert_eq!(note.to_string(), "outcome_unknown 502 -");
/// assert_eq!(AnswerNote::read("outcome_unknown 502 - of-a-later-build"), note);
/// assert_eq!(AnswerNote::read(""), AnswerNote::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerNote {
    /// The refusal's code, where the answer is one.
    pub code: Option<String>,
    /// The origin's status, where it was asked for this answer.
    pub origin_status: Option<u16>,
    /// Milliseconds from the origin's being asked to its answer's head.
    pub origin_ms: Option<u64>,
}

impl AnswerNote {
    /// Of a refusal.
    pub fn of_code(code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..Self::default() }
    }

    /// Reads a note; what cannot be read is not known.
    pub fn read(text: &str) -> Self {
        let mut words = text.split(' ');
        let mut next = || words.next().filter(|word| !word.is_empty() && *word != NONE);
        Self {
            code: next().map(str::to_owned),
            origin_status: next().and_then(|word| word.parse().ok()),
            origin_ms: next().and_then(|word| word.parse().ok()),
        }
    }
}

impl fmt::Display for AnswerNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.code.as_deref().unwrap_or(NONE))?;
        let status = self.origin_status.map(u64::from);
        for number in [status, self.origin_ms] {
            match number {
                Some(number) => write!(out, " {number}")?,
                None => write!(out, " {NONE}")?,
            }
        }
        Ok(())
    }
}

/// An errand's text that also asks for a note.
///
/// ```
/// use oncekey::{answer::note::{with_note, wants_note}, errand::for_older_build};
///
/// let asked = with_note("attempt a b basis=c".to_owned());
/// assert!(wants_note(&asked) && !wants_note("attempt a note-b"));
/// assert_eq!(for_older_build(&asked), Some("attempt a b"));
/// ```
#[must_use]
pub fn with_note(mut errand: String) -> String {
    errand.push(' ');
    errand.push_str(WANTED);
    errand
}

/// Whether an errand's text asks for a note.
pub fn wants_note(errand: &str) -> bool {
    errand.rsplit_once(' ').is_some_and(|(_, last)| is_note_word(last))
}

/// Whether a further word of an errand is the one that asks for a note.
pub(crate) fn is_note_word(word: &str) -> bool {
    word == WANTED
}
