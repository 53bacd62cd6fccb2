//! Media types.

/// The media type in lower case, without parameters (RFC 9110 §8.3.1).
pub(crate) fn media_type(content_type: &str) -> String {
    let kept = content_type.split(';').next().unwrap_or_default();
    kept.trim_matches([' ', '\t']).to_ascii_lowercase()
}
