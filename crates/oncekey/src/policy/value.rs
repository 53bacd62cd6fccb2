//! The policy's text as a JSON value, read without recursion.

use super::error::{ConfigError, ConfigErrorKind};
use crate::{
    content::json::DEEPEST,
    json::{
        pointer::step,
        select::NotJson,
        tokens::{Token, Tokens},
    },
};

/// A JSON value of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Value>),
    /// Ordered by name.
    Object(Vec<(String, Value)>),
}

/// An object or list that is open, and the name of the member that is read.
struct Open {
    value: Value,
    name: String,
}

/// Reads a text that has to be one JSON value without halves of surrogate pairs, nested at most [`DEEPEST`] deep.
///
/// A member that occurs twice is an error of its own, told only where the whole text is JSON.
pub(super) fn read(json: &str) -> Result<Value, ConfigError> {
    let mut tokens = Tokens::new(json);
    let mut open: Vec<Open> = Vec::new();
    let mut twice = None;
    loop {
        let token = match tokens.next() {
            Ok(Some(token)) => token,
            Ok(None) => return not_json(json, json.len()),
            Err(error) => return not_json(json, error.at),
        };
        let value = match token {
            Token::ObjectStart | Token::ArrayStart => {
                if open.len() == DEEPEST {
                    return not_json(json, tokens.at());
                }
                let value = match token {
                    Token::ObjectStart => Value::Object(Vec::new()),
                    _ => Value::List(Vec::new()),
                };
                open.push(Open { value, name: String::new() });
                continue;
            }
            Token::Name(name) => {
                let Some(decoded) = name.decode() else {
                    return not_json(json, name.start());
                };
                if let Some(inner) = open.last_mut() {
                    inner.name = decoded.into_owned();
                    let is_twice = matches!(&inner.value, Value::Object(members) if members.iter().any(|(name, _)| *name == inner.name));
                    if is_twice && twice.is_none() {
                        twice = Some(place(&open));
                    }
                }
                continue;
            }
            Token::ObjectEnd | Token::ArrayEnd => match open.pop() {
                Some(inner) => inner.value,
                None => return not_json(json, tokens.at()),
            },
            Token::String(text) => match text.decode() {
                Some(text) => Value::Text(text.into_owned()),
                None => return not_json(json, text.start()),
            },
            Token::Number(number) => Value::Number(number.to_owned()),
            Token::Bool(value) => Value::Bool(value),
            Token::Null => Value::Null,
        };
        match open.last_mut() {
            Some(outer) => outer.add(value),
            None => {
                return match (tokens.next(), twice) {
                    (Err(error), _) => not_json(json, error.at),
                    (Ok(_), Some(pointer)) => Err(ConfigError { pointer, kind: ConfigErrorKind::Duplicate }),
                    (Ok(_), None) => Ok(value),
                };
            }
        }
    }
}

impl Open {
    fn add(&mut self, value: Value) {
        match &mut self.value {
            Value::List(list) => list.push(value),
            Value::Object(members) => {
                let name = std::mem::take(&mut self.name);
                let at = members.iter().position(|(known, _)| *known > name).unwrap_or(members.len());
                members.insert(at, (name, value));
            }
            _ => {}
        }
    }
}

/// The pointer of the member that is read.
fn place(open: &[Open]) -> String {
    let mut pointer = String::new();
    for open in open {
        match &open.value {
            Value::List(list) => step(&mut pointer, &list.len().to_string()),
            _ => step(&mut pointer, &open.name),
        }
    }
    pointer
}

fn not_json(json: &str, at: usize) -> Result<Value, ConfigError> {
    let NotJson { line, column } = NotJson::at(json.as_bytes(), at);
    Err(ConfigError { pointer: String::new(), kind: ConfigErrorKind::NotJson { line, column } })
}
