//! SHA-256 over length-prefixed parts, so that no two lists of parts are the same bytes.
use sha2::{Digest as _, Sha256};

/// A running digest. Every part carries its length (64 bits, big endian) before its bytes.
pub(crate) struct LengthPrefixedDigest(Sha256);

impl LengthPrefixedDigest {
    /// Starts with `tag`, which names what is digested and its version.
    pub(crate) fn new(tag: &str) -> LengthPrefixedDigest {
        let mut digest = LengthPrefixedDigest(Sha256::new());
        digest.add_part(tag.as_bytes());
        digest
    }

    /// Adds one part with its length.
    pub(crate) fn add_part(&mut self, bytes: &[u8]) {
        self.add_raw(&length_prefix(bytes.len()));
        self.add_raw(bytes);
    }

    /// Adds a part that may be missing: missing and empty differ.
    pub(crate) fn add_optional(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            None => self.add_raw(&[0]),
            Some(bytes) => {
                self.add_raw(&[1]);
                self.add_part(bytes);
            }
        }
    }

    /// Adds bytes without a length: for what prefixes its own parts.
    pub(crate) fn add_raw(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The first half of the digest.
    pub(crate) fn finish_half(self) -> [u8; 16] {
        let mut half = [0; 16];
        for (to, from) in half.iter_mut().zip(self.0.finalize()) {
            *to = from;
        }
        half
    }

    /// The digest as base64url without padding (RFC 4648 §5): 43 characters.
    pub(crate) fn finish(self) -> String {
        base64url(&self.finish_bytes())
    }

    /// The digest.
    pub(crate) fn finish_bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// HMAC-SHA-256 (RFC 2104).
pub(crate) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    let hashed = Sha256::digest(key);
    let key = if key.len() > BLOCK { hashed.as_slice() } else { key };
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

/// Base64url without padding (RFC 4648 §5), by its letters' own rule: a table and a crate are larger than these lines.
pub(crate) fn base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 1);
    for three in bytes.chunks(3) {
        let mut bits = 0_u32;
        for at in 0..3 {
            bits = bits << 8 | three.get(at).copied().map_or(0, u32::from);
        }
        for shift in [18, 12, 6, 0].iter().take(three.len() + 1) {
            text.push(letter(bits >> shift & 63));
        }
    }
    text
}

/// Reads what [`base64url`] writes, and nothing else: no padding, no bits beyond the last byte.
pub(crate) fn read_base64url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for four in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for at in 0..4 {
            bits = bits << 6 | four.get(at).map_or(Some(0), |letter| six_bits(*letter))?;
        }
        let [_, three @ ..] = bits.to_be_bytes();
        bytes.extend(three.iter().take((four.len() * 3) / 4));
    }
    (base64url(&bytes) == text).then_some(bytes)
}

/// The six bits of a letter.
fn six_bits(letter: u8) -> Option<u32> {
    Some(match letter {
        b'A'..=b'Z' => u32::from(letter - b'A'),
        b'a'..=b'z' => u32::from(letter - b'a') + 26,
        b'0'..=b'9' => u32::from(letter - b'0') + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    })
}

/// Base64 with padding (RFC 4648 §4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = base64url(bytes).replace('-', "+").replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// In hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads pairs of hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at| text.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The letter of six bits.
fn letter(six: u32) -> char {
    let first = match six {
        0..=25 => u32::from(b'A'),
        26..=51 => u32::from(b'a') - 26,
        52..=61 => return char::from_digit(six - 52, 10).unwrap_or('-'),
        62 => return '-',
        _ => return '_',
    };
    char::from_u32(first + six).unwrap_or('-')
}

/// Whether `text` is what [`LengthPrefixedDigest::finish`] writes: the last of its 43 letters holds four bits of the
/// 256.
pub(crate) fn is_digest(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() == 43
        && text.bytes().all(is_letter)
        && text.chars().next_back().is_some_and(|last| (0..16).any(|four| letter(four << 2) == last))
}

/// A length as the eight bytes that stand before a part.
pub(crate) fn length_prefix(bytes: usize) -> [u8; 8] {
    // A usize has at most 64 bits on every target that Rust has.
    (bytes as u64).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::{base64url, hmac, read_base64url, to_hex};

    fn check(key: &[u8], message: &[u8], expect: &str) {
        assert_eq!(to_hex(&hmac(key, message)), expect);
    }

    /// RFC 4231 §4.2, §4.3, §4.7.
    #[test]
    fn known_macs() {
        check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        let expect = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        check(b"Jefe", b"what do ya want for nothing?", expect);
        let expect = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
        check(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First", expect);
    }

    #[test]
    fn base64url_is_read_as_it_is_written() {
        for length in 0..10 {
            let bytes: Vec<u8> = (0..length).map(|at| 0xfb_u8.wrapping_mul(at + 1)).collect();
            assert_eq!(read_base64url(&base64url(&bytes)), Some(bytes));
        }
        for wrong in ["A", "AB", "AAB", "AA==", "A+AA", "A/AA", "AA AA", "AAAA\n", "é", "AAAAA"] {
            assert_eq!(read_base64url(wrong), None, "{wrong}");
        }
    }
}
