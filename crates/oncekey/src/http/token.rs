//! Tokens of HTTP.

/// A token (RFC 9110 §5.6.2): names of fields, methods and cookies.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
