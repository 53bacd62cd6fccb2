//! The policy's members as tables for a README.

use crate::policy::{
    describe::sentence::{clause, default_json},
    member::{MemberRow, ObjectShape},
};

/// What stands in a README before a table, around the name of its object.
const OPENS: (&str, &str) = ("<!-- policy: ", " -->\n");

/// What stands after it.
const CLOSES: &str = "<!-- /policy -->";

/// An object's members as a table: member, values, default.
pub fn markdown(shape: ObjectShape) -> String {
    let whose = match shape {
        ObjectShape::Policy => "the policy".to_owned(),
        other => format!("a {}", other.word()),
    };
    let rows = shape.rows().iter().map(table_row);
    [format!("| member of {whose} | values | default |\n|---|---|---|\n")].into_iter().chain(rows).collect()
}

fn table_row(row: &MemberRow) -> String {
    let default = match row.preset {
        Some(preset) => format!("`{}`", default_json(preset)),
        None if row.needed => "needed".to_owned(),
        None => "none".to_owned(),
    };
    format!("| `{}` | {} | {default} |\n", row.name, clause(row).replace('|', "\\|"))
}

/// A text with the tables between its marks, `<!-- policy: route -->` and `<!-- /policy -->`, written anew.
pub fn fill_tables(text: &str) -> String {
    let mut filled = text.to_owned();
    for shape in ObjectShape::ALL {
        let opening = [OPENS.0, &shape.word(), OPENS.1].concat();
        if let Some((before, rest)) = filled.split_once(&opening)
            && let Some((_, after)) = rest.split_once(CLOSES)
        {
            filled = [before, &opening, "\n", &markdown(shape), "\n", CLOSES, after].concat();
        }
    }
    filled
}
