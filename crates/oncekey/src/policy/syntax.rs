//! Which texts a policy may hold: names, methods, paths, pointers and web origins.

use crate::{
    content::ignore::Ignore,
    http::{
        target::{is_own_path, routing_path, split_url},
        token::is_token,
    },
    identity::{InvalidTokenPlace, TokenPlace},
    json::pointer::pointer,
    policy::{
        attribute::{Attribute, InvalidAttribute},
        path_pattern::{InvalidPathPattern, PathPattern},
    },
};

/// What a text of the policy has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSyntax {
    /// Any text.
    Anything,
    /// The name of a form field or JSON member: any text but the empty one.
    FieldName,
    /// The name of a header field that can hold the key.
    KeyHeader,
    /// The name of a header field (RFC 9110 §5.1).
    HeaderName,
    /// What identifies a caller: [`Attribute`].
    CallerAttribute,
    /// A web origin as a browser writes it (RFC 6454 §6.2).
    WebOrigin,
    /// A method in capitals that is not one of those that are never deduplicated.
    Method,
    /// One path or all that begin alike: [`PathPattern`].
    RoutePath,
    /// A path at the origin, with or without a query.
    OriginPath,
    /// A path at the origin in which `{key}` stands once.
    ProbePath,
    /// A JSON pointer (RFC 6901) to a part.
    Pointer,
    /// A JSON pointer, or the empty one of the whole.
    PointerOrWhole,
    /// A JSON pointer or the name of a form field: [`Ignore`].
    Ignored,
    /// The name of a queue, machine or transition: one segment of a path that needs no encoding (RFC 3986 §2.3).
    Segment,
    /// The name of a state: any text but the empty one.
    State,
    /// The name of a binding of the Worker.
    Binding,
    /// Any text but the empty one.
    Filled,
    /// Where a token is: [`TokenPlace`].
    TokenPlace,
    /// The URL of a set of keys.
    KeySetUrl,
    /// The name of a secret that is not one of the gate's own.
    SecretName,
    /// One label of a host's name (RFC 1123 §2.1).
    HostLabel,
}

impl TextSyntax {
    /// What is wrong with a text, as what was expected in its place.
    pub(super) fn check(self, text: &str) -> Result<(), &'static str> {
        let (holds, expected) = match self {
            TextSyntax::Anything => (true, ""),
            TextSyntax::FieldName => (!text.is_empty(), "a name that is not empty"),
            TextSyntax::KeyHeader => (can_hold_key(text), "the name of a field that is free to hold the key"),
            TextSyntax::HeaderName => (is_token(text), "the name of a header field"),
            TextSyntax::CallerAttribute => (text.parse::<Attribute>().is_ok(), InvalidAttribute::EXPECTED),
            TextSyntax::WebOrigin => {
                (is_web_origin(text), "a web origin such as \"https://shop.example\", without a path")
            }
            TextSyntax::Method => return check_method(text),
            TextSyntax::RoutePath => (text.parse::<PathPattern>().is_ok(), InvalidPathPattern::EXPECTED),
            TextSyntax::OriginPath | TextSyntax::ProbePath if names_own_path(text) => {
                (false, "a path at the origin, and not one of the gate's own")
            }
            TextSyntax::OriginPath => (is_origin_path(text), "a path at the origin that begins with one /"),
            TextSyntax::ProbePath => (is_probe(text), "a path at the origin in which {key} stands once"),
            TextSyntax::Pointer => (pointer(text).is_some(), "a JSON pointer"),
            TextSyntax::PointerOrWhole => (text.is_empty() || pointer(text).is_some(), "a JSON pointer"),
            TextSyntax::Ignored => (Ignore::parse(text).is_some(), "a JSON pointer or the name of a form field"),
            TextSyntax::Segment => (is_segment(text), "a name of letters, digits, -, ., _ and ~"),
            TextSyntax::State => (!text.is_empty(), "a state's name"),
            TextSyntax::Binding => (is_binding(text), "the name of a binding: letters, digits and _"),
            TextSyntax::Filled => (!text.is_empty(), "a text that is not empty"),
            TextSyntax::TokenPlace => (text.parse::<TokenPlace>().is_ok(), InvalidTokenPlace::EXPECTED),
            TextSyntax::KeySetUrl => (is_key_set_url(text), "an https URL, or an http one on this machine"),
            TextSyntax::SecretName => (is_secret_name(text), "the name of a secret other than the gate's own"),
            TextSyntax::HostLabel => (is_host_label(text), "a team's name of letters, digits and -"),
        };
        if holds { Ok(()) } else { Err(expected) }
    }
}

/// Field names (RFC 9110 §5.1) that cannot hold the key, in lower case: they frame or route the message, end at the next
/// hop, carry credentials or content's description, or are the gate's own.
pub(super) const TAKEN: [&str; 32] = [
    "accept",
    "accept-encoding",
    "age",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "expect",
    "host",
    "hx-request",
    "idempotency-expires",
    "idempotency-status",
    "idempotent-replayed",
    "keep-alive",
    "location",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "www-authenticate",
];

/// The beginnings of such names.
pub(super) const TAKEN_BEGINNINGS: [&str; 2] = ["access-control-", "oncekey-"];

/// Methods that are never deduplicated: safe ones (RFC 9110 §9.2.1), and CONNECT, which has no content.
pub(super) const NEVER_DEDUPLICATED: [&str; 5] = ["GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"];

/// Whether a header field of this name can hold the key.
fn can_hold_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_taken = TAKEN.contains(&name.as_str()) || TAKEN_BEGINNINGS.iter().any(|taken| name.starts_with(taken));
    is_token(&name) && !is_taken
}

fn check_method(text: &str) -> Result<(), &'static str> {
    if !is_token(text) {
        return Err("a method");
    }
    if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Err("a method in capitals: methods are case-sensitive");
    }
    if NEVER_DEDUPLICATED.contains(&text) {
        return Err("a method other than GET, HEAD, OPTIONS, TRACE and CONNECT, which are never deduplicated");
    }
    Ok(())
}

/// A path at the origin, with or without a query: one `/` first, then printable ASCII without space, `#`, `\` and `*`.
fn is_origin_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.starts_with("//")
        && text.bytes().all(|byte| matches!(byte, 0x21..=0x7e if !b"#\\*".contains(&byte)))
}

/// A path that is never forwarded can be no path at the origin.
fn names_own_path(text: &str) -> bool {
    is_own_path(&routing_path(split_url(text).path))
}

/// A path at the origin in which `{key}` stands once, and no other brace.
fn is_probe(text: &str) -> bool {
    let named = text.split_once('{').and_then(|(before, after)| {
        let after = after.strip_prefix("key}")?;
        Some(is_origin_path(before) && !before.contains('}') && !after.contains(['{', '}']))
    });
    named == Some(true) && is_origin_path(text)
}

/// One segment of a path that needs no encoding (RFC 3986 §2.3): names of queues, machines and transitions.
fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// A name that JavaScript can have as well.
fn is_binding(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Names of bindings that are not secret, or not for tokens.
pub(super) const OWN_BINDINGS: [&str; 4] = ["KEYS", "MACHINES", "METRICS", "ORIGIN"];

/// How the gate's other own bindings begin.
pub(super) const OWN_BINDING: &str = "ONCEKEY";

fn is_secret_name(text: &str) -> bool {
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.as_bytes().first().is_some_and(is_first)
        && !OWN_BINDINGS.contains(&text)
        && !text.starts_with(OWN_BINDING)
}

fn is_host_label(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    matches!(text.len(), 1..=63) && text.bytes().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// What is fetched says whom to believe: it has to come over TLS, or not to leave the machine.
fn is_key_set_url(text: &str) -> bool {
    let parts = split_url(text);
    let host = match parts.host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => parts.host,
    };
    let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let is_plain = text.bytes().all(|byte| matches!(byte, 0x21..=0x7e)) && !text.contains(['#', '\\', '@']);
    is_plain && !host.is_empty() && (parts.scheme == "https" || parts.scheme == "http" && is_here)
}

/// A web origin as a browser writes it (RFC 6454 §6.2): scheme, host and a port that is not the scheme's own.
fn is_web_origin(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let Some(authority) = rest.strip_prefix("//") else {
        return false;
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte));
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => is_ipv6(address),
        None => {
            !host.is_empty()
                && host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte))
        }
    };
    let is_port = port.is_none_or(|port| {
        !port.starts_with(['0', '+'])
            && port.parse::<u16>().is_ok()
            && !matches!((scheme, port), ("http", "80") | ("https", "443"))
    });
    is_scheme && is_host && is_port
}

/// An IPv6 address as a browser writes it (WHATWG URL §3.5): small letters, no zeros before a piece, and `::` for the
/// first of the longest runs of two zero pieces or more.
fn is_ipv6(text: &str) -> bool {
    let Some(at) = text.as_bytes().windows(2).position(|two| two == b"::") else {
        return matches!(zeros(text), Some((8, ..=1)));
    };
    let (before, after) = (text.get(..at), text.get(at + 2..));
    let (Some(before), Some(after)) = (before.and_then(zeros), after.and_then(zeros)) else {
        return false;
    };
    let touches_zero = text.get(..at).is_some_and(|left| is_zero(left.rsplit(':').next()))
        || text.get(at + 2..).is_some_and(|right| is_zero(right.split(':').next()));
    let run = 8_usize.saturating_sub(before.0 + after.0);
    run >= 2 && before.1 < run && after.1 <= run && !touches_zero
}

fn is_zero(piece: Option<&str>) -> bool {
    piece == Some("0")
}

/// How many pieces an address or half of one has, and the longest run of zeros among them; `None` for a bad piece.
fn zeros(half: &str) -> Option<(usize, usize)> {
    if half.is_empty() {
        return Some((0, 0));
    }
    let (mut pieces, mut run, mut longest) = (0, 0, 0);
    for piece in half.split(':') {
        let is_piece = matches!(piece.len(), 1..=4)
            && piece.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && (piece == "0" || !piece.starts_with('0'));
        if !is_piece {
            return None;
        }
        pieces += 1;
        run = if piece == "0" { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    Some((pieces, longest))
}
