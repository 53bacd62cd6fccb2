//! The client's side of an intent: when its key stays, and when it ends.
use std::collections::HashSet;

use oncekey::client::{
    intent::{
        Choice, Digest, Kept, Look, Stage, after, after_look, choose, has_fields, is_copy, is_unsafe, is_volatile,
        plain_grace,
    },
    retry::Outcome,
};
use proptest::prelude::{prop_assert, proptest};

const NOW: u64 = 1_700_000_000_000;
const RETENTION: u64 = 86_400_000;

fn kept(stage: Stage) -> Kept {
    Kept { stage, since: NOW, content: 1 }
}

fn check(kept: Option<Kept>, content: u64, now: u64, wanted: Choice) {
    assert_eq!(choose(kept, content, now, RETENTION), wanted, "{kept:?} {content} {now}");
}

#[test]
fn which_key_an_attempt_carries() {
    check(None, 1, NOW, Choice::New);
    check(Some(kept(Stage::Sent)), 1, NOW, Choice::Same);
    check(Some(kept(Stage::Sent)), 2, NOW, Choice::Edited);
    check(Some(kept(Stage::SentPlain)), 1, NOW, Choice::Same);
    check(Some(kept(Stage::SentPlain)), 2, NOW, Choice::Edited);
    check(Some(kept(Stage::Loose)), 1, NOW, Choice::Same);
    check(Some(kept(Stage::Loose)), 2, NOW, Choice::New);
}

#[test]
fn a_key_lives_as_long_as_the_gate_remembers_it() {
    check(Some(kept(Stage::Sent)), 1, NOW + RETENTION - 1, Choice::Same);
    check(Some(kept(Stage::Sent)), 1, NOW + RETENTION, Choice::New);
    check(Some(kept(Stage::Sent)), 1, NOW - 1000, Choice::Same);
    assert_eq!(kept(Stage::Sent).left(NOW + 1, RETENTION), RETENTION - 1);
}

#[test]
fn what_an_outcome_does() {
    assert_eq!(after(Outcome::Succeeded), None);
    assert_eq!(after(Outcome::Mismatch), None);
    assert_eq!(after(Outcome::Declined), Some(Stage::Loose));
    assert_eq!(after(Outcome::Unknown), Some(Stage::Sent));
}

#[test]
fn what_a_look_does() {
    let check =
        |stage, look, reloaded, wanted| assert_eq!(after_look(stage, look, reloaded), wanted, "{stage:?} {look:?}");
    check(Stage::SentPlain, Look::Completed(303), false, None);
    check(Stage::SentPlain, Look::Completed(303), true, Some(Stage::Loose));
    check(Stage::SentPlain, Look::Completed(422), false, Some(Stage::Loose));
    check(Stage::SentPlain, Look::Absent, false, Some(Stage::Loose));
    check(Stage::SentPlain, Look::Running, false, Some(Stage::SentPlain));
    check(Stage::Sent, Look::Completed(201), false, Some(Stage::Loose));
    check(Stage::Sent, Look::Unknown, false, Some(Stage::Sent));
}

#[test]
fn what_the_gate_says_of_a_key() {
    let check = |state, wanted| assert_eq!(Look::parse(state, 201), wanted);
    check(Some("absent"), Look::Absent);
    check(Some("running"), Look::Running);
    check(Some("completed"), Look::Completed(201));
    check(Some("unknown"), Look::Unknown);
    check(None, Look::Unknown);
}

#[test]
fn stages_are_stored_as_they_always_were() {
    for (stage, code) in [(Stage::Sent, 1), (Stage::SentPlain, 2), (Stage::Loose, 3)] {
        assert_eq!((stage.code(), Stage::from_code(code)), (code, Some(stage)));
    }
    assert_eq!((Stage::from_code(0), Stage::from_code(4)), (None, None));
}

#[test]
fn a_copied_tab_is_told_from_a_page_after_another() {
    for (marked, answered, copy, what) in [
        (true, true, true, "a duplicated tab, a window that the page opened"),
        (true, false, false, "a reload after a crash, a closed tab opened again"),
        (false, false, false, "the next page of one tab"),
        (false, true, false, "left, so there is nothing to copy"),
    ] {
        assert_eq!(is_copy(marked, answered), copy, "{what}");
    }
}

#[test]
fn methods() {
    for (method, effect, fields) in [
        ("POST", true, true),
        ("PATCH", true, true),
        ("DELETE", true, false),
        ("GET", false, false),
        ("DIALOG", false, false),
        ("", false, false),
    ] {
        assert_eq!((is_unsafe(method), has_fields(method)), (effect, fields), "{method}");
    }
}

#[test]
fn fields_that_are_no_part_of_an_intent() {
    let check = |name, ignored, wanted| assert_eq!(is_volatile(name, ignored), wanted, "{name} in {ignored}");
    check("ts", "nonce, ts", true);
    check("ts", "nonce ts", true);
    check("ts", "", false);
    check("t", "ts", false);
    check("", ", ,", false);
    check("csrf_token", "", true);
    check("token", "", false);
}

#[test]
fn a_plain_form_is_free_at_once_only_where_the_page_stays() {
    assert_eq!(plain_grace(204), 0);
    assert!(plain_grace(200) > 0 && plain_grace(303) > plain_grace(200));
}

#[test]
fn parts_are_not_joined() {
    let digest = |parts: &[&str]| {
        let mut digest = Digest::default();
        parts.iter().for_each(|part| digest.part(part));
        digest.value()
    };
    let all: HashSet<u64> =
        [&["ab", "c"][..], &["a", "bc"], &["abc"], &["abc", ""], &["", "abc"], &[]].map(digest).into();
    assert_eq!(all.len(), 6);
}

proptest! {
    #[test]
    fn a_digest_stays_exact_as_a_number_of_the_page(parts: Vec<String>) {
        let mut digest = Digest::default();
        parts.iter().for_each(|part| digest.part(part));
        prop_assert!(digest.value() < 1 << 53);
    }
}
