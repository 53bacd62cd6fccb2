//! What the test crates share: reading the vectors.
use serde_json::Value;

/// The cases of one list in a vectors file.
///
/// # Panics
/// Where the file is no JSON or has no such list.
pub fn cases(file: &str, list: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).expect("vectors are JSON");
    match file.get(list) {
        Some(Value::Array(cases)) if !cases.is_empty() => cases.clone(),
        _ => panic!("no cases {list}"),
    }
}

/// A member that is a string, or nothing.
pub fn text<'a>(case: &'a Value, member: &str) -> Option<&'a str> {
    case.get(member).and_then(Value::as_str)
}

/// A member that is a list of strings; nothing is an empty list.
pub fn texts<'a>(case: &'a Value, member: &str) -> Vec<&'a str> {
    case.get(member)
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// A case's name, for messages.
pub fn name(case: &Value) -> &str {
    text(case, "name").unwrap_or("a case without a name")
}
