//! The fields of a head as one text, the way a platform gives them all at once.

use crate::reply::is_internal;

/// All fields of a head: `name,value` for each line, parted by `\n`, names in lower case. A name holds no comma and
/// a value no line feed (RFC 9110 §5.1, §5.5). Repeated lines come as one, joined by `, ` (§5.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(String);

impl Fields {
    /// Takes the platform's text as it is.
    pub fn new(pairs: String) -> Self {
        Self(pairs)
    }

    /// What [`Fields::new`] took.
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// Name and value of each line.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.split('\n').filter_map(|pair| pair.split_once(','))
    }

    /// The value of a field; `name` in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The names of the fields that only the gate may set.
    pub fn internal(&self) -> impl Iterator<Item = &str> {
        self.pairs().map(|(name, _)| name).filter(|name| is_internal(name))
    }

    /// What `Content-Length` announces, in bytes.
    pub fn content_length(&self) -> Option<u64> {
        self.get("content-length").and_then(|length| length.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    fn check(pairs: &str, name: &str, expect: Option<&str>) {
        assert_eq!(Fields::new(pairs.to_owned()).get(name), expect, "{name} in {pairs:?}");
    }

    #[test]
    fn values_with_commas_stay_whole() {
        check("a,1, 2\nb,x", "a", Some("1, 2"));
        check("a,1\nb,", "b", Some(""));
        check("a,1", "A", Some("1"));
        check("a,1", "b", None);
        check("", "a", None);
    }
    #[test]
    fn internal_names() {
        let fields = Fields::new("idempotency-status,x\noncekey-a,1\nx-a,2".to_owned());
        assert_eq!(fields.internal().collect::<Vec<_>>(), ["idempotency-status", "oncekey-a"]);
    }
}
