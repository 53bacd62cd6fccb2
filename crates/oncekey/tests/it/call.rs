//! Calls to an object that failed: which are made again, and after which the object may have run the effect.
use oncekey::call::{
    Calls,
    Failed::{self, InDoubt, Unreached},
    Fault,
};

const NONE: Fault = Fault { overloaded: false, retryable: false, remote: false, reset: false };
const OVERLOADED: Fault = Fault { overloaded: true, ..NONE };
const LOST: Fault = Fault { retryable: true, ..NONE };
const THROWN: Fault = Fault { remote: true, ..NONE };
const RESET: Fault = Fault { remote: true, reset: true, ..NONE };

fn check(faults: &[Fault], expected: Option<Failed>) {
    let mut calls = Calls::default();
    let mut last = None;
    for (at, fault) in faults.iter().enumerate() {
        last = calls.failed(*fault);
        assert_eq!(last.is_none() && at + 1 < faults.len(), at + 1 < faults.len(), "again after {:?}", &faults[..=at]);
    }
    assert_eq!(last, expected, "{faults:?}");
}

#[test]
fn what_never_arrived_may_go_elsewhere() {
    check(&[NONE], Some(Unreached));
    check(&[OVERLOADED], Some(Unreached));
    check(&[Fault { retryable: true, ..OVERLOADED }], Some(Unreached));
}

#[test]
fn what_may_have_arrived_may_not() {
    check(&[THROWN], Some(InDoubt));
    check(&[RESET], Some(InDoubt));
    check(&[Fault { reset: true, ..NONE }], Some(InDoubt));
}

#[test]
fn a_lost_call_is_made_once_more_and_its_doubt_stays() {
    check(&[LOST], None);
    check(&[LOST, LOST], Some(InDoubt));
    check(&[LOST, NONE], Some(InDoubt));
    check(&[LOST, OVERLOADED], Some(InDoubt));
    check(&[LOST, THROWN], Some(InDoubt));
}
