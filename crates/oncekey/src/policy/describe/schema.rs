//! The policy as JSON Schema, for editors.

use crate::policy::{
    describe::{
        pattern::text_schema,
        sentence::{conditions, sentence},
    },
    member::{MemberRow, ObjectShape, OnlyWith, Preset, ValueKind},
    syntax::TextSyntax,
    value::PolicyValue,
};

/// The JSON Schema (2020-12) of a policy, as text.
///
/// What it cannot say is left to the gate: members that occur twice, numbers written as `1.0`, attributes listed twice
/// or equal to the key's header, claims of no identity, identities that are verified in no way or in two, states that nothing reaches, effects whose route does not say `unanswered`, and the longest run of zeros in an address.
pub fn schema() -> String {
    let mut whole =
        vec![("$schema", "https://json-schema.org/draft/2020-12/schema".into()), ("$id", "urn:oncekey:policy".into())];
    whole.extend(object_schema(ObjectShape::Policy));
    let parts = ObjectShape::ALL.into_iter().filter(|shape| *shape != ObjectShape::Policy);
    let parts = parts.map(|shape| (shape.word(), object(object_schema(shape)))).collect();
    whole.push(("$defs", PolicyValue::Object(parts)));
    let mut text = serde_json::to_string_pretty(&object(whole)).unwrap_or_default();
    text.push('\n');
    text
}

type Keywords = Vec<(&'static str, PolicyValue)>;

fn object(members: Keywords) -> PolicyValue {
    PolicyValue::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn texts(texts: &[&str]) -> PolicyValue {
    PolicyValue::List(texts.iter().map(|text| (*text).into()).collect())
}

fn object_schema(shape: ObjectShape) -> Keywords {
    let rows = shape.rows();
    let title = if shape == ObjectShape::Policy { "Oncekey policy" } else { shape.type_name() };
    let properties = rows.iter().map(|row| (row.name.to_owned(), member_schema(row))).collect();
    let mut schema = vec![
        ("title", title.into()),
        ("description", shape.sentence().into()),
        ("type", "object".into()),
        ("additionalProperties", PolicyValue::Flag(false)),
        ("properties", PolicyValue::Object(properties)),
    ];
    let needed: Vec<&str> = rows.iter().filter(|row| row.needed && row.only.is_none()).map(|row| row.name).collect();
    if !needed.is_empty() {
        schema.push(("required", texts(&needed)));
    }
    let conditions: Vec<PolicyValue> = conditions(shape).into_iter().map(|only| condition(rows, only)).collect();
    if !conditions.is_empty() {
        schema.push(("allOf", PolicyValue::List(conditions)));
    }
    schema
}

/// Members that are needed beside a word, or have a meaning there and none elsewhere.
fn condition(rows: &[MemberRow], only: OnlyWith) -> PolicyValue {
    let properties = |list: Vec<(String, PolicyValue)>| ("properties", PolicyValue::Object(list));
    let is_word = object(vec![("const", only.word.into())]);
    let mut holds = vec![properties(vec![(only.member.to_owned(), is_word)])];
    if !rows.iter().any(|row| row.name == only.member && row.preset == Some(Preset::Text(only.word))) {
        holds.push(("required", texts(&[only.member])));
    }
    let is_needed = |row: &&MemberRow| (row.needed && row.only == Some(only)) || row.needed_with == Some(only);
    let needed: Vec<&str> = rows.iter().filter(is_needed).map(|row| row.name).collect();
    let each = |names: Vec<&str>, taken: bool| {
        properties(names.into_iter().map(|name| (name.to_owned(), PolicyValue::Flag(taken))).collect())
    };
    let bound: Vec<&str> = rows.iter().filter(|row| row.only == Some(only)).map(|row| row.name).collect();
    let there = rows.iter().filter(|row| [row.only, row.needed_with].contains(&Some(only)));
    object(vec![
        ("if", object(holds)),
        ("then", object(vec![each(there.map(|row| row.name).collect(), true), ("required", texts(&needed))])),
        ("else", object(vec![each(bound, false)])),
    ])
}

fn member_schema(row: &MemberRow) -> PolicyValue {
    // A description is plain text.
    let mut schema = vec![("description", sentence(row).replace('`', "").as_str().into())];
    schema.extend(value_schema(row.kind));
    if let Some(preset) = row.preset {
        schema.push(("default", preset.value()));
    }
    schema.push(("$comment", ["since ", row.since].concat().as_str().into()));
    object(schema)
}

fn value_schema(kind: ValueKind) -> Keywords {
    let typed = |name: &str| ("type", name.into());
    match kind {
        ValueKind::Flag => vec![typed("boolean")],
        ValueKind::Number { least, most, .. } => {
            vec![
                typed("integer"),
                ("minimum", PolicyValue::Whole(least.into())),
                ("maximum", PolicyValue::Whole(most.into())),
            ]
        }
        ValueKind::Share => {
            vec![typed("number"), ("minimum", PolicyValue::Whole(0)), ("maximum", PolicyValue::Whole(1))]
        }
        ValueKind::Word(words) => vec![("enum", texts(words))],
        ValueKind::WordOr { words, object: shape, .. } => {
            let choices = [vec![("enum", texts(words))], reference(shape)];
            vec![("anyOf", PolicyValue::List(choices.into_iter().map(object).collect()))]
        }
        ValueKind::Text(syntax) => [typed("string")].into_iter().chain(text_schema(syntax)).collect(),
        ValueKind::TextOrTexts(syntax) => {
            let one = value_schema(ValueKind::Text(syntax));
            let items = ("items", object(one.clone()));
            let choices = [one, vec![typed("array"), items, ("minItems", PolicyValue::Whole(1))]];
            vec![("anyOf", PolicyValue::List(choices.into_iter().map(object).collect()))]
        }
        ValueKind::List { of, filled } => {
            let mut list = vec![typed("array"), ("items", object(value_schema(*of)))];
            if filled.is_some() {
                list.push(("minItems", PolicyValue::Whole(1)));
            }
            list
        }
        ValueKind::Object(shape) => reference(shape),
        ValueKind::Named(shape) => vec![
            typed("object"),
            ("propertyNames", object(text_schema(TextSyntax::Segment))),
            ("additionalProperties", object(reference(shape))),
        ],
    }
}

fn reference(shape: ObjectShape) -> Keywords {
    vec![("$ref", ["#/$defs/", &shape.word()].concat().as_str().into())]
}
