//! Cookies of a request.

/// The value of the cookie `name` in a Cookie field (RFC 6265 §4.2.1), or `None` where it is missing or empty.
///
/// Several cookies of one name come back together, in order, joined by the `;` that no value can hold.
pub fn cookie(header: &str, name: &str) -> Option<String> {
    let mut found: Option<String> = None;
    for pair in header.split(';') {
        let Some((key, value)) = pair.split_once('=') else {
            continue;
        };
        let value = value.trim_matches([' ', '\t']);
        if key.trim_matches([' ', '\t']) != name || value.is_empty() {
            continue;
        }
        match &mut found {
            None => found = Some(value.to_owned()),
            Some(all) => {
                all.push(';');
                all.push_str(value);
            }
        }
    }
    found
}
