//! A canonical form read back, part by part.

use std::borrow::Cow;

use crate::json::{
    pointer::step,
    tokens::{Token, Tokens},
};

/// How a content is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FormKind {
    Json,
    Form,
    Multipart,
    Parts,
    Bytes,
}

/// Where in a content a part stands. What is equal in place and value in two forms is equal in their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ContentPlace {
    /// Of JSON: a pointer.
    At(String),
    /// Of a form: the name, and which of those of that name, counted from 0.
    Field(Vec<u8>, usize),
    /// Of a multipart form: the same, and what of it.
    PartOfForm(Vec<u8>, usize, Aspect),
    /// Of parts in order: their numbers from the outermost in, counted from 1, and what of it.
    PartInOrder(Vec<usize>, Aspect),
    /// All of it, as bytes.
    Whole,
}

/// What of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    FileName,
    /// `filename*`.
    ExtendedFileName,
    MediaType,
    /// A header line, counted from 1.
    Line(usize),
    /// How many parts it has.
    Count,
    Content,
}

/// A value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartValue {
    /// Its members stand below it.
    Object,
    /// Its elements stand below it.
    List,
    /// A scalar as JSON, or a text that is shown as it stands.
    Text(String),
    Bytes(Vec<u8>),
}

/// A content's canonical form in parts.
#[derive(Clone, Debug)]
pub(super) struct CanonicalParts {
    pub(super) kind: FormKind,
    /// Whether a coding was undone.
    pub(super) is_decoded: bool,
    pub(super) parts: Vec<(ContentPlace, PartValue)>,
}

impl CanonicalParts {
    /// Reads what [`Content::write_canonical`](crate::content::Content::write_canonical) wrote.
    pub(super) fn read(form: &[u8]) -> CanonicalParts {
        let (is_decoded, form) = match form.strip_prefix(b"d") {
            Some(rest) => (true, rest),
            None => (false, form),
        };
        let (mark, rest) = form.split_first().map_or((b'b', form), |(mark, rest)| (*mark, rest));
        let read = match mark {
            b'j' => str::from_utf8(rest).ok().and_then(json_parts).map(|parts| (FormKind::Json, parts)),
            b'f' => form_parts(rest).map(|parts| (FormKind::Form, parts)),
            b'm' => multipart_parts(rest).map(|parts| (FormKind::Multipart, parts)),
            b'p' => ordered_parts(rest).map(|parts| (FormKind::Parts, parts)),
            _ => None,
        };
        let (kind, parts) =
            read.unwrap_or_else(|| (FormKind::Bytes, vec![(ContentPlace::Whole, PartValue::Bytes(rest.to_vec()))]));
        CanonicalParts { kind, is_decoded, parts }
    }
}

/// The values of a JSON text by their pointers; a container stands before what is in it.
fn json_parts(text: &str) -> Option<Vec<(ContentPlace, PartValue)>> {
    let mut found = Vec::new();
    let mut tokens = Tokens::new(text);
    // What is open: its pointer, and of a list the number of its next element.
    let mut open: Vec<(String, Option<usize>)> = Vec::new();
    let mut member: Option<Cow<'_, str>> = None;
    while let Some(token) = tokens.next().ok()? {
        let value = match token {
            Token::Name(name) => {
                member = Some(name.decode()?);
                continue;
            }
            Token::ObjectEnd | Token::ArrayEnd => {
                open.pop();
                continue;
            }
            Token::ObjectStart => PartValue::Object,
            Token::ArrayStart => PartValue::List,
            Token::String(written) => {
                let start = written.start().checked_sub(1)?;
                PartValue::Text(text.get(start..tokens.at())?.to_owned())
            }
            Token::Number(number) => PartValue::Text(number.to_owned()),
            Token::Bool(is_true) => PartValue::Text(is_true.to_string()),
            Token::Null => PartValue::Text("null".to_owned()),
        };
        let mut pointer = open.last().map(|(pointer, _)| pointer.clone()).unwrap_or_default();
        match open.last_mut() {
            None => {}
            Some((_, Some(element))) => {
                step(&mut pointer, &element.to_string());
                *element += 1;
            }
            Some((_, None)) => step(&mut pointer, &member.take()?),
        }
        match value {
            PartValue::Object => open.push((pointer.clone(), None)),
            PartValue::List => open.push((pointer.clone(), Some(0))),
            PartValue::Text(_) | PartValue::Bytes(_) => {}
        }
        found.push((ContentPlace::At(pointer), value));
    }
    Some(found)
}

fn form_parts(mut rest: &[u8]) -> Option<Vec<(ContentPlace, PartValue)>> {
    let (mut found, mut names) = (Vec::new(), Names::default());
    while !rest.is_empty() {
        let (name, value) = (take_prefixed(&mut rest)?, take_prefixed(&mut rest)?);
        let number = names.count(name);
        found.push((ContentPlace::Field(name.to_vec(), number), PartValue::Bytes(value.to_vec())));
    }
    Some(found)
}

fn multipart_parts(mut rest: &[u8]) -> Option<Vec<(ContentPlace, PartValue)>> {
    let aspects = [Aspect::FileName, Aspect::ExtendedFileName, Aspect::MediaType, Aspect::Content];
    let (mut found, mut names) = (Vec::new(), Names::default());
    while !rest.is_empty() {
        let name = take_optional(&mut rest)??;
        let number = names.count(name);
        for aspect in aspects {
            if let Some(value) = take_optional(&mut rest)? {
                let place = ContentPlace::PartOfForm(name.to_vec(), number, aspect);
                found.push((place, PartValue::Bytes(value.to_vec())));
            }
        }
    }
    Some(found)
}

fn ordered_parts(mut rest: &[u8]) -> Option<Vec<(ContentPlace, PartValue)>> {
    let mut found = Vec::new();
    read_parts(&mut rest, &[], &mut found)?;
    rest.is_empty().then_some(found)
}

/// Parts in order, and parts in them: as deep as contents are read, which is bounded.
fn read_parts(rest: &mut &[u8], within: &[usize], found: &mut Vec<(ContentPlace, PartValue)>) -> Option<()> {
    let count = take_number(rest)?;
    let place = |number: &[usize], aspect| ContentPlace::PartInOrder(number.to_vec(), aspect);
    found.push((place(within, Aspect::Count), PartValue::Text(count.to_string())));
    for number in 1..=count {
        let number = [within, &[number]].concat();
        for line in 1..=take_number(rest)? {
            let text = take_prefixed(rest)?.to_vec();
            found.push((place(&number, Aspect::Line(line)), PartValue::Bytes(text)));
        }
        if take_byte(rest)? == 0 {
            let content = take_prefixed(rest)?.to_vec();
            found.push((place(&number, Aspect::Content), PartValue::Bytes(content)));
        } else {
            let media_type = take_prefixed(rest)?.to_vec();
            found.push((place(&number, Aspect::MediaType), PartValue::Bytes(media_type)));
            read_parts(rest, &number, found)?;
        }
    }
    Some(())
}

/// How many of the name at hand there were; equal names stand together.
#[derive(Default)]
struct Names {
    last: Vec<u8>,
    next: usize,
}

impl Names {
    fn count(&mut self, name: &[u8]) -> usize {
        if self.last != name {
            *self = Names { last: name.to_vec(), next: 0 };
        }
        self.next += 1;
        self.next - 1
    }
}

fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u64::from_be_bytes(*number)).ok()
}

fn take_prefixed<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(rest)?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

/// Nothing where the form ends too early, else a part that may be missing.
#[expect(clippy::option_option, reason = "a form that is broken is not a part that is missing")]
fn take_optional<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    if take_byte(rest)? == 0 { Some(None) } else { take_prefixed(rest).map(Some) }
}
