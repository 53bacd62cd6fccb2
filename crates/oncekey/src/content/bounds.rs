//! The worst known inputs of each parser, with the steps that they may take for each byte of content.

use crate::{
    content::{Content, MOST_PARTS, coding::undo_coding},
    work::steps_of,
};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";
const MULTIPART: &str = "multipart/form-data; boundary=b";
const MIXED: &str = "multipart/mixed; boundary=b0";
/// Bytes of content. What is bounded by a number of parts is tried at that number.
const SIZE: usize = 600_000;

/// Parses it, searches its key and writes its canonical form: at most so many steps a byte.
fn check(name: &str, content_type: &str, content: &[u8], most: usize) {
    let steps = steps_of(|| {
        let parsed = Content::parse(Some(content_type), None, content);
        let _ = parsed.key("idempotency_key");
        parsed.write_canonical("idempotency_key", &[], &mut |_| {});
    });
    let (least, most) = (content.len() / 100, most * content.len());
    assert!((least..=most).contains(&steps), "{name}: {steps} steps for {} bytes", content.len());
}

fn filled(with: &str) -> Vec<u8> {
    with.repeat(SIZE / with.len()).into_bytes()
}

/// As many names as are put in order, in disorder, which differ at their end alone.
fn names(begin: &str) -> impl Iterator<Item = String> {
    let count = MOST_PARTS - 1;
    (0..count).map(move |at| format!("{begin}{:05x}", at * 40_503 % count))
}

#[test]
fn forms() {
    check("no pair", FORM, &filled("&"), 4);
    check("too many pairs", FORM, &filled("a&"), 6);
    check("too many pairs, coded", FORM, &filled("%41=&"), 6);
    for begin in ["aaaaaaaaaaaaaaa", "%61%61%61%61%61", "+++++++++++++++"] {
        check(begin, FORM, names(begin).collect::<Vec<_>>().join("&").as_bytes(), 6);
    }
    check("one name", FORM, "aaaaaaaaaaaaaaaaaaaaaa&".repeat(MOST_PARTS).as_bytes(), 6);
}

#[test]
fn json() {
    check("elements", JSON, &[b"[", &filled("0,")[..], b"0]"].concat(), 8);
    check("objects", JSON, &[b"[", &filled("{},")[..], b"0]"].concat(), 8);
    check("nesting", JSON, &[filled("["), filled("]")].concat(), 8);
    check("decimals", JSON, &[b"[", &filled("0.1,")[..], b"0]"].concat(), 8);
    check("a long number", JSON, &[b"[0.", &filled("0")[..], b"1]"].concat(), 8);
    check("escapes", JSON, &[b"\"", &filled("\\ud83d\\ude00")[..], b"\""].concat(), 8);
    for begin in ["aaaaaaaaaaaaaaa", "\\u0061\\u0061\\u0061", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"] {
        let members: Vec<_> = names(begin).map(|name| format!("\"{name}\":1")).collect();
        // Each name is compared with sixteen others.
        check(begin, JSON, format!("{{{}}}", members.join(",")).as_bytes(), 40);
    }
}

#[test]
fn multipart() {
    let part = |name: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n\r\n");
    let whole = |parts: String| [parts.as_bytes(), b"--b--"].concat();
    check("too many parts", MULTIPART, &whole(part("").repeat(MOST_PARTS + 9)), 4);
    check("names", MULTIPART, &whole(names("aaaaaaaa").map(|name| part(&name)).collect()), 4);
    check("a long name", MULTIPART, &whole(part(&"\\\"".repeat(SIZE / 2))), 4);
    let long = format!("multipart/form-data; boundary={}", "a".repeat(70));
    let near = format!("\r\n--{}b", "a".repeat(69));
    let head = format!("--{}\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n", "a".repeat(70));
    for fill in [near.as_str(), "\r", "\r\n--", "\r\n--aaaa", "-"] {
        check(fill, &long, &[head.as_bytes(), &filled(fill)[..]].concat(), 8);
    }
}

#[test]
fn parts_in_parts() {
    let nested = |depth: usize, inner: Vec<u8>, end: &str| {
        (0..depth).rev().fold(inner, |inner, at| {
            let head = format!("--b{at}\r\nContent-Type: multipart/mixed; boundary=b{}\r\n\r\n", at + 1);
            [head.as_bytes(), &inner, format!("\r\n--b{at}{end}").as_bytes()].concat()
        })
    };
    // Each level is read once more, eight of them.
    for fill in ["x", "\r", "\r\n--b", "\r\n--b9"] {
        check(fill, MIXED, &nested(40, filled(fill), "--"), 20);
        check(fill, MIXED, &nested(40, filled(fill), ""), 20);
    }
}

#[test]
fn codings() {
    // What comes out is bounded, and so are blocks, which may have codes of their own: a bit costs a step, a byte one.
    let check = |name: &str, coding: &str, content: &[u8], limit: usize| {
        let steps = steps_of(|| drop(undo_coding(coding, content, limit as u64)));
        let most = 10 * content.len() + 2 * limit + 400 * MOST_PARTS;
        assert!((1..=most).contains(&steps), "{name}: {steps} steps for {} bytes", content.len());
    };
    let zeros = miniz_oxide::deflate::compress_to_vec(&vec![0; 6 * SIZE], 9);
    check("a bomb", "deflate", &zeros, SIZE);
    check("a bomb, twice", "deflate", &zeros, 5 * SIZE);
    check("empty blocks", "deflate", &[0, 0, 0, 0xff, 0xff].repeat(SIZE / 5), SIZE);
    // The last block of the fixed code and nothing in it, whose head and end are ten bits.
    let member = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255][..], &[3, 0], &[0; 8]].concat();
    check("empty members", "gzip", &member.repeat(SIZE / member.len()), SIZE);
    let noise: Vec<u8> = (0..600_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    check("literals", "deflate", &miniz_oxide::deflate::compress_to_vec(&noise, 1), SIZE);
}
