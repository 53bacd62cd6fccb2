//! The client's side of an intent: when its key stays, and when it ends.
use std::collections::HashSet;

use oncekey::client::{
    guard::{PLAIN_BUSY, refusal_reason},
    intent::{
        KeptIntent, KeyChoice, Progress, choose_key, is_answer, progress_after, progress_after_page, shortest_retention,
    },
    look::{Arrival, KeyState, NEXT_LOOK, PlainStep, plain_grace, plain_step, progress_after_look},
    retry::IntentOutcome,
    subject::{ContentDigest, can_carry_field, is_unsafe_method, is_volatile_field},
    tab::is_copied_tab,
};
use proptest::prelude::{prop_assert, proptest};

const NOW: u64 = 1_700_000_000_000;
const RETENTION: u64 = 86_400_000;

fn kept(progress: Progress) -> KeptIntent {
    KeptIntent { progress, minted_at: NOW, at: 0.0 }
}

/// Content 1 was sent under the kept key.
fn check(kept: Option<KeptIntent>, content: u64, now: u64, wanted: KeyChoice) {
    assert_eq!(choose_key(kept, content == 1, 0.0, now, RETENTION), wanted, "{kept:?} {content} {now}");
}

#[test]
fn which_key_an_attempt_carries() {
    check(None, 1, NOW, KeyChoice::New);
    check(Some(kept(Progress::Sent)), 1, NOW, KeyChoice::Same);
    check(Some(kept(Progress::Sent)), 2, NOW, KeyChoice::Edited);
    check(Some(kept(Progress::SentPlain)), 1, NOW, KeyChoice::Same);
    check(Some(kept(Progress::SentPlain)), 2, NOW, KeyChoice::Edited);
    check(Some(kept(Progress::Idle)), 1, NOW, KeyChoice::Same);
    check(Some(kept(Progress::Idle)), 2, NOW, KeyChoice::New);
    check(Some(kept(Progress::Stayed)), 1, NOW, KeyChoice::Same);
    check(Some(kept(Progress::Stayed)), 2, NOW, KeyChoice::New);
}

#[test]
fn what_stayed_is_the_same_for_a_minute() {
    let check = |since, wanted| {
        assert_eq!(choose_key(Some(kept(Progress::Stayed)), true, since, NOW, RETENTION), wanted, "{since}");
    };
    check(59_999.0, KeyChoice::Same);
    check(60_000.0, KeyChoice::New);
    assert_eq!(choose_key(Some(kept(Progress::Idle)), true, 1e9, NOW, RETENTION), KeyChoice::Same);
}

#[test]
fn which_page_answers_a_plain_form() {
    let check =
        |began_at, status, wanted| assert_eq!(is_answer(1_000.0, began_at, status), wanted, "{began_at} {status}");
    check(1_001.0, 200, true);
    check(999.0, 0, true);
    check(900.0, 200, false);
    check(1_500.0, 200, true);
    check(1_600.0, 200, false);
    check(1_001.0, -1, false);
}

#[test]
fn what_a_page_that_answers_does() {
    let check = |status, is_edited, wanted| assert_eq!(progress_after_page(status, is_edited), wanted, "{status}");
    check(200, false, None);
    check(303, false, None);
    check(422, false, Some(Progress::SentPlain));
    check(422, true, None);
    check(409, true, Some(Progress::SentPlain));
    check(500, false, Some(Progress::SentPlain));
    check(0, false, Some(Progress::SentPlain));
}

#[test]
fn a_key_lives_as_long_as_the_gate_remembers_it() {
    check(Some(kept(Progress::Sent)), 1, NOW + RETENTION - 1, KeyChoice::Same);
    check(Some(kept(Progress::Sent)), 1, NOW + RETENTION, KeyChoice::New);
    check(Some(kept(Progress::Sent)), 1, NOW - 1000, KeyChoice::Same);
    assert_eq!(kept(Progress::Sent).time_left(NOW + 1, RETENTION), RETENTION - 1);
}

#[test]
fn what_an_outcome_does() {
    assert_eq!(progress_after(IntentOutcome::Succeeded), None);
    assert_eq!(progress_after(IntentOutcome::Mismatch), None);
    assert_eq!(progress_after(IntentOutcome::Declined), Some(Progress::Idle));
    assert_eq!(progress_after(IntentOutcome::Unknown), Some(Progress::Sent));
}

#[test]
fn what_a_look_does() {
    let check = |progress, look, arrival, wanted| {
        assert_eq!(progress_after_look(progress, look, arrival, false), wanted, "{progress:?} {look:?}")
    };
    use Arrival::{Again, Answer, Elsewhere};
    check(Progress::SentPlain, KeyState::Completed(303), Answer, None);
    check(Progress::SentPlain, KeyState::Completed(303), Elsewhere, Some(Progress::Stayed));
    check(Progress::SentPlain, KeyState::Completed(303), Again, Some(Progress::Idle));
    check(Progress::SentPlain, KeyState::Completed(422), Answer, Some(Progress::Idle));
    check(Progress::SentPlain, KeyState::Completed(422), Again, Some(Progress::Idle));
    check(Progress::SentPlain, KeyState::Absent, Again, Some(Progress::Idle));
    check(Progress::SentPlain, KeyState::Running, Again, Some(Progress::SentPlain));
    check(Progress::Sent, KeyState::Completed(201), Again, Some(Progress::Idle));
    check(Progress::Sent, KeyState::Unknown, Again, Some(Progress::Sent));
    let edited = |state| progress_after_look(Progress::SentPlain, state, Again, true);
    assert_eq!(edited(KeyState::Unknown), Some(Progress::Idle), "what was edited was refused, and will be");
    assert_eq!(edited(KeyState::Running), Some(Progress::SentPlain));
}

#[test]
fn what_the_gate_says_of_a_key() {
    let check = |state, wanted| assert_eq!(KeyState::from_members(state, 201), wanted);
    check(Some("absent"), KeyState::Absent);
    check(Some("running"), KeyState::Running);
    check(Some("completed"), KeyState::Completed(201));
    check(Some("unknown"), KeyState::Unknown);
    check(Some("dead"), KeyState::Unknown);
    check(None, KeyState::Unknown);
}

#[test]
fn progress_is_stored_as_they_always_were() {
    for (progress, code) in [(Progress::Sent, 1), (Progress::SentPlain, 2), (Progress::Idle, 3), (Progress::Stayed, 4)]
    {
        assert_eq!((progress.code(), Progress::from_code(code)), (code, Some(progress)));
    }
    assert_eq!((Progress::from_code(0), Progress::from_code(5)), (None, None));
}

#[test]
fn a_copied_tab_is_told_from_a_page_after_another() {
    for (marked, answered, copy, what) in [
        (true, true, true, "a duplicated tab, a window that the page opened"),
        (true, false, false, "a reload after a crash, a closed tab opened again"),
        (false, false, false, "the next page of one tab"),
        (false, true, false, "left, so there is nothing to copy"),
    ] {
        assert_eq!(is_copied_tab(marked, answered), copy, "{what}");
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
        assert_eq!((is_unsafe_method(method), can_carry_field(method)), (effect, fields), "{method}");
    }
}

#[test]
fn fields_that_are_no_part_of_an_intent() {
    let check = |name, ignored, wanted| assert_eq!(is_volatile_field(name, ignored), wanted, "{name} in {ignored}");
    check("ts", "nonce, ts", true);
    check("ts", "nonce ts", true);
    check("ts", "", false);
    check("t", "ts", false);
    check("", ", ,", false);
    check("", "", false);
    for token in [
        "csrf_token",
        "token",
        "g-captcha-response",
        "form[_token]",
        "__VIEWSTATE",
        "form_build_id",
        "X-XSRF",
        "wpnonce",
    ] {
        check(token, "", true);
    }
    check("item", "", false);
    check("tok", "", false);
}

#[test]
fn a_plain_form_is_free_at_once_only_where_the_page_stays() {
    assert_eq!((plain_grace(204, false), plain_grace(204, true)), (0, 0));
    assert_eq!((plain_grace(200, false), plain_grace(303, false)), (PLAIN_BUSY, PLAIN_BUSY));
    assert!((1..PLAIN_BUSY).contains(&plain_grace(200, true)));
}

#[test]
fn what_follows_a_look_while_the_page_stays() {
    let check = |state, more, wanted| assert_eq!(plain_step(state, more, false), wanted, "{state:?} {more}");
    check(KeyState::Completed(204), 0, PlainStep::Finish(204, 0));
    check(KeyState::Completed(200), 12, PlainStep::Finish(200, PLAIN_BUSY));
    check(KeyState::Absent, 1, PlainStep::LookAgain(NEXT_LOOK));
    check(KeyState::Running, 1, PlainStep::LookAgain(NEXT_LOOK));
    check(KeyState::Absent, 0, PlainStep::GiveUp);
    check(KeyState::Running, 0, PlainStep::GiveUp);
    check(KeyState::Unknown, 12, PlainStep::GiveUp);
}

#[test]
fn which_second_submit_is_refused() {
    let check = |busy, happened, ended, wanted| {
        assert_eq!(refusal_reason(busy, happened, ended), wanted, "{busy} {happened:?} {ended:?}");
    };
    check(true, None, None, Some("busy"));
    check(true, Some(2.0), Some(1.0), Some("busy"));
    check(false, Some(1.0), Some(2.0), Some("queued"));
    check(false, Some(2.0), Some(2.0), None);
    check(false, Some(3.0), Some(2.0), None);
    check(false, None, Some(2.0), None);
    check(false, Some(1.0), None, None);
}

#[test]
fn the_shortest_retention_of_all_routes_holds() {
    assert_eq!(shortest_retention([86_400_000, 0, 60_000]), Some(60_000));
    assert_eq!(shortest_retention([0]), None);
    assert_eq!(shortest_retention([]), None);
}

#[test]
fn parts_are_not_joined() {
    let digest = |parts: &[&str]| {
        let mut digest = ContentDigest::default();
        parts.iter().for_each(|part| digest.add_part(part));
        digest.value()
    };
    let all: HashSet<u64> =
        [&["ab", "c"][..], &["a", "bc"], &["abc"], &["abc", ""], &["", "abc"], &[]].map(digest).into();
    assert_eq!(all.len(), 6);
}

proptest! {
    #[test]
    fn a_digest_stays_exact_as_a_number_of_the_page(parts: Vec<String>) {
        let mut digest = ContentDigest::default();
        parts.iter().for_each(|part| digest.add_part(part));
        prop_assert!(digest.value() < 1 << 53);
    }
}
