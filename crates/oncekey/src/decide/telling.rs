//! Who is told of a fate that a person has to look at, and when: each at least once.
//!
//! A fate is open while it is unknown or a delivery is dead, and nobody has resolved it. [`decide_telling`] is asked when
//! the alarm rings, [`after_telling`] when the listeners have been turned to, and [`ring_for_telling`] wherever the alarm
//! is set. What they return is stored in the same synchronous section.
//!
//! | record | owner | listeners | told | then |
//! |---|---|---|---|---|
//! | any | | none | | nothing |
//! | claimed | alive | one of the policy's | | look again: the owner may die |
//! | claimed | alive | the index alone | | nothing: the alarm that there is finds it |
//! | claimed, lease runs | gone | | | ring when it has ended |
//! | claimed, lease over | gone | | not all | tell |
//! | unknown | | | not all | tell |
//! | accepted, dead or unknown | | | not all | tell |
//! | these, a day after they expired | | | not all | nothing: it is given up |
//! | these | | | all | nothing |
//! | completed, accepted and goes on, none | | | | nothing |
//! | unreadable | | | | nothing: what cannot be read cannot be marked |
//! | of a build that did not write the key | | | | nothing, unless it was accepted: nobody can be told which it is |
//!
//! | when they have been turned to | then |
//! |---|---|
//! | it is that fate no longer: released, delivered again, the origin was asked | nothing |
//! | all know | marked, and never told again |
//! | some do not | marked, and again after a back-off; it is kept for that beyond its retention, for a day |
//!
//! A fate is one execution's since one moment: a delivery that is dead or unknown once more is another one. An owner that
//! died is told of when its lease has ended: before that the effect may still work, and the origin be asked in vain.

use crate::{
    answer::peek::KeyLook,
    decide::{
        alarm::first_alarm,
        backoff::{BACKOFF, LONGEST_BACKOFF, backoff},
        look::look_at_key,
    },
    digest::LengthPrefixedDigest,
    http::date::{Millis, later_by},
    key::scoped::ScopedKey,
    stored::{
        record::{Claim, Delivery, DeliveryStage, FoundRecord, Owner, Record},
        told::{Listeners, ToldFate},
    },
};

/// Milliseconds after which an execution whose lease is over is looked at again, should its owner have died.
const LOOK_AGAIN: u64 = 10_000;

/// Milliseconds after which the alarm rings again, should the telling be the last that is heard of it.
const LATE: u64 = 10_000;

/// Seconds that what could not be told is kept beyond its retention.
const UNTOLD_KEPT: u32 = 86_400;

/// A fate that a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFate {
    /// Whose.
    pub key: ScopedKey,
    /// What the operator is told of the key.
    pub look: KeyLook,
    /// Since when; with the generation it tells this fate from any later one.
    pub since: Millis,
    /// Until when it is remembered.
    pub expires: Millis,
    /// Who has to be told.
    pub untold: Listeners,
    /// Whether the log has no line of it yet: nobody has settled it.
    pub is_news: bool,
    told: ToldFate,
}

impl OpenFate {
    /// Names the telling, the same at each try, so that whoever hears it twice knows.
    pub fn id(&self) -> String {
        let mut digest = LengthPrefixedDigest::new("oncekey telling 1");
        digest.add_part(self.key.as_str().as_bytes());
        digest.add_part(&self.told.generation.to_be_bytes());
        digest.add_part(&self.since.to_be_bytes());
        digest.finish()
    }
}

/// What is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and told at once")]
pub enum TellingDecision {
    /// Nothing.
    Nothing,
    /// Look again then.
    Later(Millis),
    /// Set the alarm by [`alarm_while_telling`], tell the untold, and ask [`after_telling`].
    Tell(OpenFate),
}

/// What is to be told of what stands under a key.
pub fn decide_telling(record: FoundRecord<'_>, owner: Owner, listeners: Listeners, now: Millis) -> TellingDecision {
    let FoundRecord::Readable(record) = record else {
        return TellingDecision::Nothing;
    };
    if let Record::Claimed(claim) = record
        && listeners.is_any()
    {
        if owner.owns(claim) {
            let again = claim.lease_until.max(now.saturating_add(LOOK_AGAIN));
            return if listeners.policy { TellingDecision::Later(again) } else { TellingDecision::Nothing };
        }
        if now < claim.lease_until {
            return TellingDecision::Later(claim.lease_until);
        }
    }
    match open_fate(record, owner, listeners, now) {
        Some(fate) if fate.untold.is_any() && now < later_by(fate.expires, UNTOLD_KEPT) => TellingDecision::Tell(fate),
        Some(_) | None => TellingDecision::Nothing,
    }
}

fn open_fate(record: &Record, owner: Owner, listeners: Listeners, now: Millis) -> Option<OpenFate> {
    let claim = record.claim();
    let (key, is_news) = match record {
        Record::Accepted(Delivery {
            stage: DeliveryStage::Dead { .. } | DeliveryStage::Unknown { .. },
            attempt,
            ..
        }) => (attempt.scoped_key.clone(), false),
        Record::Claimed(claim) if !owner.owns(claim) => (claim.claimant.scoped_key()?, true),
        Record::Unknown { .. } => (claim.claimant.scoped_key()?, false),
        Record::Claimed(_) | Record::Completed { .. } | Record::Accepted(_) => return None,
    };
    // What has expired is told as it was remembered last.
    let expires = record.expires();
    let look = look_at_key(Some(record), owner, now.min(expires.saturating_sub(1)));
    let (since, generation) = (look.since?, claim.generation);
    let is_same = |told: &ToldFate| (told.generation, told.since) == (generation, since);
    let known = claim.claimant.told_fate().filter(is_same);
    let told = known.unwrap_or(ToldFate { generation, since, ..ToldFate::default() });
    let is_news = is_news && known.is_none();
    Some(OpenFate { key, look, since, expires, untold: listeners.without(told.told), is_news, told })
}

/// When the alarm must ring while listeners are turned to, should nothing more be heard of that.
pub fn alarm_while_telling(now: Millis) -> Millis {
    now.saturating_add(LATE)
}

/// What follows a telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterTelling {
    /// Store this.
    pub record: Record,
    /// Tell the rest then; nothing where all know.
    pub again: Option<Millis>,
}

/// After listeners were turned to: `heard` took it. Nothing where it is that fate no longer. `jitter` is a fraction of
/// 2^32.
pub fn after_telling(
    record: FoundRecord<'_>,
    owner: Owner,
    fate: &OpenFate,
    heard: Listeners,
    jitter: u32,
    now: Millis,
) -> Option<AfterTelling> {
    let FoundRecord::Readable(record) = record else {
        return None;
    };
    let is_same = |open: &OpenFate| (open.told.generation, open.since) == (fate.told.generation, fate.since);
    open_fate(record, owner, fate.untold, now).filter(is_same)?;
    let is_told = !fate.untold.without(heard).is_any();
    let tries = fate.told.tries.saturating_add(1);
    let mut record = record.clone();
    let (Record::Claimed(claim)
    | Record::Completed { claim, .. }
    | Record::Unknown { claim, .. }
    | Record::Accepted(Delivery { claim, .. })) = &mut record;
    claim.claimant.note_told(ToldFate { told: fate.told.told.and(heard), tries, ..fate.told });
    let again = now.saturating_add(backoff(tries, BACKOFF, LONGEST_BACKOFF, jitter, 0));
    Some(AfterTelling { record, again: (!is_told).then_some(again) })
}

/// When the alarm must ring for what is stored, where it would ring at `at` if nothing had to be told.
pub fn ring_for_telling(
    record: FoundRecord<'_>,
    owner: Owner,
    listeners: Listeners,
    at: Millis,
    now: Millis,
) -> Millis {
    match decide_telling(record, owner, listeners, now) {
        TellingDecision::Nothing => at,
        TellingDecision::Later(again) => at.min(again),
        TellingDecision::Tell(_) => at.min(now),
    }
}

/// When the alarm must ring first for a claim. Whom the policy names is told soon after the lease of an owner that died;
/// without one nobody is woken for that.
pub fn alarm_of_claim(claim: &Claim, listeners: Listeners, now: Millis) -> Millis {
    let first = first_alarm(claim, now);
    if listeners.policy { first.min(later_by(claim.lease_until, 1)) } else { first }
}

/// When the alarm must ring after a proxied request was settled so; nothing where it rings in good time already.
pub fn alarm_of_settled(record: &Record, listeners: Listeners, now: Millis) -> Option<Millis> {
    match record {
        Record::Unknown { .. } if listeners.is_any() => Some(now),
        Record::Completed { expires, .. } if listeners.policy => Some(*expires),
        Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. } | Record::Accepted(_) => None,
    }
}

/// When the alarm must ring, where somebody has come upon a fate that nobody was turned to for yet.
pub fn alarm_of_notice(record: FoundRecord<'_>, owner: Owner, listeners: Listeners, now: Millis) -> Option<Millis> {
    match (decide_telling(record, owner, listeners, now), record) {
        (TellingDecision::Tell(fate), _) if fate.told.tries == 0 => Some(now),
        (TellingDecision::Later(at), FoundRecord::Readable(Record::Claimed(claim))) if !owner.owns(claim) => Some(at),
        _ => None,
    }
}
