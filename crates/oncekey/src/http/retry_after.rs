//! `Retry-After`, and decimal numbers as text.

/// The longest number that is read: fifteen digits of seconds are thirty million years.
const MOST_DIGITS: usize = 15;

/// A decimal number in units of its last allowed place. More digits than time has are no number, so that nothing after
/// this can overflow.
pub(crate) fn number(text: &str, places: usize) -> Option<u64> {
    let mut value = 0_u64;
    let mut digits = 0;
    let mut point = None;
    for byte in text.trim_ascii().bytes() {
        if byte == b'.' && point.is_none() {
            point = Some(digits);
        } else if byte.is_ascii_digit() && digits < MOST_DIGITS {
            value = value * 10 + u64::from(byte - b'0');
            digits += 1;
        } else {
            return None;
        }
    }
    let decimals = point.map_or(0, |point| digits - point);
    if digits == decimals || decimals > places || point == Some(digits) {
        return None;
    }
    for _ in decimals..places {
        value *= 10;
    }
    Some(value)
}

/// What `Retry-After` asks for, in milliseconds: seconds, or a date that the platform has parsed.
/// `date` and `now` are milliseconds of one clock, best the server's own (its `Date`); a date gone by asks for nothing.
pub fn retry_after(text: &str, date: Option<u64>, now: u64) -> Option<u64> {
    match number(text, 0) {
        Some(seconds) => Some(seconds * 1000),
        None => date.map(|at| at.saturating_sub(now)),
    }
}
