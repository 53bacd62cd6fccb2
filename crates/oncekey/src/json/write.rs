//! JSON as the gate writes it.

/// The escape of a character that cannot stand for itself in a string, as short as RFC 8785 §3.2.2.2 wants it, and how
/// much of it counts.
pub(crate) fn escape(character: char) -> Option<([u8; 6], usize)> {
    let short = |letter: u8| Some(([b'\\', letter, 0, 0, 0, 0], 2));
    match character {
        '"' => short(b'"'),
        '\\' => short(b'\\'),
        '\u{8}' => short(b'b'),
        '\t' => short(b't'),
        '\n' => short(b'n'),
        '\u{c}' => short(b'f'),
        '\r' => short(b'r'),
        '\0'..='\u{1f}' => {
            let code = character as u8;
            let low = code & 15;
            let low = if low < 10 { b'0' + low } else { b'a' + low - 10 };
            Some(([b'\\', b'u', b'0', b'0', b'0' + (code >> 4), low], 6))
        }
        _ => None,
    }
}

/// Adds a text as a JSON string.
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match escape(character) {
            Some((escaped, length)) => {
                for byte in escaped.iter().take(length) {
                    out.push(char::from(*byte));
                }
            }
            None => out.push(character),
        }
    }
    out.push('"');
}
