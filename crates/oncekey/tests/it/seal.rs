//! Sealed storage: what keys are derived from, and what is sealed belongs to.
use oncekey::{
    fingerprint::Fingerprint,
    key::{
        Key,
        scope::Scope,
        scoped::ScopedKey,
        seal::{SealKey, SealKeys, SealMaterial},
    },
    policy::Policy,
    stored::{
        attempt::{Attempt, Terms},
        record::{Claim, Claimant, KeptReply, Seal},
        request::StoredRequest,
        seal::{SealedReply, reply_belongs, request_belongs},
    },
};

const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
const UUID: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

fn scope(host: &str, token: &str) -> Scope {
    let mut scope = Scope::new(host);
    scope.add("header:authorization", token);
    scope
}

fn material(scope: &Scope, key: &str) -> SealMaterial {
    SealMaterial::of_answer(scope, &Key::from_header(key).unwrap())
}

fn claim(print: usize, generation: u32) -> Claim {
    let fingerprint = PRINTS[print].parse::<Fingerprint>().unwrap();
    Claim { generation, fingerprint, lease_until: 1, retention: 1, claimant: Claimant::default() }
}

#[test]
fn a_random_uuid_is_opened_by_whoever_its_object_lets_in() {
    let [ann, refreshed] = [scope("a.example", "Bearer one"), scope("a.example", "Bearer two")];
    assert_eq!(material(&ann, UUID), material(&refreshed, UUID));
    assert_eq!(material(&ann, UUID), material(&Scope::new("a.example"), &UUID.to_uppercase()));
    assert_ne!(material(&ann, UUID), material(&scope("b.example", "Bearer one"), UUID));
    assert_ne!(material(&ann, UUID), material(&ann, "8e03978e-40d5-43dd-bc93-6894a57f9325"));
}

#[test]
fn any_other_key_is_opened_by_its_caller_alone() {
    let [ann, bob] = [scope("a.example", "Bearer ann"), scope("a.example", "Bearer bob")];
    assert_ne!(material(&ann, "order-1042"), material(&bob, "order-1042"));
    assert_ne!(material(&ann.clone().apart(), UUID), material(&bob.apart(), UUID));
}

/// Neither the object's name nor what the origin saw is what an answer's key is derived from.
#[test]
fn the_scoped_key_opens_nothing_but_what_was_accepted() {
    let ann = scope("a.example", "Bearer ann");
    let scoped = ScopedKey::derive(&ann, &Key::from_header(UUID).unwrap()).unwrap();
    assert_ne!(SealMaterial::of_accepted(&scoped), material(&ann, UUID));
    assert_eq!(format!("{:?}", material(&ann, UUID)), "SealMaterial");
    assert_eq!(format!("{:?}", SealKey::of(&[1; 32]).unwrap()), "SealKey");
}

#[test]
fn a_key_is_known_again_by_what_stands_beside_what_it_sealed() {
    let [one, other] = [SealKey::of(&[1; 32]).unwrap(), SealKey::of(&[2; 32]).unwrap()];
    let seal = Seal::of(&one, vec![3; 12], vec![4; 20], vec![5; 12]);
    assert!(seal.is_under(&one) && !seal.is_under(&other));
    assert_eq!(seal.secret.len(), 8);
    let both = SealKeys { material: None, keys: vec![one, other] };
    assert_eq!(both.to_string().parse().as_ref(), Ok(&both));
    for broken in ["", ",", "01", &"0".repeat(63), &format!("{},", "0".repeat(64)), &"g".repeat(64)] {
        assert!(broken.parse::<SealKeys>().is_err(), "{broken}");
    }
}

#[test]
fn nothing_sealed_can_stand_in_the_place_of_another() {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for (print, generation, status) in [(0, 1, 200), (1, 1, 200), (0, 2, 200), (0, 1, 201)] {
        all.extend(reply_belongs(&claim(print, generation), status));
    }
    let policy = Policy::default();
    let key = ScopedKey::derive(&Scope::new("a.example"), &Key::from_header(UUID).unwrap()).unwrap();
    for (path, key) in [("/a", key.clone()), ("/b", key), ("/a", ScopedKey::of_health())] {
        let terms = Terms::of(&policy, &policy.routes[0]);
        all.extend(request_belongs(&Attempt::of_json(&policy, key, path, b"{}", &[], terms)));
    }
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn what_is_sealed_is_stored() {
    let seal = Seal::of(&SealKey::of(&[1; 32]).unwrap(), vec![3; 12], vec![4; 20], vec![5; 12]);
    assert_eq!(StoredRequest::decode_seal(&seal.encode_request(7)), Some(seal.clone()));
    let open = StoredRequest::json("http://a.example/").encode(7);
    assert_eq!(StoredRequest::decode_seal(&open), None);
    let sealed = SealedReply::of(&claim(0, 1), 201, &seal);
    assert_eq!(sealed.belongs, reply_belongs(&claim(0, 1), 201));
    assert_eq!(sealed.head(b"a:b\n".to_vec()).map(|head| head.status), Some(201));
    assert_eq!(sealed.head(vec![0xff]), None);
    assert!(matches!(seal.into_reply(201), KeptReply::Sealed { status: 201, .. }));
}

#[test]
fn what_is_derived_where_the_policy_says_so() {
    let key = Key::from_header(UUID).unwrap();
    let scope = Scope::new("a.example");
    assert_eq!(Policy::default().seal_keys(&scope, &key), SealKeys::default());
    let sealing: Policy = r#"{"seal": true}"#.parse().unwrap();
    assert_eq!(sealing.seal_keys(&scope, &key).material, Some(SealMaterial::of_answer(&scope, &key)));
}
