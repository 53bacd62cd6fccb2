//! What a policy leaves out of the fingerprint.

use crate::json::pointer::pointer;

/// What a policy leaves out of the fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignore {
    /// A JSON pointer (RFC 6901), as its decoded reference tokens. Applies to JSON.
    Pointer(Vec<String>),
    /// The name of a form field. Applies to urlencoded and multipart content.
    Name(String),
}

impl Ignore {
    /// A text that begins with `/` is a pointer, any other that is not empty a name. `None` for a bad escape.
    pub fn parse(text: &str) -> Option<Ignore> {
        if text.starts_with('/') {
            return pointer(text).map(Ignore::Pointer);
        }
        (!text.is_empty()).then(|| Ignore::Name(text.to_owned()))
    }
}
