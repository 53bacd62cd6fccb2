//! What the gate makes of a request, and in which part two of them differ, in words: for a person who asks why.
//!
//! It holds no rule of its own. What is protected, the key, the caller and the canonical form are told by the rooms that the
//! gate asks; the parts of a content are read out of the very bytes that the fingerprint digests. So two requests differ in a
//! part exactly if their fingerprints differ.
//!
//! ```
//! use oncekey::{
//!     explain::{PairOutcome, SentRequest, compare_requests, explain_request},
//!     http::fields::Fields,
//!     policy::Policy,
//! };
//!
//! let fields = Fields::new("content-type,application/json\nidempotency-key,8e03978e-40d5-43dd-bc93-6894a57f9324".into());
//! let sent = |content| {
//!     let sent = SentRequest { method: "POST", url: "https://shop.example/orders", fields: &fields, content };
//!     explain_request(&Policy::default(), &sent)
//! };
//! let (mug, two) = (sent(br#"{"item":"Mug","quantity":1}"#), sent(br#"{"item":"Mug", "quantity":2.0}"#));
//! let compared = compare_requests(&mug, &two);
//! assert_eq!(compared.outcome, PairOutcome::Other);
//! assert_eq!(compared.differences, ["the content at /quantity: 1 in the first, 2 in the second"]);
//! assert_ne!(mug.fingerprint, two.fingerprint);
//! ```
//!
//! | floor | room | what |
//! |---|---|---|
//! | 0 | `canonical` | a canonical form read back, part by part |
//! | 1 | `part` | what of a request counts, by name |
//! | 2 | `request` | what the gate makes of one request |
//! | 3 | `pair` | two requests under one key |

mod canonical;
mod pair;
mod part;
mod request;

pub use pair::{Apart, Comparison, PairOutcome, compare_requests};
pub use request::{Explanation, SentRequest, Verdict, explain_request};
