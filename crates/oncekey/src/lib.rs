//! The rules of Oncekey: no clock, no chance, no I/O, the same on every target.
#![forbid(unsafe_code)]

pub mod answer;
pub mod batch;
pub mod call;
pub mod client;
pub mod content;
pub mod decide;
mod digest;
pub mod errand;
pub mod fingerprint;
pub mod http;
pub mod json;
pub mod key;
pub mod policy;
pub mod queue;
pub mod stored;
