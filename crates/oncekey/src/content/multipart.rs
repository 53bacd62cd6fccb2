//! Multipart content (RFC 7578) as parts of name, file name, type and bytes, ordered by name.
use std::borrow::Cow;

use crate::{
    content::order::{MOST_PARTS, sort_positions},
    digest::length_prefix,
    key::{InvalidKey, Key},
    work::count_steps,
};

/// One part of a form.
#[derive(Debug, Clone)]
struct Part<'a> {
    name: Cow<'a, [u8]>,
    filename: Option<Cow<'a, [u8]>>,
    /// `filename*` (RFC 6266 §4.3), which browsers never send.
    filename_extended: Option<Cow<'a, [u8]>>,
    kind: Option<&'a [u8]>,
    content: &'a [u8],
}

impl Part<'_> {
    fn is_file(&self) -> bool {
        self.filename.is_some() || self.filename_extended.is_some()
    }

    /// The key that it holds, as far as one can.
    fn key(&self) -> Result<Key, InvalidKey> {
        if self.is_file() {
            return Err(InvalidKey::NotAString);
        }
        Key::from_content(str::from_utf8(self.content).map_err(|_| InvalidKey::NotAscii)?)
    }
}

/// Multipart content that parses.
#[derive(Debug, Clone)]
pub(crate) struct MultipartContent<'a> {
    bytes: &'a [u8],
    delimiter: Vec<u8>,
    /// `None` where there are more parts than are put in order.
    ordered: Option<OrderedParts<'a>>,
}

/// Parts that are compared one by one.
#[derive(Debug, Clone)]
struct OrderedParts<'a> {
    parts: Vec<Part<'a>>,
    /// The parts' numbers ordered by name; parts of one name in their order.
    order: Vec<usize>,
}

impl<'a> MultipartContent<'a> {
    /// Reads the parts. `None` where the boundary is missing or illegal, the last delimiter is missing, or a part is not
    /// a named part of a form.
    pub(crate) fn parse(content_type: &str, bytes: &'a [u8]) -> Option<MultipartContent<'a>> {
        let delimiter = delimiter(&boundary(content_type)?);
        let mut parts = Some(Vec::new());
        each_part(bytes, &delimiter, |part| {
            parts = parts.take().filter(|parts| parts.len() < MOST_PARTS);
            if let Some(parts) = &mut parts {
                parts.push(part);
            }
        })?;
        Some(MultipartContent { bytes, delimiter, ordered: parts.map(OrderedParts::new) })
    }

    /// Whether there are few enough parts to put in order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered.is_some()
    }

    /// The key in the field `field`.
    pub(crate) fn key(&self, field: &str) -> Result<Option<Key>, InvalidKey> {
        let mut found = None;
        let mut see = |part: &Part<'a>| {
            if part.name.as_ref() == field.as_bytes() {
                found = Some(if found.is_some() { Err(InvalidKey::Repeated) } else { part.key() });
            }
        };
        match &self.ordered {
            Some(ordered) => ordered.parts.iter().for_each(see),
            // It was read to its end once: it can be again.
            None => drop(each_part(self.bytes, &self.delimiter, |part| see(&part))),
        }
        found.transpose()
    }

    /// Writes every part: name, file names, type and content, each with its length and a mark where it may be missing.
    pub(crate) fn write(&self, left_out: &dyn Fn(&[u8]) -> bool, out: &mut dyn FnMut(&[u8])) {
        if let Some(ordered) = &self.ordered {
            ordered.write(left_out, out);
        }
    }
}

/// Reads every part, and hands it over. `None` as soon as one cannot be read.
fn each_part<'a>(bytes: &'a [u8], delimiter: &[u8], mut see: impl FnMut(Part<'a>)) -> Option<()> {
    let (mut rest, mut end) = preamble(bytes, delimiter)?;
    while !end {
        let (head, after) = head(rest)?;
        count_steps(head.len());
        let (content, next, is_end) = until(after, delimiter)?;
        // A part of header lines alone has no line break of its own before the delimiter (RFC 2046 §5.1.1).
        see(part(head, content.strip_prefix(b"\r\n").unwrap_or_default())?);
        (rest, end) = (next, is_end);
    }
    Some(())
}

impl<'a> OrderedParts<'a> {
    fn new(parts: Vec<Part<'a>>) -> Self {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        let name = |at: usize| parts.get(at).map(|part| &*part.name);
        sort_positions(&mut order, &|one, other| name(one).cmp(&name(other)));
        Self { parts, order }
    }

    fn write(&self, left_out: &dyn Fn(&[u8]) -> bool, out: &mut dyn FnMut(&[u8])) {
        for at in &self.order {
            let Some(part) = self.parts.get(*at).filter(|part| !left_out(&part.name)) else {
                continue;
            };
            let fields = [
                Some(&*part.name),
                part.filename.as_deref(),
                part.filename_extended.as_deref(),
                part.kind,
                Some(part.content),
            ];
            for field in fields {
                match field {
                    None => out(&[0]),
                    Some(bytes) => {
                        out(&[1]);
                        out(&length_prefix(bytes.len()));
                        out(bytes);
                    }
                }
            }
        }
    }
}

/// The boundary parameter (RFC 2046 §5.1.1): 1 to 70 characters, quoted or a token.
pub(super) fn boundary(content_type: &str) -> Option<Vec<u8>> {
    let (_, parameters) = content_type.split_once(';')?;
    let mut found = None;
    for parameter in Parameters(parameters.as_bytes()) {
        let (name, value) = parameter?;
        if name.eq_ignore_ascii_case(b"boundary") {
            if found.is_some() {
                return None;
            }
            found = Some(value.into_owned());
        }
    }
    found.filter(|boundary| {
        matches!(boundary.len(), 1..=70)
            && boundary.iter().all(|byte| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(byte))
            && boundary.last() != Some(&b' ')
    })
}

/// What stands before and after every part, with the line break that belongs to it.
pub(super) fn delimiter(boundary: &[u8]) -> Vec<u8> {
    [b"\r\n--", boundary].concat()
}

/// Passes over what stands before the first delimiter, which may stand at the very beginning.
pub(super) fn preamble<'a>(bytes: &'a [u8], delimiter: &[u8]) -> Option<(&'a [u8], bool)> {
    let at_once = delimiter.strip_prefix(b"\r\n").and_then(|first| bytes.strip_prefix(first)).and_then(line_end);
    match at_once {
        Some(found) => Some(found),
        None => until(bytes, delimiter).map(|(_, rest, end)| (rest, end)),
    }
}

/// The bytes before the next delimiter, what comes after it, and whether it is the last.
pub(super) fn until<'a>(bytes: &'a [u8], delimiter: &[u8]) -> Option<(&'a [u8], &'a [u8], bool)> {
    let mut from = 0;
    loop {
        // A boundary holds no CR, so that no byte is looked at more than twice.
        let rest = bytes.get(from..)?;
        let next = rest.iter().position(|byte| *byte == b'\r');
        count_steps(next.unwrap_or(rest.len()) + 1);
        let at = from + next?;
        let found = bytes.get(at..)?.strip_prefix(delimiter).and_then(line_end);
        if let Some((rest, end)) = found {
            return Some((bytes.get(..at)?, rest, end));
        }
        from = at + 1;
    }
}

/// The rest of a delimiter's line: `--` at the last one, then padding (RFC 2046 §5.1.1) and the line break.
fn line_end(bytes: &[u8]) -> Option<(&[u8], bool)> {
    let (rest, end) = match bytes.strip_prefix(b"--") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match rest.get(padding..)? {
        [] if end => Some((&[], true)),
        [b'\r', b'\n', after @ ..] => Some((after, end)),
        _ => None,
    }
}

/// The header lines of a part and the rest, from the line break that ends the empty line after them.
fn head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((bytes.get(..end)?, bytes.get(end + 2..)?))
}

/// A part from its header lines.
fn part<'a>(head: &'a [u8], content: &'a [u8]) -> Option<Part<'a>> {
    let mut disposition = None;
    let mut kind = None;
    for line in lines(head) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?.trim_ascii());
        if name.is_empty() || !name.iter().copied().all(is_token) {
            return None;
        }
        let slot = if name.eq_ignore_ascii_case(b"content-disposition") {
            &mut disposition
        } else if name.eq_ignore_ascii_case(b"content-type") {
            &mut kind
        } else {
            continue;
        };
        if slot.replace(value).is_some() {
            return None;
        }
    }
    let disposition = disposition?;
    let kept = disposition.iter().position(|byte| *byte == b';')?;
    if !disposition.get(..kept)?.trim_ascii().eq_ignore_ascii_case(b"form-data") {
        return None;
    }
    let (mut name, mut filename, mut filename_extended) = (None, None, None);
    for parameter in Parameters(disposition.get(kept + 1..)?) {
        let (parameter, value) = parameter?;
        let slot = if parameter.eq_ignore_ascii_case(b"name") {
            &mut name
        } else if parameter.eq_ignore_ascii_case(b"filename") {
            &mut filename
        } else if parameter.eq_ignore_ascii_case(b"filename*") {
            &mut filename_extended
        } else {
            continue;
        };
        if slot.replace(value).is_some() {
            return None;
        }
    }
    Some(Part { name: name?, filename, filename_extended, kind, content })
}

/// Lines that end in CR LF.
pub(super) fn lines(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") else {
            done = true;
            return Some(bytes);
        };
        let line = bytes.get(..end);
        bytes = bytes.get(end + 2..).unwrap_or_default();
        line
    })
}

/// Parameters of a header value (RFC 9110 §5.6.6), after the first `;`. A malformed one is `None`, and the last.
struct Parameters<'a>(&'a [u8]);

impl<'a> Iterator for Parameters<'a> {
    type Item = Option<(&'a [u8], Cow<'a, [u8]>)>;

    fn next(&mut self) -> Option<Self::Item> {
        while let [b' ' | b'\t' | b';', rest @ ..] = self.0 {
            self.0 = rest;
        }
        if self.0.is_empty() {
            return None;
        }
        let parameter = self.parameter();
        if parameter.is_none() {
            self.0 = &[];
        }
        Some(parameter)
    }
}

impl<'a> Parameters<'a> {
    fn parameter(&mut self) -> Option<(&'a [u8], Cow<'a, [u8]>)> {
        let equals = self.0.iter().position(|byte| *byte == b'=')?;
        let name = self.0.get(..equals)?;
        if name.is_empty() || !name.iter().copied().all(is_token) {
            return None;
        }
        let value = self.0.get(equals + 1..)?;
        let (value, rest) = if let Some(quoted) = value.strip_prefix(b"\"") {
            quoted_string(quoted)?
        } else {
            let end = value.iter().position(|byte| !is_token(*byte)).unwrap_or(value.len());
            if end == 0 {
                return None;
            }
            (Cow::Borrowed(value.get(..end)?), value.get(end..)?)
        };
        self.0 = rest.trim_ascii_start();
        matches!(self.0, [] | [b';', ..]).then_some((name, value))
    }
}

/// A quoted string without its first quote. Only `\"` and `\\` are escapes: browsers send any other backslash as it is,
/// and write quotes as `%22`, which stays.
fn quoted_string(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut at = 0;
    let mut escaped = false;
    loop {
        match bytes.get(at..)? {
            [b'"', rest @ ..] => {
                let written = bytes.get(..at)?;
                return Some((if escaped { Cow::Owned(unescape(written)) } else { Cow::Borrowed(written) }, rest));
            }
            [b'\\', b'"' | b'\\', ..] => {
                escaped = true;
                at += 2;
            }
            [] => return None,
            _ => at += 1,
        }
    }
}

fn unescape(mut written: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(written.len());
    loop {
        written = match written {
            [b'\\', byte @ (b'"' | b'\\'), rest @ ..] | [byte, rest @ ..] => {
                text.push(*byte);
                rest
            }
            [] => return text,
        };
    }
}

/// A character of a token (RFC 9110 §5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
