//! Why a token is refused.

use std::{error::Error, fmt};

/// Why a token is refused. Nothing of it is repeated in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidToken {
    /// It is no signed token: parts, base64url, JSON, or members.
    Malformed,
    /// Its algorithm is not taken.
    Algorithm,
    /// It says that it must not be taken by whoever does not understand it.
    Critical,
    /// No key verifies it.
    Key,
    /// The signature is not its own.
    Signature,
    /// Of another issuer.
    Issuer,
    /// For somebody else.
    Audience,
    /// Past its time, or without one.
    Expired,
    /// Before its time.
    Early,
    /// The claim that tells the caller is missing, or is no text and no number.
    Claim,
}

/// What is wrong, as a sentence for the `detail` of a problem (RFC 9457 §3.1.4).
impl fmt::Display for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidToken::Malformed => "The token cannot be read.",
            InvalidToken::Algorithm => "The token is signed by an algorithm that is not taken.",
            InvalidToken::Critical => "The token asks for what is not understood.",
            InvalidToken::Key => "No key is known by which the token could be signed.",
            InvalidToken::Signature => "The token's signature is wrong.",
            InvalidToken::Issuer => "The token is of another issuer.",
            InvalidToken::Audience => "The token is for somebody else.",
            InvalidToken::Expired => "The token has expired.",
            InvalidToken::Early => "The token is not valid yet.",
            InvalidToken::Claim => "The token does not say who the caller is.",
        })
    }
}

impl Error for InvalidToken {}
