//! The stored forms: every version ever written, pinned by golden files, and bytes that are none.
use oncekey::{
    answer::head::ReplyHead,
    fingerprint::Fingerprint,
    http::fields::Fields,
    key::{caller::CallerDigest, scoped::ScopedKey, seal::SealKeys},
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        codec::{ENTITY_VERSION, OUTBOX_VERSION, RECORD_VERSION, REQUEST_VERSION},
        entity::{Entity, TransitionAnswer},
        frame::{Extension, NEVER, Unreadable},
        outbox::{EffectFate, EffectNote, OutboxEntry, OutboxProgress},
        record::{
            Cause, Claim, Claimant, DeathCause, Delivery, DeliveryStage, FingerprintBasis, KeptReply, Record, Seal,
        },
        request::StoredRequest,
        storing::Storing,
        told::{Listeners, ToldFate},
    },
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde::Serialize;

const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
const EXPIRES: u64 = 1_767_312_000_123;
const LINES: &str = "content-type:application/json\nset-cookie:a=1, b\nset-cookie:c=\u{e9}\n";

fn claim() -> Claim {
    Claim {
        generation: 7,
        fingerprint: PRINTS[0].parse::<Fingerprint>().unwrap(),
        lease_until: 1_767_225_660_000,
        retention: 86_400,
        claimant: Claimant::default(),
    }
}

/// All that a claim has room for.
fn known_claimant() -> Claimant {
    Claimant {
        callers: Some(vec![CallerDigest(vec![0xca; 8]), CallerDigest(vec![0xfe; 8])]),
        basis: Some(Box::new(FingerprintBasis {
            ignore: vec!["/sent_at".to_owned(), "nonce".to_owned()],
            headers: vec!["if-match".to_owned()],
            field: "idempotency_key".to_owned(),
            sent: vec![0x5e; 32],
        })),
        key_time: Some(1_767_225_600_456),
        route: String::new(),
        extensions: vec![extension(false)],
    }
}

fn extension(is_needed: bool) -> Extension {
    Extension { tag: 300, is_needed, bytes: b"later".to_vec() }
}

fn seal() -> Box<Seal> {
    Box::new(Seal { secret: vec![1, 2], nonce: vec![3; 12], head: vec![4; 20], content_nonce: vec![5; 12] })
}

fn completed(kept: KeptReply) -> Record {
    Record::Completed { claim: claim(), expires: EXPIRES, kept }
}

fn reply(status: u16, lines: &str) -> Record {
    completed(KeptReply::Whole(ReplyHead { status, lines: lines.to_owned() }))
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

fn accepted(tries: u32, stage: DeliveryStage, unanswered: Unanswered) -> Record {
    delivery(tries, 0, stage, unanswered)
}

fn delivery(tries: u32, refusals: u32, stage: DeliveryStage, unanswered: Unanswered) -> Record {
    let attempt = attempt(unanswered);
    Record::Accepted(Delivery { claim: claim(), attempt, until: EXPIRES, tries, refusals, stage })
}

fn probe() -> Unanswered {
    Unanswered::Probe("/look up/{key}?%".to_owned())
}

fn request() -> StoredRequest {
    let fields = Fields::new(
        "content-type,application/json\noncekey-errand,accept\nx-two,a, b\nidempotency-status,x\nx-name,Žofie"
            .to_owned(),
    );
    StoredRequest::keep("PATCH", "http://gate.example:8787/a%20b?c=%C3%A9&d", &fields)
}

fn storing() -> Storing {
    Storing { redact: vec!["set-cookie".to_owned(), "X-Token".to_owned()], forget: true }
}

fn entity(extensions: Vec<Extension>) -> Entity {
    let (ran, pending) = (vec!["approve".to_owned()], vec![2, 3]);
    Entity { state: "approved".to_owned(), version: 3, ran, pending, extensions }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap()).collect();
    let pairs = digits.chunks_exact(2);
    assert!(pairs.remainder().is_empty(), "{hex}");
    pairs.map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

macro_rules! golden {
    ($name:literal) => {
        bytes(include_str!(concat!("../../../../tests/golden/", $name, ".hex")))
    };
}

/// Nothing but the whole file is read, and of anything else of this or a later version the time.
fn check_whole<T>(golden: &[u8], expires: Option<u64>, decode: impl Fn(&[u8]) -> Result<T, Unreadable>) {
    let known = |bytes: &[u8]| expires.filter(|_| bytes.len() >= 9 && bytes[0] > 1);
    let check = |bytes: &[u8]| {
        let found = decode(bytes).map(|_| ()).unwrap_err();
        assert_eq!(found, Unreadable { expires: known(bytes) }, "{bytes:02x?}");
    };
    for length in 0..golden.len() {
        check(&golden[..length]);
    }
    for more in [0, 1, 255] {
        check(&[golden, &[more]].concat());
    }
    for version in (0..=u8::MAX).filter(|version| *version != golden[0]) {
        let other = [&[version], &golden[1..]].concat();
        // What stands at the place of the time in version 1 is none.
        let in_place = u64::from_be_bytes(golden[1..9].try_into().unwrap());
        let expires = (version > 1).then_some(in_place);
        assert_eq!(decode(&other).map(|_| ()).unwrap_err(), Unreadable { expires }, "version {version}");
    }
}

/// A record of version 1 is read.
fn check_v1(golden: &[u8], record: &Record) {
    assert_eq!(golden[0], 1);
    assert_eq!(Record::decode(golden).as_ref(), Ok(record));
    assert_eq!(Record::decode(&record.encode()).as_ref(), Ok(record), "as it is written now");
    check_whole(golden, None, Record::decode);
}

/// A record is read and written as the file, with its time in its place.
fn check_record(golden: &[u8], record: &Record) {
    assert_eq!(golden[0], RECORD_VERSION);
    assert_eq!(golden[1..9], record.expires().to_be_bytes());
    assert_eq!(Record::decode(golden).as_ref(), Ok(record));
    assert_eq!(record.encode(), golden, "{record:?} is {}", hex(&record.encode()));
    check_whole(golden, Some(record.expires()), Record::decode);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn records_of_version_1() {
    check_v1(&golden!("record-v1-claimed"), &Record::Claimed(claim()));
    check_v1(&golden!("record-v1-completed-reply"), &reply(201, LINES));
    check_v1(&golden!("record-v1-completed-reply-without-lines"), &reply(204, ""));
    check_v1(&golden!("record-v1-completed-tombstone"), &completed(KeptReply::Tombstone { status: 200 }));
    check_v1(&golden!("record-v1-unknown-ambiguous"), &unknown(Cause::Ambiguous, Some(500)));
    check_v1(&golden!("record-v1-unknown-unanswered"), &unknown(Cause::Unanswered, None));
    check_v1(&golden!("record-v1-unknown-unanswered-status"), &unknown(Cause::Unanswered, Some(504)));
    let waiting = DeliveryStage::Waiting { at: EXPIRES - 1 };
    check_v1(&golden!("record-v1-accepted-waiting"), &accepted(0, waiting, Unanswered::Hold));
    check_v1(&golden!("record-v1-accepted-running"), &accepted(3, DeliveryStage::Running, Unanswered::Rerun));
    check_v1(&golden!("record-v1-accepted-asking"), &accepted(3, DeliveryStage::Asking { at: 1 }, probe()));
}

#[test]
fn records_of_version_2() {
    check_record(&golden!("record-v2-claimed"), &Record::Claimed(claim()));
    let claimed = Record::Claimed(Claim { claimant: known_claimant(), ..claim() });
    check_record(&golden!("record-v2-claimed-claimant"), &claimed);
    check_record(&golden!("record-v2-completed-reply"), &reply(201, LINES));
    check_record(&golden!("record-v2-completed-reply-without-lines"), &reply(204, ""));
    check_record(&golden!("record-v2-completed-tombstone"), &completed(KeptReply::Tombstone { status: 200 }));
    let sealed = KeptReply::Sealed { status: 201, seal: seal() };
    check_record(&golden!("record-v2-completed-sealed"), &completed(sealed));
    check_record(&golden!("record-v2-unknown-ambiguous"), &unknown(Cause::Ambiguous, Some(500)));
    check_record(&golden!("record-v2-unknown-unanswered"), &unknown(Cause::Unanswered, None));
    check_record(&golden!("record-v2-unknown-unanswered-status"), &unknown(Cause::Unanswered, Some(504)));
    let waiting = DeliveryStage::Waiting { at: EXPIRES - 1 };
    check_record(&golden!("record-v2-accepted-waiting"), &accepted(0, waiting, Unanswered::Hold));
    check_record(&golden!("record-v2-accepted-running"), &accepted(3, DeliveryStage::Running, Unanswered::Rerun));
    check_record(&golden!("record-v2-accepted-asking"), &accepted(3, DeliveryStage::Asking { at: 1 }, probe()));
    let dead = |cause, status| DeliveryStage::Dead { cause, status, expires: EXPIRES + 1 };
    let declined = delivery(3, 0, dead(DeathCause::Declined, Some(422)), Unanswered::Hold);
    check_record(&golden!("record-v2-accepted-declined"), &declined);
    let exhausted = delivery(9, 5, dead(DeathCause::Exhausted, None), Unanswered::Rerun);
    check_record(&golden!("record-v2-accepted-exhausted"), &exhausted);
    let unknown = |cause, status| DeliveryStage::Unknown { cause, status, expires: EXPIRES + 1 };
    let silent = delivery(2, 0, unknown(Cause::Unanswered, None), probe());
    check_record(&golden!("record-v2-accepted-unanswered"), &silent);
    let mut ambiguous = delivery(1, 0, unknown(Cause::Ambiguous, Some(500)), Unanswered::Hold);
    if let Record::Accepted(Delivery { claim, .. }) = &mut ambiguous {
        claim.claimant = known_claimant();
    }
    check_record(&golden!("record-v2-accepted-ambiguous"), &ambiguous);
    if let Record::Accepted(Delivery { attempt, .. }) = &mut ambiguous {
        attempt.terms.storing = storing();
    }
    check_record(&golden!("record-v2-accepted-storing"), &ambiguous);
    if let Record::Accepted(Delivery { claim, .. }) = &mut ambiguous {
        claim.claimant.route = "/payments/*".to_owned();
    }
    check_record(&golden!("record-v2-accepted-route"), &ambiguous);
    let mut told = unknown_fate_told();
    check_record(&golden!("record-v2-unknown-told"), &told);
    if let Record::Unknown { claim, .. } = &mut told {
        claim.claimant.note_told(ToldFate { tries: 3, told: Listeners::default(), ..fate_told() });
    }
    check_record(&golden!("record-v2-unknown-untold"), &told);
}

fn fate_told() -> ToldFate {
    ToldFate { generation: 7, since: EXPIRES - 86_400_000, told: Listeners { policy: true, index: true }, tries: 1 }
}

/// What is told of a fate, beside the key that is told.
fn unknown_fate_told() -> Record {
    let mut claim = claim();
    claim.claimant.note_key(&attempt(Unanswered::Hold).scoped_key);
    claim.claimant.note_told(fate_told());
    Record::Unknown { claim, expires: EXPIRES, cause: Cause::Ambiguous, status: Some(500) }
}

#[test]
fn requests() {
    let held = include_str!("../../../../tests/golden/held-v1.txt");
    assert_eq!(StoredRequest::decode_v1(held), Ok(request()));
    for other in ["", "1", "1\nPOST", "1\nPOST\nhttp://a/", "2\nPOST\nhttp://a/\n", "1\n\nhttp://a/\n", "1\nPOST\n\n"] {
        assert_eq!(StoredRequest::decode_v1(other), Err(Unreadable::default()), "{other:?}");
    }
    let golden = golden!("request-v2");
    assert_eq!((golden[0], &golden[1..9]), (REQUEST_VERSION, EXPIRES.to_be_bytes().as_slice()));
    assert_eq!(StoredRequest::decode(&golden), Ok(request()));
    assert_eq!(hex(&request().encode(EXPIRES)), hex(&golden));
    check_whole(&golden, Some(EXPIRES), StoredRequest::decode);
    let bare = StoredRequest::keep("POST", "http://a/", &Fields::default());
    assert_eq!(StoredRequest::decode(&bare.encode(NEVER)), Ok(bare));
}

/// The forms of a request as they are numbered; this build writes none that is sealed.
#[derive(Serialize)]
enum Request<'a> {
    #[expect(dead_code, reason = "it takes the first number")]
    Open(&'a str),
    Sealed(&'a [u8], &'a [u8], &'a [u8], &'a [u8]),
}

#[test]
fn a_sealed_request_waits_for_a_build_that_opens_it() {
    let Seal { secret, nonce, head, content_nonce } = *seal();
    let sealed = Request::Sealed(&secret, &nonce, &head, &content_nonce);
    let body = postcard::to_allocvec(&(sealed, Vec::<u8>::new())).unwrap();
    let form = [[REQUEST_VERSION].as_slice(), &EXPIRES.to_be_bytes(), &body].concat();
    let golden = golden!("request-v2-sealed");
    assert_eq!(hex(&form), hex(&golden));
    assert_eq!(StoredRequest::decode(&golden), Err(Unreadable { expires: Some(EXPIRES) }));
}

#[test]
fn entities() {
    let golden = golden!("entity-v1");
    assert_eq!(Entity::decode(&golden), Ok(entity(Vec::new())));
    check_whole(&golden, None, Entity::decode);
    for (golden, entity) in
        [(golden!("entity-v2"), entity(Vec::new())), (golden!("entity-v2-extended"), entity(vec![extension(false)]))]
    {
        assert_eq!((golden[0], &golden[1..9]), (ENTITY_VERSION, NEVER.to_be_bytes().as_slice()));
        assert_eq!(Entity::decode(&golden).as_ref(), Ok(&entity));
        assert_eq!(hex(&entity.encode()), hex(&golden));
        check_whole(&golden, Some(NEVER), Entity::decode);
    }
}

#[test]
fn outbox_entries() {
    let entry = OutboxEntry { attempt: attempt(probe()), request: StoredRequest::json("http://gate.example/payouts") };
    let golden = golden!("outbox-v2");
    assert_eq!((golden[0], &golden[1..9]), (OUTBOX_VERSION, NEVER.to_be_bytes().as_slice()));
    assert_eq!(OutboxEntry::decode(&golden).as_ref(), Ok(&entry));
    assert_eq!(hex(&entry.encode()), hex(&golden));
    check_whole(&golden, Some(NEVER), OutboxEntry::decode);
    let mut other = entry.clone();
    other.attempt.terms.storing = storing();
    let golden = golden!("outbox-v2-storing");
    assert_eq!(OutboxEntry::decode(&golden).as_ref(), Ok(&other));
    assert_eq!(hex(&other.encode()), hex(&golden));
    check_whole(&golden, Some(NEVER), OutboxEntry::decode);
    let texts: Vec<&str> = include_str!("../../../../tests/golden/outbox-v1.txt").splitn(2, '\n').collect();
    assert_eq!(OutboxEntry::decode_v1(texts[0], texts[1]), Ok(entry));
    for (attempt, request) in [("", texts[1]), (texts[0], ""), (&format!("{} ", texts[0]), texts[1])] {
        assert_eq!(OutboxEntry::decode_v1(attempt, request), Err(Unreadable::default()));
    }
}

#[test]
fn texts_beside_an_entity() {
    let progress = OutboxProgress { waiting: Some(7), tries: 3, aside: 2 };
    assert_eq!(progress.to_string(), include_str!("../../../../tests/golden/progress-v1.txt"));
    assert_eq!(include_str!("../../../../tests/golden/progress-v1.txt").parse(), Ok(progress));
    let key = Some("37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse::<ScopedKey>().unwrap());
    let note = EffectNote { fate: EffectFate::Dead(Some(404)), key };
    assert_eq!(note.to_string(), include_str!("../../../../tests/golden/effect-v1.json"));
    assert_eq!(include_str!("../../../../tests/golden/effect-v1.json").parse(), Ok(note));
    let fingerprint = PRINTS[0].parse::<Fingerprint>().unwrap();
    let answer = TransitionAnswer { fingerprint, state: "a bé".to_owned(), won: true, version: 7, until: EXPIRES };
    assert_eq!(answer.to_string(), include_str!("../../../../tests/golden/answer-v1.txt"));
    assert_eq!(include_str!("../../../../tests/golden/answer-v1.txt").parse(), Ok(answer));
}

#[test]
fn what_is_needed_and_not_known_makes_a_form_unreadable() {
    let extensions = vec![extension(false), extension(true)];
    let claimant = Claimant { extensions: extensions.clone(), ..Claimant::default() };
    let record = Record::Claimed(Claim { claimant, ..claim() });
    assert_eq!(Record::decode(&record.encode()), Err(Unreadable { expires: Some(record.expires()) }));
    // The one tag that is known says something of a delivery alone.
    let fate = vec![Extension { tag: 1, is_needed: true, bytes: vec![1] }];
    let claimant = Claimant { extensions: fate.clone(), ..Claimant::default() };
    let record = Record::Claimed(Claim { claimant, ..claim() });
    assert_eq!(Record::decode(&record.encode()), Err(Unreadable { expires: Some(record.expires()) }));
    assert_eq!(Entity::decode(&entity(fate).encode()), Err(Unreadable { expires: Some(NEVER) }));
    assert_eq!(Entity::decode(&entity(extensions).encode()), Err(Unreadable { expires: Some(NEVER) }));
}

#[test]
fn no_tag_is_read_that_was_never_written_in_version_1() {
    let record = golden!("record-v1-completed-tombstone");
    let kept = record.len() - 3;
    for (at, written) in [(1, 0..=3_u8), (kept, 0..=1)] {
        for tag in (0..=u8::MAX).filter(|tag| !written.contains(tag)) {
            let mut other = record.clone();
            other[at] = tag;
            assert_eq!(Record::decode(&other), Err(Unreadable::default()), "{at}: {tag}");
        }
    }
}

#[test]
fn a_claim_of_another_fingerprint_version_is_not_read() {
    for (golden, expires) in
        [(golden!("record-v1-claimed"), None), (golden!("record-v2-claimed"), Some(Record::Claimed(claim()).expires()))]
    {
        let at = golden.windows(45).position(|window| window == PRINTS[0].as_bytes()).unwrap();
        let mut other = golden.clone();
        other[at] = b'9';
        assert_eq!(Record::decode(&other), Err(Unreadable { expires }));
    }
}

fn some_digest() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

fn some_claimant() -> impl Strategy<Value = Claimant> {
    let texts = || vec(any::<String>(), 0..3);
    let basis = (texts(), texts(), any::<String>(), some_digest())
        .prop_map(|(ignore, headers, field, sent)| Box::new(FingerprintBasis { ignore, headers, field, sent }));
    // The first tags are known.
    let extension = (4_u32.., some_digest()).prop_map(|(tag, bytes)| Extension { tag, is_needed: false, bytes });
    let callers = vec(some_digest().prop_map(CallerDigest), 0..3);
    (option::of(callers), option::of(basis), option::of(any::<u64>()), any::<String>(), vec(extension, 0..3)).prop_map(
        |(callers, basis, key_time, route, extensions)| Claimant { callers, basis, key_time, route, extensions },
    )
}

fn some_claim() -> impl Strategy<Value = Claim> {
    (any::<u32>(), 0..PRINTS.len(), any::<u64>(), any::<u32>(), some_claimant()).prop_map(
        |(generation, print, lease_until, retention, claimant)| Claim {
            generation,
            fingerprint: PRINTS[print].parse::<Fingerprint>().unwrap(),
            lease_until,
            retention,
            claimant,
        },
    )
}

fn some_kept() -> impl Strategy<Value = KeptReply> {
    let seal = (some_digest(), some_digest(), some_digest(), some_digest())
        .prop_map(|(secret, nonce, head, content_nonce)| Box::new(Seal { secret, nonce, head, content_nonce }));
    prop_oneof![
        (any::<u16>(), any::<String>()).prop_map(|(status, lines)| KeptReply::Whole(ReplyHead { status, lines })),
        any::<u16>().prop_map(|status| KeptReply::Tombstone { status }),
        (any::<u16>(), seal).prop_map(|(status, seal)| KeptReply::Sealed { status, seal }),
    ]
}

fn some_record() -> impl Strategy<Value = Record> {
    let cause = prop_oneof![Just(Cause::Ambiguous), Just(Cause::Unanswered)];
    let death = prop_oneof![Just(DeathCause::Declined), Just(DeathCause::Exhausted)];
    let stage = prop_oneof![
        any::<u64>().prop_map(|at| DeliveryStage::Waiting { at }),
        Just(DeliveryStage::Running),
        any::<u64>().prop_map(|at| DeliveryStage::Asking { at }),
        (death, any::<Option<u16>>(), any::<u64>()).prop_map(|(cause, status, expires)| DeliveryStage::Dead {
            cause,
            status,
            expires
        }),
        (cause.clone(), any::<Option<u16>>(), any::<u64>())
            .prop_map(|(cause, status, expires)| DeliveryStage::Unknown { cause, status, expires }),
    ];
    let unanswered =
        prop_oneof![Just(Unanswered::Hold), Just(Unanswered::Rerun), any::<String>().prop_map(Unanswered::Probe),];
    prop_oneof![
        (some_claim(), unanswered, any::<u64>(), any::<u32>(), any::<u32>(), stage).prop_map(
            |(claim, unanswered, until, tries, refusals, stage)| {
                Record::Accepted(Delivery { claim, attempt: attempt(unanswered), until, tries, refusals, stage })
            }
        ),
        some_claim().prop_map(Record::Claimed),
        (some_claim(), any::<u64>(), some_kept())
            .prop_map(|(claim, expires, kept)| { Record::Completed { claim, expires, kept } }),
        (some_claim(), any::<u64>(), cause, any::<Option<u16>>())
            .prop_map(|(claim, expires, cause, status)| { Record::Unknown { claim, expires, cause, status } }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_record_is_read_back(record in some_record()) {
        assert_eq!(Record::decode(&record.encode()), Ok(record));
    }

    #[test]
    fn a_part_of_a_record_is_none(record in some_record(), cut in any::<usize>()) {
        let whole = record.encode();
        let part = &whole[..cut % whole.len()];
        let expires = Some(record.expires()).filter(|_| part.len() >= 9);
        assert_eq!(Record::decode(part), Err(Unreadable { expires }));
    }

    #[test]
    fn bytes_are_one_record_or_none(bytes in any::<Vec<u8>>()) {
        if let Ok(record) = Record::decode(&bytes) {
            assert_eq!(Record::decode(&record.encode()), Ok(record));
        }
    }

    #[test]
    fn a_changed_byte_is_read_as_what_it_says_or_not_at_all(
        record in some_record(), at in any::<usize>(), to in any::<u8>(),
    ) {
        let mut bytes = record.encode();
        let at = at % bytes.len();
        bytes[at] = to;
        match Record::decode(&bytes) {
            Ok(other) => assert_eq!(Record::decode(&other.encode()), Ok(other)),
            Err(Unreadable { expires: Some(expires) }) => assert_eq!(bytes[1..9], expires.to_be_bytes()),
            Err(Unreadable { expires: None }) => assert!(bytes[0] < 2),
        }
    }
}
