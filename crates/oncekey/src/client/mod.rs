//! The page's half: which key an attempt carries, and whether to send again.

pub mod intent;
pub mod retry;
