//! What is wrong with a policy, and where: the operator's fault, never a caller's.

use std::{
    error::Error,
    fmt::{self, Display, Formatter},
};

/// A policy that is refused. Displayed, it names the place and what was expected, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPolicy {
    pub(super) pointer: String,
    pub(super) fault: PolicyFault,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyFault {
    /// The text is not JSON from here on.
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// The member occurs twice.
    Duplicate,
    /// There is no such member, or it has no meaning here.
    Unknown,
    /// The member is missing.
    Missing,
    /// The member is missing, where no default is right: a request would be lost, or run twice.
    Undecided,
    /// The value is not of this type, or not possible.
    Expected(&'static str),
    /// The value is none of these words.
    NotAmong {
        /// All that it may be.
        words: &'static [&'static str],
        /// What else it may be: an object, as an example.
        or: Option<&'static str>,
    },
    /// The value is not a whole number within these bounds, both included.
    OutOfBounds {
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
}

impl InvalidPolicy {
    /// JSON pointer (RFC 6901) of the member; empty for the whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong there.
    pub fn fault(&self) -> &PolicyFault {
        &self.fault
    }
}

impl Display for InvalidPolicy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the policy" } else { self.pointer.as_str() };
        write!(f, "{place}: {}", self.fault)
    }
}

impl Display for PolicyFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PolicyFault::NotJson { line, column } => write!(f, "not JSON at line {line}, column {column}"),
            PolicyFault::Duplicate => f.write_str("the member occurs twice"),
            PolicyFault::Unknown => f.write_str("unknown member"),
            PolicyFault::Missing => f.write_str("the member is missing"),
            PolicyFault::Undecided => {
                f.write_str("the member is missing: what the lack of an answer means has no default here")
            }
            PolicyFault::Expected(expected) => write!(f, "expected {expected}"),
            PolicyFault::NotAmong { words, or } => {
                let last = (words.len() + usize::from(or.is_some())).saturating_sub(1);
                for (index, word) in words.iter().enumerate() {
                    write!(f, "{}\"{word}\"", before_choice(index, last))?;
                }
                or.map_or(Ok(()), |example| write!(f, "{}{example}", before_choice(last, last)))
            }
            PolicyFault::OutOfBounds { least, most } => write!(f, "expected a whole number from {least} to {most}"),
        }
    }
}

impl Error for InvalidPolicy {}

/// What stands before one of several choices.
fn before_choice(index: usize, last: usize) -> &'static str {
    match index {
        0 => "expected ",
        _ if index == last => " or ",
        _ => ", ",
    }
}
