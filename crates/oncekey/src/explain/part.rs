//! What of a request counts, by name and value.

use std::fmt::{self, Display, Formatter};

use crate::{
    content::{Content, ignore::Ignore},
    explain::canonical::{Aspect, CanonicalParts, ContentPlace, FormKind, PartValue},
    fingerprint::{compared_codings, counted_headers},
    http::{
        fields::Fields,
        media::media_type,
        target::{Target, UrlParts},
    },
};

/// Characters of a value that are shown.
const SHOWN: usize = 72;

/// The name of a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartName {
    Method,
    Path,
    Query,
    MediaType,
    Codings,
    Header(String),
    /// Whether a coding was undone.
    Decoded,
    /// How the content is compared.
    Form,
    Content(ContentPlace),
}

/// A part that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CountedPart {
    pub(super) name: PartName,
    pub(super) value: PartValue,
}

/// What a fingerprint is made of, each for itself.
pub(super) fn counted_parts(
    (method, url): (&str, &UrlParts<'_>),
    (content_type, content_encoding): (Option<&str>, Option<&str>),
    headers: (&[String], &Fields),
    canonical: &[u8],
) -> Vec<CountedPart> {
    let mut parts = Vec::new();
    let mut add = |name, text: &str| {
        parts.push(CountedPart { name, value: PartValue::Text(text.to_owned()) });
    };
    let target = Target { method, path_and_query: url.path_and_query };
    let (path, query) =
        target.path_and_query.split_once('?').map_or((target.path_and_query, None), |(p, q)| (p, Some(q)));
    add(PartName::Method, target.method);
    add(PartName::Path, path);
    if let Some(query) = query {
        add(PartName::Query, query);
    }
    if let Some(content_type) = content_type {
        add(PartName::MediaType, &media_type(content_type));
    }
    if let Some(codings) = content_encoding {
        add(PartName::Codings, &compared_codings(codings));
    }
    for (name, value) in counted_headers(headers) {
        add(PartName::Header(name), value);
    }
    let canonical = CanonicalParts::read(canonical);
    if canonical.is_decoded {
        add(PartName::Decoded, "undone");
    }
    add(PartName::Form, form_words(canonical.kind));
    let content =
        canonical.parts.into_iter().map(|(place, value)| CountedPart { name: PartName::Content(place), value });
    parts.extend(content);
    parts
}

/// The canonical form of a content.
pub(super) fn canonical_form(content: &Content, field: &str, ignore: &[Ignore]) -> Vec<u8> {
    let mut form = Vec::new();
    content.write_canonical(field, ignore, &mut |bytes| form.extend_from_slice(bytes));
    form
}

fn form_words(kind: FormKind) -> &'static str {
    match kind {
        FormKind::Json => "as JSON, whatever its order, spaces and notation",
        FormKind::Form => "as a form's fields, ordered by name",
        FormKind::Multipart => "as a form's parts, ordered by name, without their boundary",
        FormKind::Parts => "as parts in their order, without their boundary",
        FormKind::Bytes => "byte for byte",
    }
}

impl Display for PartName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PartName::Method => f.write_str("the method"),
            PartName::Path => f.write_str("the path"),
            PartName::Query => f.write_str("the query"),
            PartName::MediaType => f.write_str("the media type"),
            PartName::Codings => f.write_str("the content's coding"),
            PartName::Header(name) => write!(f, "the header field {name}"),
            PartName::Decoded => f.write_str("the coding, before the content is compared"),
            PartName::Form => f.write_str("how the content is compared"),
            PartName::Content(ContentPlace::Whole) => f.write_str("the content"),
            PartName::Content(ContentPlace::At(pointer)) if pointer.is_empty() => f.write_str("the content as a whole"),
            PartName::Content(ContentPlace::At(pointer)) => write!(f, "the content at {}", shown_text(pointer)),
            PartName::Content(ContentPlace::Field(name, number)) => {
                f.write_str("the form's field ")?;
                write_nth(f, name, *number)
            }
            PartName::Content(ContentPlace::PartOfForm(name, number, aspect)) => {
                write!(f, "{} of the form's part ", aspect_words(*aspect))?;
                write_nth(f, name, *number)
            }
            PartName::Content(ContentPlace::PartInOrder(numbers, aspect)) => {
                match aspect {
                    Aspect::Line(line) => write!(f, "header line {line}")?,
                    Aspect::FileName
                    | Aspect::ExtendedFileName
                    | Aspect::MediaType
                    | Aspect::Count
                    | Aspect::Content => f.write_str(aspect_words(*aspect))?,
                }
                f.write_str(if numbers.is_empty() { " of the content" } else { " of part " })?;
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                f.write_str(&numbers.join("."))
            }
        }
    }
}

fn write_nth(f: &mut Formatter<'_>, name: &[u8], number: usize) -> fmt::Result {
    f.write_str(&shown_bytes(name))?;
    if number == 0 { Ok(()) } else { write!(f, " (number {} of that name)", number + 1) }
}

fn aspect_words(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::FileName => "the file name",
        Aspect::ExtendedFileName => "the file name (filename*)",
        Aspect::MediaType => "the media type",
        Aspect::Line(_) => "a header line",
        Aspect::Count => "the number of parts",
        Aspect::Content => "the content",
    }
}

impl Display for PartValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PartValue::Object => f.write_str("an object"),
            PartValue::List => f.write_str("a list"),
            PartValue::Text(text) if text.is_empty() => f.write_str("empty"),
            PartValue::Text(text) => f.write_str(&shown_text(text)),
            PartValue::Bytes(bytes) => f.write_str(&shown_bytes(bytes)),
        }
    }
}

/// A text on one line, cut where it is long.
fn shown_text(text: &str) -> String {
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let shown = text.chars().take(SHOWN).map(visible);
    shown.chain(text.chars().nth(SHOWN).map(|_| '…')).collect()
}

/// Bytes as a text in quotes, where they are a short one; else how many.
fn shown_bytes(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) if !is_long(bytes) => format!("{text:?}"),
        Ok(_) | Err(_) => format!("{} bytes", bytes.len()),
    }
}

/// Whether a value is not shown whole.
fn is_long(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).map_or(true, |text| text.chars().nth(SHOWN).is_some())
}

impl PartValue {
    /// Its bytes, where it is not shown whole.
    pub(super) fn long_bytes(&self) -> Option<&[u8]> {
        let bytes = match self {
            PartValue::Text(text) => text.as_bytes(),
            PartValue::Bytes(bytes) => bytes,
            PartValue::Object | PartValue::List => return None,
        };
        is_long(bytes).then_some(bytes)
    }

    /// How many bytes it begins with that another begins with too.
    pub(super) fn common_bytes(&self, other: &PartValue) -> usize {
        let bytes = |value: &PartValue| match value {
            PartValue::Text(text) => text.clone().into_bytes(),
            PartValue::Bytes(bytes) => bytes.clone(),
            PartValue::Object | PartValue::List => Vec::new(),
        };
        bytes(self).iter().zip(bytes(other)).take_while(|(one, other)| **one == *other).count()
    }
}
