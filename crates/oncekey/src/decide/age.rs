//! Keys that were forgotten never run again, where the route says how old a key may be.
//!
//! | nothing is remembered, and the key's own time is | decision |
//! |---|---|
//! | none: the key is no UUID of version 7, or the route says no age | execute |
//! | within `key_age` before now, or at most 300 s ahead | execute |
//! | earlier | refuse: expired |
//! | later | refuse: invalid |
//!
//! What is remembered is asked first, and replays at any age.
//!
//! The proof that no second effect follows, however wrong the client's clock: let a request run at `t` under a key whose
//! own time is `k`, on a route that remembers for `r` and takes keys up to an age of `a ≤ r − 60 s`. The time is a part
//! of the key, so it is the same in every duplicate, whoever sends it and when. While the request runs, or nobody knows
//! what became of it, it is remembered; what is remembered ends at the earliest at `max(end, k) + r`, by
//! [`Claim::remembered_until`](crate::stored::record::Claim::remembered_until). Whoever finds nothing remembered
//! therefore comes at `k + r` or later: the key is then at least `r > a` old, and is refused. All times but `k` are the
//! objects' clock's; it may err by a minute between them.
//!
//! Without the later of both, a key that was 300 s ahead would be forgotten when it is only `r − 300 s` old, which may be
//! less than `a`.
//!
//! It holds for keys that were first used since the route says so with a `retention` of that length: what ran before is
//! remembered on the terms of that time. What was set free, by an answer that consumes no key or by the operator, may run
//! again while the key is young, and no longer.

use crate::{
    answer::refusal::Refusal,
    http::date::{Millis, later_by},
    key::{
        InvalidKey,
        age::{KeyAge, MOST_AHEAD},
    },
};

/// What a key is refused with of which nothing is remembered.
///
/// ```
/// use oncekey::{decide::age::refuse_by_age, key::age::KeyAge};
///
/// let age = Some(KeyAge { time: 1_000_000, most: 60 });
/// assert_eq!(refuse_by_age(age, 1_060_000), None);
/// assert_eq!(refuse_by_age(age, 1_060_001).map(|refusal| refusal.code()), Some("key_expired"));
/// assert_eq!(refuse_by_age(age, 699_999).map(|refusal| refusal.code()), Some("key_invalid"));
/// ```
pub fn refuse_by_age(age: Option<KeyAge>, now: Millis) -> Option<Refusal> {
    let age = age?;
    if age.time > later_by(now, MOST_AHEAD) {
        return Some(Refusal::KeyInvalid(InvalidKey::Ahead));
    }
    is_expired(age, now).then_some(Refusal::KeyExpired)
}

/// Whether a key is older than its route takes.
pub(super) fn is_expired(age: KeyAge, now: Millis) -> bool {
    now > later_by(age.time, age.most)
}
