//! A text's syntax for editors: as regular expressions of JSON Schema, and as types of TypeScript.
//!
//! The expressions use no look-around, so that every validator takes them (JSON Schema 2020-12 §6.4).

use crate::policy::{
    syntax::{NEVER_DEDUPLICATED, OWN_BINDING, OWN_BINDINGS, TAKEN, TAKEN_BEGINNINGS, TextSyntax},
    value::PolicyValue,
};

/// A character of a token (RFC 9110 §5.6.2).
const OF_TOKEN: &str = "[!#$%&'*+.^_`|~0-9A-Za-z-]";

/// A reference token of a JSON pointer with its slash (RFC 6901 §3).
const POINTER_STEP: &str = "(?:/(?:[^~/]|~[01])*)";

/// A piece of an IPv6 address as a browser writes it, and one that is not zero.
const PIECE: &str = "(?:0|[1-9a-f][0-9a-f]{0,3})";
const NOT_ZERO: &str = "[1-9a-f][0-9a-f]{0,3}";

/// A port, 1 to 65535.
const PORT: &str = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

/// What JSON Schema can say of a syntax beside its being a string.
pub(super) fn text_schema(syntax: TextSyntax) -> Vec<(&'static str, PolicyValue)> {
    let pattern = |text: &str| ("pattern", text.into());
    let not = |keyword: &str, value: PolicyValue| ("not", PolicyValue::Object(vec![(keyword.to_owned(), value)]));
    match syntax {
        TextSyntax::Anything => Vec::new(),
        TextSyntax::FieldName | TextSyntax::State | TextSyntax::Filled => vec![("minLength", PolicyValue::Whole(1))],
        TextSyntax::KeyHeader => {
            vec![pattern(&format!("^{OF_TOKEN}+$")), not("pattern", taken_header().as_str().into())]
        }
        TextSyntax::HeaderName => vec![pattern(&format!("^{OF_TOKEN}+$"))],
        TextSyntax::CallerAttribute => {
            vec![pattern(&format!("^(?:mtls$|(?:header|cookie):{OF_TOKEN}+$|jwt:[^:]+:(?:[^/]|{POINTER_STEP}+$))"))]
        }
        TextSyntax::TokenPlace => vec![pattern(&format!("^(?:bearer|(?:header|cookie):{OF_TOKEN}+)$"))],
        TextSyntax::KeySetUrl => vec![pattern(
            "^(?:https://[!-\"$-.0->A-\\[\\]-~]|http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::[0-9]*)?(?:[/?]|$))[!-\"$-?A-\\[\\]-~]*$",
        )],
        TextSyntax::SecretName => {
            let own = format!("^(?:{OWN_BINDING}|(?:{})$)", OWN_BINDINGS.join("|"));
            vec![pattern("^[A-Za-z_][A-Za-z0-9_]*$"), not("pattern", own.as_str().into())]
        }
        TextSyntax::HostLabel => vec![pattern("^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$")],
        TextSyntax::WebOrigin => vec![
            pattern(&format!("^[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\\[(?:{})\\])(?::{PORT})?$", ipv6())),
            not("pattern", "^(?:http://.*:80|https://.*:443)$".into()),
        ],
        TextSyntax::Method => {
            let never = NEVER_DEDUPLICATED.iter().map(|method| (*method).into()).collect();
            vec![pattern("^[!#$%&'*+.^_`|~0-9A-Z-]+$"), not("enum", PolicyValue::List(never))]
        }
        // Printable ASCII without `#`, `*`, `?` and `\`.
        TextSyntax::RoutePath => vec![pattern("^/[!-\"$-)+->@-\\[\\]-~]*\\*?$")],
        // Printable ASCII without `#`, `*` and `\`; no `/` directly after the first.
        TextSyntax::OriginPath => vec![pattern("^/(?:[!-\"$-)+-.0-\\[\\]-~][!-\"$-)+-\\[\\]-~]*)?$")],
        // The same without braces on either side of `{key}`.
        TextSyntax::ProbePath => {
            vec![pattern("^/(?:[!-\"$-)+-.0-\\[\\]-z|~][!-\"$-)+-\\[\\]-z|~]*)?\\{key\\}[!-\"$-)+-\\[\\]-z|~]*$")]
        }
        TextSyntax::Pointer => vec![pattern(&format!("^{POINTER_STEP}+$"))],
        TextSyntax::PointerOrWhole => vec![pattern(&format!("^{POINTER_STEP}*$"))],
        TextSyntax::Ignored => vec![pattern(&format!("^(?:[^/]|{POINTER_STEP}+$)"))],
        TextSyntax::Segment => {
            let dots = PolicyValue::List(vec![".".into(), "..".into()]);
            vec![pattern("^[A-Za-z0-9._~-]+$"), not("enum", dots)]
        }
        TextSyntax::Binding => vec![pattern("^[A-Za-z_][A-Za-z0-9_]*$")],
    }
}

/// Names of fields that cannot hold the key, in letters of any case.
fn taken_header() -> String {
    let names: Vec<String> = TAKEN.iter().map(|name| any_case(name)).collect();
    let beginnings: Vec<String> = TAKEN_BEGINNINGS.iter().map(|name| any_case(name)).collect();
    format!("^(?:(?:{})$|{})", names.join("|"), beginnings.join("|"))
}

fn any_case(word: &str) -> String {
    let one = |letter: char| {
        if letter.is_ascii_lowercase() { format!("[{}{letter}]", letter.to_ascii_uppercase()) } else { letter.into() }
    };
    word.chars().map(one).collect()
}

/// An IPv6 address: eight pieces, or fewer around `::`, which no zero touches. That `::` stands for the first of the
/// longest runs of zeros is left to the gate.
fn ipv6() -> String {
    let mut forms = vec![format!("(?:{PIECE}:){{7}}{PIECE}"), format!("::(?:{NOT_ZERO}(?::{PIECE}){{0,5}})?")];
    for before in 1..=6 {
        let pieces = format!("(?:{PIECE}:){{{}}}{NOT_ZERO}::", before - 1);
        forms.push(match 6 - before {
            0 => pieces,
            after => format!("{pieces}(?:{NOT_ZERO}(?::{PIECE}){{0,{}}})?", after - 1),
        });
    }
    forms.join("|")
}

/// What TypeScript can say of a syntax.
pub(super) fn text_type(syntax: TextSyntax) -> &'static str {
    match syntax {
        TextSyntax::CallerAttribute => "`header:${string}` | `cookie:${string}` | `jwt:${string}:${string}` | \"mtls\"",
        TextSyntax::TokenPlace => "\"bearer\" | `header:${string}` | `cookie:${string}`",
        TextSyntax::KeySetUrl => "`https://${string}` | `http://${string}`",
        TextSyntax::WebOrigin => "`${string}://${string}`",
        TextSyntax::RoutePath | TextSyntax::OriginPath | TextSyntax::Pointer => "`/${string}`",
        TextSyntax::ProbePath => "`/${string}{key}${string}`",
        TextSyntax::PointerOrWhole => "\"\" | `/${string}`",
        TextSyntax::Anything
        | TextSyntax::FieldName
        | TextSyntax::KeyHeader
        | TextSyntax::HeaderName
        | TextSyntax::Method
        | TextSyntax::Ignored
        | TextSyntax::Segment
        | TextSyntax::State
        | TextSyntax::Filled
        | TextSyntax::SecretName
        | TextSyntax::HostLabel
        | TextSyntax::Binding => "string",
    }
}
