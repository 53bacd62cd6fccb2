//! The table of members against everything that comes from it: parser, defaults, published form, schema, types, README.

use super::parse;
use oncekey::policy::{
    LONGEST_RETENTION, PolicyFault,
    describe::{MemberRow, ObjectShape, Preset, TextSyntax, ValueKind, fill_tables, markdown, schema, typescript},
};
use serde_json::{Map, Value, json};

/// The README that has the policy's tables. `ONCEKEY_WRITE=1 cargo test -p oncekey readme` writes them anew.
macro_rules! readme {
    () => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../oncekey-worker/README.md")
    };
}

type Object = Map<String, Value>;

/// Two texts that fit and one that does not.
fn texts(syntax: TextSyntax) -> ([&'static str; 2], Option<&'static str>) {
    match syntax {
        TextSyntax::Anything => (["./policy.schema.json", ""], None),
        TextSyntax::FieldName | TextSyntax::State => (["a", "b"], Some("")),
        TextSyntax::KeyHeader => (["X-Key", "X-Request-Key"], Some("cookie")),
        TextSyntax::CallerAttribute => (["cookie:sid", "header:x-api-key"], Some("sid")),
        TextSyntax::Filled => (["a", "b"], Some("")),
        TextSyntax::TokenPlace => (["cookie:sid", "header:x-token"], Some("body")),
        TextSyntax::KeySetUrl => (["https://id.test/keys", "http://127.0.0.1:80/keys"], Some("http://id.test/keys")),
        TextSyntax::SecretName => (["TOKENS", "_2"], Some("ONCEKEY_ADMIN")),
        TextSyntax::HostLabel => (["team", "team-2"], Some("team.example")),
        TextSyntax::WebOrigin => (["https://a.example", "http://localhost:3000"], Some("https://a.example/")),
        TextSyntax::Method => (["PUT", "DELETE"], Some("GET")),
        TextSyntax::RoutePath => (["/a/*", "/b"], Some("/a?b")),
        TextSyntax::OriginPath => (["/a", "/b?c"], Some("//a")),
        TextSyntax::ProbePath => (["/a/{key}", "/a?key={key}"], Some("/a")),
        TextSyntax::Pointer => (["/a", "/b~1c/0"], Some("a")),
        TextSyntax::PointerOrWhole => (["", "/a"], Some("a")),
        TextSyntax::HeaderName => (["If-Match", "x-amz-target"], Some("a b")),
        TextSyntax::Ignored => (["/a/b", "csrf"], Some("/~")),
        TextSyntax::Segment => (["a", "b"], Some("a/b")),
        TextSyntax::Binding => (["LIMIT", "_a1"], Some("1a")),
    }
}

/// Two values that fit, each read as something else, and those that do not fit.
fn samples(kind: ValueKind) -> ([Value; 2], Vec<Value>) {
    match kind {
        ValueKind::Flag => ([json!(true), json!(false)], vec![json!("true")]),
        ValueKind::Number { least, most, .. } => {
            let below = least.checked_sub(1).map_or(json!(-1), |below| json!(below));
            ([json!(least), json!(most)], vec![below, json!(most + 1), json!("1"), json!(1.5)])
        }
        ValueKind::Share => ([json!(1), json!(0.25)], vec![json!(1.5), json!(-1), json!("0.5")]),
        ValueKind::Word(words) => ([json!(words[0]), json!(words[1])], vec![json!(""), json!("no word")]),
        ValueKind::WordOr { words, object, .. } => ([json!(words[0]), least(object).into()], vec![json!("no word")]),
        ValueKind::Text(syntax) => {
            let (fit, unfit) = texts(syntax);
            (fit.map(Value::from), unfit.map(Value::from).into_iter().collect())
        }
        ValueKind::TextOrTexts(syntax) => {
            let ([one, other], unfit) = texts(syntax);
            let unfit = unfit.map(Value::from).into_iter().chain([json!([]), json!(1)]).collect();
            ([json!(one), json!([other])], unfit)
        }
        ValueKind::List { of, filled } => {
            let ([one, other], _) = samples(*of);
            let unfit = if filled.is_some() { vec![json!([])] } else { Vec::new() };
            ([json!([one]), json!([one, other])], unfit)
        }
        ValueKind::Object(shape) => {
            let mut other = least(shape);
            if shape == ObjectShape::OnUnknown {
                other.clear();
            }
            let row = shape.rows().iter().find(|row| !row.needed).unwrap();
            other.insert(row.name.to_owned(), samples(row.kind).0[0].clone());
            ([least(shape).into(), other.into()], Vec::new())
        }
        ValueKind::Named(shape) => ([json!({}), json!({ "a": least(shape) })], vec![json!([])]),
    }
}

/// An object with what it needs.
fn least(shape: ObjectShape) -> Object {
    let needed = shape.rows().iter().filter(|row| row.needed && row.only.is_none());
    let mut least: Object = needed.map(|row| (row.name.to_owned(), samples(row.kind).0[0].clone())).collect();
    if shape == ObjectShape::Identity {
        // One way to verify it has to be there, and no row says which.
        least.insert("unverified".to_owned(), json!(true));
    }
    if shape == ObjectShape::OnUnknown {
        // So has one to tell.
        least.insert("post".to_owned(), json!("/a"));
    }
    least
}

/// What a word of another member makes needed.
fn needed_beside(shape: ObjectShape, word: &Value) -> Object {
    let needed = shape.rows().iter().filter(|row| row.needed_with.is_some_and(|with| with.word == word));
    needed.map(|row| (row.name.to_owned(), samples(row.kind).0[0].clone())).collect()
}

/// An object with what it needs where this member has a meaning.
fn least_around(shape: ObjectShape, row: &MemberRow) -> Object {
    let mut object = least(shape);
    if let Some(only) = row.only {
        object.insert(only.member.to_owned(), only.word.into());
        let needed = shape.rows().iter().filter(|other| other.needed && other.only == row.only);
        object.extend(needed.map(|row| (row.name.to_owned(), samples(row.kind).0[0].clone())));
    }
    object
}

/// A policy with this object in it, as text, and the pointer to the object.
fn policy_with(shape: ObjectShape, object: &Object) -> (String, &'static str) {
    let (policy, pointer) = match shape {
        ObjectShape::Policy => (json!(object), ""),
        ObjectShape::Route => {
            let mut route = object.clone();
            if route.contains_key("key_age") {
                // No key may be older than what is remembered.
                route.insert("retention".to_owned(), json!(LONGEST_RETENTION));
            }
            (json!({ "routes": [route] }), "/routes/0")
        }
        ObjectShape::Probe => (json!({ "routes": [{ "unanswered": object }] }), "/routes/0/unanswered"),
        ObjectShape::Limits => (json!({ "limits": object }), "/limits"),
        ObjectShape::Limit => (json!({ "limits": { "anonymous": object } }), "/limits/anonymous"),
        ObjectShape::Queue => (json!({ "queues": { "q": object } }), "/queues/q"),
        ObjectShape::Machine => (json!({ "machines": { "m": object } }), "/machines/m"),
        ObjectShape::Identity => (json!({ "identity": { "i": verified(object) } }), "/identity/i"),
        ObjectShape::OnUnknown => (json!({ "on_unknown": told(object) }), "/on_unknown"),
        ObjectShape::Transition => (
            json!({ "machines": { "m": { "initial": "a", "transitions": { "go": object, "on": { "from": ["a"], "to": "b" } } } } }),
            "/machines/m/transitions/go",
        ),
    };
    let mut policy = policy;
    if shape == ObjectShape::Transition {
        // What an effect's route says.
        policy["routes"] = json!([{ "unanswered": "hold" }]);
    }
    (policy.to_string(), pointer)
}

/// An identity with one verifier, and what that needs.
fn verified(identity: &Object) -> Object {
    let mut identity = identity.clone();
    if ["jwks", "secret", "access"].iter().any(|name| identity.contains_key(*name)) {
        identity.remove("unverified");
    } else if identity.get("unverified").is_none_or(|unverified| *unverified == json!(false)) {
        identity.insert("secret".to_owned(), json!("TOKENS"));
        identity.remove("algorithms");
    }
    for needed in ["issuer", "audience"] {
        identity.entry(needed).or_insert(json!("a"));
    }
    identity
}

/// One of those who can be told.
fn told(target: &Object) -> Object {
    let mut target = target.clone();
    if target.contains_key("queue") {
        target.remove("post");
    } else {
        target.entry("post").or_insert(json!("/a"));
    }
    target
}

/// The object where `policy_with` put it; what has none is published nowhere.
fn published(text: &str, shape: ObjectShape) -> Value {
    let published: Value = serde_json::from_str(&parse(text).unwrap().published()).unwrap();
    match shape {
        ObjectShape::Policy => published,
        ObjectShape::Route => published["routes"][0].clone(),
        ObjectShape::Probe => published["routes"][0]["unanswered"].clone(),
        ObjectShape::Limits
        | ObjectShape::Limit
        | ObjectShape::Queue
        | ObjectShape::Machine
        | ObjectShape::Transition
        | ObjectShape::Identity
        | ObjectShape::OnUnknown => Value::Null,
    }
}

fn preset_json(preset: Preset) -> Value {
    match preset {
        Preset::Flag(value) => value.into(),
        Preset::Number(number) => number.into(),
        Preset::Text(text) => text.into(),
        Preset::List(list) => list.iter().map(|preset| preset_json(*preset)).collect(),
        Preset::Object => json!({}),
    }
}

fn each_row(mut check: impl FnMut(ObjectShape, &MemberRow)) {
    for shape in ObjectShape::ALL {
        assert!(!shape.rows().is_empty());
        shape.rows().iter().for_each(|row| check(shape, row));
    }
}

#[test]
fn every_row_is_sound() {
    each_row(|shape, row| {
        let (rows, name) = (shape.rows(), row.name);
        assert_eq!(rows.iter().filter(|other| other.name == name).count(), 1, "{name}");
        let is_clause = !row.about.is_empty() && !row.about.ends_with('.') && !row.about.contains(['\n', '|']);
        assert!(is_clause && !row.about.contains("*/") && !row.about.contains("  "), "{name}: {}", row.about);
        assert!(!(row.needed && row.preset.is_some()), "{name}");
        assert!(row.since.split('.').all(|part| part.parse::<u32>().is_ok()), "{name}: {}", row.since);
        if let ValueKind::Word(words) | ValueKind::WordOr { words, .. } = row.kind {
            let told = words.iter().all(|word| row.about.contains(&format!("`\"{word}\"`")));
            assert!(told, "{name} says nothing of a word: {}", row.about);
        }
        if let Some(only) = row.only {
            let before = rows.iter().take_while(|other| other.name != name);
            let selector = before.into_iter().find(|other| other.name == only.member).unwrap();
            assert!(matches!(selector.kind, ValueKind::Word(words) if words.contains(&only.word)), "{name}");
            assert!(matches!(selector.preset, Some(Preset::Text(_))), "{name}");
            assert!(rows.iter().filter_map(|row| row.only).all(|other| other.member == only.member), "two selectors");
        }
    });
}

#[test]
fn the_parser_obeys_every_row() {
    each_row(|shape, row| {
        let around = least_around(shape, row);
        let with = |value: Option<Value>| {
            let mut object = around.clone();
            object.remove(row.name);
            object.extend(value.iter().flat_map(|value| needed_beside(shape, value)));
            object.extend(value.map(|value| (row.name.to_owned(), value)));
            policy_with(shape, &object)
        };
        let refused = |value: Option<Value>, fault: Option<PolicyFault>| {
            let (text, place) = with(value);
            let error = parse(&text).expect_err(&text);
            assert_eq!(error.pointer(), format!("{place}/{}", row.name), "{text}");
            assert!(fault.is_none_or(|fault| *error.fault() == fault), "{text}: {error}");
        };
        let ([one, other], unfit) = samples(row.kind);
        let read = |value: Option<Value>| parse(&with(value).0).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        let is_read = read(Some(one.clone())) != read(Some(other.clone()));
        assert_eq!(is_read, row.name != "$schema", "{}: {one} and {other}", row.name);
        unfit.into_iter().chain([Value::Null]).for_each(|value| refused(Some(value), None));
        if let ValueKind::Number { least, most, .. } = row.kind {
            refused(Some(json!(most + 1)), Some(PolicyFault::OutOfBounds { least, most }));
        }
        if let ValueKind::Word(words) = row.kind {
            let selects = shape.rows().iter().filter_map(|row| row.only).collect::<Vec<_>>();
            let plain = words.iter().filter(|word| selects.iter().all(|only| only.word != **word));
            plain.for_each(|word| drop(read(Some(json!(word)))));
            refused(Some(json!("no word")), Some(PolicyFault::NotAmong { words, or: None }));
        }
        match row.preset {
            Some(preset) => assert_eq!(read(None), read(Some(preset_json(preset))), "{}", row.name),
            None if row.needed && row.name == "unanswered" => refused(None, Some(PolicyFault::Undecided)),
            None if row.needed => refused(None, Some(PolicyFault::Missing)),
            None => drop(read(None)),
        }
        if let Some(with) = row.needed_with {
            let mut beside = least(shape);
            beside.insert(with.member.to_owned(), with.word.into());
            let (text, place) = policy_with(shape, &beside);
            let error = parse(&text).unwrap_err();
            assert_eq!((error.pointer(), error.fault()), (&*format!("{place}/{}", row.name), &PolicyFault::Undecided));
        }
        if row.only.is_some() {
            let mut elsewhere = least(shape);
            elsewhere.insert(row.name.to_owned(), one);
            let (text, place) = policy_with(shape, &elsewhere);
            let error = parse(&text).unwrap_err();
            assert_eq!((error.pointer(), error.fault()), (&*format!("{place}/{}", row.name), &PolicyFault::Unknown));
        }
    });
}

#[test]
fn nothing_but_the_rows_is_known() {
    for shape in ObjectShape::ALL {
        let mut object = least(shape);
        object.insert("none".to_owned(), json!(1));
        let (text, place) = policy_with(shape, &object);
        let error = parse(&text).unwrap_err();
        assert_eq!((error.pointer(), error.fault()), (&*format!("{place}/none"), &PolicyFault::Unknown));
    }
}

#[test]
fn the_published_form_has_the_published_rows() {
    each_row(|shape, row| {
        for sample in samples(row.kind).0 {
            let mut object = least_around(shape, row);
            object.insert(row.name.to_owned(), sample.clone());
            object.extend(needed_beside(shape, &sample));
            let selects = shape.rows().iter().filter(|other| other.only.is_some_and(|only| only.word == sample));
            object.extend(selects.map(|row| (row.name.to_owned(), samples(row.kind).0[0].clone())));
            let shown = published(&policy_with(shape, &object).0, shape);
            let is_shown = row.published && !shown.is_null();
            assert_eq!(shown.get(row.name).is_some(), is_shown, "{}: {shown}", row.name);
            if is_shown && row.name != "routes" {
                assert_eq!(shown[row.name], sample, "{}", row.name);
            }
        }
    });
}

#[test]
fn the_published_form_has_the_defaults_and_the_order_of_the_rows() {
    for shape in [ObjectShape::Policy, ObjectShape::Route] {
        let shown = published(&policy_with(shape, &Object::new()).0, shape);
        let rows = || shape.rows().iter().filter(|row| row.published && row.only.is_none());
        let rows = || rows().filter(|row| row.preset.is_some());
        assert_eq!(shown.as_object().unwrap().len(), rows().count());
        for row in rows().filter(|row| row.name != "routes") {
            assert_eq!(shown[row.name], preset_json(row.preset.unwrap()), "{}", row.name);
        }
        let text = parse("").unwrap().published();
        let places: Vec<usize> = rows().map(|row| text.rfind(&format!("\"{}\":", row.name)).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
    }
}

fn definition(schema: &Value, shape: ObjectShape) -> &Value {
    match shape {
        ObjectShape::Policy => schema,
        other => &schema["$defs"][format!("{other:?}").to_lowercase()],
    }
}

#[test]
fn the_schema_has_every_row() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    for shape in ObjectShape::ALL {
        let definition = definition(&schema, shape);
        assert_eq!(definition["additionalProperties"], json!(false));
        assert_eq!(definition["properties"].as_object().unwrap().len(), shape.rows().len());
        let needed = shape.rows().iter().filter(|row| row.needed && row.only.is_none()).map(|row| row.name);
        let needed: Vec<&str> = needed.collect();
        assert_eq!(definition.get("required").unwrap_or(&json!([])), &json!(needed));
    }
    each_row(|shape, row| {
        let definition = definition(&schema, shape);
        let property = &definition["properties"][row.name];
        assert_eq!(property.get("default").cloned(), row.preset.map(preset_json), "{}", row.name);
        assert_eq!(property["$comment"], format!("since {}", row.since));
        let said = property["description"].as_str().unwrap();
        assert!(said.to_lowercase().contains(&row.about.replace('`', "").to_lowercase()), "{said}");
        match row.kind {
            ValueKind::Number { least, most, .. } => {
                assert_eq!((&property["minimum"], &property["maximum"]), (&json!(least), &json!(most)));
            }
            ValueKind::Word(words) => assert_eq!(property["enum"], json!(words)),
            ValueKind::WordOr { words, .. } => assert_eq!(property["anyOf"][0]["enum"], json!(words)),
            _ => {}
        }
        if let Some(only) = row.only {
            let conditions = definition["allOf"].as_array().unwrap();
            let condition = conditions.iter().find(|one| one["if"]["properties"][only.member]["const"] == only.word);
            let condition = condition.unwrap();
            assert_eq!(condition["then"]["required"].as_array().unwrap().contains(&json!(row.name)), row.needed);
            assert_eq!(condition["else"]["properties"][row.name], json!(false), "{}", row.name);
        }
        if let Some(with) = row.needed_with {
            let conditions = definition["allOf"].as_array().unwrap();
            let mut of_word =
                conditions.iter().filter(|one| one["if"]["properties"][with.member]["const"] == with.word);
            assert!(of_word.any(|one| one["then"]["required"].as_array().unwrap().contains(&json!(row.name))));
        }
    });
}

/// The members of an object's types: what is said of each, and its line.
fn typed_members(types: &str, shape: ObjectShape) -> Vec<(String, String)> {
    let name = format!("{shape:?}");
    let interfaces = types.split("export ").filter_map(|part| part.strip_prefix("interface "));
    let of_shape = interfaces.filter(|part| {
        let title = part.split(' ').next().unwrap();
        title.ends_with(&name) || title == format!("{name}Members")
    });
    let mut members = Vec::new();
    for interface in of_shape {
        let mut said = String::new();
        for line in interface.lines().skip(1).take_while(|line| *line != "}") {
            if line.trim_start().starts_with(['/', '*']) {
                said.push_str(line);
                said.push('\n');
            } else {
                members.push((std::mem::take(&mut said), line.trim().to_owned()));
            }
        }
    }
    members
}

#[test]
fn the_types_have_every_row() {
    let types = typescript();
    each_row(|shape, row| {
        let begins = [format!("{}: ", row.name), format!("{}?: ", row.name)];
        let members = typed_members(&types, shape);
        let mut found = members
            .iter()
            .filter(|(said, line)| !said.is_empty() && begins.iter().any(|begin| line.starts_with(begin)));
        let (said, line) = found.next().unwrap_or_else(|| panic!("{} is not there", row.name));
        let default = row.preset.map(|preset| format!("   * @default {}\n", preset_json(preset)));
        assert_eq!(said.contains("@default"), default.is_some(), "{said}");
        assert!(default.is_none_or(|default| said.contains(&default)), "{said}");
        assert!(said.contains(&format!("@since {}\n", row.since)), "{said}");
        assert_eq!(line.starts_with(&begins[0]), row.needed, "{line}");
        if let ValueKind::Word(words) = row.kind {
            let all: String = members
                .iter()
                .filter(|(_, line)| begins.iter().any(|begin| line.starts_with(begin)))
                .map(|(_, line)| line.as_str())
                .collect();
            assert!(words.iter().all(|word| all.contains(&format!("\"{word}\""))), "{all}");
        }
    });
    let interfaces = types.matches("export ").count();
    assert_eq!(interfaces, ObjectShape::ALL.len() + 4, "a route is one of three kinds");
}

#[test]
fn the_tables_have_every_row() {
    each_row(|shape, row| {
        let table = markdown(shape);
        let begin = format!("| `{}` | ", row.name);
        let line = table.lines().find(|line| line.starts_with(&begin)).unwrap();
        let default = match row.preset {
            Some(preset) => {
                let needed =
                    row.needed_with.map(|with| format!("; needed with `\"{}\": \"{}\"`", with.member, with.word));
                format!("`{}`{}", preset_json(preset), needed.unwrap_or_default())
            }
            None => (if row.needed { "needed" } else { "none" }).to_owned(),
        };
        assert!(line.ends_with(&format!(" | {default} |")) && line.contains(row.about), "{line}");
        if let ValueKind::Number { least, most, .. } = row.kind {
            assert!(line.contains(&format!("; {least} to {most}")), "{line}");
        }
        assert_eq!(line.replace("\\|", "").matches('|').count(), 4, "{line}");
        assert_eq!(table.lines().count(), shape.rows().len() + 2);
    });
}

#[test]
fn the_readme_has_the_tables() {
    let readme = include_str!(readme!());
    let wanted = fill_tables(readme);
    if std::env::var_os("ONCEKEY_WRITE").is_some() {
        return std::fs::write(readme!(), &wanted).unwrap();
    }
    assert!(readme == wanted, "the tables of {} are old: ONCEKEY_WRITE=1 writes them anew", readme!());
    for shape in ObjectShape::ALL {
        // How a probe is written stands in the row of `unanswered`.
        let wanted = if shape == ObjectShape::Probe { "{\"probe\": ".to_owned() } else { markdown(shape) };
        assert!(readme.contains(&wanted), "no table of {shape:?}");
    }
}
