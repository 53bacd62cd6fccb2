//! Answers: what a status means, the words, the kept head, refusals, and what the gate says itself.

pub mod cause;
pub mod class;
pub mod head;
pub mod log;
pub mod note;
pub mod own;
pub mod peek;
pub mod point;
pub mod refusal;
pub mod script;
pub mod timing;
pub mod word;
