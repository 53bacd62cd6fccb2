//! Header lines in the form in which a platform takes them all at once.

use std::fmt::Write;

/// Header lines as a JSON list of pairs, the form in which a platform takes them all at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(String);

impl Lines {
    /// Adds a line.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '[' } else { ',' });
        self.0.push('[');
        json_string(&mut self.0, name);
        self.0.push(',');
        json_string(&mut self.0, value);
        self.0.push(']');
    }

    /// `[["name","value"],…]`
    pub fn into_json(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('[');
        }
        self.0.push(']');
        self.0
    }
}

pub(crate) fn json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
