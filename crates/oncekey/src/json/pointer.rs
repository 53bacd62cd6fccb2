//! JSON pointers (RFC 6901).

/// The reference tokens of a JSON pointer (RFC 6901 §3); `None` where it does not begin with `/` or has a bad escape.
pub(crate) fn pointer(text: &str) -> Option<Vec<String>> {
    text.strip_prefix('/')?
        .split('/')
        .map(|token| {
            let mut decoded = String::with_capacity(token.len());
            let mut rest = token.chars();
            while let Some(character) = rest.next() {
                decoded.push(match character {
                    '~' => match rest.next() {
                        Some('0') => '~',
                        Some('1') => '/',
                        _ => return None,
                    },
                    other => other,
                });
            }
            Some(decoded)
        })
        .collect()
}

/// A JSON pointer (RFC 6901 §3) of decoded reference tokens.
pub(crate) fn pointer_text(tokens: &[String]) -> String {
    let mut text = String::new();
    for token in tokens {
        step(&mut text, token);
    }
    text
}

/// Adds a reference token to a JSON pointer.
pub(crate) fn step(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
