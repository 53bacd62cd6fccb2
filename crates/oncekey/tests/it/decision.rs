//! The decision table, the classes of statuses, and the lines of settle, probed, tidy, peek and release.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState, refusal::Refusal},
    decide::{
        accepted::{AcceptDecision, decide_accept},
        alarm::{AlarmDecision, decide_alarm, first_alarm},
        attempt::{AfterProbe, Decision, ProbeResult, decide, decide_after_probe, decide_since_probe},
        look::{ReleaseDecision, decide_release, is_peek_of_other, peek_record},
        outcome::{RecordChange, Settlement, settle_attempt},
    },
    fingerprint::Fingerprint,
    key::{caller::CallerDigest, scoped::ScopedKey, seal::SealKeys},
    policy::{Policy, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        record::{Cause, Claim, Claimant, KeptReply, Owner, Record},
        told::ToldFate,
    },
};

mod course;

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const SAME: &str = "1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const OTHER: &str = "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM";

/// The time of every question: late enough that a lease and a retention lie before it.
const NOW: u64 = 1_000_000;
/// Milliseconds of the lease that are left where it runs: not a whole second.
const REST: u64 = 1_500;
/// Seconds.
const RETENTION: u32 = 100;
/// Where a record lives.
const EXPIRES: u64 = NOW + 5_000;

fn terms(unanswered: &str, wait: u32) -> Terms {
    let policy = Policy::default();
    let mut terms = Terms::of(&policy, &policy.routes[0]);
    terms.lease = 10;
    terms.retention = 30;
    terms.wait = wait;
    terms.unanswered = match unanswered {
        "hold" => Unanswered::Hold,
        "rerun" => Unanswered::Rerun,
        _ => Unanswered::Probe("/lookup/{key}?a=1".to_owned()),
    };
    terms
}

fn attempt(print: &str, unanswered: &str, wait: u32) -> Attempt {
    Attempt {
        scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
        fingerprint: (if print == "same" { SAME } else { OTHER }).parse::<Fingerprint>().unwrap(),
        terms: terms(unanswered, wait),
        header: "Idempotency-Key".to_owned(),
        callers: None,
        basis: None,
        age: None,
        seal: SealKeys::default(),
    }
}

fn claim(lease_until: u64) -> Claim {
    let (fingerprint, claimant) = (SAME.parse::<Fingerprint>().unwrap(), Claimant::default());
    Claim { generation: 4, fingerprint, lease_until, retention: RETENTION, claimant }
}

fn head() -> ReplyHead {
    ReplyHead { status: 201, lines: "location:/orders/1\n".to_owned() }
}

fn completed(expires: u64, kept: KeptReply) -> Record {
    Record::Completed { claim: claim(1), expires, kept }
}

fn unknown(expires: u64, cause: Cause, status: Option<u16>) -> Record {
    Record::Unknown { claim: claim(1), expires, cause, status }
}

/// The words of the table's first column.
fn record(word: &str) -> Option<Record> {
    let ago = |seconds: u64| NOW - seconds * 1000;
    match word {
        "none" => None,
        "claimed" => Some(Record::Claimed(claim(NOW + REST))),
        "claimed-over" => Some(Record::Claimed(claim(ago(1)))),
        "claimed-long-ago" => Some(Record::Claimed(claim(ago(u64::from(RETENTION))))),
        "reply" => Some(completed(EXPIRES, KeptReply::Whole(head()))),
        "tombstone" => Some(completed(EXPIRES, KeptReply::Tombstone { status: 200 })),
        "completed-expired" => Some(completed(NOW, KeptReply::Whole(head()))),
        "ambiguous" => Some(unknown(EXPIRES, Cause::Ambiguous, Some(500))),
        "unanswered" => Some(unknown(EXPIRES, Cause::Unanswered, None)),
        "unknown-expired" => Some(unknown(NOW, Cause::Unanswered, None)),
        other => panic!("{other}"),
    }
}

const RECORDS: [&str; 10] = [
    "none",
    "claimed",
    "claimed-over",
    "claimed-long-ago",
    "reply",
    "tombstone",
    "completed-expired",
    "ambiguous",
    "unanswered",
    "unknown-expired",
];

fn owner(word: &str) -> Owner {
    Owner { running: (word == "alive").then_some(4), latest: if word == "alive" { 4 } else { 0 } }
}

/// Record, owner, fingerprint, `unanswered`, wait, and the decision in words; `-` is any. A `claimed-over` has no
/// lease left, a `claimed-long-ago` no retention either. An owner is `alive` or `gone`, a wait `open`, `used` or `no`.
const TABLE: &str = "
none              -     -     -     -    | execute 1
completed-expired -     -     -     -    | execute 5
unknown-expired   -     -     -     -    | execute 5
claimed-long-ago  gone  -     -     -    | execute 5
claimed           -     other -     -    | 422
claimed-over      -     other -     -    | 422
claimed-long-ago  alive other -     -    | 422
claimed           alive same  -     open | wait 7
claimed-over      alive same  -     open | wait 7
claimed-long-ago  alive same  -     open | wait 7
claimed           alive same  -     -    | in progress 1
claimed-over      alive same  -     -    | in progress 1
claimed-long-ago  alive same  -     -    | in progress 1
claimed           gone  same  hold  -    | unknown until 1101500
claimed           gone  same  probe -    | probe
claimed           gone  same  rerun -    | in progress 2
claimed-over      gone  same  hold  -    | unknown until 1099000
claimed-over      gone  same  probe -    | probe
claimed-over      gone  same  rerun -    | execute 5
reply             -     other -     -    | 422 until 1005000
reply             -     same  -     -    | replay until 1005000
tombstone         -     other -     -    | 422 until 1005000
tombstone         -     same  -     -    | reply unavailable 200 until 1005000
ambiguous         -     other -     -    | 422 until 1005000
ambiguous         -     same  -     -    | unknown 500 until 1005000
unanswered        -     other -     -    | 422 until 1005000
unanswered        -     same  hold  -    | unknown until 1005000
unanswered        -     same  probe -    | probe
unanswered        -     same  rerun -    | execute 5
";

fn decision_words(decision: Decision) -> String {
    match decision {
        Decision::Execute(claim) => {
            assert_eq!(claim.lease_until, NOW + 10_000);
            assert_eq!(claim.retention, 30);
            format!("execute {}", claim.generation)
        }
        Decision::Probe { path, lease_until } => {
            assert!([1, NOW + REST, NOW - 1000].contains(&lease_until));
            assert_eq!(path, format!("/lookup/{SCOPED}?a=1"));
            "probe".to_owned()
        }
        Decision::Replay { head: found, expires } => {
            assert_eq!(found, head());
            format!("replay until {expires}")
        }
        Decision::Open { .. } => panic!("nothing is sealed"),
        Decision::Wait { seconds } => format!("wait {seconds}"),
        Decision::Refuse { refusal, expires } => {
            let mut words = match refusal {
                Refusal::Reused => "422".to_owned(),
                Refusal::InProgress { retry_after } => format!("in progress {retry_after}"),
                Refusal::OutcomeUnknown { status: None } => "unknown".to_owned(),
                Refusal::OutcomeUnknown { status: Some(s) } => format!("unknown {s}"),
                Refusal::ReplyUnavailable { status } => format!("reply unavailable {status}"),
                other => panic!("{other:?}"),
            };
            if let Some(at) = expires {
                words.push_str(&format!(" until {at}"));
            }
            words
        }
    }
}

/// Every combination of the columns has its row, the first that names it; every row is one that is met.
#[test]
fn the_table() {
    let rows: Vec<(Vec<&str>, &str)> = TABLE
        .lines()
        .filter_map(|line| line.split_once(" | "))
        .map(|(columns, expect)| (columns.split_whitespace().collect(), expect))
        .collect();
    let mut met = vec![false; rows.len()];
    for record_word in RECORDS {
        for owner_word in ["alive", "gone"] {
            // An execution that runs has its claim in the store.
            if owner_word == "alive" && !record_word.starts_with("claimed") {
                continue;
            }
            for print in ["same", "other"] {
                for unanswered in ["hold", "probe", "rerun"] {
                    for (wait, seconds, waited) in [("no", 0, false), ("open", 7, false), ("used", 7, true)] {
                        let case = [record_word, owner_word, print, unanswered, wait];
                        let at = rows
                            .iter()
                            .position(|(row, _)| row.iter().zip(case).all(|(r, c)| *r == "-" || *r == c))
                            .unwrap_or_else(|| panic!("no row for {case:?}"));
                        met[at] = true;
                        let attempt = attempt(print, unanswered, seconds);
                        let decision = decide(record(record_word).as_ref(), owner(owner_word), &attempt, waited, NOW);
                        assert_eq!(decision_words(decision), rows[at].1, "{case:?}");
                    }
                }
            }
        }
    }
    let idle: Vec<_> = rows.iter().zip(met).filter(|(_, met)| !met).collect();
    assert!(idle.is_empty(), "{idle:?}");
}

/// The first's attributes, the request's, and whose key it is.
const CALLERS: &str = "
forgotten -       | own
nobody    -       | own
a         a       | own
a         a,b     | own
a,b       b       | own
a,b       b,c     | own
a         nobody  | another's
a         no      | another's
a         b       | another's
a,b       c,d     | another's
";

fn callers(word: &str) -> Option<Vec<CallerDigest>> {
    match word {
        "forgotten" | "no" => None,
        "nobody" => Some(Vec::new()),
        letters => Some(letters.split(',').map(|letter| CallerDigest(letter.as_bytes().repeat(16))).collect()),
    }
}

/// Another caller is told so and nothing else, whatever is remembered, asked and waited for; the same caller gets what
/// it got when nobody was told apart.
#[test]
fn the_table_of_callers() {
    for (line, expect) in CALLERS.lines().filter_map(|line| line.split_once(" | ")) {
        let (first, second) = line.split_once(' ').unwrap();
        let all = match second.trim() {
            "-" => vec!["a", "a,b", "nobody", "no"],
            word => vec![word],
        };
        for (word, owner_word, print, unanswered) in every_live() {
            let mut of_first = record(word).unwrap();
            claim_of(&mut of_first).claimant.callers = callers(first);
            for second in &all {
                let attempt = Attempt { callers: callers(second), ..attempt(print, unanswered, 7) };
                let found = decide(Some(&of_first), owner(owner_word), &attempt, false, NOW);
                let accepted = decide_accept(Some(&of_first), owner(owner_word), &attempt, NOW);
                let seen = is_peek_of_other(Some(&of_first), owner(owner_word), attempt.callers.as_deref(), NOW);
                let case = format!("{line} {second} {word} {owner_word} {print} {unanswered}");
                let changed = Refusal::CallerChanged;
                if expect == "own" {
                    let expect = decide(record(word).as_ref(), owner(owner_word), &attempt, false, NOW);
                    assert_eq!(decision_words(found), decision_words(expect), "{case}");
                    assert!(
                        !matches!(accepted, AcceptDecision::Refuse { refusal: Refusal::CallerChanged, .. }),
                        "{case}"
                    );
                } else {
                    assert_eq!(found, Decision::Refuse { refusal: changed.clone(), expires: None }, "{case}");
                    assert_eq!(accepted, AcceptDecision::Refuse { refusal: changed, expires: None }, "{case}");
                    let kept = KeptReply::Tombstone { status: 200 };
                    let after = decide_after_probe(
                        Some(&of_first),
                        owner(owner_word),
                        &attempt,
                        ProbeResult::Nothing,
                        kept,
                        NOW,
                    );
                    assert_eq!(after, AfterProbe::Moved, "{case}");
                }
                assert_eq!(seen, expect != "own", "{case}");
            }
        }
    }
}

/// Who claimed stays who it was, through executions that another set of the same caller's credentials calls for; a key
/// that is free again takes the next one's.
#[test]
fn a_claim_remembers_its_first_caller() {
    let of = |record: Option<Record>| {
        let attempt = Attempt { callers: callers("a,c"), ..attempt("same", "rerun", 0) };
        match decide(record.as_ref(), Owner::default(), &attempt, false, NOW) {
            Decision::Execute(claim) => claim.claimant.callers,
            other => panic!("{other:?}"),
        }
    };
    let with = |word: &str| {
        let mut found = record(word).unwrap();
        claim_of(&mut found).claimant.callers = callers("a,b");
        Some(found)
    };
    assert_eq!(of(None), callers("a,c"));
    assert_eq!(of(with("completed-expired")), callers("a,c"));
    assert_eq!(of(with("unanswered")), callers("a,b"));
    assert_eq!(of(with("claimed-over")), callers("a,b"));
    let attempt = Attempt { callers: callers("a"), ..attempt("same", "hold", 0) };
    let AcceptDecision::Store(Record::Accepted(delivery)) = decide_accept(None, Owner::default(), &attempt, NOW) else {
        panic!()
    };
    assert_eq!(delivery.claim.claimant.callers, callers("a"));
}

/// Each record that counts, its owner, and what is asked.
fn every_live() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let mut all = Vec::new();
    for word in ["claimed", "claimed-over", "reply", "tombstone", "ambiguous", "unanswered"] {
        for owner in ["alive", "gone"] {
            for print in ["same", "other"] {
                all.extend(["hold", "probe", "rerun"].map(|unanswered| (word, owner, print, unanswered)));
            }
        }
    }
    all
}

fn claim_of(record: &mut Record) -> &mut Claim {
    match record {
        Record::Claimed(claim) | Record::Completed { claim, .. } | Record::Unknown { claim, .. } => claim,
        Record::Accepted(delivery) => &mut delivery.claim,
    }
}

#[test]
fn a_claim_comes_after_all_that_memory_and_store_know() {
    let of = |record: Option<Record>, latest| {
        let owner = Owner { running: None, latest };
        match decide(record.as_ref(), owner, &attempt("same", "rerun", 0), false, NOW) {
            Decision::Execute(claim) => claim.generation,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of(None, 0), 1);
    assert_eq!(of(None, 9), 10);
    assert_eq!(of(record("unanswered"), 0), 5);
    assert_eq!(of(record("unanswered"), 9), 10);
    assert_eq!(of(record("completed-expired"), 0), 5);
    assert_eq!(of(None, u32::MAX), u32::MAX);
}

fn check_settle(record: Option<Record>, then: RecordChange, expect: &Settlement) {
    let kept = KeptReply::Whole(head());
    assert_eq!(&settle_attempt(record.as_ref(), &claim(NOW + REST), then, kept, NOW), expect, "{record:?} {then:?}");
}

#[test]
fn settlements() {
    let held = || Some(Record::Claimed(claim(NOW + REST)));
    let expires = NOW + u64::from(RETENTION) * 1000;
    let hold = RecordChange::Hold { cause: Cause::Ambiguous, status: Some(500) };
    check_settle(held(), RecordChange::Release, &Settlement::Release);
    check_settle(
        held(),
        RecordChange::Keep,
        &Settlement::Store(Record::Completed { claim: claim(NOW + REST), expires, kept: KeptReply::Whole(head()) }),
    );
    check_settle(
        held(),
        hold,
        &Settlement::Store(Record::Unknown {
            claim: claim(NOW + REST),
            expires,
            cause: Cause::Ambiguous,
            status: Some(500),
        }),
    );
    let newer = Claim { generation: 5, ..claim(NOW + REST) };
    let other = Claim { fingerprint: OTHER.parse::<Fingerprint>().unwrap(), ..claim(NOW + REST) };
    let late = [
        None,
        record("reply"),
        record("tombstone"),
        record("ambiguous"),
        record("unanswered"),
        record("claimed-over"),
        Some(Record::Claimed(newer)),
        Some(Record::Claimed(other)),
    ];
    for record in late {
        for then in [RecordChange::Keep, RecordChange::Release, hold] {
            check_settle(record.clone(), then, &Settlement::Late);
        }
    }
}

fn check_probed(word: &str, owner_word: &str, print: &str, status: Option<u16>, expect: &str) {
    let attempt = attempt(print, "probe", 0);
    let lease_until = record(word).map_or(0, |record| record.claim().lease_until);
    let found = ProbeResult::of(status, NOW, lease_until);
    let kept = KeptReply::Whole(head());
    let said = match decide_after_probe(record(word).as_ref(), owner(owner_word), &attempt, found, kept, NOW) {
        AfterProbe::Store(Record::Completed { claim: of, expires, kept }) => {
            assert_eq!(kept, KeptReply::Whole(head()));
            assert_eq!(of.generation, 4);
            format!("store until {expires}")
        }
        AfterProbe::Store(other) => panic!("{other:?}"),
        AfterProbe::Execute(claim) => format!("execute {}", claim.generation),
        AfterProbe::Refuse { refusal: Refusal::InProgress { retry_after }, expires } => {
            assert_eq!(expires, record(word).unwrap().expires());
            format!("in progress {retry_after}")
        }
        AfterProbe::Refuse { refusal, expires } => {
            assert!(matches!(refusal, Refusal::OutcomeUnknown { .. }));
            assert_eq!(refusal.retry_after(), None);
            format!("unknown until {expires}")
        }
        AfterProbe::Moved => "moved".to_owned(),
    };
    assert_eq!(said, expect, "{word} {owner_word} {print} {status:?}");
}

#[test]
fn probes() {
    check_probed("unanswered", "gone", "same", Some(200), "store until 1100000");
    check_probed("unanswered", "gone", "same", Some(299), "store until 1100000");
    check_probed("unanswered", "gone", "same", Some(404), "execute 5");
    check_probed("claimed", "gone", "same", Some(204), "store until 1100000");
    check_probed("claimed", "gone", "same", Some(404), "in progress 2");
    check_probed("claimed-over", "gone", "same", Some(404), "execute 5");
    for unclear in [None, Some(199), Some(302), Some(400), Some(410), Some(500), Some(503)] {
        check_probed("unanswered", "gone", "same", unclear, "unknown until 1005000");
        check_probed("claimed-over", "gone", "same", unclear, "unknown until 1099000");
    }
    for status in [Some(200), Some(404), None] {
        check_probed("claimed", "alive", "same", status, "moved");
        check_probed("unanswered", "gone", "other", status, "moved");
        for word in RECORDS.into_iter().filter(|word| !["claimed", "claimed-over", "unanswered"].contains(word)) {
            check_probed(word, "gone", "same", status, "moved");
        }
    }
}

/// A 404 that was asked for before the lease had ended does not count when it comes after: the effect may have landed
/// in between.
#[test]
fn a_404_that_is_asked_for_too_early() {
    let early = ProbeResult::of(Some(404), NOW - 2000, NOW - 1000);
    let attempt = attempt("same", "probe", 0);
    let kept = KeptReply::Whole(head());
    let record = record("claimed-over");
    let AfterProbe::Refuse { refusal, .. } =
        decide_after_probe(record.as_ref(), Owner::default(), &attempt, early, kept, NOW)
    else {
        panic!("run again");
    };
    assert_eq!(refusal, Refusal::InProgress { retry_after: 1 });
}

/// A probe's answer counts for the execution that it was asked about, and for no later one.
#[test]
fn a_probe_that_comes_late() {
    let attempt = attempt("same", "probe", 0);
    let asked = record("unanswered");
    let later = Record::Unknown {
        claim: Claim { generation: 5, ..claim(2) },
        expires: EXPIRES,
        cause: Cause::Unanswered,
        status: None,
    };
    let after = |record: Option<&Record>, found| {
        let kept = KeptReply::Whole(head());
        decide_since_probe(asked.as_ref(), record, Owner::default(), &attempt, found, kept, NOW)
    };
    assert!(matches!(after(asked.as_ref(), ProbeResult::Nothing), AfterProbe::Execute(_)));
    // Somebody was told of it while the origin was asked.
    let mut told = asked.clone();
    if let Some(Record::Unknown { claim, .. }) = &mut told {
        claim.claimant.note_told(ToldFate { generation: 1, since: NOW, ..ToldFate::default() });
    }
    assert_ne!(told, asked);
    assert!(matches!(after(told.as_ref(), ProbeResult::Nothing), AfterProbe::Execute(_)));
    assert!(matches!(after(told.as_ref(), ProbeResult::Answer), AfterProbe::Store(_)));
    for found in [ProbeResult::Answer, ProbeResult::Nothing, ProbeResult::Unclear] {
        assert_eq!(after(Some(&later), found), AfterProbe::Moved);
        assert_eq!(after(None, found), AfterProbe::Moved);
    }
}

/// Record, owner, what tidy, peek and release say.
#[test]
fn what_is_remembered() {
    let until = |at| AlarmDecision::Later(at);
    let unknown = |expires| PeekState::Unknown { status: None, expires: Some(expires) };
    let completed = |status| PeekState::Completed { status, expires: EXPIRES };
    let check = |word: &str, owner_word: &str, expect: (AlarmDecision, PeekState, ReleaseDecision)| {
        let (record, owner) = (record(word), owner(owner_word));
        let record = record.as_ref();
        let found =
            (decide_alarm(record, owner, NOW), peek_record(record, owner, NOW), decide_release(record, owner, NOW));
        assert_eq!(found, expect, "{word} {owner_word}");
    };
    for nothing in ["none", "claimed-long-ago", "completed-expired", "unknown-expired"] {
        check(nothing, "gone", (AlarmDecision::Delete, PeekState::Absent, ReleaseDecision::Absent));
    }
    check("claimed", "alive", (until(1_101_500), PeekState::Running, ReleaseDecision::Running));
    check("claimed-over", "alive", (until(1_099_000), PeekState::Running, ReleaseDecision::Running));
    check("claimed-long-ago", "alive", (until(NOW + 1000), PeekState::Running, ReleaseDecision::Running));
    check("claimed", "gone", (until(1_101_500), unknown(1_101_500), ReleaseDecision::Done));
    check("claimed-over", "gone", (until(1_099_000), unknown(1_099_000), ReleaseDecision::Done));
    check("reply", "gone", (until(EXPIRES), completed(201), ReleaseDecision::Done));
    check("tombstone", "gone", (until(EXPIRES), completed(200), ReleaseDecision::Done));
    check("ambiguous", "gone", (until(EXPIRES), unknown(EXPIRES), ReleaseDecision::Done));
    check("unanswered", "gone", (until(EXPIRES), unknown(EXPIRES), ReleaseDecision::Done));
}

/// The alarm that a claim sets rings no sooner than an answer that comes at once is forgotten.
#[test]
fn the_first_alarm() {
    let at = first_alarm(&claim(NOW + REST), NOW);
    let Settlement::Store(record) = settle_attempt(
        Some(&Record::Claimed(claim(NOW + REST))),
        &claim(NOW + REST),
        RecordChange::Keep,
        KeptReply::Whole(head()),
        NOW,
    ) else {
        panic!("not stored");
    };
    assert!(at >= record.expires());
    assert_eq!(decide_alarm(Some(&record), Owner::default(), at), AlarmDecision::Delete);
}

#[test]
fn times_end_where_numbers_do() {
    let forever = Terms { lease: u32::MAX, retention: u32::MAX, ..terms("hold", 0) };
    let attempt = Attempt { terms: forever, ..attempt("same", "hold", 0) };
    let Decision::Execute(claim) = decide(None, Owner::default(), &attempt, false, u64::MAX - 1) else {
        panic!("not executed");
    };
    assert_eq!(claim.lease_until, u64::MAX);
    assert_eq!(first_alarm(&claim, u64::MAX), u64::MAX);
    assert_eq!(
        peek_record(Some(&Record::Claimed(claim)), Owner::default(), 0),
        PeekState::Unknown { status: None, expires: Some(u64::MAX) }
    );
}
