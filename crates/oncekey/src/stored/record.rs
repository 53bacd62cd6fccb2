//! What is stored for a scoped key, and its stored form. Golden files pin every version ever written.

use crate::{
    answer::head::ReplyHead,
    fingerprint::Fingerprint,
    http::date::{Millis, later_by},
    policy::Unanswered,
    stored::{
        attempt::Attempt,
        codec::{Reader, Writer},
    },
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
    Reply(ReplyHead),
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
            Self::Claimed(claim) => later_by(claim.lease_until, claim.retention),
            Self::Completed { expires, .. } | Self::Unknown { expires, .. } => *expires,
            Self::Accepted(delivery) => later_by(delivery.until, delivery.claim.retention),
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
                    0 => Kept::Reply(ReplyHead { status: bytes.u16()?, lines: bytes.text()? }),
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

/// A request that was accepted and whose delivery has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its generation counts the deliveries; its lease is that of the last one.
    pub claim: Claim,
    /// What was asked, on the terms of that time.
    pub attempt: Attempt,
    /// Until when it is tried.
    pub until: Millis,
    /// How often the origin was turned to, by a delivery or a question.
    pub tries: u32,
    /// What is done now.
    pub stage: Stage,
}

/// What is done with an accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The next delivery begins then.
    Waiting {
        /// When.
        at: Millis,
    },
    /// It is delivered, by the owner of its claim.
    Running,
    /// The last delivery had no answer: the origin is asked for it then.
    Asking {
        /// When.
        at: Millis,
    },
}

/// What the object's memory knows of executions. It is empty after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The generation that runs now, if one does.
    pub running: Option<u32>,
    /// The highest generation seen, run or released, 0 for none: no later claim may have it.
    pub latest: u32,
}

impl Owner {
    pub(crate) fn owns(self, claim: &Claim) -> bool {
        self.running == Some(claim.generation)
    }
}

/// A record counts until it expires; a claim that runs counts as long as it runs, and what was accepted until its
/// delivery has ended.
pub(crate) fn lives(record: &Record, owner: Owner, now: Millis) -> bool {
    match record {
        Record::Claimed(claim) => owner.owns(claim) || now < record.expires(),
        Record::Completed { .. } | Record::Unknown { .. } => now < record.expires(),
        Record::Accepted(_) => true,
    }
}

/// Until when a record is remembered, where that does not depend on how the request ends.
pub(crate) fn known_end(record: &Record) -> Option<Millis> {
    match record {
        Record::Claimed(_) | Record::Accepted(_) => None,
        Record::Completed { expires, .. } | Record::Unknown { expires, .. } => Some(*expires),
    }
}

/// What is known of a delivery without changing it: that it goes on, or until when its unknown fate is remembered.
pub fn unknown_until(delivery: &Delivery, owner: Owner, now: Millis) -> Option<Millis> {
    let runs = delivery.stage == Stage::Running;
    if runs && owner.owns(&delivery.claim) {
        return None;
    }
    let is_held = runs && delivery.attempt.terms.unanswered == Unanswered::Hold;
    // The alarm that gives it up may be late.
    (is_held || now >= delivery.until).then(|| later_by(delivery.until.max(now), delivery.claim.retention))
}
