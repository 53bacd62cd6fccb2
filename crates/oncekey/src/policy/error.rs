//! What is wrong with a policy, and where: the operator's fault, never a caller's.

/// A policy that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub(super) pointer: String,
    pub(super) kind: ConfigErrorKind,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigErrorKind {
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
    /// The value is not of this type, or not possible.
    Expected(&'static str),
    /// The value is not a whole number within these bounds, both included.
    OutOfBounds {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
}

impl ConfigError {
    /// JSON pointer (RFC 6901) of the member; empty for the whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong there.
    pub fn kind(&self) -> &ConfigErrorKind {
        &self.kind
    }

    /// One line that names the place and what was expected.
    pub fn message(&self) -> String {
        let place = if self.pointer.is_empty() { "the policy" } else { self.pointer.as_str() };
        let what = match &self.kind {
            ConfigErrorKind::NotJson { line, column } => {
                ["not JSON at line ", &line.to_string(), ", column ", &column.to_string()].concat()
            }
            ConfigErrorKind::Duplicate => "the member occurs twice".to_owned(),
            ConfigErrorKind::Unknown => "unknown member".to_owned(),
            ConfigErrorKind::Missing => "the member is missing".to_owned(),
            ConfigErrorKind::Expected(expected) => ["expected ", expected].concat(),
            ConfigErrorKind::OutOfBounds { least, most } => {
                ["expected a whole number from ", &least.to_string(), " to ", &most.to_string()].concat()
            }
        };
        [place, ": ", &what].concat()
    }
}
