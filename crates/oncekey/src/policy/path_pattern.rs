//! The paths of a route: one, or all that begin alike.

use std::{
    error::Error,
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use crate::http::percent::decode_unreserved;

/// A path, or the beginning of paths where it ends in `*`.
///
/// It begins with `/`, is printable ASCII without space, `?`, `#` and `\`, and holds `*` only as its last character.
///
/// ```
/// use oncekey::policy::PathPattern;
///
/// let pattern: PathPattern = "/orders/*".parse()?;
/// assert!(pattern.matches("/orders/1042"));
/// assert!(!pattern.matches("/orders"));
/// # Ok::<(), oncekey::policy::InvalidPathPattern>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    written: String,
}

impl PathPattern {
    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The pattern of a text that was parsed before.
    pub(super) fn of_checked(text: &str) -> PathPattern {
        PathPattern { written: text.to_owned() }
    }

    /// Whether a path matches that has been through [`decode_unreserved`].
    pub fn matches(&self, path: &str) -> bool {
        match self.written.strip_suffix('*') {
            Some(start) => path.starts_with(decode_unreserved(start).as_ref()),
            None => path == decode_unreserved(&self.written),
        }
    }
}

impl FromStr for PathPattern {
    type Err = InvalidPathPattern;

    fn from_str(text: &str) -> Result<PathPattern, InvalidPathPattern> {
        let is_path =
            text.starts_with('/') && text.bytes().all(|byte| matches!(byte, 0x21..=0x7e if !b"?#\\".contains(&byte)));
        let exact = text.strip_suffix('*').unwrap_or(text);
        if is_path && !exact.contains('*') {
            return Ok(PathPattern { written: text.to_owned() });
        }
        Err(InvalidPathPattern)
    }
}

impl Display for PathPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// A text that is no [`PathPattern`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidPathPattern;

impl InvalidPathPattern {
    /// What was expected in its place.
    pub(super) const EXPECTED: &'static str = "a path that begins with / and holds * only as its last character";
}

impl Display for InvalidPathPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", Self::EXPECTED)
    }
}

impl Error for InvalidPathPattern {}
