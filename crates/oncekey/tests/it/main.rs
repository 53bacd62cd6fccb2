//! What is asked of the core from outside: vectors, golden files, models, properties.
#![allow(
    clippy::pedantic,
    clippy::disallowed_macros,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test stops where it fails"
)]

mod age;
mod batch;
mod call;
mod caller;
mod canonical;
mod cases;
mod coding;
mod decision;
mod delivery;
mod errand;
mod explain;
mod fingerprint;
mod fuzz;
mod golden;
mod identity;
mod intent;
mod item;
mod keys;
mod look;
mod machine;
mod model;
mod outbox;
mod policy;
mod problem;
mod promise;
mod reply;
mod retry;
mod same;
mod seal;
mod select;
mod telling;
mod unreadable;
mod world;
