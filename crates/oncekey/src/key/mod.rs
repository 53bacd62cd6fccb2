//! The client's key, the scope it is valid in, and the scoped key that both become.

pub mod age;
pub mod caller;
pub mod mint;
pub mod scope;
pub mod scoped;
pub mod scopes;
pub mod seal;

use std::{borrow::Cow, error::Error, fmt};

use sfv::{Parser, StringRef};
use uuid::{Uuid, Variant, fmt::Hyphenated};

use crate::http::date::Millis;

/// The most characters a key may have, after unquoting.
pub const LONGEST_KEY: usize = 255;

/// The client's value, one per intent: 1 to 255 printable ASCII characters, not all of them spaces.
///
/// Two keys are one only if they are equal byte for byte, but for a UUID: it is compared by its value, and held in small
/// letters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// Reads the value of the key's header field.
    ///
    /// The value is a structured-field String whose parameters are ignored (draft §2.1, RFC 9651 §3.3.3), or bare:
    /// printable ASCII without comma, quote, backslash or space. Repeated lines arrive joined by a comma (RFC 9110
    /// §5.2) and are therefore no key. White space around the value does not belong to it (RFC 9110 §5.5).
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key};
    ///
    /// let key = Key::from_header("\"order 1042\"; a=1")?;
    /// assert_eq!(key.as_str(), "order 1042");
    /// assert_eq!(Key::from_header("order-1042")?.as_str(), "order-1042");
    /// assert_eq!(Key::from_header("one, two"), Err(InvalidKey::Repeated));
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn from_header(value: &str) -> Result<Key, InvalidKey> {
        let value = value.trim_matches([' ', '\t']);
        if !value.is_ascii() {
            return Err(InvalidKey::NotAscii);
        }
        if value.is_empty() {
            return Err(InvalidKey::Blank);
        }
        if value.starts_with('"') {
            let string = Parser::new(value).parse_item::<Cow<'_, StringRef>>();
            return string.map_or_else(|_| Err(why_malformed(value)), |key| Key::from_content(key.as_str()));
        }
        if value.contains(',') {
            return Err(InvalidKey::Repeated);
        }
        if value.bytes().all(|byte| matches!(byte, 0x21..=0x7e if !matches!(byte, b'"' | b'\\'))) {
            return Key::from_content(value);
        }
        Err(InvalidKey::Malformed)
    }

    /// Reads the value of the key's form field or JSON member, literally: nothing is unquoted or trimmed.
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key};
    ///
    /// assert_eq!(Key::from_content("\"k\"")?.as_str(), "\"k\"");
    /// assert_eq!(Key::from_content("  "), Err(InvalidKey::Blank));
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn from_content(value: &str) -> Result<Key, InvalidKey> {
        if !value.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
            return Err(if value.is_ascii() { InvalidKey::Malformed } else { InvalidKey::NotAscii });
        }
        if value.len() > LONGEST_KEY {
            return Err(InvalidKey::TooLong { length: value.len() });
        }
        if value.bytes().all(|byte| byte == b' ') {
            return Err(InvalidKey::Blank);
        }
        let mut key = Key(value.to_owned());
        if key.uuid().is_some() {
            key.0.make_ascii_lowercase();
        }
        Ok(key)
    }

    /// The key without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The UUID that the key is: in its hyphenated form (RFC 9562 §4), in letters of any case.
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key};
    ///
    /// let uuid = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?.uuid();
    /// assert_eq!(uuid.map(|uuid| uuid.get_version_num()), Some(4));
    /// assert_eq!(Key::from_header("order-1042")?.uuid(), None);
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn uuid(&self) -> Option<Uuid> {
        // The library reads the other forms as well: with braces, as a URN, without hyphens. None of them is so long.
        (self.0.len() == Hyphenated::LENGTH).then(|| Uuid::try_parse(&self.0).ok()).flatten()
    }

    /// Whether it is a UUID that nobody guesses: of version 4 or 7, of the RFC's own variant (RFC 9562 §4.1, §5.4, §5.7).
    /// Any other key is natural.
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key};
    ///
    /// assert!(Key::from_header("8E03978E-40D5-43DD-BC93-6894A57F9324")?.is_random());
    /// assert!(!Key::from_header("00000000-0000-0000-0000-000000000000")?.is_random());
    /// assert!(!Key::from_header("order-1042")?.is_random());
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn is_random(&self) -> bool {
        self.uuid()
            .is_some_and(|uuid| uuid.get_variant() == Variant::RFC4122 && matches!(uuid.get_version_num(), 4 | 7))
    }

    /// The time that the key tells: the first 48 bits of a UUID of version 7 (RFC 9562 §5.7).
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key, mint::mint_v7};
    ///
    /// assert_eq!(mint_v7(1_767_225_600_000, [7; 10]).time(), Some(1_767_225_600_000));
    /// assert_eq!(Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?.time(), None);
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn time(&self) -> Option<Millis> {
        let uuid = self.uuid().filter(|uuid| uuid.get_version_num() == 7 && uuid.get_variant() == Variant::RFC4122)?;
        Some(uuid.as_u64_pair().0 >> 16)
    }
}

/// Why a key is refused. Nothing of the request is repeated in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidKey {
    /// Empty, or spaces only.
    Blank,
    /// Longer than [`LONGEST_KEY`] characters after unquoting.
    TooLong {
        /// The length found, in bytes.
        length: usize,
    },
    /// A character outside ASCII.
    NotAscii,
    /// Neither a structured-field String nor a bare key, or a control character in the content's key.
    Malformed,
    /// More than one key: repeated header lines, or a field or member that occurs twice.
    Repeated,
    /// The header and the JSON member hold different keys.
    Disagrees,
    /// The JSON member is not a string, or the form field is a file.
    NotAString,
    /// Nothing proves who the caller is, and the key is no random UUID.
    NotRandom,
    /// The route demands a key that tells its time.
    NotTimed,
    /// The key's own time is too far ahead.
    Ahead,
}

/// What is wrong, as a sentence for the `detail` of a problem (RFC 9457 §3.1.4).
impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidKey::Blank => "The idempotency key is blank.",
            InvalidKey::TooLong { .. } => "The idempotency key is longer than 255 characters.",
            InvalidKey::NotAscii => "The idempotency key holds a character outside printable ASCII.",
            InvalidKey::Malformed => {
                "The idempotency key is neither a quoted string nor a bare value of printable ASCII without comma, quote, backslash or space."
            }
            InvalidKey::Repeated => {
                "More than one idempotency key was sent: the header, the form field or the JSON member is repeated."
            }
            InvalidKey::Disagrees => {
                "The idempotency key in the header and the one in the JSON content are not the same."
            }
            InvalidKey::NotAString => "The idempotency key in the content is not a string.",
            InvalidKey::NotTimed => "Only a UUID of version 7 is accepted here as idempotency key.",
            InvalidKey::Ahead => "The time in the idempotency key is more than 300 seconds ahead of the clock.",
            InvalidKey::NotRandom => {
                "Without credentials that stay the same only a UUID of version 4 or 7 is accepted as idempotency key."
            }
        })
    }
}

impl Error for InvalidKey {}

/// Whether `text` can be a key. Small enough for the browser: it needs no parser.
pub fn is_key(text: &str) -> bool {
    matches!(text.len(), 1..=LONGEST_KEY)
        && text.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
        && text.bytes().any(|byte| byte != b' ')
}

/// A key as a structured-field String (RFC 9651 §4.1.6): quoted, with `"` and `\` escaped.
#[allow(clippy::single_char_add_str, reason = "a character is encoded first, by code that the browser then loads")]
pub fn quote_key(key: &str) -> String {
    let mut quoted = String::from("\"");
    for (at, byte) in key.bytes().enumerate() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push_str("\\");
        }
        // ASCII, as keys are: a text a byte.
        quoted.push_str(key.get(at..=at).unwrap_or_default());
    }
    quoted.push_str("\"");
    quoted
}

/// Tells two strings apart from one that is broken: only the words of the refusal depend on it.
fn why_malformed(value: &str) -> InvalidKey {
    let mut bytes = value.bytes().skip(1);
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => break,
            _ => {}
        }
    }
    match bytes.find(|byte| !matches!(byte, b' ' | b'\t')) {
        Some(b',') => InvalidKey::Repeated,
        _ => InvalidKey::Malformed,
    }
}
