//! What is stored for a scoped key, and its stored form. Golden files pin every version ever written.

use crate::{
    attempt::Attempt,
    date::Millis,
    delivery::{Delivery, Stage},
    fingerprint::Fingerprint,
    reply::Head,
};

/// The version that [`Record::encode`] writes, the first byte of the stored form.
pub const VERSION: u8 = 1;

/// What is stored for a scoped key. Nothing stored means that the key is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An execution has the right to run the effect, and has no answer yet.
    Claimed(Claim),
    /// The effect ran and its outcome is known.
    Completed {
        /// Whose claim was settled.
        claim: Claim,
        /// Until when it is remembered.
        expires: Millis,
        /// What is left of the answer.
        kept: Kept,
    },
    /// The effect may or may not have happened.
    Unknown {
        /// Whose fate it is.
        claim: Claim,
        /// Until when it is remembered.
        expires: Millis,
        /// Why it is unknown.
        cause: Cause,
        /// The origin's status, where there was one.
        status: Option<u16>,
    },
    /// The request was accepted; its delivery has not ended.
    Accepted(Delivery),
}

/// One execution's right to run the effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Counts the executions of the key; a settlement of another generation is late.
    pub generation: u32,
    /// The request that claimed.
    pub fingerprint: Fingerprint,
    /// When the answer must have begun.
    pub lease_until: Millis,
    /// Seconds that the outcome will be remembered: fixed by the claim, whatever later policies say.
    pub retention: u32,
}

/// What is left of a completed request's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// All of it; the content stands beside the record.
    Reply(Head),
    /// Only its status: the content was over `max_stored`.
    Tombstone {
        /// The origin's status.
        status: u16,
    },
}

/// Why an outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The origin answered, but its answer does not tell.
    Ambiguous,
    /// There was no answer, or only a part of one.
    Unanswered,
}

impl Record {
    /// The claim behind it.
    pub fn claim(&self) -> &Claim {
        match self {
            Self::Claimed(claim) | Self::Completed { claim, .. } | Self::Unknown { claim, .. } => claim,
            Self::Accepted(delivery) => &delivery.claim,
        }
    }

    /// Until when it counts. A claim that nobody settles is remembered for its retention from the end of its lease, a
    /// request whose delivery does not end from when it is given up.
    pub fn expires(&self) -> Millis {
        match self {
            Self::Claimed(claim) => after(claim.lease_until, claim.retention),
            Self::Completed { expires, .. } | Self::Unknown { expires, .. } => *expires,
            Self::Accepted(delivery) => after(delivery.until, delivery.claim.retention),
        }
    }

    /// The stored form: a version, a tag, the claim, then what the tag calls for. Numbers are big-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer(vec![VERSION]);
        match self {
            Self::Claimed(claim) => {
                out.byte(0);
                out.claim(claim);
            }
            Self::Completed { claim, expires, kept } => {
                out.byte(1);
                out.claim(claim);
                out.u64(*expires);
                match kept {
                    Kept::Reply(head) => {
                        out.byte(0);
                        out.u16(head.status);
                        out.text(&head.lines);
                    }
                    Kept::Tombstone { status } => {
                        out.byte(1);
                        out.u16(*status);
                    }
                }
            }
            Self::Unknown { claim, expires, cause, status } => {
                out.byte(2);
                out.claim(claim);
                out.u64(*expires);
                out.byte(match cause {
                    Cause::Ambiguous => 0,
                    Cause::Unanswered => 1,
                });
                out.u16(status.unwrap_or(0));
            }
            Self::Accepted(delivery) => {
                out.byte(3);
                out.claim(&delivery.claim);
                out.text(&delivery.attempt.encode());
                out.u64(delivery.until);
                out.u32(delivery.tries);
                let (stage, at) = match delivery.stage {
                    Stage::Waiting { at } => (0, at),
                    Stage::Running => (1, 0),
                    Stage::Asking { at } => (2, at),
                };
                out.byte(stage);
                out.u64(at);
            }
        }
        out.0
    }

    /// Reads any version ever written; `None` for bytes that are none of them. What cannot be read must be
    /// taken for a request whose fate is unknown, never for a free key.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        if bytes.byte()? != VERSION {
            return None;
        }
        let tag = bytes.byte()?;
        let claim = bytes.claim()?;
        let record = match tag {
            0 => Self::Claimed(claim),
            1 => Self::Completed {
                claim,
                expires: bytes.u64()?,
                kept: match bytes.byte()? {
                    0 => Kept::Reply(Head { status: bytes.u16()?, lines: bytes.text()? }),
                    1 => Kept::Tombstone { status: bytes.u16()? },
                    _ => return None,
                },
            },
            2 => Self::Unknown {
                claim,
                expires: bytes.u64()?,
                cause: match bytes.byte()? {
                    0 => Cause::Ambiguous,
                    1 => Cause::Unanswered,
                    _ => return None,
                },
                status: Some(bytes.u16()?).filter(|s| *s != 0),
            },
            3 => Self::Accepted(Delivery {
                claim,
                attempt: Attempt::parse(&bytes.text()?)?,
                until: bytes.u64()?,
                tries: bytes.u32()?,
                stage: match (bytes.byte()?, bytes.u64()?) {
                    (0, at) => Stage::Waiting { at },
                    (1, 0) => Stage::Running,
                    (2, at) => Stage::Asking { at },
                    _ => return None,
                },
            }),
            _ => return None,
        };
        bytes.0.is_empty().then_some(record)
    }
}

/// A time so many seconds later.
pub fn after(at: Millis, seconds: u32) -> Millis {
    at.saturating_add(u64::from(seconds) * 1000)
}

/// Writes a stored form.
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }
    fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }
    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }
    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }
    pub(crate) fn text(&mut self, text: &str) {
        // Header lines and fingerprints are far below 4 GiB; a longer text is cut at the length that is written.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.u32(length);
        self.0.extend(text.bytes().take(length as usize));
    }
    fn claim(&mut self, claim: &Claim) {
        self.u32(claim.generation);
        self.u64(claim.lease_until);
        self.u32(claim.retention);
        self.text(claim.fingerprint.to_text());
    }
}

/// Reads a stored form.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[b]| b)
    }
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }
    pub(crate) fn text(&mut self) -> Option<String> {
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
            fingerprint: Fingerprint::parse(&self.text()?)?,
        })
    }
}
