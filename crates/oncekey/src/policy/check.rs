//! Holds a value against the table, and puts in what it leaves to defaults.

use crate::policy::{
    invalid::{InvalidPolicy, PolicyFault},
    located::LocatedValue,
    member::{ObjectShape, ValueKind},
    syntax::TextSyntax,
    value::PolicyValue,
};

/// The first thing that is wrong with an object: a member that nobody knows, else the first in the order of the table.
pub(super) fn check_object(at: &LocatedValue, shape: ObjectShape) -> Result<(), InvalidPolicy> {
    at.refuse_unless(matches!(at.value, PolicyValue::Object(_)), "an object")?;
    let rules = shape.rules();
    for (name, member) in at.members() {
        if !rules.iter().any(|rule| rule.name == name) {
            return member.refuse(PolicyFault::Unknown);
        }
    }
    for rule in rules {
        let (member, applies) = (at.member(rule.name), rule.applies_in(at.value, rules));
        match (at.value.member(rule.name), applies) {
            (Some(_), true) => check_value(&member, rule.kind)?,
            (Some(_), false) => return member.refuse(PolicyFault::Unknown),
            (None, true) if rule.is_needed_in(at.value, rules) => {
                let is_choice = matches!(rule.kind, ValueKind::WordOr { .. });
                return member.refuse(if is_choice { PolicyFault::Undecided } else { PolicyFault::Missing });
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn check_value(at: &LocatedValue, kind: ValueKind) -> Result<(), InvalidPolicy> {
    match kind {
        ValueKind::Flag => at.refuse_unless(matches!(at.value, PolicyValue::Flag(_)), "true or false"),
        ValueKind::Number { least, most, .. } => match at.value {
            PolicyValue::Whole(number)
                if u32::try_from(*number).is_ok_and(|number| (least..=most).contains(&number)) =>
            {
                Ok(())
            }
            _ => at.refuse(PolicyFault::OutOfBounds { least, most }),
        },
        ValueKind::Share => {
            let is_share = matches!(at.value, PolicyValue::Whole(0 | 1) | PolicyValue::Share(_));
            at.refuse_unless(is_share, "a number from 0 to 1, such as 0.01")
        }
        ValueKind::Word(words) => {
            at.refuse_unless(matches!(at.value, PolicyValue::Text(_)), "a string")?;
            check_word(at, words, None)
        }
        ValueKind::WordOr { words, object, example } => match at.value {
            PolicyValue::Object(_) => check_object(at, object),
            _ => check_word(at, words, Some(example)),
        },
        ValueKind::Text(syntax) => {
            at.refuse_unless(matches!(at.value, PolicyValue::Text(_)), "a string")?;
            check_text(at, syntax, at.value.text())
        }
        ValueKind::TextOrTexts(syntax) => match at.value {
            PolicyValue::Text(_) => check_value(at, ValueKind::Text(syntax)),
            PolicyValue::List(texts) if !texts.is_empty() => {
                at.elements().try_for_each(|element| check_value(&element, ValueKind::Text(syntax)))
            }
            _ => at.refuse(PolicyFault::Expected("a string, or a list of strings")),
        },
        ValueKind::List { of, filled } => {
            at.refuse_unless(matches!(at.value, PolicyValue::List(_)), "a list")?;
            if let Some(expected) = filled {
                at.refuse_unless(!at.value.elements().is_empty(), expected)?;
            }
            at.elements().try_for_each(|element| check_value(&element, *of))
        }
        ValueKind::Object(shape) => check_object(at, shape),
        ValueKind::Named(shape) => {
            at.refuse_unless(matches!(at.value, PolicyValue::Object(_)), "an object")?;
            at.members().try_for_each(|(name, member)| check_text(&member, TextSyntax::Segment, name))?;
            at.members().try_for_each(|(_, member)| check_object(&member, shape))
        }
    }
}

fn check_word(
    at: &LocatedValue,
    words: &'static [&'static str],
    or: Option<&'static str>,
) -> Result<(), InvalidPolicy> {
    if words.iter().any(|word| matches!(at.value, PolicyValue::Text(text) if text == word)) {
        return Ok(());
    }
    at.refuse(PolicyFault::NotAmong { words, or })
}

fn check_text(at: &LocatedValue, syntax: TextSyntax, text: &str) -> Result<(), InvalidPolicy> {
    syntax.check(text).or_else(|expected| at.refuse(PolicyFault::Expected(expected)))
}

/// Gives an object that was checked the members that it left to their defaults, and so all that it holds.
pub(super) fn fill_object(object: &mut PolicyValue, shape: ObjectShape) {
    let rules = shape.rules();
    for rule in rules {
        if let Some(preset) = rule.preset
            && object.member(rule.name).is_none()
            && rule.applies_in(object, rules)
            && let PolicyValue::Object(members) = object
        {
            members.push((rule.name.to_owned(), preset.value()));
        }
    }
    if let PolicyValue::Object(members) = object {
        for (name, value) in members {
            if let Some(rule) = rules.iter().find(|rule| rule.name == name) {
                fill_value(value, rule.kind);
            }
        }
    }
}

fn fill_value(value: &mut PolicyValue, kind: ValueKind) {
    match (kind, value) {
        (ValueKind::Object(shape), value) => fill_object(value, shape),
        (ValueKind::WordOr { object, .. }, value @ PolicyValue::Object(_)) => fill_object(value, object),
        (ValueKind::List { of, .. }, PolicyValue::List(elements)) => {
            for element in elements {
                fill_value(element, *of);
            }
        }
        (ValueKind::Named(shape), PolicyValue::Object(members)) => {
            for (_, member) in members {
                fill_object(member, shape);
            }
        }
        _ => {}
    }
}
