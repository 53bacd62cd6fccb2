//! What of an answer is not stored.

use std::{error::Error, fmt, str::FromStr};

use crate::http::token::is_token;

/// What of an answer is not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storing {
    /// Names of header fields, in any case.
    pub redact: Vec<String>,
    /// All but the status of an answer that says `Cache-Control: no-store` (RFC 9111 §5.2.2.5).
    pub forget: bool,
}

/// `f` where it forgets, a colon, and the names, parted by commas.
impl fmt::Display for Storing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", if self.forget { "f" } else { "" }, self.redact.join(","))
    }
}

impl FromStr for Storing {
    type Err = InvalidStoring;

    fn from_str(text: &str) -> Result<Storing, InvalidStoring> {
        let (forget, names) = text.split_once(':').ok_or(InvalidStoring)?;
        let redact: Vec<String> = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if !matches!(forget, "" | "f") || !redact.iter().all(|name| is_token(name)) {
            return Err(InvalidStoring);
        }
        Ok(Storing { redact, forget: forget == "f" })
    }
}

/// A text that is no [`Storing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidStoring;

impl fmt::Display for InvalidStoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not what of an answer is stored")
    }
}

impl Error for InvalidStoring {}
