//! Percent-encoding (RFC 3986 §2.1): words of a header, path segments, unreserved characters.

use std::borrow::Cow;

/// A path with its percent-encoded unreserved characters decoded, once, and nothing else (RFC 3986 §2.3, §6.2.2.2).
pub fn decode_unreserved(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        rest = after;
        match unreserved(after) {
            Some((character, after)) => {
                decoded.push(character);
                rest = after;
            }
            None => decoded.push('%'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// The unreserved character that two hexadecimal digits stand for, and what follows them.
fn unreserved(text: &str) -> Option<(char, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let mut byte = 0;
    for digit in digits.chars() {
        byte = byte * 16 + digit.to_digit(16)?;
    }
    let character = char::from_u32(byte)?;
    (character.is_ascii_alphanumeric() || "-._~".contains(character)).then_some((character, rest))
}

/// Percent-decodes a path segment; `None` where that is no UTF-8 or an escape is broken.
pub fn decode_segment(segment: &str) -> Option<String> {
    let mut out = Vec::with_capacity(segment.len());
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Percent-encodes whatever could not stand as one word of a header.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for nibble in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(nibble), 16).unwrap_or_default());
            }
        }
    }
    out
}
