//! What is submitted: which methods are ours, what tells one content from another, and what an intent is called.

/// Whether a method may have an effect (RFC 9110 9.2.1); upper case.
pub fn is_unsafe_method(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "DIALOG" | "")
}

/// Whether a request with this method has content that a form field can join.
pub fn can_carry_field(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

/// A digest of what an intent's content is made of. Parts are length-prefixed, so no two lists of parts meet by joining.
/// It tells edits apart, it guards nothing: the gate's fingerprint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentDigest(u64);

impl Default for ContentDigest {
    fn default() -> ContentDigest {
        ContentDigest(0xcbf2_9ce4_8422_2325)
    }
}

impl ContentDigest {
    /// Adds one part (FNV-1a).
    pub fn add_part(&mut self, text: &str) {
        let length = text.len().to_le_bytes();
        for byte in length.iter().chain(text.as_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// Adds a number, as a part of its own.
    pub fn add_number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x100_0000_01b3);
    }

    /// The digest so far: below 2^53, so that it stays exact as a number of the page.
    pub fn value(self) -> u64 {
        self.0 >> 11
    }
}

/// What names of tokens contain, in any case, as frameworks write them.
const TOKENS: [&[u8]; 7] = [b"csrf", b"xsrf", b"token", b"nonce", b"captcha", b"viewstate", b"form_build_id"];

/// Whether a field changes without the person: a token, or one that `data-once-ignore` lists (names divided by commas or
/// spaces).
pub fn is_volatile_field(name: &str, ignored: &str) -> bool {
    let name = name.as_bytes();
    let is_token = |token: &&[u8]| name.windows(token.len()).any(|part| part.eq_ignore_ascii_case(token));
    TOKENS.iter().any(is_token)
        || !name.is_empty() && ignored.as_bytes().split(|byte| matches!(byte, b',' | b' ')).any(|each| each == name)
}

/// What an intent is called, by digests below 2^53.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntentName {
    /// Of its place on the page, or of the name that a `send` gives.
    pub place: u64,
    /// Of its request's target; 0 where the place says all.
    pub target: u64,
}
