//! What identifies a caller.

use std::{
    error::Error,
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use crate::{
    http::token::is_token,
    json::pointer::{pointer, pointer_text},
};

/// A part of a request that identifies its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A header field, its name in lower case.
    Header(String),
    /// A cookie; names of cookies are case-sensitive.
    Cookie(String),
    /// A claim of a token.
    Claim {
        /// The name of its identity.
        identity: String,
        /// Where it is in the token: decoded JSON pointer.
        claim: Vec<String>,
    },
    /// The certificate that the client showed when it connected.
    Certificate,
}

impl FromStr for Attribute {
    type Err = InvalidAttribute;

    fn from_str(text: &str) -> Result<Attribute, InvalidAttribute> {
        match text.split_once(':') {
            None if text == "mtls" => Ok(Attribute::Certificate),
            Some(("header", name)) if is_token(name) => Ok(Attribute::Header(name.to_ascii_lowercase())),
            Some(("cookie", name)) if is_token(name) => Ok(Attribute::Cookie(name.to_owned())),
            Some(("jwt", rest)) => {
                let (identity, name) = rest.split_once(':').ok_or(InvalidAttribute)?;
                let claim = if name.starts_with('/') { pointer(name) } else { Some(vec![name.to_owned()]) };
                let claim = claim.filter(|_| !identity.is_empty() && !name.is_empty()).ok_or(InvalidAttribute)?;
                Ok(Attribute::Claim { identity: identity.to_owned(), claim })
            }
            _ => Err(InvalidAttribute),
        }
    }
}

/// As the policy writes it, for [`crate::key::scope::Scope::add`]; a claim by its pointer.
impl Display for Attribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Header(name) => write!(f, "header:{name}"),
            Attribute::Cookie(name) => write!(f, "cookie:{name}"),
            Attribute::Claim { identity, claim } => write!(f, "jwt:{identity}:{}", pointer_text(claim)),
            Attribute::Certificate => f.write_str("mtls"),
        }
    }
}

/// A text that is no [`Attribute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidAttribute;

impl InvalidAttribute {
    /// What was expected in its place.
    pub(super) const EXPECTED: &'static str = "\"header:NAME\", \"cookie:NAME\", \"jwt:ID:CLAIM\" or \"mtls\"";
}

impl Display for InvalidAttribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", Self::EXPECTED)
    }
}

impl Error for InvalidAttribute {}
