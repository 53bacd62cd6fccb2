//! Header lines in the form in which a platform takes them all at once.

use serde::Serialize;

use crate::json::write::to_json;

/// Header lines as a list of pairs, the form in which a platform takes them all at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HeaderLines(Vec<(String, String)>);

impl HeaderLines {
    /// Adds a line.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// `[["name","value"],…]`
    pub fn into_json(self) -> String {
        to_json(&self)
    }
}
