//! Sealed storage: what is sealed before it is stored, and opened before it is used.
//!
//! Invariant: ciphers take their time, so each is asked before the record is read on which something is decided, and
//! what stands in rows is read before it is opened: between reading the record and storing there is still no await.

use js_sys::Uint8Array;
use oncekey::{
    answer::head::ReplyHead,
    key::seal::{SealKey, SealMaterial},
    stored::{
        attempt::Attempt,
        record::{Claim, KeptReply, Seal},
        request::StoredRequest,
        seal::{SealedReply, reply_belongs, request_belongs},
    },
};

use crate::{
    gate::Gate,
    object::{
        context::Object,
        store::{FoundRequest, HeldRequest},
    },
    platform::{cipher, failure::Failure},
};

/// An answer that is to be stored, sealed where the policy says so. What cannot be sealed leaves its status alone.
pub async fn seal_reply(
    gate: &Gate,
    attempt: &Attempt,
    claim: &Claim,
    kept: KeptReply,
    content: Option<Uint8Array>,
) -> (KeptReply, Option<Uint8Array>) {
    let KeptReply::Whole(head) = kept else {
        return (kept, None);
    };
    if !gate.policy.seal {
        return (KeptReply::Whole(head), content);
    }
    let [of_head, of_content] = reply_belongs(claim, head.status);
    let lines = Uint8Array::from(head.lines.as_bytes());
    let sealed = match key_to_seal(gate, attempt).await {
        Ok(key) => seal_both(&key, [&of_head, &of_content], lines, content).await,
        Err(failure) => Err(failure),
    };
    match sealed {
        Ok((seal, content)) => (seal.into_reply(head.status), content),
        Err(_) => (KeptReply::Tombstone { status: head.status }, None),
    }
}

/// An accepted request that is to be stored, sealed: its head as it is stored, and its content.
pub async fn seal_request(
    gate: &Gate,
    attempt: &Attempt,
    head: &StoredRequest,
    content: &Uint8Array,
) -> Result<(Seal, Uint8Array), Failure> {
    let key = key_of_accepted(gate.secret_to_seal(), attempt).await?;
    let [of_head, of_content] = request_belongs(attempt);
    let head = Uint8Array::from(head.encode(0).as_slice());
    let (seal, sealed) = seal_both(&key, [&of_head, &of_content], head, Some(content.clone())).await?;
    Ok((seal, sealed.unwrap_or_default()))
}

async fn seal_both(
    key: &SealKey,
    [of_head, of_content]: [&[u8]; 2],
    head: Uint8Array,
    content: Option<Uint8Array>,
) -> Result<(Seal, Option<Uint8Array>), Failure> {
    let mut parts = vec![(of_head, head)];
    parts.extend(content.map(|content| (of_content, content)));
    let mut sealed = cipher::seal(key, &parts).await?.into_iter();
    let (nonce, head) = sealed.next().unwrap_or_default();
    let (content_nonce, content) = sealed.next().unzip();
    Ok((Seal::of(key, nonce, head.to_vec(), content_nonce.unwrap_or_default()), content))
}

/// Opens an answer; nothing where no key that is here is its own. `content`: as it stands beside the record.
pub async fn open_reply(
    gate: &Gate,
    attempt: &Attempt,
    sealed: &SealedReply,
    content: Option<Uint8Array>,
) -> Option<(ReplyHead, Option<Uint8Array>)> {
    let key = match attempt.seal.keys.iter().find(|key| sealed.seal.is_under(key)) {
        Some(key) => key.clone(),
        None => known_key(gate, attempt, &sealed.seal).await?,
    };
    let (lines, content) = open_both(&key, &sealed.seal, &sealed.belongs, content).await?;
    Some((sealed.head(lines.to_vec())?, content))
}

async fn open_both(
    key: &SealKey,
    seal: &Seal,
    [of_head, of_content]: &[Vec<u8>; 2],
    content: Option<Uint8Array>,
) -> Option<(Uint8Array, Option<Uint8Array>)> {
    let mut parts = vec![(of_head.as_slice(), seal.nonce.as_slice(), Uint8Array::from(seal.head.as_slice()))];
    parts.extend(content.map(|content| (of_content.as_slice(), seal.content_nonce.as_slice(), content)));
    let mut opened = cipher::open(key, &parts).await.ok()?.into_iter();
    Some((opened.next()?, opened.next()))
}

/// The caller's key; without one, as from a front of another build, that of what was accepted.
async fn key_to_seal(gate: &Gate, attempt: &Attempt) -> Result<SealKey, Failure> {
    match attempt.seal.keys.first() {
        Some(key) => Ok(key.clone()),
        None => key_of_accepted(gate.secret_to_seal(), attempt).await,
    }
}

async fn key_of_accepted(secret: &[u8], attempt: &Attempt) -> Result<SealKey, Failure> {
    cipher::derive_key(secret, &SealMaterial::of_accepted(&attempt.scoped_key)).await
}

/// The key of a seal that was made under a secret and the scoped key.
async fn known_key(gate: &Gate, attempt: &Attempt, seal: &Seal) -> Option<SealKey> {
    for secret in &gate.seal_secrets {
        let key = key_of_accepted(secret, attempt).await.ok()?;
        if seal.is_under(&key) {
            return Some(key);
        }
    }
    None
}

/// An accepted request that was opened, and how it was sealed.
pub struct OpenedRequest {
    seal: Seal,
    held: (StoredRequest, Uint8Array),
}

impl Object {
    /// Opens the accepted request, where one is kept and sealed.
    pub async fn open_request(&self) -> Result<Option<OpenedRequest>, Failure> {
        if self.gate.seal_secrets.is_empty() {
            return Ok(None);
        }
        let Some(FoundRequest::Sealed { seal, content, .. }) = self.store.load_request()? else {
            return Ok(None);
        };
        let Some(attempt) = self.store.load()?.accepted_attempt() else {
            return Ok(None);
        };
        let Some(key) = known_key(&self.gate, &attempt, &seal).await else {
            return Ok(None);
        };
        let opened = open_both(&key, &seal, &request_belongs(&attempt), Some(content)).await;
        Ok(opened.and_then(|(head, content)| {
            let head = StoredRequest::decode(&head.to_vec()).ok()?;
            Some(OpenedRequest { seal, held: (head, content.unwrap_or_default()) })
        }))
    }

    /// The accepted request, as it stands now; what is sealed where it is the one that was opened.
    pub fn held_request(&self, opened: Option<&OpenedRequest>) -> Result<Option<HeldRequest>, Failure> {
        Ok(match (self.store.load_request()?, opened) {
            (None, _) => None,
            (Some(FoundRequest::Open(held)), _) => Some(held),
            (Some(FoundRequest::Sealed { seal, .. }), Some(opened)) if opened.seal == seal => {
                Some(Ok(opened.held.clone()))
            }
            (Some(FoundRequest::Sealed { unreadable, .. }), _) => Some(Err(unreadable)),
        })
    }
}
