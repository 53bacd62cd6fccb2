//! A policy as JSON: read from text without recursion, and written.

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    content::json::DEEPEST,
    json::{
        pointer::step,
        select::NotJson,
        tokens::{Token, Tokens},
        write::RawJson,
    },
    policy::invalid::{InvalidPolicy, PolicyFault},
};

/// A JSON value. What is asked of one of another type finds nothing in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PolicyValue {
    Null,
    Flag(bool),
    /// A number that is written as a whole one, without sign, fraction and exponent.
    Whole(u64),
    /// A number between 0 and 1, in millionths; what it has beyond six digits is cut.
    Share(u32),
    /// Any other number: no member of a policy may be one.
    OtherNumber,
    Text(String),
    List(Vec<PolicyValue>),
    /// In the order in which it was put together; ordered by name where it was read.
    Object(Vec<(String, PolicyValue)>),
}

impl PolicyValue {
    pub(super) fn is_true(&self) -> bool {
        matches!(self, PolicyValue::Flag(true))
    }

    pub(super) fn number(&self) -> u64 {
        if let PolicyValue::Whole(number) = self { *number } else { 0 }
    }

    pub(super) fn text(&self) -> &str {
        if let PolicyValue::Text(text) = self { text } else { "" }
    }

    pub(super) fn elements(&self) -> &[PolicyValue] {
        if let PolicyValue::List(elements) = self { elements } else { &[] }
    }

    pub(super) fn members(&self) -> &[(String, PolicyValue)] {
        if let PolicyValue::Object(members) = self { members } else { &[] }
    }

    /// The member of that name; null where there is none.
    pub(super) fn at(&self, name: &str) -> &PolicyValue {
        self.member(name).unwrap_or(&PolicyValue::Null)
    }

    pub(super) fn member(&self, name: &str) -> Option<&PolicyValue> {
        self.members().iter().find_map(|(known, value)| (known == name).then_some(value))
    }
}

impl From<&str> for PolicyValue {
    fn from(text: &str) -> PolicyValue {
        PolicyValue::Text(text.to_owned())
    }
}

impl Serialize for PolicyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // No policy with another number passes its check, so that none is written.
            PolicyValue::Null | PolicyValue::OtherNumber => serializer.serialize_unit(),
            PolicyValue::Flag(value) => serializer.serialize_bool(*value),
            PolicyValue::Whole(number) => serializer.serialize_u64(*number),
            PolicyValue::Share(millionths) => {
                RawJson(format!("0.{millionths:06}").trim_end_matches('0')).serialize(serializer)
            }
            PolicyValue::Text(text) => serializer.serialize_str(text),
            PolicyValue::List(elements) => serializer.collect_seq(elements),
            PolicyValue::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// An object or list that is open, and the name of the member that is read.
struct OpenPart {
    value: PolicyValue,
    name: String,
}

/// Reads a text that has to be one JSON value without halves of surrogate pairs, nested at most [`DEEPEST`] deep.
///
/// A member that occurs twice is an error of its own, told only where the whole text is JSON.
pub(super) fn read_value(json: &str) -> Result<PolicyValue, InvalidPolicy> {
    let mut tokens = Tokens::new(json);
    let mut open: Vec<OpenPart> = Vec::new();
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
                    Token::ObjectStart => PolicyValue::Object(Vec::new()),
                    _ => PolicyValue::List(Vec::new()),
                };
                open.push(OpenPart { value, name: String::new() });
                continue;
            }
            Token::Name(name) => {
                let Some(decoded) = name.decode() else {
                    return not_json(json, name.start());
                };
                if let Some(inner) = open.last_mut() {
                    inner.name = decoded.into_owned();
                    let is_twice = matches!(&inner.value, PolicyValue::Object(members) if members.iter().any(|(name, _)| *name == inner.name));
                    if is_twice && twice.is_none() {
                        twice = Some(pointer_of(&open));
                    }
                }
                continue;
            }
            Token::ObjectEnd | Token::ArrayEnd => match open.pop() {
                Some(inner) => inner.value,
                None => return not_json(json, tokens.at()),
            },
            Token::String(text) => match text.decode() {
                Some(text) => PolicyValue::Text(text.into_owned()),
                None => return not_json(json, text.start()),
            },
            Token::Number(number) => number.parse().map_or_else(|_| read_share(number), PolicyValue::Whole),
            Token::Bool(value) => PolicyValue::Flag(value),
            Token::Null => PolicyValue::Null,
        };
        match open.last_mut() {
            Some(outer) => outer.add_value(value),
            None => {
                return match (tokens.next(), twice) {
                    (Err(error), _) => not_json(json, error.at),
                    (Ok(_), Some(pointer)) => Err(InvalidPolicy { pointer, fault: PolicyFault::Duplicate }),
                    (Ok(_), None) => Ok(value),
                };
            }
        }
    }
}

/// Reads a number that is not whole.
fn read_share(number: &str) -> PolicyValue {
    let digits = number.strip_prefix("0.").filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    let millionths = digits.map(|digits| digits.chars().chain(std::iter::repeat('0')).take(6).collect::<String>());
    millionths.and_then(|digits| digits.parse().ok()).map_or(PolicyValue::OtherNumber, PolicyValue::Share)
}

impl OpenPart {
    fn add_value(&mut self, value: PolicyValue) {
        match &mut self.value {
            PolicyValue::List(list) => list.push(value),
            PolicyValue::Object(members) => {
                let name = std::mem::take(&mut self.name);
                let at = members.iter().position(|(known, _)| *known > name).unwrap_or(members.len());
                members.insert(at, (name, value));
            }
            _ => {}
        }
    }
}

/// The pointer of the member that is read.
fn pointer_of(open: &[OpenPart]) -> String {
    let mut pointer = String::new();
    for open in open {
        match &open.value {
            PolicyValue::List(list) => step(&mut pointer, &list.len().to_string()),
            _ => step(&mut pointer, &open.name),
        }
    }
    pointer
}

fn not_json(json: &str, at: usize) -> Result<PolicyValue, InvalidPolicy> {
    let NotJson { line, column } = NotJson::at(json.as_bytes(), at);
    Err(InvalidPolicy { pointer: String::new(), fault: PolicyFault::NotJson { line, column } })
}
