//! Status and header lines of an answer, as they are kept and sent.

use crate::{
    answer::word::StatusWord,
    http::{
        date::{self, Millis},
        fields::{EXPIRES, EXPOSED, Fields, REPLAYED, STATUS, has_no_content, is_internal},
        lines::HeaderLines,
        negotiate::known_coding,
    },
};

/// Status and header lines of an answer, as they are kept and sent: the first answer is made of it as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// 200 to 599.
    pub status: u16,
    /// `name:value\n` for each line, names in lower case.
    pub lines: String,
}

impl ReplyHead {
    /// Keeps what may be kept.
    pub fn keep(status: u16, fields: &Fields) -> Self {
        let hop = fields.hop_names();
        let mut lines = String::new();
        for (name, value) in fields.pairs().filter(|(name, _)| !is_internal(name) && !hop.contains(name)) {
            lines.push_str(name);
            lines.push(':');
            lines.push_str(value);
            lines.push('\n');
        }
        Self { status, lines }
    }

    /// Of an answer whose fields are not kept.
    pub fn without_lines(status: u16) -> Self {
        Self { status, lines: String::new() }
    }

    /// The same without the lines of these names, in any case.
    #[must_use]
    pub fn without(&self, names: &[String]) -> Self {
        let is_kept = |line: &&str| {
            !line.split_once(':').is_some_and(|(name, _)| names.iter().any(|left| left.eq_ignore_ascii_case(name)))
        };
        Self { status: self.status, lines: self.lines.split_inclusive('\n').filter(is_kept).collect() }
    }

    /// Whether a directive of a `Cache-Control` line is `no-store` (RFC 9111 §5.2.2.5).
    pub fn says_no_store(&self) -> bool {
        let lines = self.pairs().filter(|(name, _)| *name == "cache-control");
        lines.flat_map(|(_, value)| value.split(',')).any(|directive| directive.trim().eq_ignore_ascii_case("no-store"))
    }

    /// Name and value of each line.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.split_terminator('\n').filter_map(|line| line.split_once(':'))
    }

    /// The value of a line, `name` in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The content's length where the status allows none: 204, 205 and 304 (RFC 9110 §15).
    pub fn has_no_content(&self) -> bool {
        has_no_content(self.status)
    }

    /// The lines to send, with the gate's own.
    ///
    /// The label of a coding is one in any case (RFC 9110 §8.4.1), but the platform knows it in lower case alone.
    /// Content that is `empty` is in no coding: every gzip file has a header (RFC 1952 §2.3), so that a reader of
    /// codings fails at nothing at all.
    pub fn lines_to_send(&self, word: StatusWord, expires: Option<Millis>, empty: bool) -> HeaderLines {
        let mut lines = HeaderLines::default();
        for (name, value) in self.pairs() {
            match name {
                "content-encoding" if empty && !self.has_no_content() => {}
                "content-encoding" => lines.push(name, known_coding(value).unwrap_or(value)),
                _ => lines.push(name, value),
            }
        }
        lines.push(STATUS, word.as_str());
        if word == StatusWord::Replayed {
            lines.push(REPLAYED, "true");
        }
        if let Some(at) = expires {
            lines.push(EXPIRES, &date::http_date(at));
        }
        if self.get("access-control-allow-origin").is_some() {
            lines.push("access-control-expose-headers", EXPOSED);
        }
        lines
    }
}
