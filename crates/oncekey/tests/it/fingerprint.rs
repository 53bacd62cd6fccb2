//! Fingerprints and scoped keys of version 1, pinned: a record written by one release is read by the next.
use crate::cases::{cases, name, text, texts};
use oncekey::{
    content::{Content, ignore::Ignore},
    fingerprint::{Fingerprint, InvalidFingerprint, fingerprint},
    http::{fields::Fields, target::Target},
    key::{Key, scope::Scope, scoped::ScopedKey},
};

const GOLDEN: &str = include_str!("../../../../tests/vectors/fingerprints.json");

/// Method, target, type, coding, content.
type Request<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>, &'a str);

fn print((method, target, content_type, coding, content): Request, ignore: &[Ignore]) -> Fingerprint {
    let target = Target { method, path_and_query: target };
    let content = Content::parse(content_type, coding, content.as_bytes());
    fingerprint(&target, content_type, coding, &content, "idempotency_key", ignore, (&[], &Fields::default()))
}

#[test]
fn golden() {
    for case in cases(GOLDEN, "fingerprint") {
        let ignore: Vec<Ignore> = texts(&case, "ignore").into_iter().map(|text| Ignore::parse(text).unwrap()).collect();
        let of = |member: &str| text(&case, member).unwrap();
        let request = (of("method"), of("target"), text(&case, "type"), text(&case, "encoding"), of("content"));
        let found = print(request, &ignore);
        assert_eq!(found.as_str(), of("expect"), "{}", name(&case));
        assert_eq!(found.as_str().parse::<Fingerprint>(), Ok(found), "{}", name(&case));
    }
}

#[test]
fn golden_scoped_keys() {
    for case in cases(GOLDEN, "scoped") {
        let mut scope = Scope::new(text(&case, "host").unwrap());
        for attribute in case["attributes"].as_array().unwrap() {
            scope.add(attribute[0].as_str().unwrap(), attribute[1].as_str().unwrap());
        }
        let key = Key::from_content(text(&case, "key").unwrap()).unwrap();
        let found = ScopedKey::derive(&scope, &key).unwrap();
        assert_eq!(found.as_str(), text(&case, "expect").unwrap(), "{}", name(&case));
    }
}

const JSON: Option<&str> = Some("application/json");

#[test]
fn what_counts() {
    let base: Request = ("POST", "/a?b", JSON, None, "{\"a\":1}");
    let others: [Request; 12] = [
        ("PATCH", "/a?b", JSON, None, "{\"a\":1}"),
        ("POST", "/a", JSON, None, "{\"a\":1}"),
        ("POST", "/a?", JSON, None, "{\"a\":1}"),
        ("POST", "/%61?b", JSON, None, "{\"a\":1}"),
        ("POST", "/A?b", JSON, None, "{\"a\":1}"),
        ("POST", "/a?b", None, None, "{\"a\":1}"),
        ("POST", "/a?b", Some(""), None, "{\"a\":1}"),
        ("POST", "/a?b", Some("text/json"), None, "{\"a\":1}"),
        ("POST", "/a?b", JSON, Some("gzip"), "{\"a\":1}"),
        ("POST", "/a?b", JSON, None, "{\"a\":2}"),
        ("POST", "/a?b", JSON, None, "{\"a\":\"1\"}"),
        ("POST", "/a?b", JSON, None, ""),
    ];
    for (index, other) in others.iter().enumerate() {
        assert_ne!(print(*other, &[]), print(base, &[]), "{index}");
        assert!(others.iter().skip(index + 1).all(|later| print(*later, &[]) != print(*other, &[])), "{index}");
    }
}

#[test]
fn what_does_not_count() {
    let base: Request = ("POST", "/a?b", JSON, None, "{\"a\":1,\"b\":2}");
    let same: [Request; 5] = [
        ("POST", "/a?b", JSON, None, " {\"b\":2,\"a\":1.0}"),
        ("POST", "/a?b", Some("Application/JSON"), None, "{\"a\":1,\"b\":2}"),
        ("POST", "/a?b", Some("application/json ; charset=\"utf-8\""), None, "{\"a\":1,\"b\":2}"),
        ("POST", "/a?b", JSON, None, "{\"a\":1,\"idempotency_key\":\"k\",\"b\":2}"),
        ("POST", "/a?b", JSON, None, "{\"\\u0061\":1e0,\"b\":2}"),
    ];
    for (index, other) in same.iter().enumerate() {
        assert_eq!(print(*other, &[]), print(base, &[]), "{index}");
    }
}

#[test]
fn headers_that_say_what_is_to_be_done_count() {
    let of = |names: &[&str], pairs: &str| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let target = Target { method: "POST", path_and_query: "/" };
        let content = Content::parse(None, None, b"a");
        fingerprint(&target, None, None, &content, "key", &[], (&names, &Fields::new(pairs.to_owned())))
    };
    let none = of(&[], "");
    let names = ["If-Match", "x-amz-target"];
    assert_eq!(of(&names, "x-other,1"), none);
    assert_eq!(of(&[], "if-match,1"), none);
    let first = of(&names, "if-match,1");
    for other in ["", "if-match,2", "if-match,", "x-amz-target,1", "if-match,1\nx-amz-target,1"] {
        assert_ne!(of(&names, other), first, "{other}");
    }
    assert_eq!(of(&["x-amz-target", "if-match", "IF-MATCH"], "x-a,1\nif-match,1"), first);
}

#[test]
fn other_texts_are_no_fingerprint() {
    let known = print(("POST", "/", None, None, ""), &[]);
    let digest = &known.as_str()[2..];
    for text in ["", "1.", digest, &format!("2.{digest}"), &format!("1.{digest}A"), &format!("1.{}", &digest[1..])] {
        assert_eq!(text.parse::<Fingerprint>(), Err(InvalidFingerprint), "{text}");
    }
}
