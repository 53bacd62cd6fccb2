//! The stored form of records: every version ever written, pinned by golden files, and bytes that are none.
use oncekey::{
    answer::head::ReplyHead,
    fingerprint::Fingerprint,
    http::fields::Fields,
    key::scoped::ScopedKey,
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        record::{Cause, Claim, Delivery, Kept, Record, Stage, VERSION},
        request::Held,
    },
};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
const EXPIRES: u64 = 1_767_312_000_123;

fn claim() -> Claim {
    Claim {
        generation: 7,
        fingerprint: PRINTS[0].parse::<Fingerprint>().unwrap(),
        lease_until: 1_767_225_660_000,
        retention: 86_400,
    }
}

fn completed(kept: Kept) -> Record {
    Record::Completed { claim: claim(), expires: EXPIRES, kept }
}

fn reply(status: u16, lines: &str) -> Record {
    completed(Kept::Reply(ReplyHead { status, lines: lines.to_owned() }))
}

fn unknown(cause: Cause, status: Option<u16>) -> Record {
    Record::Unknown { claim: claim(), expires: EXPIRES, cause, status }
}

fn attempt(unanswered: Unanswered) -> Attempt {
    Attempt {
        scoped_key: "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse::<ScopedKey>().unwrap(),
        fingerprint: PRINTS[0].parse::<Fingerprint>().unwrap(),
        terms: Terms {
            keep: Keep::Definite,
            server_error: ServerError::Release,
            unanswered,
            lease: 60,
            patience: 25,
            wait: 0,
            retention: 86_400,
            max_stored: 4_194_304,
        },
        header: "Idempotency-Key".to_owned(),
    }
}

fn accepted(tries: u32, stage: Stage, unanswered: Unanswered) -> Record {
    Record::Accepted(Delivery { claim: claim(), attempt: attempt(unanswered), until: EXPIRES, tries, stage })
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap()).collect();
    let pairs = digits.chunks_exact(2);
    assert!(pairs.remainder().is_empty(), "{hex}");
    pairs.map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// A file of this version: read as the record, written as the file, and nothing but the whole file is read.
fn check(hex: &str, record: &Record) {
    let golden = bytes(hex);
    assert_eq!(golden.first(), Some(&VERSION));
    assert_eq!(Record::decode(&golden).as_ref(), Some(record));
    assert_eq!(record.encode(), golden, "{record:?}");
    for length in 0..golden.len() {
        assert_eq!(Record::decode(&golden[..length]), None, "{length}");
    }
    for more in [0, 1, 255] {
        let longer = [golden.as_slice(), &[more]].concat();
        assert_eq!(Record::decode(&longer), None, "{more}");
    }
    for version in (0..=u8::MAX).filter(|version| *version != VERSION) {
        let other = [&[version], &golden[1..]].concat();
        assert_eq!(Record::decode(&other), None, "version {version}");
    }
}

macro_rules! golden {
    ($name:literal, $record:expr) => {
        check(include_str!(concat!("../../../../tests/golden/record-", $name, ".hex")), &$record)
    };
}

#[test]
fn version_1() {
    let lines = "content-type:application/json\nset-cookie:a=1, b\nset-cookie:c=\u{e9}\n";
    golden!("v1-claimed", Record::Claimed(claim()));
    golden!("v1-completed-reply", reply(201, lines));
    golden!("v1-completed-reply-without-lines", reply(204, ""));
    golden!("v1-completed-tombstone", completed(Kept::Tombstone { status: 200 }));
    golden!("v1-unknown-ambiguous", unknown(Cause::Ambiguous, Some(500)));
    golden!("v1-unknown-unanswered", unknown(Cause::Unanswered, None));
    golden!("v1-unknown-unanswered-status", unknown(Cause::Unanswered, Some(504)));
    golden!("v1-accepted-waiting", accepted(0, Stage::Waiting { at: EXPIRES - 1 }, Unanswered::Hold));
    golden!("v1-accepted-running", accepted(3, Stage::Running, Unanswered::Rerun));
    let probe = Unanswered::Probe("/look up/{key}?%".to_owned());
    golden!("v1-accepted-asking", accepted(3, Stage::Asking { at: 1 }, probe));
}

#[test]
fn a_held_request_of_version_1() {
    let fields = Fields::new(
        "content-type,application/json\noncekey-errand,accept\nx-two,a, b\nidempotency-status,x\nx-name,Žofie"
            .to_owned(),
    );
    let held = Held::keep("PATCH", "http://gate.example:8787/a%20b?c=%C3%A9&d", &fields);
    let golden = include_str!("../../../../tests/golden/held-v1.txt");
    assert_eq!(held.encode(), golden);
    assert_eq!(Held::decode(golden).as_ref(), Some(&held));
    let bare = Held::keep("POST", "http://a/", &Fields::default());
    assert_eq!(Held::decode(&bare.encode()), Some(bare));
    for other in ["", "1", "1\nPOST", "1\nPOST\nhttp://a/", "2\nPOST\nhttp://a/\n", "1\n\nhttp://a/\n", "1\nPOST\n\n"] {
        assert_eq!(Held::decode(other), None, "{other:?}");
    }
}

#[test]
fn no_tag_is_read_that_was_never_written() {
    let record = completed(Kept::Tombstone { status: 200 }).encode();
    let kept = record.len() - 3;
    for (at, written) in [(1, 0..=3_u8), (kept, 0..=1)] {
        for tag in (0..=u8::MAX).filter(|tag| !written.contains(tag)) {
            let mut other = record.clone();
            other[at] = tag;
            assert_eq!(Record::decode(&other), None, "{at}: {tag}");
        }
    }
}

#[test]
fn a_claim_of_another_fingerprint_version_is_not_read() {
    let mut other = Record::Claimed(claim()).encode();
    let at = other.len() - PRINTS[0].len();
    other[at] = b'9';
    assert_eq!(Record::decode(&other), None);
}

fn some_claim() -> impl Strategy<Value = Claim> {
    (any::<u32>(), 0..PRINTS.len(), any::<u64>(), any::<u32>()).prop_map(
        |(generation, print, lease_until, retention)| Claim {
            generation,
            fingerprint: PRINTS[print].parse::<Fingerprint>().unwrap(),
            lease_until,
            retention,
        },
    )
}

fn some_kept() -> impl Strategy<Value = Kept> {
    prop_oneof![
        (any::<u16>(), any::<String>()).prop_map(|(status, lines)| Kept::Reply(ReplyHead { status, lines })),
        any::<u16>().prop_map(|status| Kept::Tombstone { status }),
    ]
}

fn some_record() -> impl Strategy<Value = Record> {
    let cause = prop_oneof![Just(Cause::Ambiguous), Just(Cause::Unanswered)];
    // A status is never 0: 0 stands for none.
    let status = any::<u16>().prop_map(|status| Some(status).filter(|status| *status != 0));
    let stage = prop_oneof![
        any::<u64>().prop_map(|at| Stage::Waiting { at }),
        Just(Stage::Running),
        any::<u64>().prop_map(|at| Stage::Asking { at }),
    ];
    let unanswered =
        prop_oneof![Just(Unanswered::Hold), Just(Unanswered::Rerun), any::<String>().prop_map(Unanswered::Probe),];
    prop_oneof![
        (some_claim(), unanswered, any::<u64>(), any::<u32>(), stage).prop_map(
            |(claim, unanswered, until, tries, stage)| {
                Record::Accepted(Delivery { claim, attempt: attempt(unanswered), until, tries, stage })
            }
        ),
        some_claim().prop_map(Record::Claimed),
        (some_claim(), any::<u64>(), some_kept())
            .prop_map(|(claim, expires, kept)| { Record::Completed { claim, expires, kept } }),
        (some_claim(), any::<u64>(), cause, status)
            .prop_map(|(claim, expires, cause, status)| { Record::Unknown { claim, expires, cause, status } }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_record_is_read_back(record in some_record()) {
        assert_eq!(Record::decode(&record.encode()), Some(record));
    }

    #[test]
    fn a_part_of_a_record_is_none(record in some_record(), cut in any::<usize>()) {
        let whole = record.encode();
        assert_eq!(Record::decode(&whole[..cut % whole.len()]), None);
    }

    #[test]
    fn bytes_are_one_record_or_none(bytes in any::<Vec<u8>>()) {
        if let Some(record) = Record::decode(&bytes) {
            assert_eq!(record.encode(), bytes);
        }
    }

    #[test]
    fn a_changed_byte_is_read_as_what_it_says_or_not_at_all(
        record in some_record(), at in any::<usize>(), to in any::<u8>(),
    ) {
        let mut bytes = record.encode();
        let at = at % bytes.len();
        bytes[at] = to;
        if let Some(other) = Record::decode(&bytes) {
            assert_eq!(other.encode(), bytes);
        }
    }
}
