//! Verified identity: who a signed token (RFC 7519, RFC 7515) says that the caller is.
//!
//! The platform verifies signatures and fetches keys; everything that is read and judged is here.
//!
//! | what is there | what comes of it |
//! |---|---|
//! | nothing, another scheme, or a text that is not three parts | the attribute is absent |
//! | parts that are not base64url, or no JSON objects of members that occur once | [`InvalidToken`] |
//! | an algorithm that is not listed, or not of the key's type (RFC 8725 §3.1) | the same |
//! | `crit`, of which nothing is understood here (RFC 7515 §4.1.11), or `b64` (RFC 7797) | the same |
//! | another issuer, none of the audiences, `exp` missing or past, `nbf` to come | the same |
//! | a `kid` of no key, a signature of none of the keys | the same |
//! | the claim missing, or no text and no number | the same |
//! | otherwise | the caller is issuer and claim, whatever token carries them |
//!
//! What is wrong without a key is found first: a token that has expired asks for none.

mod algorithm;
pub mod held;
mod invalid;
mod jwks;
mod token;
mod types;

pub use algorithm::Algorithm;
pub use invalid::InvalidToken;
pub use jwks::KeySet;
pub use token::{JudgedToken, SignatureCheck};
pub use types::{Identity, InvalidTokenPlace, SHORTEST_SECRET, TokenPlace, Verifier};
