//! The stored forms: what is written, and every version ever written that is read. Golden files pin each of them.
//!
//! | what | version 1, read | version 2, written |
//! |---|---|---|
//! | record | bytes | bytes |
//! | head of an accepted request | text | bytes |
//! | entity | bytes | bytes |
//! | entry of an outbox | two texts | bytes |
//! | entry of a history | JSON, as it is told | the same |
//!
//! A text of version 1 is read and written of how far an outbox has come, of what became of an effect (JSON, as it is
//! told), and of what the caller of a transition was told. Their own rooms know them.
//!
//! Content stands beside the forms as it is. Bytes of version 2 have the [frame](crate::stored::frame) in common.

use crate::{
    http::date::Millis,
    stored::{
        entity::Entity,
        frame::{Extension, Framed, NEVER, UNKNOWN_DELIVERY, Unreadable, frame, unframe},
        outbox::OutboxEntry,
        record::{Record, Seal},
        request::StoredRequest,
        v1, v2,
    },
};

/// The version of a record that is written.
pub const RECORD_VERSION: u8 = v2::VERSION;
/// The version of an accepted request's head that is written.
pub const REQUEST_VERSION: u8 = v2::VERSION;
/// The version of an entity that is written.
pub const ENTITY_VERSION: u8 = v2::VERSION;
/// The version of an outbox's entry that is written.
pub const OUTBOX_VERSION: u8 = v2::VERSION;

/// Nothing is added to what this build writes anew.
const NO_EXTENSIONS: &[Extension] = &[];

impl Record {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        frame(RECORD_VERSION, self.expires(), &v2::RecordBody::from(self), &v2::extensions_of(self))
    }

    /// Reads any version ever written.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        if let Some(record) = v1::record(bytes) {
            return Ok(record);
        }
        let Framed { expires, body, extensions } =
            unframe::<v2::RecordBody>(RECORD_VERSION, Some(UNKNOWN_DELIVERY), bytes)?;
        body.record(expires, extensions).ok_or(Unreadable { expires: Some(expires) })
    }
}

impl StoredRequest {
    /// The stored form. `expires`: of the record beside it.
    pub fn encode(&self, expires: Millis) -> Vec<u8> {
        frame(REQUEST_VERSION, expires, &v2::RequestBody::from(self), NO_EXTENSIONS)
    }

    /// Reads any version ever written as bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let Framed { expires, body, .. } = unframe::<v2::RequestBody>(REQUEST_VERSION, None, bytes)?;
        body.request().ok_or(Unreadable { expires: Some(expires) })
    }

    /// How a head is sealed; nothing where it is not, or cannot be read.
    pub fn decode_seal(bytes: &[u8]) -> Option<Seal> {
        unframe::<v2::RequestBody>(REQUEST_VERSION, None, bytes).ok()?.body.seal()
    }

    /// Reads version 1, a text.
    pub fn decode_v1(text: &str) -> Result<Self, Unreadable> {
        v1::request(text).ok_or(Unreadable::default())
    }
}

impl Seal {
    /// The stored form of an accepted request's head that is sealed. `expires`: of the record beside it.
    pub fn encode_request(&self, expires: Millis) -> Vec<u8> {
        frame(REQUEST_VERSION, expires, &v2::RequestBody::Sealed(self.into()), NO_EXTENSIONS)
    }
}

impl Entity {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        frame(ENTITY_VERSION, NEVER, &v2::EntityBody::from(self), &self.extensions)
    }

    /// Reads any version ever written.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        if let Some(entity) = v1::entity(bytes) {
            return Ok(entity);
        }
        let Framed { body, extensions, .. } = unframe::<v2::EntityBody>(ENTITY_VERSION, None, bytes)?;
        Ok(body.entity(extensions))
    }
}

impl OutboxEntry {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        frame(OUTBOX_VERSION, NEVER, &v2::OutboxBody::from(self), &v2::storing_extension(&self.attempt))
    }

    /// Reads any version ever written as bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let Framed { expires, body, extensions } = unframe::<v2::OutboxBody>(OUTBOX_VERSION, None, bytes)?;
        body.entry(extensions).ok_or(Unreadable { expires: Some(expires) })
    }

    /// Reads version 1: the attempt and the request, each as a text.
    pub fn decode_v1(attempt: &str, request: &str) -> Result<Self, Unreadable> {
        let attempt = attempt.parse().map_err(|_| Unreadable::default())?;
        Ok(Self { attempt, request: StoredRequest::decode_v1(request)? })
    }
}
