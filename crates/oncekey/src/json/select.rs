//! Parts of a JSON text to the byte: the value at a pointer, the elements of a list. Nothing is copied or kept.

use std::{borrow::Cow, error::Error, fmt};

use crate::json::tokens::{Token, Tokens};

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotJson {
    /// Counted from 1.
    pub line: usize,
    /// In bytes, counted from 1.
    pub column: usize,
}

impl NotJson {
    pub(crate) fn at(bytes: &[u8], at: usize) -> Self {
        let (mut line, mut column) = (1, 1);
        for byte in bytes.iter().take(at) {
            column += 1;
            if *byte == b'\n' {
                line += 1;
                column = 1;
            }
        }
        Self { line, column }
    }
}

/// A sentence for a refusal's detail.
impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The content is not JSON at line {}, column {}.", self.line, self.column)
    }
}

impl Error for NotJson {}

/// Reads bytes as one JSON text (RFC 8259), without a byte order mark where there is one.
pub fn json_text(bytes: &[u8]) -> Result<&str, NotJson> {
    let text = str::from_utf8(bytes).map_err(|error| NotJson::at(bytes, error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tokens = Tokens::new(text);
    loop {
        match tokens.next() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(text),
            Err(error) => return Err(NotJson::at(text.as_bytes(), error.at)),
        }
    }
}

/// Whether bytes are one JSON text that any reader can take: no byte order mark, not nested deeper than `deepest`.
pub fn is_json(bytes: &[u8], deepest: usize) -> bool {
    let Ok(text) = str::from_utf8(bytes) else {
        return false;
    };
    let mut tokens = Tokens::new(text);
    loop {
        match tokens.next() {
            Ok(Some(_)) if tokens.depth() <= deepest => {}
            Ok(None) => return true,
            Ok(Some(_)) | Err(_) => return false,
        }
    }
}

/// What stands at a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected<'t> {
    /// Nothing.
    Nothing,
    /// This value, as written.
    Value(&'t str),
    /// More than one: a member on the way occurs twice.
    Twice,
}

/// The value at a JSON pointer (RFC 6901), given as its decoded reference tokens, in a text that is JSON.
///
/// ```
/// use oncekey::json::select::{Selected, select};
///
/// let text = r#"{"a": [1, {"b": 2.50}]}"#;
/// let pointer = ["a", "1", "b"].map(str::to_owned);
/// assert_eq!(select(text, &pointer), Selected::Value("2.50"));
/// ```
pub fn select<'t>(text: &'t str, pointer: &[String]) -> Selected<'t> {
    let mut found = text.trim_matches([' ', '\t', '\n', '\r']);
    for token in pointer {
        match select_child(found, token) {
            Selected::Value(value) => found = value,
            other => return other,
        }
    }
    Selected::Value(found)
}

fn select_child<'t>(text: &'t str, token: &str) -> Selected<'t> {
    if let Some(list) = list_elements(text) {
        let is_plain = token == "0" || !token.starts_with(['0', '+']);
        let index = token.parse().ok().filter(|_| is_plain);
        return index.and_then(|index: usize| { list }.nth(index)).map_or(Selected::Nothing, Selected::Value);
    }
    let mut found = Selected::Nothing;
    let mut tokens = Tokens::new(text);
    while let Ok(Some(next)) = tokens.next() {
        let Token::Name(name) = next else {
            continue;
        };
        if tokens.depth() != 1 || !name.is(token) {
            continue;
        }
        if found != Selected::Nothing {
            return Selected::Twice;
        }
        found = value_from(text, tokens.at()).map_or(Selected::Nothing, |(value, _)| Selected::Value(value));
    }
    found
}

/// The value that begins at or after an offset, and where it ends.
fn value_from(text: &str, from: usize) -> Option<(&str, usize)> {
    let rest = text.get(from..)?;
    let start = from + rest.find(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'))?;
    let mut tokens = Tokens::starting(text, start);
    loop {
        tokens.next().ok()??;
        if tokens.depth() == 0 {
            let end = tokens.at();
            return Some((text.get(start..end)?, end));
        }
    }
}

/// The elements of a list, as written, in a text that is JSON; `None` where it is no list.
pub fn list_elements(text: &str) -> Option<Elements<'_>> {
    text.starts_with('[').then_some(Elements { text, at: 1 })
}

/// See [`list_elements`].
#[derive(Clone, Debug)]
pub struct Elements<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Elements<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.text.get(self.at..)?;
        let skipped = rest.find(|c| !matches!(c, ' ' | '\t' | '\n' | '\r' | ','))?;
        self.at += skipped;
        if self.text.as_bytes().get(self.at) == Some(&b']') {
            return None;
        }
        let (element, end) = value_from(self.text, self.at)?;
        self.at = end;
        Some(element)
    }
}

/// The string that a value is, where it is one without halves of surrogate pairs.
pub fn string_value(value: &str) -> Option<String> {
    match Tokens::new(value).next() {
        Ok(Some(Token::String(text))) => text.decode().map(Cow::into_owned),
        _ => None,
    }
}
