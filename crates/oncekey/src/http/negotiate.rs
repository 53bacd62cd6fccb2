//! What a request's head says about the answer it can take: content negotiation, codings, web origins, secrets.

use crate::http::fields::Fields;

/// How a refusal must be worded for the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audience {
    /// In what form it reads.
    pub form: RefusalForm,
    /// The web origin that may read a refusal across origins, one of the policy's `cors`.
    pub allow_origin: Option<String>,
    /// The scoped key of its request, by which an operator finds what is remembered.
    pub scoped_key: Option<String>,
}

/// The form of a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusalForm {
    /// Problem details (RFC 9457).
    #[default]
    Problem,
    /// A piece of HTML, which htmx puts into the page that there is.
    Fragment,
    /// A whole page, which a browser shows in the place of the one that there was.
    Page,
}

/// The form in which a caller reads a refusal: htmx a fragment; a browser's navigation (Fetch Metadata §2.2), and
/// whoever ranks `text/html` above JSON (RFC 9110 §12.5.1), a page. Equal ranks get problem details.
///
/// ```
/// use oncekey::http::{fields::Fields, negotiate::{RefusalForm, refusal_form}};
///
/// let check = |head: &str, expect| assert_eq!(refusal_form(&Fields::new(head.to_owned())), expect);
/// check("accept,text/html, application/json;q=0.9", RefusalForm::Page);
/// check("accept,text/html, application/json", RefusalForm::Problem);
/// check("accept,application/json\nhx-request,true", RefusalForm::Fragment);
/// ```
pub fn refusal_form(fields: &Fields) -> RefusalForm {
    if fields.get("hx-request").is_some_and(|value| value.trim() == "true") {
        return RefusalForm::Fragment;
    }
    let is_navigation = fields.get("sec-fetch-mode").is_some_and(|mode| mode.trim() == "navigate");
    if is_navigation || fields.get("accept").is_some_and(ranks_html_first) {
        RefusalForm::Page
    } else {
        RefusalForm::Problem
    }
}

fn ranks_html_first(accept: &str) -> bool {
    let html = rank(accept, &["text/html"], "text/*");
    let json = rank(accept, &["application/problem+json", "application/json"], "application/*");
    html > json
}

/// The quality of a media type in thousandths; the most specific range that names it counts.
fn rank(accept: &str, types: &[&str], group: &str) -> u32 {
    let of = |wanted: &[&str]| {
        accept
            .split(',')
            .filter_map(range)
            .filter(|(name, _)| wanted.iter().any(|w| w.eq_ignore_ascii_case(name)))
            .map(|(_, quality)| quality)
            .max()
    };
    of(types).or_else(|| of(&[group])).or_else(|| of(&["*/*"])).unwrap_or(0)
}

/// A name and its quality in thousandths, 1000 unless `q` says less (RFC 9110 §12.4.2).
fn range(item: &str) -> Option<(&str, u32)> {
    let mut parts = item.split(';');
    let name = parts.next().map(str::trim).filter(|name| !name.is_empty())?;
    let quality = parts
        .filter_map(|part| part.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(1000, |(_, value)| thousandths(value.trim()));
    Some((name, quality))
}

/// `0.5` is 500; what is no quality is 0.
fn thousandths(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let Ok(whole) = whole.parse::<u32>() else {
        return 0;
    };
    let mut digits = fraction.chars().map(|c| c.to_digit(10).unwrap_or(0)).chain([0, 0, 0]);
    let part = (0..3).fold(0, |sum, _| sum * 10 + digits.next().unwrap_or(0));
    (whole.min(1) * 1000 + part).min(1000)
}

/// Whether a caller takes a content coding (RFC 9110 §12.5.3). Without the header it is taken to want none:
/// content without a coding is always acceptable.
///
/// ```
/// use oncekey::http::negotiate::accepts_coding;
///
/// assert!(accepts_coding(Some("gzip, br;q=0.5"), "br"));
/// assert!(!accepts_coding(Some("gzip, br;q=0"), "br"));
/// ```
pub fn accepts_coding(accept_encoding: Option<&str>, coding: &str) -> bool {
    let Some(accept) = accept_encoding else {
        return false;
    };
    coding.split(',').map(str::trim).all(|coding| {
        let of = |wanted: &str| {
            accept
                .split(',')
                .filter_map(range)
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted) || is_alias(name, wanted))
                .map(|(_, quality)| quality > 0)
        };
        of(coding).or_else(|| of("*")).unwrap_or(false)
    })
}

/// `x-gzip` is `gzip` (RFC 9110 §8.4.1.3).
fn is_alias(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.trim_start_matches("x-").to_ascii_lowercase();
    plain(one) == "gzip" && plain(other) == "gzip"
}

/// A coding that the platform can undo, by the one name that it knows it by; the label may be in any case
/// (RFC 9110 §8.4.1), and `x-gzip` is `gzip` (§8.4.1.3).
///
/// ```
/// use oncekey::http::negotiate::known_coding;
///
/// assert_eq!(known_coding(" X-GZIP"), Some("gzip"));
/// assert_eq!(known_coding("gzip, br"), None);
/// ```
pub fn known_coding(label: &str) -> Option<&'static str> {
    [("gzip", "gzip"), ("br", "br"), ("x-gzip", "gzip")]
        .into_iter()
        .find_map(|(name, coding)| label.trim().eq_ignore_ascii_case(name).then_some(coding))
}

/// Whether an answer's `Access-Control-Allow-Origin` lets a page of that web origin read it.
pub fn lets_origin_read(allow_origin: Option<&str>, origin: Option<&str>) -> bool {
    match (allow_origin.map(str::trim), origin) {
        (Some("*"), Some(_)) => true,
        (Some(allowed), Some(origin)) => allowed == origin,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, RefusalForm, accepts_coding, lets_origin_read, refusal_form};

    fn check_form(head: &str, expect: RefusalForm) {
        assert_eq!(refusal_form(&Fields::new(head.to_owned())), expect, "{head}");
    }
    fn check_html(accept: &str, expect: bool) {
        check_form(&format!("accept,{accept}"), if expect { RefusalForm::Page } else { RefusalForm::Problem });
    }
    fn check_coding(accept: &str, coding: &str, expect: bool) {
        assert_eq!(accepts_coding(Some(accept), coding), expect, "{accept} / {coding}");
    }

    #[test]
    fn html_where_it_ranks_higher() {
        check_html("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true);
        check_html("text/html", true);
        check_html("text/*, application/json;q=0.9", true);
        check_html("TEXT/HTML;Q=1, */*;q=.1", true);
        check_html("text/html, application/json", false);
        check_html("text/html;q=0.5, application/problem+json;q=0.6", false);
        check_html("*/*", false);
        check_html("", false);
        check_html("text/html;q=0", false);
        check_html("text/html;q=bad", false);
    }
    #[test]
    fn who_reads() {
        check_form("", RefusalForm::Problem);
        check_form("hx-request,false", RefusalForm::Problem);
        check_form("hx-request,true\naccept,application/json", RefusalForm::Fragment);
        check_form("hx-request,true\nsec-fetch-mode,navigate", RefusalForm::Fragment);
        check_form("sec-fetch-mode,navigate\naccept,*/*", RefusalForm::Page);
        check_form("sec-fetch-mode,cors\naccept,*/*", RefusalForm::Problem);
    }
    #[test]
    fn codings() {
        check_coding("gzip, br", "br", true);
        check_coding("gzip;q=0", "gzip", false);
        check_coding("*", "br", true);
        check_coding("*;q=0, gzip", "gzip", true);
        check_coding("*;q=0, gzip", "br", false);
        check_coding("x-gzip", "gzip", true);
        check_coding("identity", "gzip", false);
        check_coding("gzip", "gzip, br", false);
        assert!(!accepts_coding(None, "gzip"));
    }
    #[test]
    fn web_origins() {
        assert!(lets_origin_read(Some("*"), Some("https://a.example")));
        assert!(lets_origin_read(Some("https://a.example"), Some("https://a.example")));
        assert!(!lets_origin_read(Some("https://a.example"), Some("https://a.example.evil")));
        assert!(!lets_origin_read(None, Some("https://a.example")));
        assert!(!lets_origin_read(Some("*"), None));
    }
}
