//! Delays between tries.

/// The base of the back-off, in milliseconds.
pub const BACKOFF: u64 = 1_000;

/// The longest delay that back-off alone can reach, in milliseconds.
pub const LONGEST_BACKOFF: u64 = 300_000;

/// The delay before the next try, in milliseconds: half of `base · 2^(tries-1)`, at most half of `most`, and as much
/// again at random. `jitter` is a fraction of 2^32, `least` what the origin asked for.
pub fn backoff(tries: u32, base: u64, most: u64, jitter: u32, least: u64) -> u64 {
    let doubled = base.saturating_mul(1_u64.checked_shl(tries.saturating_sub(1)).unwrap_or(u64::MAX)).min(most);
    let half = doubled / 2;
    (half + ((half * (u64::from(jitter) + 1)) >> 32)).max(least)
}
