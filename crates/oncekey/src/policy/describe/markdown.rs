//! The policy's members as tables for a README.

use crate::policy::{
    describe::sentence::{clause, default_json},
    member::{MemberRow, ObjectShape},
};

/// What stands in a README before the tables, up to the end of its comment, and after them.
const MARKS: (&str, &str) = ("<!-- policy:", "<!-- /policy -->");

/// An object's members as a table: member, values, default.
pub fn markdown(shape: ObjectShape) -> String {
    let whose = match shape {
        ObjectShape::Policy => "the policy".to_owned(),
        ObjectShape::Limits => "`limits`".to_owned(),
        ObjectShape::Identity => "an identity".to_owned(),
        ObjectShape::OnUnknown => "`on_unknown`".to_owned(),
        other => format!("a {}", other.word()),
    };
    let rows = shape.rows().iter().map(table_row);
    [format!("| member of {whose} | values | default |\n|---|---|---|\n")].into_iter().chain(rows).collect()
}

fn table_row(row: &MemberRow) -> String {
    let default = match row.preset {
        Some(preset) => {
            let needed = row.needed_with.map(|with| format!("; needed with `\"{}\": \"{}\"`", with.member, with.word));
            format!("`{}`{}", default_json(preset), needed.unwrap_or_default())
        }
        None if row.needed => "needed".to_owned(),
        None => "none".to_owned(),
    };
    format!("| `{}` | {} | {default} |\n", row.name, clause(row).replace('|', "\\|"))
}

/// A text whose tables between `<!-- policy: … -->` and `<!-- /policy -->` are written anew: one for each object, but for
/// a probe, which stands in the row of `unanswered`.
pub fn fill_tables(text: &str) -> String {
    let shapes = ObjectShape::ALL.into_iter().filter(|shape| *shape != ObjectShape::Probe);
    let tables: Vec<String> = shapes.map(markdown).collect();
    let parts = text.split_once(MARKS.0).and_then(|(before, rest)| {
        let (note, rest) = rest.split_once("-->\n")?;
        Some((before, note, rest.split_once(MARKS.1)?.1))
    });
    match parts {
        Some((before, note, after)) => [before, MARKS.0, note, "-->\n", &tables.join("\n"), MARKS.1, after].concat(),
        None => text.to_owned(),
    }
}
