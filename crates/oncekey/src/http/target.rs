//! The target of a request: its parts as sent, and the path by which routes are chosen.

use crate::http::percent::decode_unreserved;

/// What a request is aimed at (RFC 9110 §7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// As sent: methods are case-sensitive.
    pub method: &'a str,
    /// As sent, from the first `/`, with `?` and the query where there is one.
    pub path_and_query: &'a str,
}

/// The parts of an absolute URL, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'a> {
    /// `http` or `https`; empty where the URL has none.
    pub scheme: &'a str,
    /// Host and port.
    pub host: &'a str,
    /// Path and query, from the first slash on; a fragment is not part of a request (RFC 9110 §7.1).
    pub path_and_query: &'a str,
    /// The path alone.
    pub path: &'a str,
    /// What follows the question mark; empty without one.
    pub query: &'a str,
}

/// Splits an absolute URL. Where there is no path it is `/`.
///
/// ```
/// use oncekey::http::target::split_url;
///
/// let parts = split_url("https://shop.example:8443/orders?draft=1#top");
/// assert_eq!((parts.host, parts.path, parts.query), ("shop.example:8443", "/orders", "draft=1"));
/// ```
pub fn split_url(url: &str) -> UrlParts<'_> {
    // RFC 3986 §3.1: nothing but these stands before the colon of a scheme.
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let (scheme, rest) = url
        .split_once(':')
        .filter(|(scheme, _)| scheme.chars().all(of_scheme))
        .and_then(|(scheme, rest)| Some((scheme, rest.strip_prefix("//")?)))
        .unwrap_or(("", url));
    // WHATWG URL: a backslash ends the host of a special URL as well.
    let at = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (host, target) = rest.split_at_checked(at).unwrap_or((rest, ""));
    let target = target.split_once('#').map_or(target, |(target, _)| target);
    let target = if target.is_empty() { "/" } else { target };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    UrlParts { scheme, host, path_and_query: target, path: if path.is_empty() { "/" } else { path }, query }
}

/// The path by which routes are chosen: what the origin will see of it, with percent-encoded unreserved characters
/// decoded (RFC 3986 §6.2.2.2), so that no spelling passes a route that it reaches.
///
/// ```
/// use oncekey::http::target::routing_path;
///
/// assert_eq!(routing_path("/free/%2e%2E/%70ay"), "/pay");
/// assert_eq!(routing_path("/free\\..\\pay"), "/pay");
/// ```
pub fn routing_path(path: &str) -> String {
    decode_unreserved(&resolved_path(path)).into_owned()
}

/// A path as a URL parser resolves it (WHATWG URL, "path state" of a special URL): a backslash is a slash, and dot
/// segments are removed, their dots percent-encoded or not. The runtime does that on the way to an origin that is given
/// by its URL; other origins may do it themselves.
///
/// ```
/// use oncekey::http::target::resolved_path;
///
/// assert_eq!(resolved_path("/a\\b/./%2E%2e/c%70"), "/a/c%70");
/// ```
pub fn resolved_path(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut segments = path.split(['/', '\\']).skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        let dots = dots(segment);
        if dots == 0 {
            out.push(segment);
            continue;
        }
        if dots == 2 {
            out.pop();
        }
        if last {
            out.push("");
        }
    }
    let mut resolved = String::with_capacity(path.len() + 1);
    for segment in out {
        resolved.push('/');
        resolved.push_str(segment);
    }
    if resolved.is_empty() {
        resolved.push('/');
    }
    resolved
}

/// How many dots a dot segment has; 0 for any other.
fn dots(segment: &str) -> usize {
    match decode_unreserved(segment).as_ref() {
        "." => 1,
        ".." => 2,
        _ => 0,
    }
}

/// Path and query as they are sent to an origin that is given by its URL: the path [resolved](resolved_path), so that what
/// is sent is what was matched.
pub fn target_to_send(parts: &UrlParts<'_>) -> String {
    let query = parts.path_and_query.get(parts.path.len()..).filter(|query| query.starts_with('?')).unwrap_or_default();
    resolved_path(parts.path) + query
}

/// Whether a URL may be an origin: `http` or `https`, a host, and perhaps a path, which is sent before each request's own; no
/// credentials, query or fragment, which would stand in the middle of what is sent. Not one of the names that stand for
/// another (RFC 2606 §2), as where what was to be filled in was left as it came.
pub fn is_web_origin(url: &str) -> bool {
    let parts = split_url(url);
    if url.contains(['?', '#']) || parts.host.contains('@') {
        return false;
    }
    let host = parts.host.rsplit_once(':').map_or(parts.host, |(host, _)| host);
    let is_placeholder = host == "example" || host.ends_with(".example");
    matches!(parts.scheme, "http" | "https") && !host.is_empty() && !is_placeholder
}

/// `GET` here tells the policy.
pub const POLICY_PATH: &str = "/.well-known/idempotency";

/// Where the gate says whether it can protect requests.
pub const HEALTH_PATH: &str = "/.oncekey/health";

/// Whether a path is the gate's own, and so never forwarded. `path`: as [`routing_path`] gives it.
pub fn is_own_path(path: &str) -> bool {
    path == POLICY_PATH || path == "/.oncekey" || path.starts_with("/.oncekey/")
}

#[cfg(test)]
mod tests {
    use super::{is_web_origin, routing_path, split_url};
    use crate::http::percent::decode_segment;

    fn check_split(url: &str, host: &str, path: &str, query: &str) {
        let parts = split_url(url);
        assert_eq!((parts.host, parts.path, parts.query), (host, path, query), "{url}");
    }
    fn check_routing_path(path: &str, expect: &str) {
        assert_eq!(routing_path(path), expect, "{path}");
    }

    #[test]
    fn a_url_in_parts() {
        check_split("http://a.example:80/x/y?q=1&r", "a.example:80", "/x/y", "q=1&r");
        check_split("http://a.example", "a.example", "/", "");
        check_split("http://a.example?q", "a.example", "/", "q");
        check_split("http://a.example/x#f?g", "a.example", "/x", "");
        check_split("http://a/x?y?z", "a", "/x", "y?z");
        check_split("http://a\\x?y", "a", "\\x", "y");
    }
    #[test]
    fn a_scheme_stands_before_two_slashes() {
        for (url, scheme) in [("http://a/", "http"), ("https://a", "https"), ("a:80/x", ""), ("/x://y", "")] {
            assert_eq!(split_url(url).scheme, scheme, "{url}");
        }
    }
    #[test]
    fn what_may_be_an_origin() {
        for (url, expect) in [
            ("http://127.0.0.1:8080", true),
            ("https://shop.test/base", true),
            ("https://[::1]:8443", true),
            ("https://shop.test/@base/", true),
            ("https://shop.test/?q", false),
            ("https://shop.test#top", false),
            ("https://ann:secret@shop.test", false),
            ("https://origin.example", false),
            ("https://origin.example:8443", false),
            ("shop.test", false),
            ("ftp://shop.test", false),
            ("https://", false),
            ("", false),
        ] {
            assert_eq!(is_web_origin(url), expect, "{url}");
        }
    }
    #[test]
    fn what_the_origin_will_serve_decides() {
        check_routing_path("/a/b", "/a/b");
        check_routing_path("/a/./b/", "/a/b/");
        check_routing_path("/free/../pay/x", "/pay/x");
        check_routing_path("/free/%2e%2E/pay/x", "/pay/x");
        check_routing_path("/..", "/");
        check_routing_path("/a/..", "/");
        check_routing_path("/a/.", "/a/");
        check_routing_path("/%70ay", "/pay");
        check_routing_path("/a%2Fb", "/a%2Fb");
        check_routing_path("//a", "//a");
        check_routing_path("/pay\\x", "/pay/x");
        check_routing_path("\\pay\\x", "/pay/x");
        check_routing_path("/free\\..\\pay/x", "/pay/x");
        check_routing_path("/free/.%2e\\pay", "/pay");
        check_routing_path("/a%5C..%5Cb", "/a%5C..%5Cb");
        check_routing_path("/%252e%252e/a", "/%252e%252e/a");
        check_routing_path("/.\\.oncekey\\keys", "/.oncekey/keys");
        check_routing_path("/a/..;/b", "/a/..;/b");
        check_routing_path("/...", "/...");
    }
    #[test]
    fn a_segment_decoded() {
        assert_eq!(decode_segment("a%20b%2F").as_deref(), Some("a b/"));
        assert_eq!(decode_segment("a%2"), None);
        assert_eq!(decode_segment("%ff"), None);
    }
}
