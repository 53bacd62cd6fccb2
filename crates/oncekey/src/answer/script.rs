//! The scripts that the gate serves to pages, and the operator's page: addresses, tags, and how long they may be kept.

use crate::{digest::LengthPrefixedDigest, http::lines::HeaderLines};

/// Below which the scripts stand.
const FOLDER: &str = "/.oncekey/";

/// Header lines of all parts of the operator's page: nothing but its own parts runs, nobody frames it, and nothing keeps it.
const OPERATOR_LINES: [(&str, &str); 3] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
];

/// Which part of the operator's page has this address, counted from 0, and its header lines.
///
/// ```
/// use oncekey::answer::script::operator_part;
///
/// assert_eq!(operator_part("/.oncekey/").map(|(part, _)| part), Some(0));
/// assert_eq!(operator_part("/.oncekey/operator.css").map(|(part, _)| part), Some(2));
/// assert!(operator_part("/.oncekey/operator").is_none());
/// ```
pub fn operator_part(path: &str) -> Option<(u32, HeaderLines)> {
    let (part, kind) = match path.strip_prefix(FOLDER)? {
        "" => (0, "text/html; charset=utf-8"),
        "operator.js" => (1, "text/javascript; charset=utf-8"),
        "operator.css" => (2, "text/css; charset=utf-8"),
        _ => return None,
    };
    let mut lines = HeaderLines::default();
    lines.push("content-type", kind);
    for (name, value) in OPERATOR_LINES {
        lines.push(name, value);
    }
    Some((part, lines))
}

/// A script for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// The browser module.
    Module,
    /// The classic script for the head of a page whose module arrives late.
    Bootstrap,
}

impl Script {
    fn name(self) -> &'static str {
        match self {
            Self::Module => "oncekey",
            Self::Bootstrap => "bootstrap",
        }
    }

    /// Reads an address: the script, and its tag where the address names one.
    ///
    /// ```
    /// use oncekey::answer::script::Script;
    ///
    /// assert_eq!(Script::of_path("/.oncekey/oncekey.js"), Some((Script::Module, None)));
    /// assert_eq!(Script::of_path("/.oncekey/bootstrap.0.1.0-ab.js"), Some((Script::Bootstrap, Some("0.1.0-ab"))));
    /// assert_eq!(Script::of_path("/.oncekey/oncekeys.js"), None);
    /// ```
    pub fn of_path(path: &str) -> Option<(Self, Option<&str>)> {
        let file = path.strip_prefix(FOLDER)?.strip_suffix(".js")?;
        [Self::Module, Self::Bootstrap].into_iter().find_map(|script| {
            let rest = file.strip_prefix(script.name())?;
            if rest.is_empty() { Some((script, None)) } else { Some((script, Some(rest.strip_prefix('.')?))) }
        })
    }

    /// The tag of its text: the version of the gate and 16 hexadecimal digits of a digest.
    ///
    /// ```
    /// use oncekey::answer::script::Script;
    ///
    /// assert!(Script::Module.tag_of("1").starts_with(concat!(env!("CARGO_PKG_VERSION"), "-")));
    /// assert_ne!(Script::Module.tag_of("1"), Script::Module.tag_of("2"));
    /// ```
    pub fn tag_of(self, text: &str) -> String {
        let mut digest = LengthPrefixedDigest::new("oncekey script 1");
        digest.add_part(text.as_bytes());
        let hash = digest.finish_half().iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte));
        format!("{}-{hash:016x}", env!("CARGO_PKG_VERSION"))
    }

    /// Status and header lines of its answer; nothing where another version is asked for. The address with its tag may be
    /// kept for ever (RFC 8246); the one without says where that is.
    ///
    /// ```
    /// use oncekey::answer::script::Script;
    ///
    /// let of = |asked, known| Script::Module.head("0.1.0-ab", asked, known).map(|(status, _)| status);
    /// assert_eq!(of(None, None), Some(200));
    /// assert_eq!(of(None, Some("W/\"x\", \"0.1.0-ab\"")), Some(304));
    /// assert_eq!(of(Some("0.0.9-cd"), None), None);
    /// ```
    pub fn head(self, tag: &str, asked: Option<&str>, if_none_match: Option<&str>) -> Option<(u16, HeaderLines)> {
        if asked.is_some_and(|asked| asked != tag) {
            return None;
        }
        let mut lines = HeaderLines::default();
        lines.push("etag", &format!("\"{tag}\""));
        lines.push("access-control-allow-origin", "*");
        if asked.is_some() {
            lines.push("cache-control", "public, max-age=31536000, immutable");
        } else {
            lines.push("cache-control", "public, max-age=300");
            lines.push("content-location", &format!("{FOLDER}{}.{tag}.js", self.name()));
        }
        // Weak comparison (RFC 9110 §13.1.2).
        let mut known = if_none_match.unwrap_or_default().split(',').map(|known| known.trim().trim_start_matches("W/"));
        if known.any(|known| known == "*" || known.trim_matches('"') == tag) {
            return Some((304, lines));
        }
        lines.push("content-type", "text/javascript; charset=utf-8");
        lines.push("x-content-type-options", "nosniff");
        Some((200, lines))
    }
}
