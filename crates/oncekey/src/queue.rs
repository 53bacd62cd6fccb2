//! A queue's messages: requests with keys that no client sends.

use crate::{
    answer::{
        class::{StatusClass, classify},
        word::StatusWord,
    },
    decide::backoff::backoff,
    json::select::{Selected, json_text, select, string_value},
    key::{Key, scope::Scope, scoped::ScopedKey},
    policy::{Policy, Queue},
    stored::attempt::{Attempt, Terms},
};

/// Where a queue's message is aimed: no client sends it, and the origin has a name of its own.
pub const QUEUE_HOST: &str = "http://queue.invalid";

/// Seconds: the longest delay of a message that a queue takes.
const LONGEST_DELAY: u64 = 43_200;

/// Milliseconds: the base and the limit of a message's back-off.
const DELAYS: (u64, u64) = (2_000, 600_000);

/// What a caller that only hands something over hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is done with: acknowledge it.
    Taken,
    /// Hand it over again later.
    Again,
}

/// Reads an object's answer to a message: its status and its `Idempotency-Status`; nothing where there was none.
///
/// | answer | receipt |
/// |---|---|
/// | executed: done or declined | taken |
/// | replayed; completed, but not kept (409 and refused) | taken |
/// | executed: never consumes, ambiguous | again |
/// | in progress, mismatch, unknown, any other refusal, none | again |
///
/// ```
/// use oncekey::queue::{Receipt, read_receipt};
///
/// assert_eq!(read_receipt(201, Some("executed")), Receipt::Taken);
/// assert_eq!(read_receipt(503, Some("executed")), Receipt::Again);
/// ```
pub fn read_receipt(status: u16, word: Option<&str>) -> Receipt {
    let is_taken = match word {
        Some(word) if word == StatusWord::Executed.as_str() => {
            matches!(classify(status), StatusClass::Done | StatusClass::Declined)
        }
        Some(word) if word == StatusWord::Replayed.as_str() => true,
        Some(word) if word == StatusWord::Refused.as_str() => status == 409,
        _ => false,
    };
    if is_taken { Receipt::Taken } else { Receipt::Again }
}

/// A queue's message as an attempt. Its key is the string at the queue's pointer, else the message's id. `None` for a
/// message that is never sent: its content is no JSON, or what should be its key is none, so that a second delivery
/// could not be told from it.
pub fn attempt_of_message(policy: &Policy, queue: &Queue, id: &str, content: &[u8]) -> Option<Attempt> {
    let text = json_text(content).ok()?;
    let held = match &queue.key {
        None => None,
        Some(pointer) => match select(text, pointer) {
            Selected::Nothing => None,
            Selected::Value(value) => string_value(value),
            Selected::Twice => return None,
        },
    };
    let scope = Scope::of_gate(&[("queue", &queue.name)]);
    let key = Key::from_content(held.as_deref().unwrap_or(id)).ok()?;
    let scoped_key = ScopedKey::derive(&scope, &key).ok()?;
    let terms = Terms::of_queue(policy, queue);
    Some(Attempt::of_json(policy, scoped_key, &queue.path, content, &[], terms))
}

/// Seconds after which a message is delivered again. `attempts`: how often it was, 1 or more; `jitter` is a fraction
/// of 2^32; `retry_after`: milliseconds that the origin asked for.
pub fn redelivery_delay(attempts: u32, jitter: u32, retry_after: u64) -> u32 {
    let delay = backoff(attempts, DELAYS.0, DELAYS.1, jitter, retry_after).div_ceil(1000);
    u32::try_from(delay.clamp(1, LONGEST_DELAY)).unwrap_or(1)
}
