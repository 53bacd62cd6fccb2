//! Calls to an object that failed: which are made again, and after which the object may have run the effect.
use oncekey::call::{
    CallFailure::{self, InDoubt, Unreached},
    CallFault, CallHistory,
};

const NONE: CallFault = CallFault { overloaded: false, retryable: false, remote: false, reset: false };
const OVERLOADED: CallFault = CallFault { overloaded: true, ..NONE };
const LOST: CallFault = CallFault { retryable: true, ..NONE };
const THROWN: CallFault = CallFault { remote: true, ..NONE };
const RESET: CallFault = CallFault { remote: true, reset: true, ..NONE };

fn check(faults: &[CallFault], expected: Option<CallFailure>) {
    let mut calls = CallHistory::default();
    let mut last = None;
    for (at, fault) in faults.iter().enumerate() {
        last = calls.note_failure(*fault);
        assert_eq!(last.is_none() && at + 1 < faults.len(), at + 1 < faults.len(), "again after {:?}", &faults[..=at]);
    }
    assert_eq!(last, expected, "{faults:?}");
}

#[test]
fn what_never_arrived_may_go_elsewhere() {
    check(&[NONE], Some(Unreached));
    check(&[OVERLOADED], Some(Unreached));
    check(&[CallFault { retryable: true, ..OVERLOADED }], Some(Unreached));
}

#[test]
fn what_may_have_arrived_may_not() {
    check(&[THROWN], Some(InDoubt));
    check(&[RESET], Some(InDoubt));
    check(&[CallFault { reset: true, ..NONE }], Some(InDoubt));
}

#[test]
fn a_lost_call_is_made_once_more_and_its_doubt_stays() {
    check(&[LOST], None);
    check(&[LOST, LOST], Some(InDoubt));
    check(&[LOST, NONE], Some(InDoubt));
    check(&[LOST, OVERLOADED], Some(InDoubt));
    check(&[LOST, THROWN], Some(InDoubt));
}
