//! The client's side of an attempt: what an answer means for the intent, whether to send again, and when.
//!
//! Nothing here reads a clock or rolls dice: times are arguments in milliseconds, jitter is an argument too.
//! The browser module links this file, so it uses no formatting and no floating point.

use crate::http::retry_after::number;

/// The longest delay that back-off alone can reach, in milliseconds.
pub const MAX_BACKOFF: u64 = 30_000;
/// A `Retry-After` beyond this many milliseconds is not waited for: the person hears of it instead.
pub const MAX_RETRY_AFTER: u64 = 60_000;
/// The base of the back-off unless told otherwise, in milliseconds.
pub const DEFAULT_BASE: u64 = 500;
/// Retries after the first attempt where nothing else is said.
pub const DEFAULT_RETRIES: u32 = 4;

/// How often and how fast to send again: `"3"` or `"3s,3"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Milliseconds; before retry n the delay is random in `0..=min(30 s, base · 2^(n-1))`.
    pub base: u64,
    /// Retries after the first attempt.
    pub retries: u32,
    /// False where nobody asked for retries: then only "in progress" is worth another attempt.
    pub asked: bool,
}

impl Plan {
    /// What holds for a form without a retry attribute: a duplicate of a running request waits for it, no more.
    pub const UNASKED: Plan = Plan { base: DEFAULT_BASE, retries: DEFAULT_RETRIES, asked: false };
    /// What holds for a `send` that says nothing.
    pub const DEFAULT: Plan = Plan { base: DEFAULT_BASE, retries: DEFAULT_RETRIES, asked: true };

    /// Reads the attribute: a count, or a base and a count divided by a comma. `None` is no such text.
    pub fn parse(text: &str) -> Option<Plan> {
        let (base, count) = match text.bytes().position(|byte| byte == b',') {
            Some(comma) => (interval(text.get(..comma)?)?, text.get(comma + 1..)?),
            None => (DEFAULT_BASE, text),
        };
        Some(Plan { base, retries: u32::try_from(number(count, 0)?).ok()?, asked: true })
    }

    /// Reads the attribute of an element; text that is no plan counts as absent.
    pub fn of(attribute: Option<&str>) -> Plan {
        attribute.and_then(Plan::parse).unwrap_or(Plan::UNASKED)
    }

    /// The delay before retry `n` (1 is the first), in milliseconds. `jitter` is a fraction of 2^32,
    /// `least` what the server asked for.
    pub fn delay(&self, n: u32, jitter: u32, least: u64) -> u64 {
        // Beyond the longest delay the exact number does not matter, so nothing here can overflow.
        let doubled = self.base.min(MAX_BACKOFF) << n.saturating_sub(1).min(15);
        let drawn = (doubled.min(MAX_BACKOFF) * (u64::from(jitter) + 1)) >> 32;
        drawn.max(least)
    }
}

/// A length of time as the attributes write it: `250ms`, `3s`, `0.5s`, or a bare number of milliseconds.
pub fn interval(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    match text.strip_suffix('s') {
        Some(rest) => match rest.strip_suffix('m') {
            Some(milliseconds) => number(milliseconds, 0),
            None => number(rest, 3),
        },
        None => number(text, 0),
    }
}

/// The gate's word on an answer, `Idempotency-Status`, as far as a client acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Another attempt of this intent runs now.
    InProgress,
    /// The gate cannot know what became of an earlier attempt.
    Unknown,
    /// The key belongs to a request with other content.
    Mismatch,
    /// Anything else, or no gate.
    Other,
}

impl Word {
    /// Reads the field's value.
    pub fn parse(field: Option<&str>) -> Word {
        match field {
            Some("in-progress") => Word::InProgress,
            Some("unknown") => Word::Unknown,
            Some("mismatch") => Word::Mismatch,
            _ => Word::Other,
        }
    }
}

/// What came back from one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: a network error or a timeout.
    None,
    /// The person or the page took the attempt back.
    Aborted,
    /// A status, and the gate's word.
    Status(u16, Word),
}

/// What an answer says about the intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It happened.
    Succeeded,
    /// It was refused as it stands: other content is another intent.
    Declined,
    /// The key is taken by other content: the next submit is another intent.
    Mismatch,
    /// It may have happened, or may yet: the key stays.
    Unknown,
}

impl Answer {
    /// What the answer says about the intent (contract 4, "When it changes").
    ///
    /// | answer | outcome |
    /// |---|---|
    /// | the gate says mismatch | mismatch |
    /// | the gate says unknown | unknown |
    /// | 2xx, 3xx | succeeded |
    /// | 401, 403, 407, 408, 425, 429, 5xx, 409 in progress, none | unknown |
    /// | another 4xx | declined |
    #[allow(clippy::match_same_arms, clippy::unnested_or_patterns, reason = "one arm a line of the table")]
    pub fn outcome(self) -> Outcome {
        match self {
            Answer::None | Answer::Aborted => Outcome::Unknown,
            Answer::Status(_, Word::Unknown) | Answer::Status(409, Word::InProgress) => Outcome::Unknown,
            Answer::Status(_, Word::Mismatch) => Outcome::Mismatch,
            Answer::Status(200..=399, _) => Outcome::Succeeded,
            Answer::Status(401 | 403 | 407 | 408 | 425 | 429, _) => Outcome::Unknown,
            Answer::Status(400..=499, _) => Outcome::Declined,
            Answer::Status(_, _) => Outcome::Unknown,
        }
    }

    /// One word for the events' `reason`.
    pub fn reason(self) -> &'static str {
        match self {
            Answer::None => "network",
            Answer::Aborted => "aborted",
            Answer::Status(409, Word::InProgress) => "in-progress",
            Answer::Status(_, Word::Unknown) => "unknown",
            Answer::Status(429, _) => "too-many-requests",
            Answer::Status(..) => match self.outcome() {
                Outcome::Succeeded => "success",
                Outcome::Declined => "declined",
                Outcome::Mismatch => "mismatch",
                Outcome::Unknown => "status",
            },
        }
    }

    fn deserves_retry(self, plan: Plan) -> bool {
        match self {
            Answer::Aborted | Answer::Status(_, Word::Unknown) => false,
            Answer::Status(409, Word::InProgress) => true,
            Answer::None | Answer::Status(429 | 500 | 502 | 503 | 504, _) => plan.asked,
            Answer::Status(_, _) => false,
        }
    }
}

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send the same again after so many milliseconds.
    Retry(u64),
    /// Hand the answer over.
    Final(Outcome),
}

/// Decides on an attempt. `attempt` is the one that was answered (1 is the first), `asked` what `Retry-After` says,
/// `left` how long the key is still remembered; both in milliseconds.
pub fn verdict(answer: Answer, plan: Plan, attempt: u32, asked: Option<u64>, left: u64, jitter: u32) -> Verdict {
    let least = asked.unwrap_or(0);
    if answer.deserves_retry(plan) && attempt <= plan.retries && least <= MAX_RETRY_AFTER {
        let delay = plan.delay(attempt, jitter, least);
        if delay < left {
            return Verdict::Retry(delay);
        }
    }
    Verdict::Final(answer.outcome())
}
