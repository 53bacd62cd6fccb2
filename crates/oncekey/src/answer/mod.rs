//! Answers: what a status means, the words, the kept head, refusals, and what the gate says itself.

pub mod class;
pub mod head;
pub mod log;
pub mod own;
pub mod peek;
pub mod refusal;
pub mod script;
pub mod word;
