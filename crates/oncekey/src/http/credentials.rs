//! Secrets in `Authorization`.

/// Whether an `Authorization` value is `Bearer` and the secret (RFC 6750 §2.1). It takes the same time for every
/// wrong secret of one length.
pub fn is_secret(authorization: &str, secret: &str) -> bool {
    let Some((scheme, token)) = authorization.split_once(' ') else {
        return false;
    };
    let token = token.trim_matches(' ');
    if !scheme.eq_ignore_ascii_case("bearer") || secret.is_empty() || token.len() != secret.len() {
        return false;
    }
    token.bytes().zip(secret.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secrets() {
        assert!(is_secret("Bearer s3", "s3"));
        assert!(is_secret("bearer  s3", "s3"));
        for wrong in ["", "Bearer", "Bearer ", "Bearer s", "Bearer s3x", "Basic s3", "x Bearer s3"] {
            assert!(!is_secret(wrong, "s3"), "{wrong}");
        }
        assert!(!is_secret("Bearer ", ""));
    }
}
