//! New keys: UUIDs (RFC 9562) from random bytes and a time that the caller passes.

use uuid::{Builder, Uuid, fmt::Hyphenated};

use crate::{http::date::Millis, key::Key};

/// A UUID of version 4 (RFC 9562 §5.4): 122 of the bits of `random`, which nobody may be able to guess.
pub fn mint_v4(random: [u8; 16]) -> Key {
    key_of(Builder::from_random_bytes(random).into_uuid())
}

/// A UUID of version 7 (RFC 9562 §5.7): the 48 low bits of `now`, then 74 of the bits of `random`. Keys of later
/// milliseconds sort after those of earlier ones.
pub fn mint_v7(now: Millis, random: [u8; 10]) -> Key {
    key_of(Builder::from_unix_timestamp_millis(now, &random).into_uuid())
}

fn key_of(uuid: Uuid) -> Key {
    let mut text = [0; Hyphenated::LENGTH];
    Key(uuid.hyphenated().encode_lower(&mut text).to_owned())
}
