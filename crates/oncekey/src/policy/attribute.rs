//! What identifies a caller.

use std::{
    error::Error,
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use crate::http::token::is_token;

/// A part of a request that identifies its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A header field, its name in lower case.
    Header(String),
    /// A cookie; names of cookies are case-sensitive.
    Cookie(String),
}

impl FromStr for Attribute {
    type Err = InvalidAttribute;

    fn from_str(text: &str) -> Result<Attribute, InvalidAttribute> {
        match text.split_once(':') {
            Some(("header", name)) if is_token(name) => Ok(Attribute::Header(name.to_ascii_lowercase())),
            Some(("cookie", name)) if is_token(name) => Ok(Attribute::Cookie(name.to_owned())),
            _ => Err(InvalidAttribute),
        }
    }
}

/// As the policy writes it, for [`crate::key::scope::Scope::add`].
impl Display for Attribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self {
            Attribute::Header(name) => ("header:", name),
            Attribute::Cookie(name) => ("cookie:", name),
        };
        f.write_str(kind)?;
        f.write_str(name)
    }
}

/// A text that is no [`Attribute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidAttribute;

impl InvalidAttribute {
    /// What was expected in its place.
    pub(super) const EXPECTED: &'static str = "\"header:NAME\" or \"cookie:NAME\"";
}

impl Display for InvalidAttribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", Self::EXPECTED)
    }
}

impl Error for InvalidAttribute {}
