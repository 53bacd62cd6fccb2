//! The policy as TypeScript types.

use crate::policy::{
    describe::{
        pattern::text_type,
        sentence::{conditions, default_json, sentence},
    },
    member::{MemberRow, ObjectShape, OnlyWith, ValueKind},
};

/// The types of a policy, as the text of a `.d.ts` file.
pub fn typescript() -> String {
    let mut text = String::from(
        "// Oncekey's policy. Written by `cargo xtask build`, from the table that the gate reads it by.\n",
    );
    for shape in ObjectShape::ALL {
        text.push_str(&object_type(shape));
    }
    text
}

fn object_type(shape: ObjectShape) -> String {
    let (name, about) = (shape.type_name(), shape.sentence());
    let conditions = conditions(shape);
    let Some(OnlyWith { member: selector, .. }) = conditions.first() else {
        let members: String = shape.rows().iter().map(member_type).collect();
        return format!("\n/** {about} */\nexport interface {name} {{\n{members}}}\n");
    };
    let is_common = |row: &&MemberRow| row.only.is_none() && row.name != *selector;
    let members: String = shape.rows().iter().filter(is_common).map(member_type).collect();
    let mut text =
        format!("\n/** What every {} has. */\nexport interface {name}Members {{\n{members}}}\n", shape.word());
    let mut names = Vec::new();
    for words in alternatives(shape, selector, &conditions) {
        let (alternative, members) = alternative_type(shape, selector, &words);
        let which = quoted(&words).replace(" | ", " or ");
        text.push_str(&format!("\n/** A {} whose `{selector}` is {which}. */\n", shape.word()));
        text.push_str(&format!("export interface {alternative} extends {name}Members {{\n{members}}}\n"));
        names.push(alternative);
    }
    text.push_str(&format!("\n/** {about} */\nexport type {name} = {};\n", names.join(" | ")));
    text
}

/// The words of the member on which others depend: those that bring none, then each that brings some.
fn alternatives(shape: ObjectShape, selector: &str, conditions: &[OnlyWith]) -> Vec<Vec<&'static str>> {
    let rows = shape.rows().iter().filter(|row| row.name == selector);
    let words = rows.flat_map(|row| if let ValueKind::Word(words) = row.kind { words } else { &[] });
    let (bring, plain): (Vec<&str>, Vec<&str>) =
        words.copied().partition(|word| conditions.iter().any(|only| only.word == *word));
    [plain].into_iter().chain(bring.into_iter().map(|word| vec![word])).collect()
}

/// The name and the members of an object whose selecting member is one of these words.
fn alternative_type(shape: ObjectShape, selector: &str, words: &[&'static str]) -> (String, String) {
    let mut members = String::new();
    let is_needed = |row: &MemberRow| row.needed_with.is_some_and(|with| words.contains(&with.word));
    for row in shape.rows().iter().filter(|row| row.name == selector || row.only.is_some() || is_needed(row)) {
        let applies = row.only.is_none_or(|only| words.contains(&only.word));
        if row.name == selector {
            let has_default = row.preset.is_some_and(|preset| words.contains(&preset.value().text()));
            members.push_str(&doc(row));
            let optional = if has_default { "?" } else { "" };
            members.push_str(&format!("  {}{optional}: {};\n", row.name, quoted(words)));
        } else if row.only.is_none() {
            members.push_str(&member_type(&MemberRow { needed: true, preset: None, ..*row }));
        } else if applies {
            members.push_str(&member_type(row));
        } else {
            members.push_str(&format!("  {}?: never;\n", row.name));
        }
    }
    let capital = |word: &&str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let words: Vec<String> = words.iter().map(capital).collect();
    ([words.join("Or").as_str(), shape.type_name()].concat(), members)
}

fn member_type(row: &MemberRow) -> String {
    let optional = if row.needed { "" } else { "?" };
    format!("{}  {}{optional}: {};\n", doc(row), row.name, value_type(row.kind))
}

fn doc(row: &MemberRow) -> String {
    let mut doc = format!("  /**\n   * {}\n", sentence(row));
    if let Some(preset) = row.preset {
        doc.push_str(&format!("   * @default {}\n", default_json(preset)));
    }
    doc.push_str(&format!("   * @since {}\n   */\n", row.since));
    doc
}

fn value_type(kind: ValueKind) -> String {
    match kind {
        ValueKind::Flag => "boolean".to_owned(),
        ValueKind::Number { .. } | ValueKind::Share => "number".to_owned(),
        ValueKind::Word(words) => quoted(words),
        ValueKind::WordOr { words, object, .. } => [&quoted(words), " | ", object.type_name()].concat(),
        ValueKind::Text(syntax) => text_type(syntax).to_owned(),
        ValueKind::TextOrTexts(syntax) => format!("{0} | ReadonlyArray<{0}>", text_type(syntax)),
        ValueKind::List { of, .. } => format!("ReadonlyArray<{}>", value_type(*of)),
        ValueKind::Object(shape) => shape.type_name().to_owned(),
        ValueKind::Named(shape) => format!("Readonly<Record<string, {}>>", shape.type_name()),
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    words.join(" | ")
}
