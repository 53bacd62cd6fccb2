//! Times as the wire writes them: HTTP dates and RFC 3339, from milliseconds since 1970.

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// The last second that both forms can write: the year has four digits.
const LAST: u64 = 253_402_300_799;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;

struct Civil {
    year: u64,
    month: u64,
    day: u64,
    weekday: u64,
    second: u64,
}

/// The proleptic Gregorian date, by era of 400 years (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(at: Millis) -> Civil {
    let seconds = (at / 1000).min(LAST);
    let days = seconds / 86_400;
    let shifted = days + 719_468;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_based = (5 * of_year + 2) / 153;
    let month = if march_based < 10 { march_based + 3 } else { march_based - 9 };
    Civil {
        year: year_of_era + shifted / 146_097 * 400 + u64::from(month <= 2),
        month,
        day: of_year - (153 * march_based + 2) / 5 + 1,
        weekday: days % 7,
        second: seconds % 86_400,
    }
}

fn name<const N: usize>(names: &[&'static str; N], index: u64) -> &'static str {
    usize::try_from(index).ok().and_then(|i| names.get(i)).copied().unwrap_or_default()
}

/// IMF-fixdate, RFC 9110 §5.6.7; whole seconds, the fraction is cut.
pub fn http(at: Millis) -> String {
    let c = civil(at);
    format!(
        "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
        name(&DAYS, c.weekday),
        c.day,
        name(&MONTHS, c.month - 1),
        c.year,
        c.second / 3600,
        c.second / 60 % 60,
        c.second % 60
    )
}

/// RFC 3339 in UTC; whole seconds, the fraction is cut, so that it names the instant that [`http`] names.
pub fn rfc3339(at: Millis) -> String {
    let c = civil(at);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        c.year,
        c.month,
        c.day,
        c.second / 3600,
        c.second / 60 % 60,
        c.second % 60
    )
}

/// A time so many seconds later.
pub fn after(at: Millis, seconds: u32) -> Millis {
    at.saturating_add(u64::from(seconds) * 1000)
}

#[cfg(test)]
mod tests {
    use super::{http, rfc3339};

    fn check(seconds: u64, expect_http: &str, expect_3339: &str) {
        assert_eq!(http(seconds * 1000 + 999), expect_http);
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
        check(u64::MAX / 2000, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z");
    }
}
