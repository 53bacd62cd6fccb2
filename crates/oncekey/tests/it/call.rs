//! Calls to an object that failed: which are made again, and after which the object may have run the effect.
use oncekey::call::{CallFailure, CallFault, CallHistory};

/// Every shape of a failure: `o`verloaded, re`t`ryable, re`m`ote, `r`eset. What the first call's failure leads to, and
/// what the same failure of a second call does where the first was lost without a word (`t`): `again`, `unreached` or
/// `doubt`.
const SHAPES: [(&str, &str, &str); 16] = [
    ("----", "doubt", "doubt"),
    ("---r", "doubt", "doubt"),
    ("--m-", "doubt", "doubt"),
    ("--mr", "doubt", "doubt"),
    ("-t--", "again", "doubt"),
    ("-t-r", "again", "doubt"),
    ("-tm-", "again", "doubt"),
    ("-tmr", "again", "doubt"),
    ("o---", "unreached", "doubt"),
    ("o--r", "doubt", "doubt"),
    ("o-m-", "doubt", "doubt"),
    ("o-mr", "doubt", "doubt"),
    ("ot--", "unreached", "doubt"),
    ("ot-r", "doubt", "doubt"),
    ("otm-", "doubt", "doubt"),
    ("otmr", "doubt", "doubt"),
];

const LOST: &str = "-t--";

fn fault(shape: &str) -> CallFault {
    let flag = |letter| shape.contains(letter);
    CallFault { overloaded: flag('o'), retryable: flag('t'), remote: flag('m'), reset: flag('r') }
}

fn check(calls: &mut CallHistory, shape: &str, expect: &str) {
    let said = match calls.note_failure(fault(shape)) {
        None => "again",
        Some(CallFailure::Unreached) => "unreached",
        Some(CallFailure::InDoubt) => "doubt",
        Some(CallFailure::NotUnderstood) => "not understood",
    };
    assert_eq!(said, expect, "{shape} after {calls:?}");
}

#[test]
fn each_shape_as_first_and_as_second_call() {
    for (at, (shape, first, second)) in SHAPES.into_iter().enumerate() {
        let number = shape.bytes().fold(0, |number, letter| number * 2 + usize::from(letter != b'-'));
        assert_eq!(number, at, "{shape} is out of its place");
        check(&mut CallHistory::default(), shape, first);
        let mut calls = CallHistory::default();
        check(&mut calls, LOST, "again");
        check(&mut calls, shape, second);
    }
}

#[test]
fn no_call_is_made_a_third_time() {
    for (first, second) in SHAPES.iter().flat_map(|(first, ..)| SHAPES.map(|(second, ..)| (first, second))) {
        let mut calls = CallHistory::default();
        let again = calls.note_failure(fault(first)).is_none();
        assert!(!again || calls.note_failure(fault(second)) == Some(CallFailure::InDoubt), "{first} {second}");
    }
}
