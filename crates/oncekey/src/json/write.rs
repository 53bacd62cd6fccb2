//! JSON as the gate says it: one writer for all of it. Canonical forms are written by [`crate::content::json`].

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// A value as JSON, without white space, members in their order.
///
/// ```
/// use oncekey::json::write::to_json;
///
/// assert_eq!(to_json(&("a\n", [1, 2])), r#"["a\n",[1,2]]"#);
/// ```
pub fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    // Fails only where a map has a name that is no string, or where a value's own `Serialize` fails: the gate says neither.
    serde_json::to_string(value).unwrap_or_default()
}

/// A text that is JSON already, written as it stands.
///
/// The library's own `RawValue` is made by reading the text once more, which takes 14 kB of wasm (gzip) and drops the
/// white space around it. Type and serializer agree in the same way, by a struct of this one name; the test below fails
/// where a release of the library changes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawJson<'t>(pub(crate) &'t str);

impl Serialize for RawJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAME: &str = "$serde_json::private::RawValue";
        let mut raw = serializer.serialize_struct(NAME, 1)?;
        raw.serialize_field(NAME, self.0)?;
        raw.end()
    }
}

#[cfg(test)]
mod tests {
    use super::{RawJson, to_json};

    #[test]
    fn raw_json_stands_as_it_is() {
        for text in ["null", " {\"a\" : 1.0}\n", "\"\\ud800\"", "[1e400,\t-0]"] {
            assert_eq!(to_json(&RawJson(text)), text);
            assert_eq!(to_json(&[(Some(RawJson(text)), "é\"")]), format!("[[{text},\"é\\\"\"]]"));
        }
    }
}
