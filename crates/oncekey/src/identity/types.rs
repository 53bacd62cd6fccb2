//! How a token is found in a request, and what verifies it: as the policy says.

use std::{borrow::Cow, error::Error, fmt, str::FromStr};

use crate::{
    http::{cookie::cookie, fields::Fields, token::is_token},
    identity::algorithm::Algorithm,
};

/// How one kind of token is found, and judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name, which stands in the attributes of the scope.
    pub name: String,
    /// Where the token is.
    pub from: TokenPlace,
    /// What verifies it.
    pub verifier: Verifier,
    /// Its issuer; where nothing verifies it perhaps none.
    pub issuer: Option<String>,
    /// Whom it may be for; where nothing verifies it perhaps nobody.
    pub audience: Vec<String>,
    /// How it may be signed.
    pub algorithms: Vec<Algorithm>,
    /// Seconds by which clocks may differ.
    pub leeway: u32,
}

/// What verifies a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verifier {
    /// A key of the set (RFC 7517 §5) at this URL.
    KeySet(String),
    /// The secret of this name.
    Secret(String),
    /// Nothing: whoever is behind the gate does.
    Nobody,
}

/// The fewest bytes of a secret: those of the digest (RFC 7518 §3.2).
pub const SHORTEST_SECRET: usize = 32;

/// Where a token is in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenPlace {
    /// `Authorization: Bearer` (RFC 6750 §2.1).
    Bearer,
    /// A header field, its name in lower case.
    Header(String),
    /// A cookie.
    Cookie(String),
}

impl FromStr for TokenPlace {
    type Err = InvalidTokenPlace;

    fn from_str(text: &str) -> Result<TokenPlace, InvalidTokenPlace> {
        match text.split_once(':') {
            None if text == "bearer" => Ok(TokenPlace::Bearer),
            Some(("header", name)) if is_token(name) => Ok(TokenPlace::Header(name.to_ascii_lowercase())),
            Some(("cookie", name)) if is_token(name) => Ok(TokenPlace::Cookie(name.to_owned())),
            _ => Err(InvalidTokenPlace),
        }
    }
}

/// A text that is no [`TokenPlace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTokenPlace;

impl InvalidTokenPlace {
    /// What was expected in its place.
    pub(crate) const EXPECTED: &'static str = "\"bearer\", \"header:NAME\" or \"cookie:NAME\"";
}

impl fmt::Display for InvalidTokenPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", Self::EXPECTED)
    }
}

impl Error for InvalidTokenPlace {}

impl Identity {
    /// The token of a request: a text of three parts where one may be.
    ///
    /// ```
    /// use oncekey::{http::fields::Fields, policy::Policy};
    ///
    /// let policy = r#"{"identity": {"main": {"unverified": true}}}"#.parse::<Policy>()?;
    /// let token = |line: &str| policy.identity("main")?.token(&Fields::new(line.to_owned())).map(|found| found.into_owned());
    /// assert_eq!(token("authorization,bearer a.b.c").as_deref(), Some("a.b.c"));
    /// assert_eq!(token("authorization,Basic a.b.c"), None);
    /// assert_eq!(token("authorization,Bearer opaque"), None);
    /// # Ok::<(), oncekey::policy::InvalidPolicy>(())
    /// ```
    pub fn token<'f>(&self, fields: &'f Fields) -> Option<Cow<'f, str>> {
        let found = match &self.from {
            TokenPlace::Bearer => {
                let (scheme, rest) = fields.get("authorization")?.split_once(' ')?;
                scheme.eq_ignore_ascii_case("bearer").then_some(Cow::Borrowed(rest.trim_matches(' ')))
            }
            TokenPlace::Header(name) => fields.get(name).map(|value| Cow::Borrowed(value.trim_matches([' ', '\t']))),
            TokenPlace::Cookie(name) => fields.get("cookie").and_then(|line| cookie(line, name)).map(Cow::Owned),
        };
        found.filter(|text| text.split('.').count() == 3)
    }

    /// The URL of its keys, where a set of them verifies it.
    pub fn key_set(&self) -> Option<&str> {
        match &self.verifier {
            Verifier::KeySet(url) => Some(url),
            Verifier::Secret(_) | Verifier::Nobody => None,
        }
    }

    /// The name of the secret that verifies it.
    pub fn secret(&self) -> Option<&str> {
        match &self.verifier {
            Verifier::Secret(name) => Some(name),
            Verifier::KeySet(_) | Verifier::Nobody => None,
        }
    }

    /// Whether nobody else can make such a token.
    pub fn is_proof(&self) -> bool {
        self.verifier != Verifier::Nobody
    }
}
