//! HTTP: fields, targets, dates, negotiation, each once.

pub mod cookie;
pub mod credentials;
pub mod date;
pub mod fields;
pub mod lines;
pub mod media;
pub mod negotiate;
pub mod percent;
pub mod retry_after;
pub mod target;
pub mod token;
