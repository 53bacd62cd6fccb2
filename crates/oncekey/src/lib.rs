//! The rules of Oncekey: no clock, no chance, no I/O, the same on every target.
#![forbid(unsafe_code)]

pub mod attempt;
pub mod batch;
pub mod call;
pub mod canonical;
pub mod date;
pub mod decision;
pub mod delivery;
mod digest;
pub mod fields;
pub mod fingerprint;
pub mod held;
pub mod intent;
pub mod key;
pub mod machine;
pub mod negotiate;
pub mod policy;
pub mod record;
pub mod reply;
pub mod retry;
mod said;
pub mod select;
pub mod target;
