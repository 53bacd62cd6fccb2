//! A JSON tokenizer (RFC 8259) that neither recurses nor copies, so that it reads any content in linear time.

use crate::work::count_steps;
use std::{borrow::Cow, error::Error, fmt, str::Chars};

/// A part of a JSON text, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// The name of a member; its value follows.
    Name(StringText<'a>),
    /// A string value.
    String(StringText<'a>),
    /// A number as written.
    Number(&'a str),
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
}

/// A string as written between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringText<'a> {
    written: &'a str,
    start: usize,
    escaped: bool,
}

impl<'a> StringText<'a> {
    /// Offset of the first character in the text.
    pub(crate) fn start(self) -> usize {
        self.start
    }

    /// The characters that are meant.
    pub(crate) fn characters(self) -> Characters<'a> {
        Characters { rest: self.written.chars() }
    }

    /// The string that is meant, or `None` where an escape is half of a surrogate pair.
    pub(crate) fn decode(self) -> Option<Cow<'a, str>> {
        if !self.escaped {
            return Some(Cow::Borrowed(self.written));
        }
        let mut decoded = String::with_capacity(self.written.len());
        for character in self.characters() {
            decoded.push(character.ok()?);
        }
        Some(Cow::Owned(decoded))
    }

    /// Whether no escape is half of a surrogate pair.
    pub(crate) fn is_whole(self) -> bool {
        !self.escaped || self.characters().all(|character| character.is_ok())
    }

    /// The string as written, where it holds no escape: then what is written is what is meant.
    pub(crate) fn plain(self) -> Option<&'a str> {
        (!self.escaped).then_some(self.written)
    }

    /// Whether the string that is meant is `other`.
    pub(crate) fn is(self, other: &str) -> bool {
        if self.escaped { self.characters().eq(other.chars().map(Ok)) } else { self.written == other }
    }
}

/// An escape that is half of a surrogate pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoneSurrogate;

impl fmt::Display for LoneSurrogate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half of a surrogate pair")
    }
}

impl Error for LoneSurrogate {}

/// The characters that a string means, one by one, so that no copy of it is needed.
pub(crate) struct Characters<'a> {
    rest: Chars<'a>,
}

impl Iterator for Characters<'_> {
    type Item = Result<char, LoneSurrogate>;

    fn next(&mut self) -> Option<Self::Item> {
        count_steps(1);
        match self.rest.next()? {
            '\\' => Some(self.escape().ok_or(LoneSurrogate)),
            character => Some(Ok(character)),
        }
    }
}

impl Characters<'_> {
    /// What follows a backslash.
    fn escape(&mut self) -> Option<char> {
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => match self.unit()? {
                high @ 0xd800..=0xdbff => {
                    if self.rest.next() != Some('\\') || self.rest.next() != Some('u') {
                        return None;
                    }
                    let low @ 0xdc00..=0xdfff = self.unit()? else {
                        return None;
                    };
                    char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?
                }
                other => char::from_u32(other)?,
            },
            itself => itself,
        })
    }

    /// The four hexadecimal digits of an escape.
    fn unit(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit * 16 + self.rest.next()?.to_digit(16)?;
        }
        Some(unit)
    }
}

/// The text is not JSON from this byte on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Offset in bytes.
    pub(crate) at: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not JSON from byte {} on", self.at)
    }
}

impl Error for SyntaxError {}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value, or `]` directly after `[`.
    Value { or_end: bool },
    /// A member's name, or `}` directly after `{`.
    Name { or_end: bool },
    /// A comma, or the end of what is open.
    Next,
    /// Nothing but white space.
    Nothing,
}

/// Reads a JSON text token by token; wants exactly one value.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    expect: Expect,
    /// What is open, outermost first: `true` for an object.
    open: Vec<bool>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Tokens<'a> {
        Tokens::starting(text, 0)
    }

    /// Reads from the value that begins at an offset.
    pub(crate) fn starting(text: &'a str, at: usize) -> Tokens<'a> {
        Tokens { text, at, expect: Expect::Value { or_end: false }, open: Vec::new() }
    }

    /// Offset of what follows the last token: the value, where that was a name.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// How many objects and lists are open after the last token.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next token; `Ok(None)` at the end of a complete text.
    pub(crate) fn next(&mut self) -> Result<Option<Token<'a>>, SyntaxError> {
        let before = self.at;
        let token = self.next_token();
        count_steps(self.at - before);
        token
    }

    fn next_token(&mut self) -> Result<Option<Token<'a>>, SyntaxError> {
        loop {
            let Some(byte) = self.skip_space() else {
                return if self.expect == Expect::Nothing { Ok(None) } else { self.fail() };
            };
            match (self.expect, byte) {
                (Expect::Value { or_end: true }, b']') => {
                    return Ok(Some(self.close(Token::ArrayEnd)));
                }
                (Expect::Value { .. }, _) => return self.value(byte).map(Some),
                (Expect::Name { or_end: true }, b'}') => {
                    return Ok(Some(self.close(Token::ObjectEnd)));
                }
                (Expect::Name { .. }, b'"') => {
                    let name = self.string()?;
                    self.skip_space();
                    self.want(b':')?;
                    self.expect = Expect::Value { or_end: false };
                    return Ok(Some(Token::Name(name)));
                }
                (Expect::Next, b',') => {
                    self.at += 1;
                    let object = self.open.last() == Some(&true);
                    self.expect = if object { Expect::Name { or_end: false } } else { Expect::Value { or_end: false } };
                }
                (Expect::Next, b'}') if self.open.last() == Some(&true) => {
                    return Ok(Some(self.close(Token::ObjectEnd)));
                }
                (Expect::Next, b']') if self.open.last() == Some(&false) => {
                    return Ok(Some(self.close(Token::ArrayEnd)));
                }
                _ => return self.fail(),
            }
        }
    }

    fn value(&mut self, byte: u8) -> Result<Token<'a>, SyntaxError> {
        let token = match byte {
            b'{' => {
                self.at += 1;
                self.open.push(true);
                self.expect = Expect::Name { or_end: true };
                return Ok(Token::ObjectStart);
            }
            b'[' => {
                self.at += 1;
                self.open.push(false);
                self.expect = Expect::Value { or_end: true };
                return Ok(Token::ArrayStart);
            }
            b'"' => Token::String(self.string()?),
            b'-' | b'0'..=b'9' => Token::Number(self.number()?),
            b't' => self.word(b"true", Token::Bool(true))?,
            b'f' => self.word(b"false", Token::Bool(false))?,
            b'n' => self.word(b"null", Token::Null)?,
            _ => return self.fail(),
        };
        self.after_value();
        Ok(token)
    }

    fn close(&mut self, token: Token<'a>) -> Token<'a> {
        self.at += 1;
        self.open.pop();
        self.after_value();
        token
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() { Expect::Nothing } else { Expect::Next };
    }

    fn word(&mut self, word: &[u8], token: Token<'a>) -> Result<Token<'a>, SyntaxError> {
        for byte in word.iter().copied() {
            self.want(byte)?;
        }
        Ok(token)
    }

    fn string(&mut self) -> Result<StringText<'a>, SyntaxError> {
        self.want(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            // What needs no second look is most of any text.
            while self.peek().is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                _ => return self.fail(),
            }
        }
        let written = self.text.get(start..self.at).ok_or(SyntaxError { at: start })?;
        self.at += 1;
        Ok(StringText { written, start, escaped })
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return self.fail();
                    }
                    self.at += 1;
                }
            }
            _ => return self.fail(),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.text.get(start..self.at).ok_or(SyntaxError { at: start })
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.fail() } else { Ok(()) }
    }

    fn want(&mut self, byte: u8) -> Result<(), SyntaxError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.fail()
    }

    /// The next byte that is no white space, which is then the next.
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    #[expect(clippy::inline_always, reason = "a call for each byte takes longer than the byte")]
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self) -> Result<T, SyntaxError> {
        Err(SyntaxError { at: self.at })
    }
}
