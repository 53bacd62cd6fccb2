//! What is sealed: AES-256-GCM over an answer's header lines and its content, or over an accepted request's head and its
//! content, each with what it belongs to as additional data, so that nothing that is sealed can stand in another's place.
//!
//! | of | additional data |
//! |---|---|
//! | an answer | version, status, fingerprint, generation, which part |
//! | an accepted request | version, scoped key, fingerprint, which part |

use crate::{
    answer::head::ReplyHead,
    digest::length_prefix,
    key::seal::SealKey,
    stored::{
        attempt::Attempt,
        record::{Claim, KeptReply, Seal},
    },
};

/// The version of what is sealed.
const VERSION: &str = "oncekey sealed 1";

/// A sealed answer that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedReply {
    /// The answer's status.
    pub status: u16,
    /// How it is sealed.
    pub seal: Seal,
    /// The additional data of the head and of the content.
    pub belongs: [Vec<u8>; 2],
}

impl SealedReply {
    /// Of a completed record.
    pub fn of(claim: &Claim, status: u16, seal: &Seal) -> Self {
        Self { status, seal: seal.clone(), belongs: reply_belongs(claim, status) }
    }

    /// The head, where its lines were opened.
    pub fn head(&self, lines: Vec<u8>) -> Option<ReplyHead> {
        Some(ReplyHead { status: self.status, lines: String::from_utf8(lines).ok()? })
    }
}

impl Seal {
    /// Of what was sealed under a key: the head with its nonce, and the content's nonce.
    pub fn of(key: &SealKey, nonce: Vec<u8>, head: Vec<u8>, content_nonce: Vec<u8>) -> Self {
        Self { secret: key.id(), nonce, head, content_nonce }
    }

    /// Whether it is sealed under that key.
    pub fn is_under(&self, key: &SealKey) -> bool {
        self.secret == key.id()
    }

    /// As what is left of an answer.
    pub fn into_reply(self, status: u16) -> KeptReply {
        KeptReply::Sealed { status, seal: Box::new(self) }
    }
}

/// What an answer's head and its content belong to.
pub fn reply_belongs(claim: &Claim, status: u16) -> [Vec<u8>; 2] {
    let status = status.to_be_bytes();
    let generation = claim.generation.to_be_bytes();
    ["answer's head", "answer's content"]
        .map(|part| data_of(&[&status, claim.fingerprint.as_str().as_bytes(), &generation, part.as_bytes()]))
}

/// What an accepted request's head and its content belong to.
pub fn request_belongs(attempt: &Attempt) -> [Vec<u8>; 2] {
    let (key, fingerprint) = (attempt.scoped_key.as_str().as_bytes(), attempt.fingerprint.as_str().as_bytes());
    ["request's head", "request's content"].map(|part| data_of(&[key, fingerprint, part.as_bytes()]))
}

fn data_of(parts: &[&[u8]]) -> Vec<u8> {
    let mut data = Vec::new();
    for part in [VERSION.as_bytes()].iter().chain(parts) {
        data.extend(length_prefix(part.len()));
        data.extend(*part);
    }
    data
}
