//! What each status, and content that breaks off, does under every policy.
use oncekey::{
    answer::refusal::Refusal,
    decide::outcome::{EffectOutcome, RecordChange, outcome_of_broken_answer, outcome_of_status},
    policy::{Keep, ServerError},
    stored::{attempt::Terms, record::Cause},
};

use super::terms;

/// The words of the contract's table, from the statuses that it lists.
fn class(status: u16) -> &'static str {
    match status {
        307 | 308 | 401 | 403 | 407 | 425 | 429 | 503 => "never consumes",
        521 | 523 | 525 | 526 | 530 => "never reached",
        408 | 502 | 504 | 520 | 522 | 524 => "unanswered",
        200..=399 => "done",
        400..=499 => "declined",
        500..=599 => "ambiguous",
        // Not final answers: HTTP has no others.
        _ => "unanswered",
    }
}

const CAUSES: [(Cause, &str); 2] = [(Cause::Ambiguous, "ambiguous"), (Cause::Unanswered, "unanswered")];

fn course_words(course: &EffectOutcome) -> String {
    let (said, then) = match course {
        EffectOutcome::Pass { word, then } => (format!("pass {}", word.as_str()), then),
        EffectOutcome::Refuse { refusal, then } => {
            let status = match refusal {
                Refusal::OriginUnreachable { status }
                | Refusal::OriginUnanswered { status }
                | Refusal::OutcomeUnknown { status } => *status,
                other => panic!("{other:?}"),
            };
            let status = status.map_or("-".to_owned(), |status| status.to_string());
            (format!("{} {} {status}", refusal.status(), refusal.code()), then)
        }
    };
    let then = match then {
        RecordChange::Keep => "keep".to_owned(),
        RecordChange::Release => "release".to_owned(),
        RecordChange::Hold { cause, status } => {
            let cause = CAUSES.iter().find(|(c, _)| c == cause).unwrap().1;
            format!("hold {cause} {}", status.map_or("-".to_owned(), |status| status.to_string()))
        }
    };
    format!("{said}, {then}")
}

/// Class, `keep`, `server_error`, `unanswered`, and the course; `-` is any, `#` the status.
const COURSES: &str = "
done           -        -       -     | pass executed, keep
declined       success  -       -     | pass executed, release
declined       definite -       -     | pass executed, keep
never-consumes -        -       -     | pass executed, release
never-reached  -        -       -     | 503 origin_unreachable #, release
ambiguous      -        release -     | pass executed, release
ambiguous      -        keep    -     | pass executed, keep
ambiguous      -        hold    -     | pass unknown, hold ambiguous #
unanswered     -        -       hold  | 409 outcome_unknown #, hold unanswered #
unanswered     -        -       probe | 409 outcome_unknown #, hold unanswered #
unanswered     -        -       rerun | 504 origin_unanswered #, release
";

fn each_terms(mut each: impl FnMut([&str; 3], &Terms)) {
    for (keep_word, keep) in [("success", Keep::Success), ("definite", Keep::Definite)] {
        for (error_word, server_error) in
            [("release", ServerError::Release), ("keep", ServerError::Keep), ("hold", ServerError::Hold)]
        {
            for unanswered in ["hold", "probe", "rerun"] {
                let mut terms = terms(unanswered, 0);
                terms.keep = keep;
                terms.server_error = server_error;
                each([keep_word, error_word, unanswered], &terms);
            }
        }
    }
}

fn expected_course(class: &str, words: [&str; 3], status: Option<u16>) -> String {
    let class = class.replace(' ', "-");
    let case = [class.as_str(), words[0], words[1], words[2]];
    let mut rows = COURSES
        .lines()
        .filter_map(|line| line.split_once(" | "))
        .filter(|(columns, _)| columns.split_whitespace().zip(case).all(|(r, c)| r == "-" || r == c));
    let (_, expect) = rows.next().unwrap_or_else(|| panic!("no row for {case:?}"));
    assert_eq!(rows.next(), None, "{case:?}");
    expect.replace('#', &status.map_or("-".to_owned(), |status| status.to_string()))
}

#[test]
fn what_each_status_does() {
    each_terms(|words, terms| {
        for status in (100..=999).chain([0, u16::MAX]) {
            let expect = expected_course(class(status), words, Some(status));
            assert_eq!(course_words(&outcome_of_status(Some(status), terms)), expect, "{status} {words:?}");
        }
        let expect = expected_course("unanswered", words, None);
        assert_eq!(course_words(&outcome_of_status(None, terms)), expect, "{words:?}");
    });
}

/// Content that breaks off leaves the fate open, unless the status alone says that nothing ran.
#[test]
fn what_content_that_breaks_off_does() {
    each_terms(|words, terms| {
        for status in 100..=999 {
            let expect = match class(status) {
                "never consumes" | "never reached" => "pass executed, release".to_owned(),
                _ => expected_course("unanswered", words, Some(status)),
            };
            assert_eq!(course_words(&outcome_of_broken_answer(status, terms)), expect, "{status} {words:?}");
        }
    });
}
