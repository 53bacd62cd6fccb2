//! Walks a JSON value, remembers where it is, and notes the first thing that is wrong.
//!
//! What is wrong is noted once and not handed up: reading goes on with a stand-in, and the whole is refused at the end.
//! So every reader is short, which the gate's size shows.
use std::cell::Cell;

use super::check;
use super::error::{ConfigError, ConfigErrorKind};
use super::value::Value;
use crate::json::pointer::{pointer, step};

/// The first thing that is wrong.
pub(super) type Fault = Cell<Option<ConfigError>>;

/// A value and where it is.
#[derive(Clone, Copy)]
pub(super) struct At<'v> {
    pub(super) value: &'v Value,
    /// What it is a part of, and by which token; `None` for the whole.
    outer: Option<(&'v At<'v>, Token<'v>)>,
    fault: &'v Fault,
}

/// A reference token of a JSON pointer.
#[derive(Clone, Copy)]
enum Token<'v> {
    Name(&'v str),
    Index(usize),
}

impl<'v> At<'v> {
    pub(super) fn whole(value: &'v Value, fault: &'v Fault) -> At<'v> {
        At { value, outer: None, fault }
    }

    /// The JSON pointer that leads here.
    fn place(&self) -> String {
        let Some((outer, token)) = self.outer else {
            return String::new();
        };
        let mut pointer = outer.place();
        match token {
            Token::Name(name) => step(&mut pointer, name),
            Token::Index(index) => step(&mut pointer, &index.to_string()),
        }
        pointer
    }

    pub(super) fn fail(&self, kind: ConfigErrorKind) {
        let first = self.fault.take().unwrap_or_else(|| ConfigError { pointer: self.place(), kind });
        self.fault.set(Some(first));
    }

    pub(super) fn expected(&self, expected: &'static str) {
        self.fail(ConfigErrorKind::Expected(expected));
    }

    fn below(&'v self, token: Token<'v>, value: &'v Value) -> At<'v> {
        At { value, outer: Some((self, token)), fault: self.fault }
    }

    fn object(&self) -> &'v [(String, Value)] {
        if let Value::Object(members) = self.value {
            return members;
        }
        self.expected("an object");
        &[]
    }

    /// The members of an object that has none but these.
    pub(super) fn members(&'v self, known: &[&str]) -> Members<'v> {
        let members = self.object();
        for (name, value) in members {
            if !known.contains(&name.as_str()) {
                self.below(Token::Name(name), value).fail(ConfigErrorKind::Unknown);
            }
        }
        Members { at: self, members }
    }

    /// Reads every member of an object whose names are the operator's.
    pub(super) fn named<T>(&self, mut read: impl FnMut(&str, &At) -> T) -> Vec<T> {
        let members = self.object();
        for (name, value) in members {
            if !check::is_segment(name) {
                self.below(Token::Name(name), value).expected("a name of letters, digits, -, ., _ and ~");
            }
        }
        let mut all = Vec::with_capacity(members.len());
        for (name, value) in members {
            all.push(read(name, &self.below(Token::Name(name), value)));
        }
        all
    }

    /// Reads every element of a list.
    pub(super) fn each<T>(&self, mut read: impl FnMut(&At) -> T) -> Vec<T> {
        let Value::List(list) = self.value else {
            self.expected("a list");
            return Vec::new();
        };
        let mut all = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            all.push(read(&self.below(Token::Index(index), value)));
        }
        all
    }

    /// Notes where a list has no element.
    pub(super) fn filled(&self, expected: &'static str) {
        if matches!(self.value, Value::List(list) if list.is_empty()) {
            self.expected(expected);
        }
    }

    pub(super) fn text(&self) -> &'v str {
        if let Value::Text(text) = self.value {
            return text;
        }
        self.expected("a string");
        ""
    }

    pub(super) fn text_that(&self, holds: fn(&str) -> bool, expected: &'static str) -> String {
        let text = self.text();
        if !holds(text) {
            self.expected(expected);
        }
        text.to_owned()
    }

    /// Which of these words it is.
    pub(super) fn word(&self, words: &[&str], expected: &'static str) -> usize {
        let text = self.text();
        let found = words.iter().position(|word| *word == text);
        if found.is_none() {
            self.expected(expected);
        }
        found.unwrap_or_default()
    }

    pub(super) fn origin_path(&self) -> String {
        self.text_that(check::is_origin_path, "a path at the origin that begins with one /")
    }

    pub(super) fn pointer(&self, may_be_whole: bool) -> Vec<String> {
        let text = self.text();
        let read = pointer(text);
        if read.is_none() && !(may_be_whole && text.is_empty()) {
            self.expected("a JSON pointer");
        }
        read.unwrap_or_default()
    }
}

/// The members of an object.
#[derive(Clone, Copy)]
pub(super) struct Members<'v> {
    at: &'v At<'v>,
    members: &'v [(String, Value)],
}

impl<'v> Members<'v> {
    pub(super) fn get(&self, name: &'v str) -> Option<At<'v>> {
        let (_, value) = self.members.iter().find(|(known, _)| known == name)?;
        Some(self.at.below(Token::Name(name), value))
    }

    pub(super) fn want(&self, name: &'v str) -> At<'v> {
        self.get(name).unwrap_or_else(|| {
            let missing = self.at.below(Token::Name(name), &Value::Null);
            missing.fail(ConfigErrorKind::Missing);
            missing
        })
    }

    /// A whole number within these bounds, or its default.
    pub(super) fn number(&self, name: &'v str, default: u64, least: u64, most: u64) -> u64 {
        let Some(at) = self.get(name) else {
            return default;
        };
        if let Value::Number(written) = at.value
            && let Ok(number) = written.parse::<u64>()
            && (least..=most).contains(&number)
        {
            return number;
        }
        at.fail(ConfigErrorKind::OutOfBounds { least, most });
        default
    }

    /// Seconds within these bounds, or their default.
    pub(super) fn seconds(&self, name: &'v str, default: u32, least: u32, most: u32) -> u32 {
        let read = self.number(name, default.into(), least.into(), most.into());
        u32::try_from(read).unwrap_or(most)
    }
}
