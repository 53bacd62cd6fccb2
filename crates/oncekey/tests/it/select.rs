//! Parts of JSON texts: at a pointer, element by element, against another reader.
use oncekey::json::select::{NotJson, Selected, is_json, json_text, list_elements, select, string_value};
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use serde_json::Value;

fn pointer(text: &str) -> Vec<String> {
    text.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

fn check(text: &str, at: &str, expect: Selected) {
    assert_eq!(select(json_text(text.as_bytes()).unwrap(), &pointer(at)), expect, "{at} in {text}");
}

#[test]
fn the_value_at_a_pointer() {
    let value = Selected::Value;
    check(" { \"a\" : 1 } ", "", value("{ \"a\" : 1 }"));
    check("{ \"a\" : 1.0 , \"b\":2}", "/a", value("1.0"));
    check("{\"a\":{\"b\": [1, {\"c\" : \"x\"} ]}}", "/a/b/1/c", value("\"x\""));
    check("{\"x\":{\"a\":1},\"a\":2}", "/a", value("2"));
    check("{\"\\u0061\":1}", "/a", value("1"));
    check("{\"a/b\":{\"~\":1}}", "/a~1b/~0", value("1"));
    check("{\"\":{\"\":3}}", "//", value("3"));
    check("[[1,2],[3,[4]]]", "/1/1", value("[4]"));
    check("{\"a\":1}", "/b", Selected::Nothing);
    check("{\"a\":1}", "/a/b", Selected::Nothing);
    check("[1]", "/1", Selected::Nothing);
    check("[1]", "/-", Selected::Nothing);
    check("[1,2]", "/01", Selected::Nothing);
    check("[1,2]", "/+1", Selected::Nothing);
    check("[]", "/0", Selected::Nothing);
    check("\"a\"", "/a", Selected::Nothing);
    check("{\"a\":1,\"a\":1}", "/a", Selected::Twice);
    check("{\"a\":{},\"\\u0061\":{\"b\":1}}", "/a/b", Selected::Twice);
    check("{\"x\":{\"a\":1,\"a\":1},\"a\":2}", "/a", value("2"));
    check("\u{feff}{\"a\":1}", "/a", value("1"));
}

#[test]
fn elements_as_written() {
    let check = |text: &str, expect: &[&str]| {
        assert_eq!(list_elements(text).unwrap().collect::<Vec<_>>(), expect, "{text}");
    };
    check("[]", &[]);
    check("[ \n]", &[]);
    check("[1 , {\"a\": [ ] },[[2]], \"]\",null ]", &["1", "{\"a\": [ ] }", "[[2]]", "\"]\"", "null"]);
    for text in ["{}", "1", "\"[\"", ""] {
        assert!(list_elements(text).is_none(), "{text}");
    }
}

#[test]
fn where_it_is_not_json() {
    let check = |bytes: &[u8], line, column| assert_eq!(json_text(bytes), Err(NotJson { line, column }), "{bytes:?}");
    check(b"", 1, 1);
    check(b"[1,\n 2", 2, 3);
    check(b"{\"a\":1}x", 1, 8);
    check(b"\"\xc3\x28\"", 1, 2);
    check(b"nul", 1, 4);
    assert_eq!(NotJson { line: 2, column: 3 }.to_string(), "The content is not JSON at line 2, column 3.");
}

#[test]
fn strings() {
    assert_eq!(string_value("\"a\\u00e9\\n\"").as_deref(), Some("aé\n"));
    for other in ["1", "null", "[\"a\"]", "\"\\ud800\"", ""] {
        assert_eq!(string_value(other), None, "{other}");
    }
}

#[test]
fn what_any_reader_can_take() {
    for text in ["1", " {\"a\":[1]} ", "\"\\ud800\"", "[[[]]]"] {
        assert!(is_json(text.as_bytes(), 3), "{text}");
    }
    for text in ["", "ok", "[[[[]]]]", "\u{feff}1", "{\"a\":1} x", "{'a':1}"] {
        assert!(!is_json(text.as_bytes(), 3), "{text}");
    }
    assert!(!is_json(b"\"\xff\"", 3));
}

fn some_json() -> impl Strategy<Value = Value> {
    let leaf = proptest::prop_oneof![
        any::<i32>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        proptest::prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("[a-c/~]{0,2}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_another_reader_finds_it(value in some_json(), at in "(/[a-c0-2~/]{0,2}){0,4}", pretty in any::<bool>()) {
        let at = at.replace('~', "~0");
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let found = match select(json_text(text.as_bytes()).unwrap(), &pointer(&at)) {
            Selected::Nothing => None,
            Selected::Value(found) => Some(serde_json::from_str::<Value>(found).unwrap()),
            Selected::Twice => panic!("no name occurs twice"),
        };
        assert_eq!(found.as_ref(), value.pointer(&at));
        if let Value::Array(list) = &value {
            let found: Vec<Value> = list_elements(&text).unwrap().map(|text| serde_json::from_str(text).unwrap()).collect();
            assert_eq!(&found, list);
        }
    }

    #[test]
    fn any_bytes_are_json_or_not(bytes in any::<Vec<u8>>(), text in "[\\[\\]{}\",:0-9a\\\\ ]{0,20}") {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            let plain = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
            let other = serde_json::from_slice::<Value>(plain).is_ok();
            assert_eq!(json_text(bytes).is_ok(), other, "{bytes:?}");
            assert!(!is_json(bytes, 128) || json_text(bytes).is_ok());
        }
        let _ = (string_value(&text), list_elements(&text).map(|list| list.take(9).count()), select(&text, &pointer("/a/0")));
    }
}
