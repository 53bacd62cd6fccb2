//! The fields of a head: their names, what each is for, and all of them as one text, the way a platform gives them.

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
        // Asked many times of each head: most lines are told apart by where their name ends.
        self.0.split('\n').find_map(|line| {
            let (known, rest) = line.split_at_checked(name.len())?;
            rest.strip_prefix(',').filter(|_| known.eq_ignore_ascii_case(name))
        })
    }

    /// The names of the fields that only the gate may set.
    pub fn internal_names(&self) -> impl Iterator<Item = &str> {
        self.pairs().map(|(name, _)| name).filter(|name| is_internal(name))
    }

    /// The names of the fields that belong to one connection, those among them that `Connection` names.
    ///
    /// ```
    /// use oncekey::http::fields::Fields;
    ///
    /// let fields = Fields::new("connection,X-Hop, close\nupgrade,websocket\nx-hop,1\nx-other,2".to_owned());
    /// assert_eq!(fields.hop_names(), ["connection", "upgrade", "x-hop"]);
    /// ```
    pub fn hop_names(&self) -> Vec<&str> {
        let connections = self.pairs().filter(|(name, _)| *name == "connection");
        let named: Vec<&str> = connections.flat_map(|(_, value)| value.split(',')).map(str::trim).collect();
        let is_named = |name: &str| named.iter().any(|named| named.eq_ignore_ascii_case(name));
        let all = self.pairs().map(|(name, _)| name);
        all.filter(|name| OF_ONE_HOP.contains(name) || is_named(name)).collect()
    }

    /// The first field, of those that are wanted, whose value the platform does not give exactly: bytes that are not UTF-8
    /// come as U+FFFD, so that two values that differ would be one, and be sent on as a third.
    ///
    /// ```
    /// use oncekey::http::fields::Fields;
    ///
    /// let fields = Fields::new("a,\u{e9}\nb,Ren\u{fffd}".to_owned());
    /// assert_eq!(fields.inexact(|_| true), Some("b"));
    /// assert_eq!(fields.inexact(|name| name == "a"), None);
    /// ```
    pub fn inexact(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
        let is_inexact = |value: &str| value.contains(char::REPLACEMENT_CHARACTER);
        self.pairs().find(|(name, value)| is_inexact(value) && is_wanted(name)).map(|(name, _)| name)
    }

    /// What `Content-Length` announces, in bytes.
    pub fn content_length(&self) -> Option<u64> {
        self.get("content-length").and_then(|length| length.parse().ok())
    }
}

/// `Idempotency-Status`: what the gate did, on every answer of a matched route.
pub const STATUS: &str = "idempotency-status";

/// `Idempotency-Expires`: until when something is remembered, an HTTP date.
pub const EXPIRES: &str = "idempotency-expires";

/// `Idempotent-Replayed: true` on a replay.
pub const REPLAYED: &str = "idempotent-replayed";

/// The scoped key, where the origin gets another.
pub const SCOPED_KEY: &str = "oncekey-scoped-key";

/// What pages of other origins may read where the origin lets them read anything.
pub const EXPOSED: &str = "Idempotency-Status, Idempotency-Expires, Idempotent-Replayed, Retry-After";

/// Fields that belong to one connection or frame one message (RFC 9110 §7.6.1, §6.6.2; RFC 9112 §6), and that a
/// replay therefore never repeats, nor does what the gate sends in its own name. `HTTP2-Settings`: RFC 7540 §3.2.1.
const OF_ONE_HOP: [&str; 9] = [
    "connection",
    "content-length",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Fields that only the gate may set, in either direction; `name` in lower case.
pub fn is_internal(name: &str) -> bool {
    [STATUS, EXPIRES, REPLAYED].contains(&name) || name.starts_with("oncekey-") || name.starts_with("x-oncekey-")
}

/// Fields that describe a request's content or ask for a part of it: an item of a batch has its own.
pub fn content_fields() -> &'static [&'static str] {
    &[
        "content-type",
        "content-encoding",
        "content-language",
        "content-length",
        "content-location",
        "content-range",
        "transfer-encoding",
        "expect",
        "range",
    ]
}

/// Whether a field of a request is left out where the origin is asked what became of that request: it describes the
/// content, asks for a part of it, or is a precondition (RFC 9110 §13.1), whose 304 or 412 would be no answer to it.
///
/// ```
/// use oncekey::http::fields::is_left_out_of_probe;
///
/// assert!(is_left_out_of_probe("if-none-match") && is_left_out_of_probe("content-digest"));
/// assert!(!is_left_out_of_probe("authorization"));
/// ```
pub fn is_left_out_of_probe(name: &str) -> bool {
    content_fields().contains(&name)
        || matches!(name, "digest" | "repr-digest")
        || name.starts_with("content-")
        || name.starts_with("if-")
}

/// Whether an answer of that status has no content (RFC 9110 §15.3.5, §15.3.6, §15.4.5).
pub fn has_no_content(status: u16) -> bool {
    matches!(status, 204 | 205 | 304)
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
        assert_eq!(fields.internal_names().collect::<Vec<_>>(), ["idempotency-status", "oncekey-a"]);
    }
}
