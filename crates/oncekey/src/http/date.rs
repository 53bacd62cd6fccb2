//! Times as the wire writes them: HTTP dates and RFC 3339, from milliseconds since 1970.

use std::time::{Duration, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;

/// The last second that both forms can write: the year has four digits.
const LAST: u64 = 253_402_300_799;

/// IMF-fixdate, RFC 9110 §5.6.7; whole seconds, the fraction is cut.
///
/// ```
/// assert_eq!(oncekey::http::date::http_date(784_111_777_999), "Sun, 06 Nov 1994 08:49:37 GMT");
/// ```
pub fn http_date(at: Millis) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + since_1970(at))
}

/// RFC 3339 in UTC; whole seconds, the fraction is cut, so that it names the instant that [`http_date`] names.
///
/// ```
/// assert_eq!(oncekey::http::date::rfc3339(784_111_777_999), "1994-11-06T08:49:37Z");
/// ```
pub fn rfc3339(at: Millis) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since_1970(at)).to_string()
}

/// Both libraries panic at a year of five digits, and so does the addition far beyond it: the last second stands for all
/// that come later.
fn since_1970(at: Millis) -> Duration {
    Duration::from_secs((at / 1000).min(LAST))
}

/// A time so many seconds later.
pub fn later_by(at: Millis, seconds: u32) -> Millis {
    at.saturating_add(u64::from(seconds) * 1000)
}

#[cfg(test)]
mod tests {
    use super::{http_date, rfc3339};

    fn check(seconds: u64, expect_http: &str, expect_3339: &str) {
        assert_eq!(http_date(seconds * 1000 + 999), expect_http);
        assert_eq!(rfc3339(seconds * 1000 + 999), expect_3339);
    }

    #[test]
    fn epoch() {
        check(0, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z");
    }
    #[test]
    fn rfc_9110_example() {
        check(784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z");
    }
    #[test]
    fn leap_day() {
        check(1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT", "2024-02-29T23:59:59Z");
    }
    #[test]
    fn no_leap_day_in_2100() {
        check(4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT", "2100-03-01T00:00:00Z");
    }
    #[test]
    fn beyond_four_digits_stays_at_the_last_second() {
        check(253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z");
        check(253_402_300_800, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z");
        assert_eq!(http_date(u64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
        check(u64::MAX / 2000, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z");
    }
}
