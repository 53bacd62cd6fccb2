//! Multipart content that is no form (RFC 2046 §5.1.3 ff.): its parts in order, whatever boundary parts them.
use crate::{
    content::{
        multipart::{boundary, delimiter, lines, preamble, until},
        order::MOST_PARTS,
    },
    digest::length_prefix,
    http::media::media_type,
    work::count_steps,
};

/// The deepest that parts lie in parts; deeper ones are compared as bytes. Each level is read once more.
const DEEPEST: usize = 8;

/// Multipart content that parses and is no form.
#[derive(Debug, Clone)]
pub(crate) struct PartsContent<'a>(Vec<OrderedPart<'a>>);

#[derive(Debug, Clone)]
struct OrderedPart<'a> {
    /// As written.
    lines: Vec<&'a [u8]>,
    content: PartContent<'a>,
}

#[derive(Debug, Clone)]
enum PartContent<'a> {
    Bytes(&'a [u8]),
    /// Parts of that media type: its parameters are left out, the boundary among them.
    Parts(String, PartsContent<'a>),
}

impl<'a> PartsContent<'a> {
    /// Reads the parts. `None` where the boundary is missing or illegal, the last delimiter is missing, a part has no
    /// end of its header lines, or there are more than [`MOST_PARTS`] in all.
    pub(crate) fn parse(content_type: &str, bytes: &'a [u8]) -> Option<PartsContent<'a>> {
        let mut room = MOST_PARTS;
        read_parts(content_type, bytes, DEEPEST, &mut room)
    }

    /// Writes how many parts there are, then of each its header lines and its content, all with their length.
    pub(crate) fn write(&self, out: &mut dyn FnMut(&[u8])) {
        out(&length_prefix(self.0.len()));
        for part in &self.0 {
            out(&length_prefix(part.lines.len()));
            let is_nested = matches!(part.content, PartContent::Parts(..));
            for line in &part.lines {
                // The type of parts in parts is written below, without its boundary.
                let line = if is_nested && content_type_of(line).is_some() { b"" } else { *line };
                write_prefixed(line, out);
            }
            match &part.content {
                PartContent::Bytes(bytes) => {
                    out(&[0]);
                    write_prefixed(bytes, out);
                }
                PartContent::Parts(media_type, parts) => {
                    out(&[1]);
                    write_prefixed(media_type.as_bytes(), out);
                    parts.write(out);
                }
            }
        }
    }
}

fn write_prefixed(bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
    out(&length_prefix(bytes.len()));
    out(bytes);
}

fn read_parts<'a>(content_type: &str, bytes: &'a [u8], deepest: usize, room: &mut usize) -> Option<PartsContent<'a>> {
    let delimiter = delimiter(&boundary(content_type)?);
    let mut parts = Vec::new();
    let (mut rest, mut end) = preamble(bytes, &delimiter)?;
    while !end {
        *room = room.checked_sub(1)?;
        let (head, after) = head(rest)?;
        count_steps(head.len());
        let (content, next, is_end) = until(after, &delimiter)?;
        let content = content.strip_prefix(b"\r\n").unwrap_or_default();
        let lines: Vec<&[u8]> = if head.is_empty() { Vec::new() } else { lines(head).collect() };
        let content = nested_parts(&lines, content, deepest, room).unwrap_or(PartContent::Bytes(content));
        parts.push(OrderedPart { lines, content });
        (rest, end) = (next, is_end);
    }
    Some(PartsContent(parts))
}

/// The parts that a part consists of.
fn nested_parts<'a>(lines: &[&[u8]], content: &'a [u8], deepest: usize, room: &mut usize) -> Option<PartContent<'a>> {
    let deepest = deepest.checked_sub(1)?;
    let mut types = lines.iter().filter_map(|line| content_type_of(line));
    let (Some(content_type), None) = (types.next(), types.next()) else {
        return None;
    };
    let media_type = media_type(content_type);
    if !media_type.starts_with("multipart/") {
        return None;
    }
    let mut left = *room;
    let parts = read_parts(content_type, content, deepest, &mut left)?;
    *room = left;
    Some(PartContent::Parts(media_type, parts))
}

/// The value of a line that is the field Content-Type.
fn content_type_of(line: &[u8]) -> Option<&str> {
    let (name, value) = str::from_utf8(line).ok()?.split_once(':')?;
    name.eq_ignore_ascii_case("content-type").then(|| value.trim())
}

/// The header lines of a part, which may be none, and the rest from the line break that ends the empty line after them.
fn head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.starts_with(b"\r\n") {
        return Some((&[], bytes));
    }
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((bytes.get(..end)?, bytes.get(end + 2..)?))
}
