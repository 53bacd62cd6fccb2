//! JSON content: where its key is, whether its canonical form loses anything, and that form by RFC 8785.
//!
//! The form is written here and not by `serde_json_canonicalizer`, which took four times as long and, with what it
//! needs, a sixth of the gate's size; the tests hold both against each other.
use std::cmp::Ordering;

use crate::{
    content::order::{MOST_PARTS, sort_positions},
    json::{
        number::{self, survives},
        tokens::{StringText, Token, Tokens},
    },
    key::{InvalidKey, Key},
    work::count_steps,
};

/// The deepest nesting that has a canonical form. Deeper content is compared as sent.
pub const DEEPEST: usize = 128;

/// JSON content that parses.
#[derive(Debug, Clone)]
pub(crate) struct JsonContent<'a> {
    text: &'a str,
    /// `None` where a canonical form would lose something.
    index: Option<MemberIndex>,
}

/// Where the members of every object are, in the order of the canonical form.
#[derive(Debug, Clone, Default)]
struct MemberIndex {
    /// In the order of the text.
    objects: Vec<Object>,
    /// Those of one object stand together.
    members: Vec<Member>,
    /// The names that are written with escapes, as they are meant.
    decoded: String,
}

#[derive(Debug, Clone, Copy)]
struct Object {
    first: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    /// Offset of the name in the text; beyond the text's end, in what is decoded.
    name: usize,
    name_end: usize,
    value: Place,
}

/// Where a value begins, or what follows it. Ordered as in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    at: usize,
    /// The number of the next object.
    object: usize,
}

impl MemberIndex {
    fn name<'i>(&'i self, text: &'i str, member: &Member) -> &'i str {
        let (from, start) = match member.name.checked_sub(text.len()) {
            Some(start) => (self.decoded.as_str(), start),
            None => (text, member.name),
        };
        let length = member.name_end.saturating_sub(member.name);
        from.get(start..start + length).unwrap_or_default()
    }
}

impl<'a> JsonContent<'a> {
    /// `None` where `bytes` are not JSON by RFC 8259.
    ///
    /// A byte order mark is passed over, as RFC 8259 §8.1 allows, so that a key behind one is not missed; such content
    /// has no canonical form.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<JsonContent<'a>> {
        let text = str::from_utf8(bytes).ok()?;
        let (text, mut index) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (rest, None),
            None => (text, Some(IndexBuilder::default())),
        };
        let mut tokens = Tokens::new(text);
        while let Some(token) = tokens.next().ok()? {
            if index.as_mut().is_some_and(|index| index.see(text, token, &tokens).is_none()) {
                index = None;
            }
        }
        Some(JsonContent { text, index: index.map(|indexing| indexing.index) })
    }

    /// Whether the content has a canonical form that loses nothing.
    pub(crate) fn is_lossless(&self) -> bool {
        self.index.is_some()
    }

    /// The key in the member `field` of a top-level object.
    pub(crate) fn key(&self, field: &str) -> Result<Option<Key>, InvalidKey> {
        let mut found = None;
        let mut see = |value: Option<Token>| {
            if found.is_some() {
                return Err(InvalidKey::Repeated);
            }
            found = Some(match value {
                Some(Token::String(value)) => text_key(value),
                _ => Err(InvalidKey::NotAString),
            });
            Ok(())
        };
        // The text has been parsed once: an error cannot come.
        if let Some(index) = &self.index {
            for member in self.top(index) {
                if index.name(self.text, member) == field {
                    let mut tokens = Tokens::starting(self.text, member.value.at);
                    see(tokens.next().ok().flatten())?;
                }
            }
        } else {
            let mut tokens = Tokens::new(self.text);
            while let Ok(Some(token)) = tokens.next() {
                if matches!(token, Token::Name(name) if tokens.depth() == 1 && name.is(field)) {
                    see(tokens.next().ok().flatten())?;
                }
            }
        }
        found.transpose()
    }

    /// The members of a top-level object.
    fn top<'i>(&self, index: &'i MemberIndex) -> &'i [Member] {
        match index.objects.first() {
            Some(object) if self.is_object() => index.members.get(object.first..object.end).unwrap_or_default(),
            _ => &[],
        }
    }

    fn is_object(&self) -> bool {
        self.text.trim_ascii_start().starts_with('{')
    }

    /// Writes the canonical form without the top-level member `field` and what `left_out` leads to.
    ///
    /// Pointers are resolved on the content as sent. Writes nothing for content that is not lossless.
    pub(crate) fn write<'p>(&'p self, field: &'p [String], mut left_out: LeftOut<'p>, out: &mut dyn FnMut(&[u8])) {
        let Some(index) = &self.index else { return };
        if self.is_object() {
            left_out.push(field);
        }
        let mut writer = CanonicalWriter {
            text: self.text,
            index,
            next: Place { at: 0, object: 0 },
            open: Vec::new(),
            sink: Sink { kept: Vec::with_capacity(self.text.len().min(Sink::PIECE)), out },
        };
        // Nothing of this can fail: the text parsed, and the index is the text's own.
        let _ = writer.write(left_out);
        writer.sink.flush();
    }
}

/// A key from the text of a JSON string.
fn text_key(value: StringText) -> Result<Key, InvalidKey> {
    value.decode().ok_or(InvalidKey::NotAscii).and_then(|text| Key::from_content(&text))
}

/// Makes the index while the tokens go by.
#[derive(Default)]
struct IndexBuilder {
    index: MemberIndex,
    /// The members of every open object, the innermost object's last.
    members: Vec<Member>,
    /// What is open, lists too: the object's number, and where in `members` its own begin.
    open: Vec<(usize, usize)>,
    /// Kept for its memory.
    order: Vec<usize>,
}

impl IndexBuilder {
    /// `None` where the canonical form would lose something.
    fn see(&mut self, text: &str, token: Token, tokens: &Tokens) -> Option<()> {
        match token {
            Token::ObjectStart => {
                self.open.push((self.index.objects.len(), self.members.len()));
                self.index.objects.push(Object { first: 0, end: 0 });
            }
            Token::ArrayStart => self.open.push((usize::MAX, self.members.len())),
            Token::ObjectEnd => self.close(text)?,
            Token::ArrayEnd => drop(self.open.pop()),
            Token::Name(name) => self.member(text, name, tokens)?,
            Token::String(value) => return value.is_whole().then_some(()),
            Token::Number(number) => return survives(number).then_some(()),
            Token::Bool(_) | Token::Null => {}
        }
        let size = self.index.objects.len() + self.index.members.len() + self.members.len();
        (tokens.depth() <= DEEPEST && size <= MOST_PARTS).then_some(())
    }

    fn member(&mut self, text: &str, name: StringText, tokens: &Tokens) -> Option<()> {
        let (start, length) = if let Some(plain) = name.plain() {
            (name.start(), plain.len())
        } else {
            let start = self.index.decoded.len();
            for character in name.characters() {
                self.index.decoded.push(character.ok()?);
            }
            (text.len() + start, self.index.decoded.len() - start)
        };
        self.members.push(Member {
            name: start,
            name_end: start + length,
            value: Place { at: tokens.at(), object: self.index.objects.len() },
        });
        Some(())
    }

    /// Puts the members of the innermost object in their order. `None` where two have one name.
    fn close(&mut self, text: &str) -> Option<()> {
        let (object, start) = self.open.pop()?;
        let first = self.index.members.len();
        let name = |at: usize| self.members.get(at).map_or("", |member| self.index.name(text, member));
        self.order.clear();
        self.order.extend(start..self.members.len());
        sort_positions(&mut self.order, &|one, other| utf16_order(name(one), name(other)));
        let is_twice = |pair: &[usize]| matches!(pair, [one, other] if name(*one) == name(*other));
        if self.order.windows(2).any(is_twice) {
            return None;
        }
        for at in &self.order {
            self.index.members.push(*self.members.get(*at)?);
        }
        self.members.truncate(start);
        *self.index.objects.get_mut(object)? = Object { first, end: self.index.members.len() };
        Some(())
    }
}

/// The order of names by their UTF-16 code units (RFC 8785 §3.2.3).
///
/// The order of UTF-8 is that of code points: it differs only in that the units of a pair, from D800 on, come before
/// those from E000 to FFFF, whose UTF-8 begins with EE or EF.
fn utf16_order(one: &str, other: &str) -> Ordering {
    let rank = |byte: u8| byte | if matches!(byte, 0xee | 0xef) { 0xf8 } else { 0 };
    for (one, other) in one.bytes().zip(other.bytes()) {
        count_steps(1);
        if one != other {
            return rank(one).cmp(&rank(other));
        }
    }
    one.len().cmp(&other.len())
}

/// What is left out below a value, as the rest of each pointer that leads through it.
type LeftOut<'w> = Vec<&'w [String]>;

/// What is left out below a child, by the reference tokens that lead to it; `None` where the child itself is.
fn below<'w>(left_out: &[&'w [String]], leads: &dyn Fn(&str) -> bool) -> Option<LeftOut<'w>> {
    let mut below = Vec::new();
    for pointer in left_out {
        match pointer.split_first() {
            Some((first, [])) if leads(first) => return None,
            Some((first, rest)) if leads(first) => below.push(rest),
            _ => {}
        }
    }
    Some(below)
}

/// An object or list that is being written.
struct OpenValue<'w> {
    left_out: LeftOut<'w>,
    /// The members of an object that are still to come; `None` for a list.
    members: Option<std::slice::Iter<'w, Member>>,
    /// The index of a list's next element.
    element: usize,
    is_empty: bool,
    /// The furthest place in the text that was reached inside.
    furthest: Place,
}

/// Writes a value without recursion and without a tree of it.
struct CanonicalWriter<'w, 'o> {
    text: &'w str,
    index: &'w MemberIndex,
    next: Place,
    open: Vec<OpenValue<'w>>,
    sink: Sink<'o>,
}

impl<'w> CanonicalWriter<'w, '_> {
    fn write(&mut self, left_out: LeftOut<'w>) -> Option<()> {
        let mut left_out = left_out;
        loop {
            self.value(left_out)?;
            left_out = loop {
                let Some(open) = self.open.last_mut() else {
                    return Some(());
                };
                open.furthest = open.furthest.max(self.next);
                let (next, is_list) = match &mut open.members {
                    Some(members) => (members.next(), false),
                    None => (None, true),
                };
                if let Some(member) = next {
                    self.next = member.value;
                    let name = self.index.name(self.text, member);
                    let Some(below) = below(&open.left_out, &|token| token == name) else {
                        self.skip()?;
                        continue;
                    };
                    self.sink.comma(&mut open.is_empty);
                    match self.text.get(member.name.wrapping_sub(1)..=member.name_end) {
                        Some(quoted) => self.sink.put(quoted.as_bytes()),
                        None => self.sink.text(name),
                    }
                    self.sink.byte(b':');
                    break below;
                }
                self.next = open.furthest;
                let byte = self.peek()?;
                if !is_list || byte == b']' {
                    self.next.at += 1;
                    self.sink.byte(byte);
                    self.open.pop();
                    continue;
                }
                if byte == b',' {
                    self.next.at += 1;
                }
                let open = self.open.last_mut()?;
                let element = open.element;
                open.element += 1;
                let Some(below) = below(&open.left_out, &|token| is_index(token, element)) else {
                    self.skip()?;
                    continue;
                };
                self.sink.comma(&mut open.is_empty);
                break below;
            };
        }
    }

    /// Writes a value that is no object or list, or the beginning of one.
    fn value(&mut self, left_out: LeftOut<'w>) -> Option<()> {
        let byte = self.peek()?;
        if !matches!(byte, b'{' | b'[') {
            return self.scalar();
        }
        self.next.at += 1;
        self.sink.byte(byte);
        let members = if byte == b'{' {
            let object = self.index.objects.get(self.next.object)?;
            self.next.object += 1;
            Some(self.index.members.get(object.first..object.end)?.iter())
        } else {
            None
        };
        self.open.push(OpenValue { left_out, members, element: 0, is_empty: true, furthest: self.next });
        Some(())
    }

    fn scalar(&mut self) -> Option<()> {
        let mut tokens = Tokens::starting(self.text, self.next.at);
        let token = tokens.next().ok()??;
        self.next.at = tokens.at();
        match token {
            Token::String(text) => self.string(text)?,
            Token::Number(number) => self.sink.put(number::NumberText::of(number)?.as_bytes()),
            Token::Bool(true) => self.sink.put(b"true"),
            Token::Bool(false) => self.sink.put(b"false"),
            Token::Null => self.sink.put(b"null"),
            _ => return None,
        }
        Some(())
    }

    fn string(&mut self, text: StringText) -> Option<()> {
        if let Some(plain) = text.plain() {
            // With its quotes.
            let start = text.start().checked_sub(1)?;
            let quoted = self.text.get(start..start + plain.len() + 2)?;
            self.sink.put(quoted.as_bytes());
            return Some(());
        }
        self.sink.byte(b'"');
        for character in text.characters() {
            self.sink.character(character.ok()?);
        }
        self.sink.byte(b'"');
        Some(())
    }

    /// Passes over a value.
    fn skip(&mut self) -> Option<()> {
        let mut tokens = Tokens::starting(self.text, self.next.at);
        loop {
            let token = tokens.next().ok()??;
            self.next.object += usize::from(token == Token::ObjectStart);
            if tokens.depth() == 0 {
                self.next.at = tokens.at();
                return Some(());
            }
        }
    }

    /// The next byte that is no white space, at which the place then is.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.next.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.next.at += 1,
                byte => return Some(byte),
            }
        }
    }
}

/// Whether a reference token is this index of a list: digits without zeros before them (RFC 6901 §4).
fn is_index(token: &str, index: usize) -> bool {
    let is_plain = token == "0" || !token.starts_with(['0', '+']);
    is_plain && token.parse() == Ok(index)
}

/// Hands on what is written, in pieces that are worth a call.
struct Sink<'o> {
    kept: Vec<u8>,
    out: &'o mut dyn FnMut(&[u8]),
}

impl Sink<'_> {
    /// Bytes.
    const PIECE: usize = 4096;

    fn byte(&mut self, byte: u8) {
        self.put(&[byte]);
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.kept.len() + bytes.len() > Sink::PIECE {
            self.flush();
            if bytes.len() > Sink::PIECE {
                (self.out)(bytes);
                return;
            }
        }
        self.kept.extend_from_slice(bytes);
    }

    /// What stands before a member or element.
    fn comma(&mut self, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.byte(b',');
        }
    }

    fn text(&mut self, text: &str) {
        self.byte(b'"');
        for character in text.chars() {
            self.character(character);
        }
        self.byte(b'"');
    }

    fn character(&mut self, character: char) {
        if let Some((escaped, length)) = escape(character) {
            self.put(escaped.get(..length).unwrap_or_default());
        } else {
            self.put(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn flush(&mut self) {
        if !self.kept.is_empty() {
            (self.out)(&self.kept);
            self.kept.clear();
        }
    }
}

/// The escape of a character that cannot stand for itself in a string, as short as RFC 8785 §3.2.2.2 wants it, and how
/// much of it counts.
fn escape(character: char) -> Option<([u8; 6], usize)> {
    let short = |letter: u8| Some(([b'\\', letter, 0, 0, 0, 0], 2));
    match character {
        '"' => short(b'"'),
        '\\' => short(b'\\'),
        '\u{8}' => short(b'b'),
        '\t' => short(b't'),
        '\n' => short(b'n'),
        '\u{c}' => short(b'f'),
        '\r' => short(b'r'),
        '\0'..='\u{1f}' => {
            let code = character as u8;
            let low = code & 15;
            let low = if low < 10 { b'0' + low } else { b'a' + low - 10 };
            Some(([b'\\', b'u', b'0', b'0', b'0' + (code >> 4), low], 6))
        }
        _ => None,
    }
}
