//! The errands between front and object, as text.
use oncekey::{
    answer::{refusal::Refusal, word::StatusWord},
    errand::{Errand, NotUnderstood, is_not_understood, may_be_not_understood},
    fingerprint::Fingerprint,
    http::{
        fields::{STATUS, is_internal},
        lines::HeaderLines,
        negotiate::{Audience, RefusalForm},
    },
    key::{age::KeyAge, caller::CallerDigest, scoped::ScopedKey, seal::SealKeys},
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        storing::Storing,
    },
};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

use crate::reply::{keep, lines};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const PRINT: &str = "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM";

fn check_errand(errand: Errand, expect: &str) {
    assert_eq!(errand.to_string(), expect);
    for more in ["", " more", " ", "  a=b 1"] {
        assert_eq!(format!("{expect}{more}").parse().as_ref(), Ok(&errand), "{expect}{more}");
    }
    for more in [" !", " !more", " a !b", " !a b"] {
        assert_eq!(format!("{expect}{more}").parse::<Errand>(), Err(NotUnderstood), "{expect}{more}");
    }
}

fn attempt() -> Attempt {
    Attempt {
        scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
        fingerprint: PRINT.parse::<Fingerprint>().unwrap(),
        terms: Terms {
            keep: Keep::Definite,
            server_error: ServerError::Hold,
            unanswered: Unanswered::Probe("/a b/{key}?c=%20\u{e9}".to_owned()),
            lease: 60,
            patience: 25,
            wait: 0,
            retention: 86_400,
            max_stored: 4_194_304,
            storing: Storing::default(),
            route: String::new(),
        },
        header: "Idempotency-Key".to_owned(),
        callers: None,
        basis: None,
        age: None,
        seal: SealKeys::default(),
    }
}

#[test]
fn errands() {
    check_errand(Errand::Release, "release");
    check_errand(Errand::Deliver, "deliver");
    check_errand(Errand::Peek { wait: 30, callers: None, age: None }, "peek 30");
    let expect =
        format!("attempt {SCOPED} {PRINT} d h p/a%20b/{{key}}?c=%2520%c3%a9 60 25 0 86400 4194304 Idempotency-Key");
    check_errand(Errand::Attempt(attempt()), &expect);
    for callers in [vec![], vec![vec![0; 16]], vec![vec![0x0a, 0xff], vec![1; 16]]] {
        let callers = Some(callers.into_iter().map(CallerDigest).collect::<Vec<_>>());
        let said: Vec<String> = callers.iter().flatten().map(CallerDigest::to_string).collect();
        let more = format!(" !callers={}", said.join(","));
        check_errand(Errand::Peek { wait: 30, callers: callers.clone(), age: None }, &format!("peek 30{more}"));
        let attempt = Attempt { callers, ..attempt() };
        check_errand(Errand::Attempt(attempt.clone()), &[expect.as_str(), &more].concat());
        check_errand(Errand::Accept(attempt), &[&expect.replacen("attempt", "accept", 1), more.as_str()].concat());
    }
    let age = Some(KeyAge { time: 1_767_225_600_000, most: 60 });
    let more = " !age=1767225600000,60";
    check_errand(Errand::Peek { wait: 30, callers: None, age }, &format!("peek 30{more}"));
    check_errand(Errand::Attempt(Attempt { age, ..attempt() }), &[expect.as_str(), more].concat());
    for (redact, forget, said) in [(vec!["set-cookie", "x!"], false, ":set-cookie,x!"), (vec![], true, "f:")] {
        let storing = Storing { redact: redact.into_iter().map(str::to_owned).collect(), forget };
        let attempt = Attempt { terms: Terms { storing, ..attempt().terms }, ..attempt() };
        check_errand(Errand::Attempt(attempt), &format!("{expect} !storing={said}"));
    }
    let seal: SealKeys = "ab".repeat(32).parse().unwrap();
    let sealed = Attempt { seal: seal.clone(), ..attempt() };
    check_errand(Errand::Attempt(sealed.clone()), &format!("{expect} !seal={}", "ab".repeat(32)));
    assert_eq!(Errand::Attempt(attempt()).with_seal(seal.keys), Errand::Attempt(sealed));
    for more in [
        "!seal=",
        "!seal=00",
        "!age=",
        "!age=1",
        "!age=1,",
        "!age=1,x",
        "!storing=",
        "!storing=x:",
        "!storing=:a(b",
        "!storing=:a/b",
    ] {
        assert_eq!(format!("{expect} {more}").parse::<Errand>(), Err(NotUnderstood), "{more}");
    }
    for broken in [
        "release !age=1,1",
        "peek 1 !storing=f:",
        "release !callers=",
        "deliver !callers=",
        "peek 1 !callers=0",
        "peek 1 !callers=0g",
        "peek 1 !callers=00,",
        "peek 1 !callers",
    ] {
        assert_eq!(broken.parse::<Errand>(), Err(NotUnderstood), "{broken}");
    }
    for broken in ["", " ", "peek", "peek ", "peek x", "peek -1", "Release", "Deliver", "attempt", "!release"] {
        assert_eq!(broken.parse::<Errand>(), Err(NotUnderstood), "{broken}");
    }
    let words: Vec<&str> = expect.split(' ').collect();
    for at in 0..words.len() {
        let short = [&words[..at], &words[at + 1..]].concat().join(" ");
        assert_eq!(short.parse::<Errand>(), Err(NotUnderstood), "{short}");
        let mut other = words.clone();
        other[at] = "%";
        assert_eq!(other.join(" ").parse::<Errand>(), Err(NotUnderstood), "{at}");
    }
}

#[test]
fn what_earlier_builds_say_to_an_errand_that_they_do_not_know() {
    let check = |refusal: Refusal, expect: bool| {
        for form in [RefusalForm::Problem, RefusalForm::Fragment, RefusalForm::Page] {
            let said = refusal.render(&Audience { form, ..Audience::default() }, None);
            let line = (STATUS.to_owned(), refusal.status_word().as_str().to_owned());
            let status = said.status;
            assert!(lines(said.lines).contains(&line));
            let found = may_be_not_understood(status, || Some(refusal.status_word().as_str().to_owned()))
                && is_not_understood(&said.content);
            assert_eq!(found, expect, "{refusal:?}");
        }
    };
    check(Refusal::NoSuchEndpoint, true);
    check(Refusal::NothingRemembered, false);
    check(Refusal::StoreUnavailable, false);
    check(Refusal::Reused, false);
    for word in [None, Some("executed"), Some("replayed"), Some("bypassed;reason=no-key")] {
        assert!(!may_be_not_understood(404, || word.map(str::to_owned)), "an origin's own 404: {word:?}");
    }
}

fn some_terms() -> impl Strategy<Value = Terms> {
    let keep = prop_oneof![Just(Keep::Success), Just(Keep::Definite)];
    let server_error = prop_oneof![Just(ServerError::Release), Just(ServerError::Hold), Just(ServerError::Keep)];
    let unanswered =
        prop_oneof![Just(Unanswered::Hold), Just(Unanswered::Rerun), any::<String>().prop_map(Unanswered::Probe),];
    let seconds = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    (keep, server_error, unanswered, seconds, any::<u64>()).prop_map(
        |(keep, server_error, unanswered, (lease, patience, wait, retention), max_stored)| Terms {
            keep,
            server_error,
            unanswered,
            lease,
            patience,
            wait,
            retention,
            max_stored,
            storing: Storing::default(),
            route: String::new(),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_json_that_says_what_was_pushed(pairs in any::<Vec<(String, String)>>()) {
        let mut pushed = HeaderLines::default();
        for (name, value) in &pairs {
            pushed.push(name, value);
        }
        assert_eq!(lines(pushed), pairs);
    }

    #[test]
    fn an_errand_is_read_back(terms in some_terms(), header in any::<String>()) {
        let errand = Errand::Attempt(Attempt { terms, header, ..attempt() });
        let text = errand.to_string();
        assert!(text.bytes().all(|byte| (0x20..=0x7e).contains(&byte)), "{text}");
        assert_eq!(text.parse(), Ok(errand));
    }

    #[test]
    fn any_text_is_an_errand_or_none(text in any::<String>(), like in "(attempt|peek|release|[dhrsp%/] ?|[0-9 ]){0,16}") {
        for text in [text, like] {
            if let Ok(errand) = text.parse::<Errand>() {
                assert_eq!(errand.to_string().parse(), Ok(errand));
            }
        }
    }

    #[test]
    fn a_kept_head_holds_nothing_of_one_hop_or_of_the_gate(
        pairs in proptest::collection::vec(("(connection|te|x-a|x-b|oncekey-c|set-cookie|idempotency-status)", "[ -~]{0,8}|x-a, x-b"), 0..8),
    ) {
        let text: Vec<String> = pairs.iter().map(|(name, value)| format!("{name},{value}")).collect();
        let head = keep(200, &text.join("\n"));
        let named: Vec<String> = pairs
            .iter()
            .filter(|(name, _)| name == "connection")
            .flat_map(|(_, value)| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        for (name, _) in head.pairs() {
            assert!(!is_internal(name) && !["connection", "te"].contains(&name), "{name}");
            assert!(!named.iter().any(|n| n == name), "{name}");
        }
        let kept = pairs.iter().filter(|(name, _)| name == "set-cookie").count();
        if !named.iter().any(|n| n == "set-cookie") {
            assert_eq!(head.pairs().filter(|(name, _)| *name == "set-cookie").count(), kept);
        }
    }

    #[test]
    fn any_text_makes_a_head(pairs in any::<String>()) {
        let head = keep(200, &pairs);
        assert!(head.lines.is_empty() || head.lines.ends_with('\n'));
        let _ = lines(head.lines_to_send(StatusWord::Replayed, None, false));
    }
}
