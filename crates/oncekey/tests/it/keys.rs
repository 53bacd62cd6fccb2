//! The key's grammar, cookies, scope and the scoped key.
use crate::{
    cases::{cases, name, text},
    item,
};
use oncekey::{
    http::cookie::cookie,
    key::{
        InvalidKey, Key, is_key,
        mint::{mint_v4, mint_v7},
        quote_key,
        scope::Scope,
        scoped::{InvalidScopedKey, ScopedKey},
    },
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde_json::Value;

const KEYS: &str = include_str!("../../../../tests/vectors/keys.json");
const UUID: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
/// A UUID of version 5: whoever knows its name can make it.
const GUESSABLE: &str = "8e03978e-40d5-53dd-bc93-6894a57f9324";

/// The word for an error in the vectors.
fn word(error: InvalidKey) -> &'static str {
    assert!(error.to_string().ends_with('.'));
    match error {
        InvalidKey::Blank => "Blank",
        InvalidKey::TooLong { .. } => "TooLong",
        InvalidKey::NotAscii => "NotAscii",
        InvalidKey::Malformed => "Malformed",
        InvalidKey::Repeated => "Repeated",
        InvalidKey::Disagrees => "Disagrees",
        InvalidKey::NotAString => "NotAString",
        InvalidKey::NotRandom => "NotRandom",
        InvalidKey::NotTimed => "NotTimed",
        InvalidKey::Ahead => "Ahead",
    }
}

fn check_keys(list: &str, read: fn(&str) -> Result<Key, InvalidKey>) {
    for case in cases(KEYS, list) {
        let found = read(text(&case, "input").unwrap());
        let wanted = text(&case, "expect").ok_or(text(&case, "error").unwrap_or_default());
        assert_eq!(found.as_ref().map(Key::as_str).map_err(|error| word(*error)), wanted, "{}", name(&case));
    }
}

#[test]
fn header() {
    check_keys("header", Key::from_header);
}

#[test]
fn content() {
    check_keys("content", Key::from_content);
}

#[test]
fn uuids() {
    for case in cases(KEYS, "uuid") {
        let key = Key::from_content(text(&case, "input").unwrap()).unwrap();
        assert_eq!(Value::from(key.uuid().is_some()), case["expect"], "{}", name(&case));
    }
}

/// RFC 9562, appendix A.3 and A.6: the bytes of its examples give its texts.
#[test]
fn minted_as_in_the_rfc() {
    let random = 0x919108f7_52d1_4320_9bac_f847db4148a8_u128.to_be_bytes();
    assert_eq!(mint_v4(random).as_str(), "919108f7-52d1-4320-9bac-f847db4148a8");
    let random = 0x0cc3_18c4dc0c0c07398f_u128.to_be_bytes()[6..].try_into().unwrap();
    assert_eq!(mint_v7(0x017f_22e2_79b0, random).as_str(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

#[test]
fn cookies() {
    for case in cases(KEYS, "cookie") {
        let found = cookie(text(&case, "input").unwrap(), "session");
        assert_eq!(found.as_deref(), text(&case, "expect"), "{}", name(&case));
    }
}

#[test]
fn length_is_counted_after_unquoting() {
    let check = |length: usize, header: &str| {
        let found = Key::from_header(header).map(|key| key.as_str().len());
        let wanted = if length > 255 { Err(InvalidKey::TooLong { length }) } else { Ok(length) };
        assert_eq!(found, wanted);
    };
    for length in [1, 254, 255, 256, 10_000] {
        check(length, &"x".repeat(length));
        check(length, &quote_key(&"\"".repeat(length)));
        check(length, &format!("\"{}\";a=1", "y".repeat(length)));
    }
}

#[test]
fn scoped_keys_tell_callers_apart() {
    let derive = |host: &str, attributes: &[(&str, &str)], key: &str| {
        let mut scope = Scope::new(host);
        for (attribute, value) in attributes {
            scope.add(attribute, value);
        }
        ScopedKey::derive(&scope, &Key::from_content(key).unwrap())
    };
    let all = [
        derive("a", &[], UUID),
        derive("b", &[], UUID),
        derive("a", &[("header:authorization", "x")], GUESSABLE),
        derive("a", &[("header:authorization", "y")], GUESSABLE),
        derive("a", &[("cookie:session", "x")], GUESSABLE),
        derive("a", &[("header:authorization", "x"), ("cookie:session", "x")], GUESSABLE),
        derive("a", &[("cookie:session", "x"), ("header:authorization", "x")], GUESSABLE),
        derive("a", &[("header:authorization", "Digest username=x"), ("cookie:session", "x")], GUESSABLE),
        derive("a", &[("header:authorization", "x")], "k"),
        derive("a", &[("header:authorization", "x")], "K"),
        derive("a", &[("header:authorization", "xk")], "k"),
        derive("a", &[("header:authorization", "x")], "kk"),
    ];
    for (index, one) in all.iter().enumerate() {
        assert_eq!(one.as_ref().unwrap().as_str().len(), 43);
        assert!(all.iter().skip(index + 1).all(|other| one != other), "{index}");
    }
    assert_eq!(derive("A.Example", &[], UUID), derive("a.example", &[], UUID));
    for caller in [None, Some(""), Some("Digest username=a"), Some("Digest realm=r"), Some("Hawk id=\"h\"")] {
        let caller: Vec<_> = caller.into_iter().map(|value| ("header:authorization", value)).collect();
        for key in ["k", GUESSABLE] {
            assert_eq!(derive("a", &caller, key), Err(InvalidKey::NotRandom), "{caller:?} {key}");
        }
        assert_eq!(derive("a", &caller, UUID), derive("a", &[], UUID), "{caller:?}");
    }
    assert_eq!(derive("a", &[("cookie:session", "x")], &UUID.to_uppercase()), derive("a", &[], UUID));
}

/// The versions and variants of RFC 9562, each digit that tells them.
#[test]
fn random_uuids() {
    for version in "0123456789abcdef".chars() {
        for variant in "0123456789abcdef".chars() {
            let text = format!("8e03978e-40d5-{version}3dd-{variant}c93-6894a57f9324");
            let expect = matches!(version, '4' | '7') && matches!(variant, '8' | '9' | 'a' | 'b');
            assert_eq!(Key::from_content(&text).unwrap().is_random(), expect, "{text}");
        }
    }
    for key in ["k", "8e03978e40d543ddbc936894a57f9324", "{8e03978e-40d5-43dd-bc93-6894a57f9324}"] {
        assert!(!Key::from_content(key).unwrap().is_random(), "{key}");
    }
}

#[test]
fn callers_are_known_again_under_one_key_of_one_host() {
    let of = |host: &str, attributes: &[(&str, &str)], key: &str| {
        let mut scope = Scope::new(host);
        for (attribute, value) in attributes {
            scope.add(attribute, value);
        }
        scope.callers(&Key::from_content(key).unwrap())
    };
    let ann = [("header:authorization", "Bearer ann")];
    let both = [("header:authorization", "bearer ann"), ("cookie:session", "s")];
    let one = of("a", &ann, UUID).unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].to_string().len(), 32);
    assert_eq!(of("A", &both, &UUID.to_uppercase()).unwrap()[0], one[0]);
    assert_eq!(of("a", &[], UUID), Some(Vec::new()));
    assert_eq!(of("a", &ann, "k"), None);
    let other_key = "018f3e5a-1c2d-7abc-8def-0123456789ab";
    let others = [
        of("b", &ann, UUID),
        of("a", &ann, other_key),
        of("a", &[("header:x", "Bearer ann")], UUID),
        of("a", &[("header:authorization", "Bearer bob")], UUID),
        of("a", &[("header:authorization", "Digest username=\"ann\"")], UUID),
    ];
    assert!(
        others.iter().all(|other| other.as_ref().is_some_and(|other| other.len() == 1 && other != &one)),
        "{others:?}"
    );
    let apart = |attributes: &[(&str, &str)]| {
        let mut scope = Scope::new("a").apart();
        for (attribute, value) in attributes {
            scope.add(attribute, value);
        }
        let key = Key::from_content(UUID).unwrap();
        (scope.callers(&key), ScopedKey::derive(&scope, &key).unwrap())
    };
    assert_eq!(apart(&ann).0, None);
    assert_ne!(apart(&ann).1, apart(&both).1);
}

#[test]
fn scoped_keys_are_read_back() {
    let key = Key::from_content(UUID).unwrap();
    let scoped = ScopedKey::derive(&Scope::new("a"), &key).unwrap();
    assert_eq!(scoped.as_str().parse(), Ok(scoped.clone()));
    assert_eq!(scoped.to_string(), scoped.as_str());
    assert_eq!(scoped.to_header(), format!("\"{}\"", scoped.as_str()));
    let long = "A".repeat(44);
    for text in ["", "k", UUID, scoped.to_header().as_str(), &long[..42], &long, &format!("{}=", &long[..42])] {
        assert_eq!(text.parse::<ScopedKey>(), Err(InvalidScopedKey), "{text}");
    }
}

/// A parameter of each type, or something near it.
fn parameter() -> impl Strategy<Value = String> {
    let name = prop_oneof![8 => "[a-z*][a-z0-9_.*-]{0,2}", 1 => "[A-Z0-9 =]{0,2}"];
    let value = prop_oneof![
        Just(String::new()),
        "=-?[0-9]{0,16}",
        "=-?[0-9]{0,13}\\.[0-9]{0,4}",
        "=\"[a\"\\\\é]{0,3}\"",
        "=[A-Za-z*][!#$%&'*+.^_`|~:/a-z0-9-]{0,4}",
        "=:[A-Za-z0-9+/]{0,8}=?=?=?:",
        "=:[AQgw]{0,4}={0,3}:",
        "=\\?[0-2]?",
        "=@-?[0-9]{0,16}",
        "=@[0-9]\\.[0-9]",
        "=%\"([a %]|%[0-9a-fA-F]{2}|%c3%bc|%f0%9f%94%91|%ed%a0%80){0,3}\"",
        "=[ -~]{0,3}",
    ];
    let space = prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("  "), 1 => Just("\t")];
    (space, name, value).prop_map(|(space, name, value)| format!(";{space}{name}{value}"))
}

/// A quoted key is read as the algorithm of RFC 9651 §4.2 reads it.
fn agree(value: &str) {
    let value = value.trim_matches([' ', '\t']);
    let found = Key::from_header(value);
    if !value.is_ascii() {
        assert_eq!(found, Err(InvalidKey::NotAscii), "{value}");
        return;
    }
    match item::string(value) {
        Some(text) => assert_eq!(found, Key::from_content(&text), "{value}"),
        None => assert!(matches!(found, Err(InvalidKey::Malformed | InvalidKey::Repeated)), "{value}: {found:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_key_or_an_error(value in any::<String>()) {
        for key in [Key::from_header(&value), Key::from_content(&value)].into_iter().flatten() {
            assert!(is_key(key.as_str()));
            assert!(Key::from_content(key.as_str()).is_ok());
        }
        assert_eq!(Key::from_content(&value).is_ok(), is_key(&value));
        let _ = cookie(&value, "a");
        let _ = value.parse::<ScopedKey>();
    }

    #[test]
    fn header_like_text_is_a_key_or_an_error(value in "[ \t,;=\"\\\\a-c\u{e9}]{0,12}") {
        let _ = Key::from_header(&value);
    }

    #[test]
    fn a_string_is_what_the_rfc_takes(
        value in prop_oneof!["[ -~]{0,6}", "[a\"\\\\é\t]{0,6}"],
        parameters in vec(parameter(), 0..4),
        rest in prop_oneof![8 => Just(""), 1 => Just(";"), 1 => Just(" "), 1 => Just(", \"a\""), 1 => Just("a")],
    ) {
        agree(&format!("\"{value}\"{}{rest}", parameters.concat()));
        agree(&format!("{}{}{rest}", quote_key(&value), parameters.concat()));
    }

    #[test]
    fn a_key_of_version_4_is_its_bytes_but_for_six_bits(random in any::<[u8; 16]>()) {
        let key = mint_v4(random);
        let uuid = key.uuid().unwrap();
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (4, uuid::Variant::RFC4122), "{key:?}");
        let fixed = 0xf000_c000_0000_0000_0000_u128;
        assert_eq!(uuid.as_u128() & !fixed, u128::from_be_bytes(random) & !fixed, "{key:?}");
        assert_eq!(key.as_str(), key.as_str().to_ascii_lowercase());
    }

    #[test]
    fn a_key_of_version_7_says_when_it_was_made(now in 0..1_u64 << 48, random in any::<[u8; 10]>()) {
        let key = mint_v7(now, random);
        let uuid = key.uuid().unwrap();
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122), "{key:?}");
        assert_eq!((uuid.as_u128() >> 80) as u64, now, "{key:?}");
        let fixed = 0xf000_c000_0000_0000_0000_u128;
        let bytes = u128::from_be_bytes([[0; 6].as_slice(), &random].concat().try_into().unwrap());
        assert_eq!(uuid.as_u128() & !fixed & ((1 << 80) - 1), bytes & !fixed, "{key:?}");
        if let Some(later) = Some(now + 1).filter(|later| *later < 1 << 48) {
            assert!(mint_v7(later, [0; 10]).as_str() > key.as_str());
        }
    }

    #[test]
    fn any_time_gives_a_key(now in any::<u64>(), random in any::<[u8; 10]>()) {
        assert!(is_key(mint_v7(now, random).as_str()));
    }

    #[test]
    fn a_quoted_key_is_read_back(value in "[ -~]{1,255}".prop_filter("blank", |value| is_key(value))) {
        let key = Key::from_header(&quote_key(&value)).unwrap();
        assert_eq!(key.as_str(), value);
        assert_eq!(Key::from_header(&format!(" {};a=\"x, y\" ", quote_key(&value))), Ok(key));
    }
}

#[test]
fn the_uuid_of_a_scoped_key_is_always_the_same() {
    let of = |letter: &str| letter.repeat(43).parse::<ScopedKey>().unwrap().to_uuid();
    assert_eq!(of("A"), "567ebbd8-3021-8580-8049-6398d1233cb7");
    let uuid = uuid::Uuid::try_parse(&of("A")).unwrap();
    assert_eq!((uuid.get_version_num(), uuid.get_variant()), (8, uuid::Variant::RFC4122));
    assert_ne!(of("A"), of("E"));
}
