//! Content codings of requests (RFC 9110 §8.4.1) that are undone: gzip and deflate, within a bound.

use crate::content::inflate::Inflater;

/// Whether a coding is undone before content is compared and searched for its key. Clients code anew for each attempt,
/// and the head of a gzip file holds a time (RFC 1952 §2.3.1).
pub fn can_undo_coding(content_encoding: &str) -> bool {
    wrapping(content_encoding).is_some()
}

/// What content is without its coding; nothing where the coding is another, the content is not so coded to its very
/// end, or is more than `limit` bytes without it.
///
/// ```
/// use oncekey::content::coding::undo_coding;
///
/// let stored = [0x78, 0x01, 0x01, 1, 0, 0xfe, 0xff, b'a', 0, 0x62, 0, 0x62];
/// assert_eq!(undo_coding("deflate", &stored, 1), Some(b"a".to_vec()));
/// assert_eq!(undo_coding("deflate", &stored, 0), None);
/// ```
pub fn undo_coding(content_encoding: &str, bytes: &[u8], limit: u64) -> Option<Vec<u8>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match wrapping(content_encoding)? {
        Wrapping::Gzip => undo_gzip(bytes, limit),
        Wrapping::Deflate => undo_zlib(bytes, limit).or_else(|| undo_stream(bytes, limit, 0)),
    }
}

enum Wrapping {
    /// RFC 1952: one member or more.
    Gzip,
    /// RFC 1950, which the coding `deflate` is, or as some send it the stream alone (RFC 9110 §8.4.1.2).
    Deflate,
}

fn wrapping(content_encoding: &str) -> Option<Wrapping> {
    let coding = content_encoding.trim_matches([' ', '\t']);
    if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip") {
        Some(Wrapping::Gzip)
    } else {
        coding.eq_ignore_ascii_case("deflate").then_some(Wrapping::Deflate)
    }
}

/// Sums are not checked here nor below: the origin does, and a wrong one would tell nothing about the request.
fn undo_gzip(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut inflater = Inflater::new(limit)?;
    let mut rest = bytes;
    loop {
        let before = inflater.len();
        // CRC32 and length (RFC 1952 §2.3.1).
        let (end, after) = inflater.decode(after_gzip_head(rest)?)?.split_at_checked(8)?;
        let length = u32::from_le_bytes(end.get(4..)?.try_into().ok()?);
        if u32::try_from(inflater.len() - before) != Ok(length) {
            return None;
        }
        if after.is_empty() {
            return Some(inflater.into_plain());
        }
        rest = after;
    }
}

/// A head of two bytes whose sum tells it, and Adler-32 at the end (RFC 1950 §2.2).
fn undo_zlib(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    let ([method, flags], stream) = bytes.split_first_chunk()?;
    let is_head = method & 0x8f == 8 && flags & 0x20 == 0 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31);
    if is_head { undo_stream(stream, limit, 4) } else { None }
}

/// One stream, which so many bytes follow.
fn undo_stream(bytes: &[u8], limit: usize, after: usize) -> Option<Vec<u8>> {
    let mut inflater = Inflater::new(limit)?;
    (inflater.decode(bytes)?.len() == after).then(|| inflater.into_plain())
}

/// What follows the head of a gzip member (RFC 1952 §2.3).
fn after_gzip_head(bytes: &[u8]) -> Option<&[u8]> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else {
        return None;
    };
    let has = |flag: u8| flags & flag != 0;
    if has(0xe0) {
        return None;
    }
    let mut rest = rest;
    if has(4) {
        let [low, high, extra @ ..] = rest else { return None };
        rest = extra.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    for text in [8, 16] {
        if has(text) {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if has(2) { rest.get(2..) } else { Some(rest) }
}
