//! Content: the key it holds, and the canonical form that decides whether two requests are the same.

#[cfg(test)]
mod bounds;
pub mod coding;
pub(crate) mod form;
pub mod ignore;
mod inflate;
pub mod json;
pub(crate) mod multipart;
pub(crate) mod order;
pub(crate) mod parts;

pub use order::MOST_PARTS;

use crate::{
    content::{
        coding::can_undo_coding, form::FormContent, ignore::Ignore, json::JsonContent, multipart::MultipartContent,
        parts::PartsContent,
    },
    http::media::media_type,
    key::{InvalidKey, Key},
};

/// The content of a request, parsed as far as its key and its canonical form need.
#[derive(Debug, Clone)]
pub struct Content<'a> {
    bytes: &'a [u8],
    kind: ContentKind<'a>,
    is_decoded: bool,
}

#[derive(Debug, Clone)]
enum ContentKind<'a> {
    Json(JsonContent<'a>),
    Form(FormContent<'a>),
    Multipart(MultipartContent<'a>),
    Parts(PartsContent<'a>),
    /// Any other media type, coded content, and content that does not parse.
    Bytes,
}

/// What a media type promises.
enum Promise {
    Json,
    Form,
    Multipart,
    /// Multipart content that is no form: it holds no key.
    Parts,
}

impl<'a> Content<'a> {
    /// Parses `bytes` by the values of the Content-Type and Content-Encoding fields. What does not parse is bytes.
    pub fn parse(content_type: Option<&str>, content_encoding: Option<&str>, bytes: &'a [u8]) -> Content<'a> {
        let kind = match promise(content_type, content_encoding) {
            Some(Promise::Json) => JsonContent::parse(bytes).map(ContentKind::Json),
            Some(Promise::Form) => Some(ContentKind::Form(FormContent::new(bytes))),
            Some(Promise::Multipart) => {
                MultipartContent::parse(content_type.unwrap_or_default(), bytes).map(ContentKind::Multipart)
            }
            Some(Promise::Parts) => {
                PartsContent::parse(content_type.unwrap_or_default(), bytes).map(ContentKind::Parts)
            }
            None => None,
        };
        Content { bytes, kind: kind.unwrap_or(ContentKind::Bytes), is_decoded: false }
    }

    /// Parses what content is without its coding.
    pub fn parse_decoded(content_type: Option<&str>, plain: &'a [u8]) -> Content<'a> {
        Content { is_decoded: true, ..Content::parse(content_type, None, plain) }
    }

    /// The key in the form field or top-level JSON member `field`, taken literally.
    ///
    /// An error where it occurs twice, is a file or not a string, or is no key. Content that does not parse has none.
    pub fn key(&self, field: &str) -> Result<Option<Key>, InvalidKey> {
        match &self.kind {
            ContentKind::Json(json) => json.key(field),
            ContentKind::Form(form) => form.key(field),
            ContentKind::Multipart(multipart) => multipart.key(field),
            ContentKind::Parts(_) | ContentKind::Bytes => Ok(None),
        }
    }

    /// Whether the content is a form that parses.
    pub fn is_form(&self) -> bool {
        match self.kind {
            ContentKind::Form(_) | ContentKind::Multipart(_) => true,
            ContentKind::Json(_) | ContentKind::Parts(_) | ContentKind::Bytes => false,
        }
    }

    /// Writes the bytes, and before them whether they were decoded.
    pub(crate) fn write_sent(&self, out: &mut impl FnMut(&[u8])) {
        out(if self.is_decoded { b"d" } else { b"b" });
        out(self.bytes);
    }

    /// Writes the canonical form: a byte for content that was decoded, since it is not what has its bytes under the same
    /// label; a byte that says which form it is, then
    ///
    /// * JSON that loses nothing by it: RFC 8785, without the member `field` and what the pointers of `ignore` name.
    ///   Nothing is lost where names are unique, numbers survive a double, there is no lone surrogate and no byte order
    ///   mark, and nesting and size are within [`json::DEEPEST`] and [`MOST_PARTS`];
    /// * forms: the pairs or parts ordered by name, each part of them with its length, without those named `field` or by
    ///   a name in `ignore`, where there are no more than [`MOST_PARTS`];
    /// * multipart content that is no form: its parts in order, header lines and bytes, parts in parts too, without the
    ///   boundaries;
    /// * everything else: the bytes as sent. There `field` and `ignore` cannot be taken out.
    ///
    /// The form ends where the writing ends, without a length of its own: it has to be the last part of a digest.
    ///
    /// ```
    /// use oncekey::content::Content;
    ///
    /// let content = Content::parse(Some("application/json"), None, br#"{ "b": 1.0, "a": "\u00e9", "key": "k" }"#);
    /// let mut form = Vec::new();
    /// content.write_canonical("key", &[], &mut |bytes| form.extend_from_slice(bytes));
    /// assert_eq!(form, r#"j{"a":"é","b":1}"#.as_bytes());
    /// ```
    pub fn write_canonical(&self, field: &str, ignore: &[Ignore], out: &mut impl FnMut(&[u8])) {
        let left_out = |name: &[u8]| {
            name == field.as_bytes()
                || ignore.iter().any(|ignore| match ignore {
                    Ignore::Name(ignored) => name == ignored.as_bytes(),
                    Ignore::Pointer(_) => false,
                })
        };
        if self.is_decoded {
            out(b"d");
        }
        match &self.kind {
            ContentKind::Json(json) if json.is_lossless() => {
                let mut pointers = Vec::new();
                for ignore in ignore {
                    if let Ignore::Pointer(tokens) = ignore {
                        pointers.push(tokens.as_slice());
                    }
                }
                out(b"j");
                json.write(&[field.to_owned()], pointers, out);
            }
            ContentKind::Form(form) if form.is_ordered() => {
                out(b"f");
                form.write(&left_out, out);
            }
            ContentKind::Multipart(multipart) if multipart.is_ordered() => {
                out(b"m");
                multipart.write(&left_out, out);
            }
            ContentKind::Parts(parts) => {
                out(b"p");
                parts.write(out);
            }
            ContentKind::Json(_) | ContentKind::Form(_) | ContentKind::Multipart(_) | ContentKind::Bytes => {
                out(b"b");
                out(self.bytes);
            }
        }
    }
}

/// Whether the content may hold a key, by its header fields alone: a form or JSON, and in no coding but one that is
/// undone.
pub fn may_hold_key(content_type: Option<&str>, content_encoding: Option<&str>) -> bool {
    let coding = content_encoding.filter(|coding| !can_undo_coding(coding));
    matches!(promise(content_type, coding), Some(Promise::Json | Promise::Form | Promise::Multipart))
}

/// Whether the content is JSON by its header fields alone, and not coded.
pub(crate) fn may_hold_json(content_type: Option<&str>, content_encoding: Option<&str>) -> bool {
    matches!(promise(content_type, content_encoding), Some(Promise::Json))
}

/// The key of a request, from the value of its header field and from its content.
///
/// 1. In a form the content's key wins and the header is ignored, whatever it holds: browsers may add one of their own.
/// 2. In JSON both must be the same key, where both are there.
/// 3. Otherwise the header's.
///
/// ```
/// use oncekey::{content::{Content, choose_key}, key::InvalidKey};
///
/// let json = |text: &'static str| Content::parse(Some("application/json"), None, text.as_bytes());
/// let held = json(r#"{"idempotency_key": "a", "amount": 10}"#);
/// let key = choose_key(None, &held, "idempotency_key")?;
/// assert_eq!(key.as_ref().map(|key| key.as_str()), Some("a"));
/// assert_eq!(choose_key(Some("a"), &held, "idempotency_key")?, key);
/// assert_eq!(choose_key(Some("b"), &held, "idempotency_key"), Err(InvalidKey::Disagrees));
/// assert_eq!(choose_key(None, &json("{}"), "idempotency_key")?, None);
/// # Ok::<(), InvalidKey>(())
/// ```
pub fn choose_key(header: Option<&str>, content: &Content, field: &str) -> Result<Option<Key>, InvalidKey> {
    let held = content.key(field)?;
    if held.is_some() && content.is_form() {
        return Ok(held);
    }
    match (header.map(Key::from_header).transpose()?, held) {
        (Some(sent), Some(held)) if sent != held => Err(InvalidKey::Disagrees),
        (Some(sent), _) => Ok(Some(sent)),
        (None, held) => Ok(held),
    }
}

fn promise(content_type: Option<&str>, content_encoding: Option<&str>) -> Option<Promise> {
    // RFC 9110 §12.5.3: `identity` is no coding.
    let is_coded = content_encoding
        .unwrap_or_default()
        .split(',')
        .map(|coding| coding.trim_matches([' ', '\t']))
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    if is_coded {
        return None;
    }
    match media_type(content_type?).as_str() {
        "application/x-www-form-urlencoded" => Some(Promise::Form),
        "multipart/form-data" => Some(Promise::Multipart),
        "application/json" => Some(Promise::Json),
        other if other.ends_with("+json") => Some(Promise::Json),
        other if other.starts_with("multipart/") => Some(Promise::Parts),
        _ => None,
    }
}
