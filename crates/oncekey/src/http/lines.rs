//! Header lines in the form in which a platform takes them all at once.

use serde::{Serialize, Serializer};

use crate::json::write::to_json;

/// Header lines, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderLines(Vec<(String, String)>);

impl HeaderLines {
    /// Adds a line.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Names and values.
    pub fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// What the header list of the Fetch standard is filled with (§5.1): `{"name":"value",…}`, which the runtime takes for
    /// less, or `[["name","value"],…]` where an object would lose a line or the order.
    pub fn into_json(self) -> String {
        if self.fit_into_object() { to_json(&HeaderObject(&self.0)) } else { to_json(&self.0) }
    }

    /// An object has each name once, and those that are numbers first (ECMA-262 §10.1.11).
    fn fit_into_object(&self) -> bool {
        let mut names: Vec<_> = self.0.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        let is_once = names.windows(2).all(|pair| matches!(pair, [one, other] if one != other));
        is_once && names.iter().all(|name| !name.starts_with(|first: char| first.is_ascii_digit()))
    }
}

struct HeaderObject<'a>(&'a [(String, String)]);

impl Serialize for HeaderObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
