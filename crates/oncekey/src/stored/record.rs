//! What is stored for a scoped key, and whether it still counts.

use crate::{
    answer::head::ReplyHead,
    fingerprint::Fingerprint,
    http::date::{Millis, later_by},
    key::caller::CallerDigest,
    policy::Unanswered,
    stored::{
        attempt::Attempt,
        frame::{Extension, Unreadable},
    },
};

/// What is stored for a scoped key. Nothing stored means that the key is free.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and stored at once; by 32 bits it is none")]
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
        kept: KeptReply,
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
    /// The request was accepted, and has not been answered.
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
    /// What else is remembered of the request that claimed.
    pub claimant: Claimant,
}

/// What is remembered of the request that claimed a key, beside its fingerprint, and what a newer build wrote of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimant {
    /// The caller's attributes, each as a short digest, none for an anonymous caller; `None` where the key names its
    /// object for one caller alone, or an earlier build did not remember them.
    pub callers: Option<Vec<CallerDigest>>,
    /// What the fingerprint was made of.
    pub basis: Option<Box<FingerprintBasis>>,
    /// The time that the key itself tells (RFC 9562 §5.7), where the route said how old a key may be.
    pub key_time: Option<Millis>,
    /// The path of the route, as the policy wrote it; empty where an earlier build did not remember it.
    pub route: String,
    /// What a newer build added.
    pub extensions: Vec<Extension>,
}

/// The policy's part in a fingerprint, so that the same bytes are known again under another policy. This build writes
/// digests alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FingerprintBasis {
    /// What was left out: JSON pointers and names of form fields.
    pub ignore: Vec<String>,
    /// The header lines that counted, by name.
    pub headers: Vec<String>,
    /// The field of the content that held the key.
    pub field: String,
    /// What [`basis_digests`](crate::stored::basis::basis_digests) gives.
    pub sent: Vec<u8>,
}

/// What is left of a completed request's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptReply {
    /// All of it; the content stands beside the record.
    Whole(ReplyHead),
    /// Only its status: the content was over `max_stored`.
    Tombstone {
        /// The origin's status.
        status: u16,
    },
    /// All of it, encrypted.
    Sealed {
        /// The origin's status.
        status: u16,
        /// How it is encrypted.
        seal: Box<Seal>,
    },
}

impl KeptReply {
    /// The origin's status.
    pub fn status(&self) -> u16 {
        match self {
            Self::Whole(head) => head.status,
            Self::Tombstone { status } | Self::Sealed { status, .. } => *status,
        }
    }
}

/// A head encrypted; the content beside it is encrypted under the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Tells which key it was.
    pub secret: Vec<u8>,
    /// The head's nonce.
    pub nonce: Vec<u8>,
    /// The head's ciphertext.
    pub head: Vec<u8>,
    /// The content's nonce.
    pub content_nonce: Vec<u8>,
}

/// Why an outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The origin answered, but its answer does not tell.
    Ambiguous,
    /// There was no answer, or only a part of one.
    Unanswered,
}

impl Claim {
    /// Until when is remembered what ends then: a retention from then, or from the key's own time where that is later.
    pub fn remembered_until(&self, end: Millis) -> Millis {
        later_by(end.max(self.claimant.key_time.unwrap_or(0)), self.retention)
    }

    /// Whether both are the right to one execution. What was noted meanwhile, such as who was told of its fate, makes no
    /// other of it.
    pub fn is_same_execution(&self, other: &Self) -> bool {
        self.generation == other.generation
            && self.lease_until == other.lease_until
            && self.fingerprint == other.fingerprint
    }
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
            Self::Claimed(claim) => claim.remembered_until(claim.lease_until),
            Self::Completed { expires, .. }
            | Self::Unknown { expires, .. }
            | Self::Accepted(Delivery {
                stage: DeliveryStage::Dead { expires, .. } | DeliveryStage::Unknown { expires, .. },
                ..
            }) => *expires,
            Self::Accepted(delivery) => delivery.claim.remembered_until(delivery.until),
        }
    }
}

/// A request that was accepted and has not been answered.
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
    /// How often the origin refused the gate itself: 401, 403, 407, 425.
    pub refusals: u32,
    /// What is done now.
    pub stage: DeliveryStage,
}

/// What is done with an accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStage {
    /// The next delivery begins then.
    Waiting {
        /// When.
        at: Millis,
    },
    /// It is delivered, by the owner of its claim.
    Running,
    /// The last delivery had no answer: the origin is asked for it then, or it is sent again.
    Asking {
        /// When.
        at: Millis,
    },
    /// It ended without taking effect, and is kept for the operator.
    Dead {
        /// Why.
        cause: DeathCause,
        /// The origin's last status, where there was one.
        status: Option<u16>,
        /// Until when it is kept.
        expires: Millis,
    },
    /// It may or may not have taken effect, and is kept for the operator.
    Unknown {
        /// Why.
        cause: Cause,
        /// The origin's status, where there was one.
        status: Option<u16>,
        /// Until when it is kept.
        expires: Millis,
    },
}

/// Why a delivery is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeathCause {
    /// The origin declined it.
    Declined,
    /// It was tried until its retention ended.
    Exhausted,
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

/// What stands under a scoped key.
#[derive(Clone, Copy, Debug)]
pub enum FoundRecord<'r> {
    /// Nothing: the key is free.
    Nothing,
    /// A record.
    Readable(&'r Record),
    /// What another build wrote, or what nobody did.
    Unreadable(Unreadable),
}

impl<'r> FoundRecord<'r> {
    /// The record. An error while what cannot be read still counts; after that it is nothing.
    pub(crate) fn read(self, now: Millis) -> Result<Option<&'r Record>, Unreadable> {
        match self {
            Self::Readable(record) => Ok(Some(record)),
            Self::Unreadable(unreadable) if unreadable.is_live(now) => Err(unreadable),
            Self::Nothing | Self::Unreadable(_) => Ok(None),
        }
    }

    /// The claim behind it.
    pub fn claim(self) -> Option<&'r Claim> {
        match self {
            Self::Readable(record) => Some(record.claim()),
            Self::Nothing | Self::Unreadable(_) => None,
        }
    }

    /// The executions that it tells of.
    pub fn generation(self) -> u32 {
        match self {
            Self::Readable(record) => record.claim().generation,
            Self::Nothing | Self::Unreadable(_) => 0,
        }
    }
}

impl<'r> From<Option<&'r Record>> for FoundRecord<'r> {
    fn from(record: Option<&'r Record>) -> Self {
        record.map_or(Self::Nothing, Self::Readable)
    }
}

impl<'r> From<&'r Result<Option<Record>, Unreadable>> for FoundRecord<'r> {
    fn from(found: &'r Result<Option<Record>, Unreadable>) -> Self {
        match found {
            Ok(record) => record.as_ref().into(),
            Err(unreadable) => Self::Unreadable(*unreadable),
        }
    }
}

/// A record counts until it expires; a claim that runs counts as long as it runs, and what was accepted until its
/// delivery has ended.
pub(crate) fn is_live(record: &Record, owner: Owner, now: Millis) -> bool {
    match record {
        Record::Claimed(claim) => owner.owns(claim) || now < record.expires(),
        Record::Completed { .. }
        | Record::Unknown { .. }
        | Record::Accepted(Delivery { stage: DeliveryStage::Dead { .. } | DeliveryStage::Unknown { .. }, .. }) => {
            now < record.expires()
        }
        Record::Accepted(_) => true,
    }
}

/// Until when a record is remembered, where that does not depend on how the request ends.
pub(crate) fn known_expiry(record: &Record) -> Option<Millis> {
    match record {
        Record::Completed { expires, .. }
        | Record::Unknown { expires, .. }
        | Record::Accepted(Delivery {
            stage: DeliveryStage::Dead { expires, .. } | DeliveryStage::Unknown { expires, .. },
            ..
        }) => Some(*expires),
        Record::Claimed(_) | Record::Accepted(_) => None,
    }
}

/// What is known of a delivery without changing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryFate {
    /// It waits, or its last try is looked into.
    Waits,
    /// It is delivered by an owner that lives.
    Runs,
    /// It ended without taking effect.
    Dead {
        /// The origin's last status, where that is known.
        status: Option<u16>,
        /// Until when that is remembered.
        expires: Millis,
    },
    /// It may or may not have taken effect.
    Unknown {
        /// The origin's status, where there was one.
        status: Option<u16>,
        /// Until when that is remembered.
        expires: Millis,
    },
}

/// What is known of a delivery without changing it. The alarm that gives it up may be late.
pub fn fate_of_delivery(delivery: &Delivery, owner: Owner, now: Millis) -> DeliveryFate {
    let (is_over, status) = (now >= delivery.until, None);
    let expires = delivery.claim.remembered_until(delivery.until.max(now));
    match delivery.stage {
        DeliveryStage::Dead { status, expires, .. } => DeliveryFate::Dead { status, expires },
        DeliveryStage::Unknown { status, expires, .. } => DeliveryFate::Unknown { status, expires },
        DeliveryStage::Running if owner.owns(&delivery.claim) => DeliveryFate::Runs,
        DeliveryStage::Running if delivery.attempt.terms.unanswered == Unanswered::Hold => {
            DeliveryFate::Unknown { status, expires }
        }
        DeliveryStage::Waiting { .. } if is_over => DeliveryFate::Dead { status, expires },
        DeliveryStage::Running | DeliveryStage::Asking { .. } if is_over => DeliveryFate::Unknown { status, expires },
        DeliveryStage::Waiting { .. } | DeliveryStage::Running | DeliveryStage::Asking { .. } => DeliveryFate::Waits,
    }
}
