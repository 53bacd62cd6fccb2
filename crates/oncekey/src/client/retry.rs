//! The client's side of an attempt: what an answer means for the intent, whether to send again, and when.
//!
//! Nothing here reads a clock or rolls dice: times are arguments in milliseconds, jitter is an argument too.

use std::{error::Error, fmt, str::FromStr};

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
///
/// ```
/// use oncekey::client::retry::RetryPlan;
///
/// let plan: RetryPlan = "3s,2".parse()?;
/// assert_eq!((plan.base, plan.retries), (3_000, 2));
/// assert!("often".parse::<RetryPlan>().is_err());
/// # Ok::<(), oncekey::client::retry::InvalidRetryPlan>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPlan {
    /// Milliseconds; before retry n the delay is random in `0..=min(30 s, base · 2^(n-1))`.
    pub base: u64,
    /// Retries after the first attempt.
    pub retries: u32,
    /// False where nobody asked for retries: then only "in progress" is worth another attempt.
    pub asked: bool,
}

/// A text that is no retry plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRetryPlan;

impl fmt::Display for InvalidRetryPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a retry plan is a count, or a time and a count: 3 or 3s,3")
    }
}

impl Error for InvalidRetryPlan {}

impl FromStr for RetryPlan {
    type Err = InvalidRetryPlan;

    /// Reads the attribute: a count, or a base and a count divided by a comma.
    fn from_str(text: &str) -> Result<RetryPlan, InvalidRetryPlan> {
        // By bytes: small enough for the browser.
        let (base, count) = match text.bytes().position(|byte| byte == b',') {
            Some(comma) => (text.get(..comma).and_then(parse_interval), text.get(comma + 1..).unwrap_or_default()),
            None => (Some(DEFAULT_BASE), text),
        };
        let retries = number(count, 0).and_then(|count| u32::try_from(count).ok());
        let (base, retries) = base.zip(retries).ok_or(InvalidRetryPlan)?;
        Ok(RetryPlan { base, retries, asked: true })
    }
}

impl RetryPlan {
    /// What holds for a form without a retry attribute: a duplicate of a running request waits for it, no more.
    pub const UNASKED: RetryPlan = RetryPlan { base: DEFAULT_BASE, retries: DEFAULT_RETRIES, asked: false };
    /// What holds for a `send` that says nothing.
    pub const OF_SEND: RetryPlan = RetryPlan { base: DEFAULT_BASE, retries: DEFAULT_RETRIES, asked: true };

    /// The plan of an element: its attribute's text, without one the page's. Text that is no plan asks for nothing.
    pub fn of_element(attribute: Option<&str>, page: Option<&str>) -> RetryPlan {
        attribute.or(page).and_then(|text| text.parse().ok()).unwrap_or(RetryPlan::UNASKED)
    }

    /// The plan of a `send`: its option's text, else the page's. Text that is no plan counts as absent.
    pub fn of_send(option: Option<&str>, page: Option<&str>) -> RetryPlan {
        let parse = |text: &str| text.parse().ok();
        option.and_then(parse).or_else(|| page.and_then(parse)).unwrap_or(RetryPlan::OF_SEND)
    }

    /// The delay before retry `n` (1 is the first), in milliseconds. `jitter` is a fraction of 2^32,
    /// `least` what the server asked for.
    pub fn delay_before(&self, n: u32, jitter: u32, least: u64) -> u64 {
        // Beyond the longest delay the exact number does not matter, so nothing here can overflow.
        let doubled = self.base.min(MAX_BACKOFF) << n.saturating_sub(1).min(15);
        let drawn = (doubled.min(MAX_BACKOFF) * (u64::from(jitter) + 1)) >> 32;
        drawn.max(least)
    }
}

/// A length of time as the attributes write it, in milliseconds: `250ms`, `3s`, `0.5s`, or a bare number of milliseconds.
pub fn parse_interval(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    if let Some(milliseconds) = text.strip_suffix("ms") {
        return number(milliseconds, 0);
    }
    match text.strip_suffix("s") {
        Some(seconds) => number(seconds, 3),
        None => number(text, 0),
    }
}

/// The gate's word on an answer, `Idempotency-Status`, as far as a client acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateWord {
    /// Another attempt of this intent runs now.
    InProgress,
    /// The gate cannot know what became of an earlier attempt.
    Unknown,
    /// The key belongs to a request with other content.
    Mismatch,
    /// `expired`: the key is older than the gate takes new ones.
    Expired,
    /// `refused`: nothing was run.
    Refused,
    /// Anything else, or no gate.
    Other,
}

impl GateWord {
    /// Reads the field's value.
    pub fn from_field(field: Option<&str>) -> GateWord {
        match field {
            Some("in-progress") => GateWord::InProgress,
            Some("unknown") => GateWord::Unknown,
            Some("mismatch") => GateWord::Mismatch,
            Some("expired") => GateWord::Expired,
            Some("refused") => GateWord::Refused,
            _ => GateWord::Other,
        }
    }
}

/// What came back from one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptAnswer {
    /// Nothing: a network error or a timeout.
    Nothing,
    /// The person or the page took the attempt back.
    Aborted,
    /// A status, and the gate's word.
    Status(u16, GateWord),
}

/// What an answer says about the intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentOutcome {
    /// It happened.
    Succeeded,
    /// It was refused as it stands: other content is another intent.
    Declined,
    /// The key is taken by other content: the next submit is another intent.
    Mismatch,
    /// It may have happened, or may yet: the key stays.
    Unknown,
}

impl AttemptAnswer {
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
    pub fn outcome(self) -> IntentOutcome {
        match self {
            AttemptAnswer::Nothing | AttemptAnswer::Aborted => IntentOutcome::Unknown,
            AttemptAnswer::Status(_, GateWord::Unknown | GateWord::Expired)
            | AttemptAnswer::Status(409, GateWord::InProgress) => IntentOutcome::Unknown,
            AttemptAnswer::Status(_, GateWord::Mismatch) => IntentOutcome::Mismatch,
            AttemptAnswer::Status(200..=399, _) => IntentOutcome::Succeeded,
            AttemptAnswer::Status(401 | 403 | 407 | 408 | 425 | 429, _) => IntentOutcome::Unknown,
            AttemptAnswer::Status(400..=499, _) => IntentOutcome::Declined,
            AttemptAnswer::Status(_, _) => IntentOutcome::Unknown,
        }
    }

    /// Whether a fresh key that the page has made by its own clock was too old or too new. Nobody has used it and nothing was
    /// run, so that another one, by the clock that the answer tells, loses nothing.
    ///
    /// ```
    /// use oncekey::client::retry::{AttemptAnswer, GateWord};
    ///
    /// let is = |status, word| AttemptAnswer::Status(status, GateWord::from_field(Some(word))).is_of_wrong_clock();
    /// assert!(is(409, "expired") && is(400, "refused"));
    /// assert!(!is(409, "unknown") && !is(400, "executed") && !is(413, "refused"));
    /// ```
    pub fn is_of_wrong_clock(self) -> bool {
        matches!(self, AttemptAnswer::Status(409, GateWord::Expired) | AttemptAnswer::Status(400, GateWord::Refused))
    }

    /// One word for the events' `reason`.
    pub fn reason(self) -> &'static str {
        match self {
            AttemptAnswer::Nothing => "network",
            AttemptAnswer::Aborted => "aborted",
            AttemptAnswer::Status(409, GateWord::InProgress) => "in-progress",
            AttemptAnswer::Status(_, GateWord::Unknown) => "unknown",
            AttemptAnswer::Status(_, GateWord::Expired) => "expired",
            AttemptAnswer::Status(429, _) => "too-many-requests",
            AttemptAnswer::Status(..) => match self.outcome() {
                IntentOutcome::Succeeded => "success",
                IntentOutcome::Declined => "declined",
                IntentOutcome::Mismatch => "mismatch",
                IntentOutcome::Unknown => "status",
            },
        }
    }

    fn deserves_retry(self, plan: RetryPlan) -> bool {
        match self {
            AttemptAnswer::Aborted | AttemptAnswer::Status(_, GateWord::Unknown | GateWord::Expired) => false,
            AttemptAnswer::Status(409, GateWord::InProgress) => true,
            AttemptAnswer::Nothing | AttemptAnswer::Status(429 | 500 | 502 | 503 | 504, _) => plan.asked,
            AttemptAnswer::Status(_, _) => false,
        }
    }
}

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Send the same again after so many milliseconds.
    Retry(u64),
    /// Hand the answer over.
    Finish(IntentOutcome),
}

/// Decides on an attempt. `attempt` is the one that was answered (1 is the first), `asked` what `Retry-After` says,
/// `left` how long the key is still remembered; both in milliseconds.
pub fn next_step(
    answer: AttemptAnswer,
    plan: RetryPlan,
    attempt: u32,
    asked: Option<u64>,
    left: u64,
    jitter: u32,
) -> NextStep {
    let least = asked.unwrap_or(0);
    if answer.deserves_retry(plan) && attempt <= plan.retries && least <= MAX_RETRY_AFTER {
        let delay = plan.delay_before(attempt, jitter, least);
        if delay < left {
            return NextStep::Retry(delay);
        }
    }
    NextStep::Finish(answer.outcome())
}
