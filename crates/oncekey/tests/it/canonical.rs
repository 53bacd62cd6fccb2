//! The canonical form of content, and the key that content holds.
use crate::cases::{cases, name, text, texts};
use oncekey::{
    content::{Content, MOST_PARTS, choose_key, ignore::Ignore, json::DEEPEST, may_hold_key},
    key::{InvalidKey, Key},
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::Index;
use serde_json::Value;

const CANONICAL: &str = include_str!("../../../../tests/vectors/canonical.json");
const FIELD: &str = "idempotency_key";
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data; boundary=b";

fn write(content_type: &str, bytes: &[u8], ignore: &[&str]) -> Vec<u8> {
    let ignore: Vec<Ignore> = ignore.iter().map(|text| Ignore::parse(text).unwrap()).collect();
    let mut written = Vec::new();
    Content::parse(Some(content_type), None, bytes)
        .write_canonical(FIELD, &ignore, &mut |part| written.extend_from_slice(part));
    written
}

fn with_length(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_be_bytes(), text.as_bytes()].concat()
}

/// Checks a list of vectors against the bytes that an expectation stands for; `null` stands for the bytes as sent.
fn check(list: &str, content_type: &str, wanted: impl Fn(&Value) -> Vec<u8>) {
    for case in cases(CANONICAL, list) {
        let input = text(&case, "input").unwrap();
        let content_type = text(&case, "type").unwrap_or(content_type);
        let found = write(content_type, input.as_bytes(), &texts(&case, "ignore"));
        let wanted = if case["expect"].is_null() { [b"b", input.as_bytes()].concat() } else { wanted(&case["expect"]) };
        assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&wanted), "{}", name(&case));
    }
}

#[test]
fn json() {
    check("json", "application/json", |expect| format!("j{}", expect.as_str().unwrap()).into_bytes());
}

#[test]
fn form() {
    check("form", FORM, |expect| {
        let pairs = expect.as_array().unwrap().iter().flat_map(|pair| pair.as_array().unwrap());
        std::iter::once(b"f".to_vec()).chain(pairs.map(|part| with_length(part.as_str().unwrap()))).flatten().collect()
    });
}

#[test]
fn multipart() {
    check("multipart", MULTIPART, |expect| {
        let fields = expect.as_array().unwrap().iter().flat_map(|part| part.as_array().unwrap());
        let field =
            |field: &Value| field.as_str().map_or(vec![0], |text| [&[1], with_length(text).as_slice()].concat());
        std::iter::once(b"m".to_vec()).chain(fields.map(field)).flatten().collect()
    });
}

fn check_key(case: &Value, found: Result<Option<Key>, InvalidKey>) {
    let found = match &found {
        Ok(key) => (key.as_ref().map(Key::as_str), None),
        Err(error) => (None, Some(format!("{error:?}"))),
    };
    assert_eq!(found, (text(case, "expect"), text(case, "error").map(str::to_owned)), "{}", name(case));
}

#[test]
fn key() {
    for case in cases(CANONICAL, "key") {
        let (content_type, encoding) = (text(&case, "type"), text(&case, "encoding"));
        let content = Content::parse(content_type, encoding, text(&case, "input").unwrap().as_bytes());
        let found = content.key(FIELD);
        assert!(matches!(found, Ok(None)) || may_hold_key(content_type, encoding), "{}", name(&case));
        check_key(&case, found);
    }
}

#[test]
fn choose() {
    for case in cases(CANONICAL, "choose") {
        let input = text(&case, "input").unwrap().as_bytes();
        let content = Content::parse(text(&case, "type"), text(&case, "encoding"), input);
        check_key(&case, choose_key(text(&case, "header"), &content, FIELD));
    }
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(write("application/json", b"{\"a\":\"\xff\"}", &[]), b"b{\"a\":\"\xff\"}");
    assert_ne!(write(FORM, b"a=%FF", &[]), write(FORM, b"a=%FE", &[]));
    assert_eq!(write(FORM, b"a=%FF", &[]), write(FORM, b"a=\xff", &[]));
    let part = |byte: u8| {
        [b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n".as_slice(), &[byte], b"\r\n--b--"].concat()
    };
    assert!(write(MULTIPART, &part(0xff), &[]).starts_with(b"m"));
    assert_ne!(write(MULTIPART, &part(0xff), &[]), write(MULTIPART, &part(0xfe), &[]));
}

#[test]
fn a_new_boundary_is_the_same_content() {
    let form = |boundary: &str| {
        let part = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--{boundary}--\r\n");
        write(&format!("multipart/form-data; boundary=\"{boundary}\""), part.as_bytes(), &[])
    };
    assert!(form("b").starts_with(b"m"));
    for boundary in ["----WebKitFormBoundaryAbC", "a b", "'()+_,-./:=?", &"x".repeat(70)] {
        assert_eq!(form(boundary), form("b"), "{boundary}");
    }
    assert!(form(&"x".repeat(71)).starts_with(b"b"));
}

/// Whether content is compared by its canonical form, and whether its key is found.
fn check_reach(json: &str, is_canonical: bool) {
    let tag = if is_canonical { b"j" } else { b"b" };
    assert!(write("application/json", json.as_bytes(), &[]).starts_with(tag));
    let with_key = format!("{{\"a\":{json},\"{FIELD}\":\"k\"}}");
    let content = Content::parse(Some("application/json"), None, with_key.as_bytes());
    assert_eq!(content.key(FIELD).unwrap().unwrap().as_str(), "k");
}

#[test]
fn deep_content_has_a_key_and_no_canonical_form() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    check_reach(&nested(DEEPEST), true);
    check_reach(&nested(DEEPEST + 1), false);
    check_reach(&nested(1_000_000), false);
    check_reach(&["{\"a\":".repeat(100_000), "1".to_owned(), "}".repeat(100_000)].concat(), false);
}

#[test]
fn wide_content_has_a_key_and_no_canonical_form() {
    let members = |count: usize| {
        let members: Vec<String> = (0..count).map(|member| format!("\"{member}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    // The object itself counts.
    check_reach(&members(MOST_PARTS - 1), true);
    check_reach(&members(MOST_PARTS), false);
    check_reach(&format!("[{}0]", "{},".repeat(MOST_PARTS + 1)), false);
    check_reach(&format!("[{}0]", "0,".repeat(1_000_000)), true);
}

/// Pieces that the canonical form of so many pairs or parts is written in: one by one, or all at once as sent.
fn check_pieces(content_type: &str, content: &str, key: Option<&str>, expect: usize) {
    let parsed = Content::parse(Some(content_type), None, content.as_bytes());
    let mut pieces = 0;
    parsed.write_canonical(FIELD, &[], &mut |_| pieces += 1);
    assert_eq!(pieces, expect, "{content_type}");
    let held = parsed.key(FIELD).unwrap();
    assert_eq!(held.as_ref().map(Key::as_str), key, "{content_type}");
}

#[test]
fn wide_forms_have_a_key_and_are_not_put_in_order() {
    let form = |pairs: usize| "b=1&a&".repeat(pairs / 2);
    check_pieces(FORM, &form(MOST_PARTS), None, 1 + 4 * MOST_PARTS);
    check_pieces(FORM, &format!("{}idempotency_key=k", form(MOST_PARTS)), Some("k"), 2);
    check_pieces(FORM, &form(5_000_000), None, 2);
    let part =
        |name: &str, text: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
    let multipart =
        |parts: usize, last: &str| [part("a", "1").repeat(parts), last.to_owned(), "--b--".to_owned()].concat();
    check_pieces(MULTIPART, &multipart(MOST_PARTS, ""), None, 1 + MOST_PARTS * 9);
    check_pieces(MULTIPART, &multipart(MOST_PARTS, &part(FIELD, "k")), Some("k"), 2);
    let twice = multipart(MOST_PARTS, &[part(FIELD, "k"), part(FIELD, "k")].concat());
    let held = Content::parse(Some(MULTIPART), None, twice.as_bytes()).key(FIELD);
    assert_eq!(held, Err(InvalidKey::Repeated));
}

/// Two contents of multipart types that are no forms, by their boundaries and contents.
fn check_parts(one: (&str, &str), other: (&str, &str), is_same: bool) {
    let of = |(boundary, content): (&str, &str)| {
        let content = content.replace("\n", "\r\n");
        write(&format!("multipart/related; boundary={boundary}"), content.as_bytes(), &[])
    };
    assert_eq!(of(one) == of(other), is_same, "{one:?} {other:?}");
}

#[test]
fn parts_are_compared_in_order_without_their_boundary() {
    let first = ("x", "--x\nContent-Type: text/plain\n\none\n--x\n\ntwo\n--x--\n");
    check_parts(first, ("yy", "--yy\nContent-Type: text/plain\n\none\n--yy\n\ntwo\n--yy--"), true);
    for other in [
        "--x\n\ntwo\n--x\nContent-Type: text/plain\n\none\n--x--",
        "--x\nContent-Type: text/html\n\none\n--x\n\ntwo\n--x--",
        "--x\nContent-Type: text/plain\n\none\n--x\n\ntwo.\n--x--",
        "--x\nContent-Type: text/plain\n\none\n--x--",
        "--x\nContent-Type: text/plain\nX: 1\n\none\n--x\n\ntwo\n--x--",
        "--x\nContent-Type: text/plain\n\none\n--x\n\ntwo\n",
    ] {
        check_parts(first, ("x", other), false);
    }
    // Cut off, it is bytes.
    check_parts(("x", "--x\n\none\n"), ("y", "--y\n\none\n"), false);
    let nested = |outer: &str, inner: &str, text: &str| {
        format!(
            "--{outer}\nContent-Type: multipart/mixed; boundary={inner}\nX: 1\n\n--{inner}\n\n{text}\n--{inner}--\n--{outer}--"
        )
    };
    let one = nested("a", "b", "one");
    check_parts(("a", &one), ("c", &nested("c", "d", "one")), true);
    check_parts(("a", &one), ("c", &nested("c", "d", "two")), false);
    let deep = (0..20).fold("end".to_owned(), |text, depth| nested("a", &format!("a{depth}"), &text));
    check_parts(("a", &deep), ("a", &deep), true);
    let part = "--x\n\n\n";
    let wide = |count: usize, boundary: &str| (part.repeat(count) + "--x--").replace('x', boundary);
    check_parts(("x", &wide(MOST_PARTS, "x")), ("y", &wide(MOST_PARTS, "y")), true);
    check_parts(("x", &wide(MOST_PARTS + 1, "x")), ("y", &wide(MOST_PARTS + 1, "y")), false);
}

#[test]
fn ignore_is_a_pointer_or_a_name() {
    let check = |text: &str, wanted: Option<Ignore>| assert_eq!(Ignore::parse(text), wanted, "{text}");
    let pointer = |tokens: &[&str]| Some(Ignore::Pointer(tokens.iter().map(|&token| token.to_owned()).collect()));
    check("/a/b", pointer(&["a", "b"]));
    check("/", pointer(&[""]));
    check("/a~1b/~0~01", pointer(&["a/b", "~~1"]));
    check("/~", None);
    check("/~2", None);
    check("", None);
    check("csrf", Some(Ignore::Name("csrf".to_owned())));
    check("~2", Some(Ignore::Name("~2".to_owned())));
}

/// Texts of every kind: among them those whose order by UTF-16 is not that by UTF-8, and those that need escapes.
fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\u{0}-\u{1f}\"\\\\a\u{d7ff}\u{e000}\u{ee00}\u{f000}\u{ffff}\u{10000}\u{10ffff}]{0,4}",
    ]
}

/// JSON values of every kind, without what a canonical form would lose.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (any::<i32>(), -30..30)
            .prop_map(|(digits, power)| Value::from(format!("{digits}e{power}").parse::<f64>().unwrap())),
        string().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((string(), inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes a value with its members in reverse, its characters escaped and white space wherever it may stand.
fn spell(value: &Value) -> String {
    let escape = |text: &str| -> String {
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        format!("\"{units}\"")
    };
    match value {
        Value::String(text) => escape(text),
        Value::Array(list) => format!("[\n{}\t]", list.iter().map(spell).collect::<Vec<_>>().join(" , ")),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().rev().map(|(name, value)| format!("{} :\r{}", escape(name), spell(value))).collect();
            format!("{{ {} }}", members.join(",\n"))
        }
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_spelling_of_json_does_not_count(value in value()) {
        let plain = write("application/json", value.to_string().as_bytes(), &[]);
        assert!(plain.starts_with(b"j"));
        assert_eq!(String::from_utf8_lossy(&write("application/json", spell(&value).as_bytes(), &[])), String::from_utf8_lossy(&plain));
    }

    #[test]
    fn the_form_is_that_of_the_library(value in value()) {
        let mut wanted = b"j".to_vec();
        serde_json_canonicalizer::to_writer(&value, &mut wanted).unwrap();
        for spelt in [value.to_string(), spell(&value)] {
            assert_eq!(String::from_utf8_lossy(&write("application/json", spelt.as_bytes(), &[])), String::from_utf8_lossy(&wanted), "{spelt}");
        }
    }

    #[test]
    fn a_number_is_that_of_the_library(bits in any::<u64>(), whole in any::<i64>(), shift in 0_u32..64) {
        for number in [f64::from_bits(bits), (whole >> shift) as f64, (whole >> shift) as f64 / 100.0] {
            if !number.is_finite() {
                continue;
            }
            let mut wanted = b"j".to_vec();
            serde_json_canonicalizer::to_writer(&number, &mut wanted).unwrap();
            let shortest = String::from_utf8_lossy(&wanted[1..]).into_owned();
            assert_eq!(String::from_utf8_lossy(&write("application/json", shortest.as_bytes(), &[])), String::from_utf8_lossy(&wanted));
        }
    }

    #[test]
    fn a_decimal_survives_if_its_double_says_the_same(digits in any::<u64>(), cut in 0_u32..19, power in -345_i32..330) {
        let digits = digits / 10_u64.pow(cut);
        let written = format!("{digits}e{power}");
        let double: f64 = written.parse().unwrap();
        let form = write("application/json", written.as_bytes(), &[]);
        if form.starts_with(b"b") {
            // No other text of this double is taken for this one.
            assert!(!double.is_finite() || decimal(ryu(double).as_str()) != decimal(&written), "{written}");
        } else {
            assert_eq!(String::from_utf8_lossy(&form), format!("j{}", ryu(double)), "{written}");
        }
    }

    #[test]
    fn a_canonical_form_is_its_own(value in value()) {
        let once = write("application/json", value.to_string().as_bytes(), &[]);
        assert_eq!(write("application/json", &once[1..], &[]), once);
    }

    #[test]
    fn what_is_json_is_what_serde_takes(value in value(), at in any::<Index>(), byte in "[\\[\\]{}\",:\\\\ue0-9.+\\-tfn \u{1}]") {
        let mut json = value.to_string();
        let at = (0..=at.index(json.len() + 1)).rev().find(|at| json.is_char_boundary(*at)).unwrap_or(0);
        json.insert_str(at, &byte);
        agree(&json);
        json.truncate(at);
        agree(&json);
    }

    #[test]
    fn what_is_ignored_might_as_well_not_be_there(value in value(), steps in vec(any::<Index>(), 1..5)) {
        let mut without = value.clone();
        let Some(pointer) = remove(&mut without, &steps) else { return Ok(()) };
        let ignored = write("application/json", spell(&value).as_bytes(), &[&pointer]);
        assert_eq!(ignored, write("application/json", without.to_string().as_bytes(), &[]), "{pointer}");
    }

    #[test]
    fn two_numbers_are_one_only_if_they_are_equal(number in any::<u64>(), near in 1_u64..4, shift in 0_u32..64) {
        let one = number >> shift;
        let form = |number: u64| write("application/json", number.to_string().as_bytes(), &[]);
        assert_ne!(form(one), form(one.wrapping_add(near)));
        assert_eq!(form(one).starts_with(b"j"), one < 1 << 53 || form(one) == format!("j{one}").as_bytes());
    }

    #[test]
    fn a_double_has_one_canonical_form(number in any::<f64>()) {
        let digits = format!("{number:E}").bytes().take_while(|byte| *byte != b'E').filter(u8::is_ascii_digit).count();
        let mut known = None;
        for text in [Value::from(number).to_string(), format!("{number:E}"), format!("{number}")] {
            let form = write("application/json", text.as_bytes(), &[]);
            if form.starts_with(b"b") {
                // Of two shortest texts that are equally near, RFC 8785 takes the even one and Rust the other.
                assert!(digits >= 16, "{text}");
                continue;
            }
            assert_eq!(write("application/json", &form[1..], &[]), form);
            assert_eq!(*known.get_or_insert_with(|| form.clone()), form);
        }
    }

    #[test]
    fn any_bytes_are_content(bytes in vec(any::<u8>(), 0..64)) {
        for content_type in ["application/json", FORM, MULTIPART, "text/plain"] {
            let _ = write(content_type, &bytes, &["/a", "a"]);
            let _ = Content::parse(Some(content_type), None, &bytes).key("a");
        }
    }

    #[test]
    fn multipart_like_bytes_are_content(tokens in vec(prop_oneof![
        Just("--b"), Just("--"), Just("\r\n"), Just("\r\n\r\n"), Just("Content-Disposition: form-data"), Just("; name="), Just("\"a\""),
        Just("; filename="), Just("\\"), Just("\""), Just("x"), Just(" "), Just(":"),
    ], 0..24)) {
        let bytes = tokens.concat();
        let _ = write(MULTIPART, bytes.as_bytes(), &[]);
        let _ = Content::parse(Some(MULTIPART), None, bytes.as_bytes()).key("a");
        let _ = write(&format!("multipart/form-data; boundary={bytes}"), b"--b--", &[]);
    }

    #[test]
    fn a_form_is_its_pairs(pairs in vec(("[ab&=+% ]{0,3}", "[xy&=+% ]{0,3}"), 0..6)) {
        let encode = |text: &str, all: bool| -> String {
            text.bytes().map(|byte| if all || !byte.is_ascii_alphanumeric() { format!("%{byte:02x}") } else { char::from(byte).to_string() }).collect()
        };
        let form = |all: bool| -> String {
            pairs.iter().map(|(name, value)| format!("{}={}", encode(name, all), encode(value, all))).collect::<Vec<_>>().join("&")
        };
        let mut sorted = pairs.clone();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        let wanted: Vec<u8> = std::iter::once(b"f".to_vec()).chain(sorted.iter().flat_map(|(name, value)| [with_length(name), with_length(value)])).flatten().collect();
        assert_eq!(write(FORM, form(false).as_bytes(), &[]), wanted);
        assert_eq!(write(FORM, form(true).as_bytes(), &[]), wanted);
    }
}

/// The library's text of a double.
fn ryu(double: f64) -> String {
    serde_json_canonicalizer::to_string(&double).unwrap()
}

/// A number's significant digits and the power of ten of the last one.
fn decimal(text: &str) -> (String, i64) {
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = [whole, fraction].concat();
    let kept = all.trim_end_matches('0');
    let power = power.parse::<i64>().unwrap() - fraction.len() as i64 + (all.len() - kept.len()) as i64;
    let significant = kept.trim_start_matches('0').to_owned();
    let power = if significant.is_empty() { 0 } else { power };
    (significant, power)
}

/// Our tokenizer and serde agree on what is JSON, where serde can: it refuses numbers out of range and halves of pairs.
fn agree(json: &str) {
    let wrapped = format!("{{\"{FIELD}\":0,\"a\":{json}}}");
    let ours = Content::parse(Some("application/json"), None, wrapped.as_bytes()).key(FIELD).is_err();
    match serde_json::from_str::<Value>(&wrapped) {
        Ok(_) => assert!(ours, "{wrapped}"),
        Err(error) if error.to_string().contains("out of range") || error.to_string().contains("surrogate") => {}
        Err(error) if error.to_string().contains("unexpected end of hex escape") => {}
        Err(error) => assert!(!ours, "{wrapped}: {error}"),
    }
}

/// Removes a member or element somewhere below and gives the pointer to where it was.
fn remove(value: &mut Value, steps: &[Index]) -> Option<String> {
    let (step, rest) = steps.split_first()?;
    let (token, child) = match value {
        Value::Array(list) if !list.is_empty() => {
            let index = step.index(list.len());
            if rest.is_empty() {
                list.remove(index);
                return Some(format!("/{index}"));
            }
            (index.to_string(), list.get_mut(index)?)
        }
        Value::Object(members) if !members.is_empty() => {
            let name = members.keys().nth(step.index(members.len()))?.clone();
            let token = name.replace('~', "~0").replace('/', "~1");
            if rest.is_empty() {
                members.remove(&name);
                return Some(format!("/{token}"));
            }
            (token, members.get_mut(&name)?)
        }
        _ => return None,
    };
    remove(child, rest).map(|below| format!("/{token}{below}"))
}
