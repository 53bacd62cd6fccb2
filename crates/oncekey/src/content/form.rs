//! Urlencoded content (WHATWG URL §5.1) as decoded pairs of bytes, ordered by name.
use std::borrow::Cow;

use crate::{
    content::order::{MOST_PARTS, sort_positions},
    digest::length_prefix,
    key::{InvalidKey, Key},
    work::count_steps,
};

/// Urlencoded content. It always parses: what is no escape stands for itself.
#[derive(Debug, Clone)]
pub(crate) struct FormContent<'a> {
    bytes: &'a [u8],
}

impl<'a> FormContent<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> FormContent<'a> {
        FormContent { bytes }
    }

    /// The key in the field `field`.
    pub(crate) fn key(&self, field: &str) -> Result<Option<Key>, InvalidKey> {
        let mut found = None;
        for (_, value) in self.pairs().filter(|(name, _)| name.is(field)) {
            if found.is_some() {
                return Err(InvalidKey::Repeated);
            }
            found = Some(value.to_text());
        }
        let Some(value) = found else { return Ok(None) };
        let text = str::from_utf8(&value).map_err(|_| InvalidKey::NotAscii)?;
        Key::from_content(text).map(Some)
    }

    /// Whether there are few enough pairs to put in order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.segments().nth(MOST_PARTS).is_none()
    }

    /// Writes name and value of every pair, each with its length, ordered by name; pairs of one name in their order.
    pub(crate) fn write(&self, left_out: &dyn Fn(&[u8]) -> bool, out: &mut dyn FnMut(&[u8])) {
        // Decoded once: each is compared with many others, which decoded for each comparison took 1.8 s.
        let pairs: Vec<_> = self.pairs().map(|(name, value)| (name.to_text(), value)).collect();
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        let name = |at: usize| pairs.get(at).map(|(name, _)| &**name);
        sort_positions(&mut order, &|one, other| name(one).cmp(&name(other)));
        for (name, value) in order.iter().filter_map(|at| pairs.get(*at)).filter(|(name, _)| !left_out(name)) {
            for part in [name, &value.to_text()] {
                out(&length_prefix(part.len()));
                out(part);
            }
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (Encoded<'a>, Encoded<'a>)> {
        self.segments().map(pair)
    }

    /// What stands between the separators; nothing between two of them is no pair.
    fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        count_steps(self.bytes.len());
        self.bytes.split(|byte| *byte == SEPARATOR).filter(|segment| !segment.is_empty())
    }
}

/// Stands between two pairs.
const SEPARATOR: u8 = b'&';

/// A name and a value; a segment without `=` is a name with an empty value.
fn pair(segment: &[u8]) -> (Encoded<'_>, Encoded<'_>) {
    let mut halves = segment.splitn(2, |byte| *byte == b'=');
    let mut half = || Encoded(halves.next().unwrap_or_default());
    (half(), half())
}

/// Bytes as written in the content.
#[derive(Debug, Clone, Copy)]
struct Encoded<'a>(&'a [u8]);

impl<'a> Encoded<'a> {
    /// The bytes that are meant: `+` is a space, `%` and two hexadecimal digits are a byte, any other `%` is itself.
    fn decoded(self) -> impl Iterator<Item = u8> + 'a {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (byte, after) = match rest {
                [b'%', high, low, after @ ..] => match (hex(*high), hex(*low)) {
                    (Some(high), Some(low)) => (high * 16 + low, after),
                    _ => (b'%', rest.get(1..).unwrap_or_default()),
                },
                [b'+', after @ ..] => (b' ', after),
                [byte, after @ ..] => (*byte, after),
                [] => return None,
            };
            count_steps(1);
            rest = after;
            Some(byte)
        })
    }

    fn to_text(self) -> Cow<'a, [u8]> {
        if self.0.iter().any(|byte| matches!(byte, b'%' | b'+')) {
            Cow::Owned(self.decoded().collect())
        } else {
            Cow::Borrowed(self.0)
        }
    }

    fn is(self, text: &str) -> bool {
        self.decoded().eq(text.bytes())
    }
}

fn hex(byte: u8) -> Option<u8> {
    // A hexadecimal digit is below 16.
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
