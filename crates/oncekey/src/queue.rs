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
/// | executed: never consumes (307 and 308 too), ambiguous | again |
/// | in progress, mismatch, unknown, any other refusal, none | again |
///
/// ```
/// use oncekey::queue::{Receipt, read_receipt};
///
/// assert_eq!(read_receipt(201, Some("executed")), Receipt::Taken);
/// assert_eq!(read_receipt(503, Some("executed")), Receipt::Again);
/// assert_eq!(read_receipt(308, Some("executed")), Receipt::Again);
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

/// The largest whole number that every JSON reader takes for itself (RFC 8259 §6), so that its digits are its key.
const LARGEST: u64 = 9_007_199_254_740_991;

/// A message's text as its content: where the body is a text that is JSON itself, that JSON. `text`: the body as JSON.
///
/// ```
/// use oncekey::queue::content_of_text;
///
/// assert_eq!(content_of_text(r#""{\"id\": 7}""#), r#"{"id": 7}"#);
/// assert_eq!(content_of_text(r#""no JSON""#), r#""no JSON""#);
/// ```
pub fn content_of_text(text: &str) -> String {
    string_value(text).filter(|held| json_text(held.as_bytes()).is_ok()).unwrap_or_else(|| text.to_owned())
}

/// The key that a value says: a text, or a whole number by its digits, so that 7 and "7" are one key.
fn key_of_value(value: &str) -> Option<Key> {
    let digits = || value.parse::<i64>().ok().filter(|number| number.unsigned_abs() <= LARGEST);
    let text = string_value(value).or_else(|| digits().map(|number| number.to_string()))?;
    Key::from_content(&text).ok()
}

/// A queue's message as an attempt.
///
/// | at the queue's pointer | key |
/// |---|---|
/// | a text; a whole number within ±(2^53−1) | that |
/// | nothing, or the queue has no pointer | the message's id, in a space of its own |
/// | anything else, or two values | none |
///
/// `None` for a message that is never sent: its content is no JSON, or what should be its key is none, so that a second
/// delivery could not be told from it.
pub fn attempt_of_message(policy: &Policy, queue: &Queue, id: &str, content: &[u8]) -> Option<Attempt> {
    let text = json_text(content).ok()?;
    let (space, key) = match queue.key.as_ref().map_or(Selected::Nothing, |pointer| select(text, pointer)) {
        Selected::Nothing => ("queue message", Key::from_content(id).ok()?),
        Selected::Value(value) => ("queue", key_of_value(value)?),
        Selected::Twice => return None,
    };
    let scope = Scope::of_gate(&[(space, &queue.name)]);
    let scoped_key = ScopedKey::derive(&scope, &key).ok()?;
    let terms = Terms::of_queue(policy, queue);
    let attempt = Attempt::of_json(policy, scoped_key, &queue.path, content, &[], terms);
    Some(Attempt { seal: policy.seal_keys(&scope, &key), ..attempt })
}

/// Seconds after which a message is delivered again. `attempts`: how often it was, 1 or more; `jitter` is a fraction
/// of 2^32; `retry_after`: milliseconds that the origin asked for.
pub fn redelivery_delay(attempts: u32, jitter: u32, retry_after: u64) -> u32 {
    let delay = backoff(attempts, DELAYS.0, DELAYS.1, jitter, retry_after).div_ceil(1000);
    u32::try_from(delay.clamp(1, LONGEST_DELAY)).unwrap_or(1)
}
