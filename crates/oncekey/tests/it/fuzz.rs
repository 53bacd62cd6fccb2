//! Every parser that reads a client's bytes, fed with the vectors after they were cut, spliced and garbled.
//!
//! Each target takes [`inputs`] inputs, the same in every run; `ONCEKEY_FUZZ` sets how many, `ONCEKEY_FUZZ_SEED` which.
//! What was found stands in the vectors, which are the seeds.
use std::collections::BTreeMap;

use oncekey::{
    client::retry::RetryPlan,
    content::{Content, choose_key, ignore::Ignore},
    errand::Errand,
    http::{
        cookie::cookie,
        credentials,
        fields::Fields,
        negotiate,
        percent::{self, decode_unreserved},
        retry_after::retry_after,
        target,
    },
    key::{Key, is_key, quote_key, scoped::ScopedKey},
    policy::Policy,
    stored::{entity::Entity, outbox::OutboxEntry, record::Record, request::StoredRequest},
};
use serde_json::Value;

const FILES: [&str; 5] = [
    include_str!("../../../../tests/vectors/canonical.json"),
    include_str!("../../../../tests/vectors/fingerprints.json"),
    include_str!("../../../../tests/vectors/keys.json"),
    include_str!("../../../../tests/vectors/policies.json"),
    include_str!("../../../../tests/vectors/retry.json"),
];

/// What parsers look for, and what stands at the edge of what they take.
const WORDS: [&[u8]; 40] = [
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b";",
    b"=",
    b"&",
    b"+",
    b"%",
    b"%2",
    b"%zz",
    b"--",
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\0",
    b" ",
    b"\t",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"1e400",
    b"-0",
    b"0.1e-7",
    b"9007199254740993",
    b"idempotency_key",
    b"Content-Disposition: form-data; name=\"",
    b"filename*=UTF-8''",
    b"application/json",
    b"q=0.5",
    b"*",
    b"/",
];

/// How many inputs each target takes.
fn inputs() -> u64 {
    number("ONCEKEY_FUZZ").unwrap_or(10_000)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// A stream of numbers (xorshift64*), so that an input is told by its seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    fn one<'a, T: ?Sized>(&mut self, of: &'a [impl AsRef<T>]) -> &'a T {
        of[self.below(of.len())].as_ref()
    }
}

/// Every string in the vectors, and every object and list as JSON.
fn seeds() -> Vec<Vec<u8>> {
    fn collect(value: &Value, into: &mut Vec<Vec<u8>>) {
        match value {
            Value::String(text) => into.push(text.clone().into_bytes()),
            Value::Array(list) => list.iter().for_each(|value| collect(value, into)),
            Value::Object(members) => members.values().for_each(|value| collect(value, into)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if value.is_object() || value.is_array() {
            into.push(value.to_string().into_bytes());
        }
    }
    let mut into = vec![Vec::new()];
    for file in FILES {
        collect(&serde_json::from_str(file).unwrap(), &mut into);
    }
    into.retain(|seed| seed.len() < 5000);
    into
}

fn garble(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = chance.one::<Vec<u8>>(seeds).clone();
    for _ in 0..chance.below(6) {
        let at = chance.below(bytes.len() + 1);
        let until = (at + chance.below(12)).min(bytes.len());
        match chance.below(7) {
            0 => drop(bytes.splice(at..at, chance.one::<[u8]>(&WORDS).iter().copied())),
            1 => drop(bytes.drain(at..until)),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..until, chance.one::<[u8]>(&WORDS).iter().copied())),
            4 => {
                let again = bytes[at..until].to_vec();
                bytes.splice(at..at, again);
            }
            5 => {
                let other = chance.one::<Vec<u8>>(seeds);
                let from = chance.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
        }
    }
    bytes
}

/// Feeds a target; a failure names the input that made it.
fn check(target: &str, run: impl Fn(&[u8], &mut Chance) + std::panic::RefUnwindSafe) {
    let seeds = seeds();
    let first = number("ONCEKEY_FUZZ_SEED").unwrap_or(0);
    for seed in first..first + inputs() {
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let bytes = garble(&seeds, &mut chance);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&bytes, &mut chance)));
        if let Err(why) = outcome {
            eprintln!("{target}, ONCEKEY_FUZZ_SEED={seed}: b\"{}\"", bytes.escape_ascii());
            std::panic::resume_unwind(why);
        }
    }
}

fn canonical(content_type: &str, bytes: &[u8], ignore: &[Ignore]) -> Vec<u8> {
    let mut out = Vec::new();
    Content::parse(Some(content_type), None, bytes)
        .write_canonical("idempotency_key", ignore, &mut |part| out.extend_from_slice(part));
    out
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[test]
fn the_header() {
    check("header", |bytes, _| {
        let value = text(bytes);
        if let Ok(key) = Key::from_header(&value) {
            assert!(is_key(key.as_str()));
            assert_eq!(Key::from_header(&quote_key(key.as_str())), Ok(key));
        }
        let _ = (cookie(&value, "session"), value.parse::<ScopedKey>(), value.parse::<RetryPlan>().is_ok());
        let _ = retry_after(&value, None, 0);
    });
}

/// JSON that is canonical alike says the same, and the key in it is what a JSON library reads there.
#[test]
fn json() {
    check("json", |bytes, chance| {
        let form = canonical("application/json", bytes, &[]);
        let held = Content::parse(Some("application/json"), None, bytes).key("idempotency_key");
        if form.first() == Some(&b'j') {
            let said: Value = serde_json::from_slice(bytes).unwrap();
            let kept: Value = serde_json::from_slice(&form[1..]).unwrap();
            assert_eq!(doubles(without_key(said.clone())), doubles(kept));
            assert_eq!(canonical("application/json", &form[1..], &[]), form);
            match said.get("idempotency_key") {
                Some(Value::String(key)) if is_key(key) => assert_eq!(held.unwrap().unwrap().as_str(), key),
                Some(_) => assert!(held.is_err()),
                None => assert_eq!(held, Ok(None)),
            }
        } else {
            assert_eq!(form.get(1..), Some(bytes));
        }
        let pointer = [Ignore::parse(&["/", &text(&bytes[..chance.below(bytes.len() + 1)])].concat())];
        let ignore: Vec<Ignore> = pointer.into_iter().flatten().collect();
        canonical("application/problem+json", bytes, &ignore);
    });
}

fn without_key(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.remove("idempotency_key");
    }
    value
}

/// Numbers as the doubles that they are.
fn doubles(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let double = number.as_f64().unwrap();
            // Zero has one canonical form.
            Value::from(if double == 0.0 { 0.0 } else { double })
        }
        Value::Array(list) => list.into_iter().map(doubles).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, doubles(value))).collect(),
        other => other,
    }
}

/// Forms that are canonical alike hold the same pairs, repeated names in their order.
#[test]
fn forms() {
    const TYPE: &str = "application/x-www-form-urlencoded";
    type Pairs = BTreeMap<Vec<u8>, Vec<Vec<u8>>>;
    let pairs = |bytes: &[u8]| {
        let mut pairs = Pairs::new();
        for pair in bytes.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let cut = pair.iter().position(|byte| *byte == b'=');
            let (name, value) = cut.map_or((pair, &b""[..]), |cut| (&pair[..cut], &pair[cut + 1..]));
            if decoded(name) != b"idempotency_key" {
                pairs.entry(decoded(name)).or_default().push(decoded(value));
            }
        }
        pairs
    };
    check("form", |bytes, chance| {
        let mut parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'&').collect();
        if parts.len() > 1 {
            let from = chance.below(parts.len());
            let part = parts.remove(from);
            parts.insert(chance.below(parts.len() + 1), part);
        }
        let other = parts.join(&b'&');
        assert_eq!(canonical(TYPE, bytes, &[]) == canonical(TYPE, &other, &[]), pairs(bytes) == pairs(&other));
        let _ = choose_key(Some("k"), &Content::parse(Some(TYPE), None, bytes), "idempotency_key");
    });
}

/// `application/x-www-form-urlencoded` as the URL standard decodes it.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap());
                at += 2;
            }
            (b'+', _, _) => out.push(b' '),
            (byte, _, _) => out.push(*byte),
        }
        at += 1;
    }
    out
}

/// The boundary does not count.
#[test]
fn multipart() {
    check("multipart", |bytes, chance| {
        let part = |rest: &[u8]| [b"--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n", rest, b"\r\n"].concat();
        let cut = chance.below(bytes.len() + 1);
        let body = [&part(&bytes[..cut]), bytes, &part(&bytes[cut..]), &b"--b--\r\n"[..]].concat();
        for body in [&body[..], bytes] {
            let form = canonical("multipart/form-data; boundary=b", body, &[]);
            if form.first() == Some(&b'm')
                && let Some(other) = with_boundary(body, b"longer_b")
            {
                assert_eq!(canonical("multipart/form-data; boundary=longer_b", &other, &[]), form);
            }
            let _ = choose_key(None, &Content::parse(Some("multipart/form-data; boundary=b"), None, body), "n");
        }
        let kind = ["multipart/form-data; ", &text(bytes)].concat();
        canonical(&kind, bytes, &[]);
    });
}

/// The same parts between another boundary than `b`; nothing where what looks like either stands in a part.
fn with_boundary(body: &[u8], boundary: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = body;
    while let Some((first, after)) = rest.split_first() {
        let (dashes, line) = match rest.strip_prefix(b"--b") {
            Some(after) if out.is_empty() => (&b"--"[..], Some(after)),
            _ => (&b"\r\n--"[..], rest.strip_prefix(b"\r\n--b")),
        };
        if let Some(after) = line {
            if !(after.starts_with(b"\r\n") || after == b"--" || after.starts_with(b"--\r\n")) {
                return None;
            }
            out.extend_from_slice(dashes);
            out.extend_from_slice(boundary);
            rest = after;
        } else {
            out.push(*first);
            rest = after;
        }
    }
    (!body.windows(boundary.len()).any(|window| window == boundary)).then_some(out)
}

#[test]
fn policies() {
    check("policy", |bytes, _| {
        let policy = text(bytes);
        match policy.parse::<Policy>() {
            Ok(policy) => {
                let published: Value = serde_json::from_str(&policy.published()).unwrap();
                assert!(published.get("scope").is_none());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

#[test]
fn stored_records() {
    let golden: Vec<Vec<u8>> = std::fs::read_dir("../../tests/golden")
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "hex"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .map(|hex| hex.split_whitespace().collect::<String>().into_bytes())
        .map(|hex| hex.chunks_exact(2).map(|pair| u8::from_str_radix(&text(pair), 16).unwrap()).collect())
        .collect();
    check("record", |bytes, chance| {
        let mut inputs = vec![bytes.to_vec()];
        if !golden.is_empty() {
            inputs.push(garble(&golden, chance));
        }
        for bytes in inputs {
            if let Ok(record) = Record::decode(&bytes) {
                assert_eq!(Record::decode(&record.encode()), Ok(record));
            }
            if let Ok(entity) = Entity::decode(&bytes) {
                assert_eq!(Entity::decode(&entity.encode()), Ok(entity));
            }
            if let Ok(entry) = OutboxEntry::decode(&bytes) {
                assert_eq!(OutboxEntry::decode(&entry.encode()), Ok(entry));
            }
            if let Ok(request) = StoredRequest::decode(&bytes) {
                assert_eq!(StoredRequest::decode(&request.encode(0)), Ok(request));
            }
        }
    });
}

#[test]
fn the_rest_of_a_head() {
    check("head", |bytes, _| {
        let value = text(bytes);
        let _ = negotiate::refusal_form(&Fields::new(["accept,", &value].concat()));
        let _ = negotiate::accepts_coding(Some(&value), "gzip");
        let _ = (
            negotiate::lets_origin_read(Some(&value), Some("https://a.example")),
            credentials::is_secret(&value, "secret"),
        );
        let _ = (target::split_url(&value), target::routing_path(&value), percent::decode_segment(&value));
        assert!(decode_unreserved(&value).len() <= value.len());
        let fields = Fields::new(value.into_owned());
        assert!(fields.pairs().count() <= bytes.len());
        let _ = (fields.content_length(), fields.internal_names().count());
        if let Ok(errand) = text(bytes).parse::<Errand>() {
            assert_eq!(errand.to_string().parse(), Ok(errand));
        }
    });
}
