//! Version 1 of the stored forms: read, and written no more. Numbers are big-endian, a text follows its length.

use crate::{
    answer::head::ReplyHead,
    http::fields::Fields,
    stored::{
        entity::Entity,
        record::{Cause, Claim, Claimant, Delivery, DeliveryStage, KeptReply, Record},
        request::StoredRequest,
    },
};

/// The first byte of a record and of an entity.
pub(crate) const VERSION: u8 = 1;

/// A version, a tag, the claim, then what the tag calls for.
pub(crate) fn record(bytes: &[u8]) -> Option<Record> {
    let mut bytes = Reader(bytes);
    if bytes.byte()? != VERSION {
        return None;
    }
    let tag = bytes.byte()?;
    let claim = bytes.claim()?;
    let record = match tag {
        0 => Record::Claimed(claim),
        1 => Record::Completed {
            claim,
            expires: bytes.u64()?,
            kept: match bytes.byte()? {
                0 => KeptReply::Whole(ReplyHead { status: bytes.u16()?, lines: bytes.text()? }),
                1 => KeptReply::Tombstone { status: bytes.u16()? },
                _ => return None,
            },
        },
        2 => Record::Unknown {
            claim,
            expires: bytes.u64()?,
            cause: match bytes.byte()? {
                0 => Cause::Ambiguous,
                1 => Cause::Unanswered,
                _ => return None,
            },
            status: Some(bytes.u16()?).filter(|status| *status != 0),
        },
        3 => Record::Accepted(Delivery {
            claim,
            attempt: bytes.text()?.parse().ok()?,
            until: bytes.u64()?,
            tries: bytes.u32()?,
            refusals: 0,
            stage: match (bytes.byte()?, bytes.u64()?) {
                (0, at) => DeliveryStage::Waiting { at },
                (1, 0) => DeliveryStage::Running,
                (2, at) => DeliveryStage::Asking { at },
                _ => return None,
            },
        }),
        _ => return None,
    };
    bytes.0.is_empty().then_some(record)
}

/// A version, the state, the version it is in, then the names and the versions, each list after its length.
pub(crate) fn entity(bytes: &[u8]) -> Option<Entity> {
    let mut bytes = Reader(bytes);
    if bytes.byte()? != VERSION {
        return None;
    }
    let mut entity = Entity { state: bytes.text()?, version: bytes.u32()?, ..Entity::default() };
    for _ in 0..bytes.u32()? {
        entity.ran.push(bytes.text()?);
    }
    for _ in 0..bytes.u32()? {
        entity.pending.push(bytes.u32()?);
    }
    bytes.0.is_empty().then_some(entity)
}

/// A text: version, method, URL and each `name,value` in a line of its own. None of them holds a line feed (RFC 9110
/// §5.5, §9.1; RFC 3986 §2).
pub(crate) fn request(text: &str) -> Option<StoredRequest> {
    let mut parts = text.splitn(4, '\n');
    if parts.next()? != "1" {
        return None;
    }
    let (method, url, fields) = (parts.next()?, parts.next()?, parts.next()?);
    StoredRequest::of_parts(method, url, Fields::new(fields.to_owned()))
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.u32()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn claim(&mut self) -> Option<Claim> {
        Some(Claim {
            generation: self.u32()?,
            lease_until: self.u64()?,
            retention: self.u32()?,
            fingerprint: self.text()?.parse().ok()?,
            claimant: Claimant::default(),
        })
    }
}
