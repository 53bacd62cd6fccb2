//! New keys: UUIDs (RFC 9562) from random bytes and a time that the caller passes.

use uuid::{Builder, Uuid, fmt::Hyphenated};

use crate::{http::date::Millis, key::Key};

/// A UUID of version 4 (RFC 9562 §5.4): 122 of the bits of `random`, which nobody may be able to guess.
///
/// ```
/// use oncekey::key::mint::mint_v4;
///
/// assert_eq!(mint_v4([0xab; 16]).as_str(), "abababab-abab-4bab-abab-abababababab");
/// ```
pub fn mint_v4(random: [u8; 16]) -> Key {
    key_of(Builder::from_random_bytes(random).into_uuid())
}

/// A UUID of version 7 (RFC 9562 §5.7): the 48 low bits of `now`, then 74 of the bits of `random`. Keys of later
/// milliseconds sort after those of earlier ones.
///
/// ```
/// use oncekey::key::mint::mint_v7;
///
/// assert_eq!(mint_v7(0x017f_22e2_79b0, [0xab; 10]).as_str(), "017f22e2-79b0-7bab-abab-abababababab");
/// ```
pub fn mint_v7(now: Millis, random: [u8; 10]) -> Key {
    key_of(Builder::from_unix_timestamp_millis(now, &random).into_uuid())
}

fn key_of(uuid: Uuid) -> Key {
    let mut text = [0; Hyphenated::LENGTH];
    Key(uuid.hyphenated().encode_lower(&mut text).to_owned())
}
