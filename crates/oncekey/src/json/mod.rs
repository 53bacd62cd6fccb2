//! JSON: reading it part by part, and writing it.

pub mod number;
pub mod pointer;
pub mod select;
pub mod tokens;
pub mod write;
