//! The page's half: which key an attempt carries, whether to send again, and what a page may take for granted.
//!
//! | room | what is decided there |
//! |---|---|
//! | [`subject`] | which requests are ours, what tells one content from another, what an intent is called |
//! | [`intent`] | which key an attempt carries, what is kept of it, and when it ends |
//! | [`retry`] | what an answer means, whether to send again, and when |
//! | [`look`] | what an answer to "what became of this key?" means, and when to ask |
//! | [`guard`] | whether a second submit is refused, and how long an intent is busy |
//! | [`tab`] | whether a tab's intents are its own |
//!
//! `look` knows `intent` and `guard`, `intent` knows `retry`. Times are milliseconds; clocks, jitter and storage are the
//! browser shell's.

pub mod guard;
pub mod intent;
pub mod look;
pub mod retry;
pub mod subject;
pub mod tab;
