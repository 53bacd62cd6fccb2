//! Version 2 of the stored forms: the bodies, as serde describes them to postcard.
//!
//! Members and variants are numbered by their place. Once written they never move, nor does one join them: what a
//! later build adds within this version is an extension of the [frame](crate::stored::frame). These types are apart
//! from those that the crate works with, so that nothing that is renamed or moved there changes a byte.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    answer::head::ReplyHead,
    http::{date::Millis, fields::Fields},
    key::{caller::CallerDigest, seal::SealKeys},
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        entity::Entity,
        frame::{Extension, ROUTE, STORING, UNKNOWN_DELIVERY},
        outbox::OutboxEntry,
        record::{
            Cause, Claim, Claimant, DeathCause, Delivery, DeliveryStage, FingerprintBasis, KeptReply, Record, Seal,
        },
        request::StoredRequest,
        storing::Storing,
    },
};

/// The first byte of every form.
pub(crate) const VERSION: u8 = 2;

/// A record. `expires` of the frame is [`Record::expires`].
#[derive(Serialize, Deserialize)]
pub(crate) struct RecordBody<'f> {
    #[serde(borrow)]
    claim: ClaimBody<'f>,
    #[serde(borrow)]
    state: StateBody<'f>,
}

#[derive(Serialize, Deserialize)]
struct ClaimBody<'f> {
    generation: u32,
    fingerprint: &'f str,
    lease_until: Millis,
    retention: u32,
    #[serde(borrow)]
    callers: Option<Vec<&'f [u8]>>,
    #[serde(borrow)]
    basis: Option<BasisBody<'f>>,
    key_time: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
struct BasisBody<'f> {
    #[serde(borrow)]
    ignore: Vec<&'f str>,
    #[serde(borrow)]
    headers: Vec<&'f str>,
    field: &'f str,
    sent: &'f [u8],
}

#[derive(Serialize, Deserialize)]
enum StateBody<'f> {
    Claimed,
    Completed(#[serde(borrow)] ReplyBody<'f>),
    Unknown { cause: CauseBody, status: Option<u16> },
    Accepted(#[serde(borrow)] DeliveryBody<'f>),
}

#[derive(Serialize, Deserialize)]
enum ReplyBody<'f> {
    Whole {
        status: u16,
        lines: &'f str,
    },
    Tombstone {
        status: u16,
    },
    Sealed {
        status: u16,
        #[serde(borrow)]
        seal: SealBody<'f>,
    },
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SealBody<'f> {
    secret: &'f [u8],
    nonce: &'f [u8],
    head: &'f [u8],
    content_nonce: &'f [u8],
}

#[derive(Serialize, Deserialize)]
enum CauseBody {
    Ambiguous,
    Unanswered,
}

#[derive(Serialize, Deserialize)]
struct DeliveryBody<'f> {
    #[serde(borrow)]
    attempt: AttemptBody<'f>,
    until: Millis,
    tries: u32,
    refusals: u32,
    stage: StageBody,
}

/// Until when what is dead is kept stands in the frame. What is of unknown fate is dead for whoever reads no extension.
#[derive(Serialize, Deserialize)]
enum StageBody {
    Waiting { at: Millis },
    Running,
    Asking { at: Millis },
    Dead { cause: DeathBody, status: Option<u16> },
}

#[derive(Serialize, Deserialize)]
enum DeathBody {
    Declined,
    Exhausted,
}

#[derive(Serialize, Deserialize)]
struct AttemptBody<'f> {
    scoped_key: &'f str,
    fingerprint: &'f str,
    keep: KeepBody,
    server_error: ServerErrorBody,
    #[serde(borrow)]
    unanswered: UnansweredBody<'f>,
    lease: u32,
    patience: u32,
    wait: u32,
    retention: u32,
    max_stored: u64,
    header: &'f str,
}

#[derive(Serialize, Deserialize)]
enum KeepBody {
    Success,
    Definite,
}

#[derive(Serialize, Deserialize)]
enum ServerErrorBody {
    Release,
    Hold,
    Keep,
}

#[derive(Serialize, Deserialize)]
enum UnansweredBody<'f> {
    Hold,
    Rerun,
    Probe(&'f str),
}

/// The head of an accepted request. `expires` of the frame is that of the record beside it, when it was accepted. A
/// sealed one is delivered by a build that opens it.
#[derive(Serialize, Deserialize)]
pub(crate) enum RequestBody<'f> {
    Open {
        method: &'f str,
        url: &'f str,
        /// `name,value` for each line, parted by line feeds.
        fields: &'f str,
    },
    Sealed(#[serde(borrow)] SealBody<'f>),
}

/// An entity. It is never forgotten: `expires` of the frame is [`NEVER`](crate::stored::frame::NEVER).
#[derive(Serialize, Deserialize)]
pub(crate) struct EntityBody<'f> {
    state: &'f str,
    version: u32,
    #[serde(borrow)]
    ran: Vec<&'f str>,
    pending: Vec<u32>,
}

/// An effect that has not been handed over. It waits for as long as that takes: `expires` of the frame is
/// [`NEVER`](crate::stored::frame::NEVER).
#[derive(Serialize, Deserialize)]
pub(crate) struct OutboxBody<'f> {
    #[serde(borrow)]
    attempt: AttemptBody<'f>,
    #[serde(borrow)]
    request: RequestBody<'f>,
}

/// The extensions of a record's form: those of its claimant, its route, what of the answer of an accepted request is not
/// stored, and that of a fate for which version 2 has no stage.
pub(crate) fn extensions_of(record: &Record) -> Cow<'_, [Extension]> {
    let Claimant { extensions, route, .. } = &record.claim().claimant;
    let said = (!route.is_empty()).then(|| Extension { tag: ROUTE, is_needed: false, bytes: route.clone().into() });
    let Record::Accepted(Delivery { attempt, stage, .. }) = record else {
        return match said {
            None => Cow::Borrowed(extensions),
            Some(said) => Cow::Owned([extensions.as_slice(), &[said]].concat()),
        };
    };
    let mut extensions = extensions.clone();
    extensions.extend(said);
    extensions.extend(storing_extension(attempt));
    if let DeliveryStage::Unknown { cause, .. } = stage {
        let bytes = vec![u8::from(*cause == Cause::Unanswered)];
        extensions.push(Extension { tag: UNKNOWN_DELIVERY, is_needed: true, bytes });
    }
    Cow::Owned(extensions)
}

/// The extension of a form that holds an attempt, where there is something to say.
pub(crate) fn storing_extension(attempt: &Attempt) -> Vec<Extension> {
    let storing = &attempt.terms.storing;
    let bytes = storing.to_string().into_bytes();
    let said = (*storing != Storing::default()).then_some(Extension { tag: STORING, is_needed: false, bytes });
    said.into_iter().collect()
}

/// Takes the text of the extension of that tag out of the others: empty where there is none; `None` where it is no text.
fn take_text(extensions: &mut Vec<Extension>, tag: u32) -> Option<String> {
    match extensions.iter().position(|extension| extension.tag == tag && !extension.is_needed) {
        None => Some(String::new()),
        Some(at) => String::from_utf8(extensions.remove(at).bytes).ok(),
    }
}

/// Takes what such an extension says out of the others.
pub(crate) fn take_storing(extensions: &mut Vec<Extension>) -> Option<Storing> {
    let text = take_text(extensions, STORING)?;
    if text.is_empty() { Some(Storing::default()) } else { text.parse().ok() }
}

impl<'f> From<&'f Record> for RecordBody<'f> {
    fn from(record: &'f Record) -> Self {
        let state = match record {
            Record::Claimed(_) => StateBody::Claimed,
            Record::Completed { kept, .. } => StateBody::Completed(kept.into()),
            Record::Unknown { cause, status, .. } => StateBody::Unknown {
                cause: match cause {
                    Cause::Ambiguous => CauseBody::Ambiguous,
                    Cause::Unanswered => CauseBody::Unanswered,
                },
                status: *status,
            },
            Record::Accepted(delivery) => StateBody::Accepted(delivery.into()),
        };
        Self { claim: record.claim().into(), state }
    }
}

impl RecordBody<'_> {
    /// The record; `None` where a fingerprint or a key is of a version that this build does not know.
    pub(crate) fn record(&self, expires: Millis, mut extensions: Vec<Extension>) -> Option<Record> {
        // It is written last, and once.
        let unknown = match extensions.pop_if(|last| last.is_needed).map(|last| last.bytes).as_deref() {
            None => None,
            Some([0]) => Some(Cause::Ambiguous),
            Some([1]) => Some(Cause::Unanswered),
            Some(_) => return None,
        };
        if extensions.iter().any(|extension| extension.is_needed) {
            return None;
        }
        let storing = match self.state {
            StateBody::Accepted(_) => take_storing(&mut extensions)?,
            StateBody::Claimed | StateBody::Completed(_) | StateBody::Unknown { .. } => Storing::default(),
        };
        let route = take_text(&mut extensions, ROUTE)?;
        let claim = self.claim.claim(route, extensions)?;
        Some(match &self.state {
            StateBody::Claimed => Record::Claimed(claim),
            StateBody::Completed(reply) => Record::Completed { claim, expires, kept: reply.reply() },
            StateBody::Unknown { cause, status } => Record::Unknown {
                claim,
                expires,
                cause: match cause {
                    CauseBody::Ambiguous => Cause::Ambiguous,
                    CauseBody::Unanswered => Cause::Unanswered,
                },
                status: *status,
            },
            StateBody::Accepted(delivery) => {
                let mut delivery = delivery.delivery(claim, expires)?;
                delivery.attempt.terms.storing = storing;
                if let Some(cause) = unknown {
                    let DeliveryStage::Dead { cause: DeathCause::Exhausted, status, expires } = delivery.stage else {
                        return None;
                    };
                    delivery.stage = DeliveryStage::Unknown { cause, status, expires };
                }
                return Some(Record::Accepted(delivery));
            }
        })
        .filter(|_| unknown.is_none())
    }
}

impl<'f> From<&'f Claim> for ClaimBody<'f> {
    fn from(claim: &'f Claim) -> Self {
        let Claimant { callers, basis, key_time, route: _, extensions: _ } = &claim.claimant;
        Self {
            generation: claim.generation,
            fingerprint: claim.fingerprint.as_str(),
            lease_until: claim.lease_until,
            retention: claim.retention,
            callers: callers.as_ref().map(|callers| callers.iter().map(|digest| digest.0.as_slice()).collect()),
            basis: basis.as_ref().map(|basis| BasisBody {
                ignore: borrowed(&basis.ignore),
                headers: borrowed(&basis.headers),
                field: &basis.field,
                sent: &basis.sent,
            }),
            key_time: *key_time,
        }
    }
}

impl ClaimBody<'_> {
    fn claim(&self, route: String, extensions: Vec<Extension>) -> Option<Claim> {
        let digest = |digest: &&[u8]| CallerDigest(digest.to_vec());
        Some(Claim {
            generation: self.generation,
            fingerprint: self.fingerprint.parse().ok()?,
            lease_until: self.lease_until,
            retention: self.retention,
            claimant: Claimant {
                callers: self.callers.as_ref().map(|callers| callers.iter().map(digest).collect()),
                basis: self.basis.as_ref().map(|basis| {
                    Box::new(FingerprintBasis {
                        ignore: owned(&basis.ignore),
                        headers: owned(&basis.headers),
                        field: basis.field.to_owned(),
                        sent: basis.sent.to_vec(),
                    })
                }),
                key_time: self.key_time,
                route,
                extensions,
            },
        })
    }
}

impl<'f> From<&'f KeptReply> for ReplyBody<'f> {
    fn from(reply: &'f KeptReply) -> Self {
        match reply {
            KeptReply::Whole(head) => Self::Whole { status: head.status, lines: &head.lines },
            KeptReply::Tombstone { status } => Self::Tombstone { status: *status },
            KeptReply::Sealed { status, seal } => Self::Sealed { status: *status, seal: (&**seal).into() },
        }
    }
}

impl<'f> From<&'f Seal> for SealBody<'f> {
    fn from(seal: &'f Seal) -> Self {
        let Seal { secret, nonce, head, content_nonce } = seal;
        Self { secret, nonce, head, content_nonce }
    }
}

impl SealBody<'_> {
    fn seal(&self) -> Seal {
        Seal {
            secret: self.secret.to_vec(),
            nonce: self.nonce.to_vec(),
            head: self.head.to_vec(),
            content_nonce: self.content_nonce.to_vec(),
        }
    }
}

impl ReplyBody<'_> {
    fn reply(&self) -> KeptReply {
        match self {
            Self::Whole { status, lines } => {
                KeptReply::Whole(ReplyHead { status: *status, lines: String::from(*lines) })
            }
            Self::Tombstone { status } => KeptReply::Tombstone { status: *status },
            Self::Sealed { status, seal } => KeptReply::Sealed { status: *status, seal: Box::new(seal.seal()) },
        }
    }
}

impl<'f> From<&'f Delivery> for DeliveryBody<'f> {
    fn from(delivery: &'f Delivery) -> Self {
        Self {
            attempt: (&delivery.attempt).into(),
            until: delivery.until,
            tries: delivery.tries,
            refusals: delivery.refusals,
            stage: match delivery.stage {
                DeliveryStage::Waiting { at } => StageBody::Waiting { at },
                DeliveryStage::Running => StageBody::Running,
                DeliveryStage::Asking { at } => StageBody::Asking { at },
                DeliveryStage::Unknown { status, .. } => StageBody::Dead { cause: DeathBody::Exhausted, status },
                DeliveryStage::Dead { cause, status, expires: _ } => StageBody::Dead {
                    cause: match cause {
                        DeathCause::Declined => DeathBody::Declined,
                        DeathCause::Exhausted => DeathBody::Exhausted,
                    },
                    status,
                },
            },
        }
    }
}

impl DeliveryBody<'_> {
    fn delivery(&self, claim: Claim, expires: Millis) -> Option<Delivery> {
        Some(Delivery {
            claim,
            attempt: self.attempt.attempt()?,
            until: self.until,
            tries: self.tries,
            refusals: self.refusals,
            stage: match &self.stage {
                StageBody::Waiting { at } => DeliveryStage::Waiting { at: *at },
                StageBody::Running => DeliveryStage::Running,
                StageBody::Asking { at } => DeliveryStage::Asking { at: *at },
                StageBody::Dead { cause, status } => DeliveryStage::Dead {
                    cause: match cause {
                        DeathBody::Declined => DeathCause::Declined,
                        DeathBody::Exhausted => DeathCause::Exhausted,
                    },
                    status: *status,
                    expires,
                },
            },
        })
    }
}

impl<'f> From<&'f Attempt> for AttemptBody<'f> {
    fn from(attempt: &'f Attempt) -> Self {
        let terms = &attempt.terms;
        Self {
            scoped_key: attempt.scoped_key.as_str(),
            fingerprint: attempt.fingerprint.as_str(),
            keep: match terms.keep {
                Keep::Success => KeepBody::Success,
                Keep::Definite => KeepBody::Definite,
            },
            server_error: match terms.server_error {
                ServerError::Release => ServerErrorBody::Release,
                ServerError::Hold => ServerErrorBody::Hold,
                ServerError::Keep => ServerErrorBody::Keep,
            },
            unanswered: match &terms.unanswered {
                Unanswered::Hold => UnansweredBody::Hold,
                Unanswered::Rerun => UnansweredBody::Rerun,
                Unanswered::Probe(path) => UnansweredBody::Probe(path),
            },
            lease: terms.lease,
            patience: terms.patience,
            wait: terms.wait,
            retention: terms.retention,
            max_stored: terms.max_stored,
            header: &attempt.header,
        }
    }
}

impl AttemptBody<'_> {
    fn attempt(&self) -> Option<Attempt> {
        Some(Attempt {
            scoped_key: self.scoped_key.parse().ok()?,
            fingerprint: self.fingerprint.parse().ok()?,
            terms: Terms {
                keep: match self.keep {
                    KeepBody::Success => Keep::Success,
                    KeepBody::Definite => Keep::Definite,
                },
                server_error: match self.server_error {
                    ServerErrorBody::Release => ServerError::Release,
                    ServerErrorBody::Hold => ServerError::Hold,
                    ServerErrorBody::Keep => ServerError::Keep,
                },
                unanswered: match self.unanswered {
                    UnansweredBody::Hold => Unanswered::Hold,
                    UnansweredBody::Rerun => Unanswered::Rerun,
                    UnansweredBody::Probe(path) => Unanswered::Probe(path.to_owned()),
                },
                lease: self.lease,
                patience: self.patience,
                wait: self.wait,
                retention: self.retention,
                max_stored: self.max_stored,
                storing: Storing::default(),
                route: String::new(),
            },
            header: self.header.to_owned(),
            callers: None,
            basis: None,
            age: None,
            seal: SealKeys::default(),
        })
    }
}

impl<'f> From<&'f StoredRequest> for RequestBody<'f> {
    fn from(request: &'f StoredRequest) -> Self {
        Self::Open { method: &request.method, url: &request.url, fields: request.fields().as_text() }
    }
}

impl RequestBody<'_> {
    /// The request; `None` where it is sealed.
    pub(crate) fn request(&self) -> Option<StoredRequest> {
        match self {
            Self::Open { method, url, fields } => {
                StoredRequest::of_parts(method, url, Fields::new(String::from(*fields)))
            }
            Self::Sealed(_) => None,
        }
    }

    /// How it is sealed, where it is.
    pub(crate) fn seal(&self) -> Option<Seal> {
        match self {
            Self::Open { .. } => None,
            Self::Sealed(seal) => Some(seal.seal()),
        }
    }
}

impl<'f> From<&'f Entity> for EntityBody<'f> {
    fn from(entity: &'f Entity) -> Self {
        Self {
            state: &entity.state,
            version: entity.version,
            ran: borrowed(&entity.ran),
            pending: entity.pending.clone(),
        }
    }
}

impl EntityBody<'_> {
    pub(crate) fn entity(self, extensions: Vec<Extension>) -> Entity {
        Entity {
            state: self.state.to_owned(),
            version: self.version,
            ran: owned(&self.ran),
            pending: self.pending,
            extensions,
        }
    }
}

impl<'f> From<&'f OutboxEntry> for OutboxBody<'f> {
    fn from(entry: &'f OutboxEntry) -> Self {
        Self { attempt: (&entry.attempt).into(), request: (&entry.request).into() }
    }
}

impl OutboxBody<'_> {
    /// The entry; `None` where this build cannot send it.
    pub(crate) fn entry(&self, mut extensions: Vec<Extension>) -> Option<OutboxEntry> {
        let mut attempt = self.attempt.attempt()?;
        attempt.terms.storing = take_storing(&mut extensions)?;
        Some(OutboxEntry { attempt, request: self.request.request()? })
    }
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| String::from(*text)).collect()
}
