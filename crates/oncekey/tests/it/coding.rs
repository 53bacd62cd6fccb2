//! Codings: the labels of an answer's as they are sent.
use oncekey::{
    answer::{head::ReplyHead, word::StatusWord},
    http::fields::Fields,
};

#[test]
fn labels_as_the_platform_knows_them() {
    let check = |status, label: &str, empty, expect: Option<&str>| {
        let head = ReplyHead::keep(status, &Fields::new(format!("content-encoding,{label}")));
        let sent = head.lines_to_send(StatusWord::Replayed, None, empty).into_json();
        let lines: Vec<(String, String)> = serde_json::from_str(&sent).unwrap();
        let label_sent = lines.iter().find(|(name, _)| name == "content-encoding").map(|(_, value)| value.as_str());
        assert_eq!(label_sent, expect, "{status} {label}");
    };
    check(200, "GZIP", false, Some("gzip"));
    check(200, "Br", false, Some("br"));
    check(200, "x-Rot13", false, Some("x-Rot13"));
    check(200, "gzip, BR", false, Some("gzip, BR"));
    check(200, "gzip", true, None);
    check(304, "gzip", true, Some("gzip"));
}
