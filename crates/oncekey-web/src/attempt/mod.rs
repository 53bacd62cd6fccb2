//! One attempt of an intent: it leaves, it is answered, and what the answer does to the intent.

pub mod fetch;

use oncekey::{
    client::{
        intent::progress_after,
        retry::{AttemptAnswer, GateWord, IntentOutcome, NextStep, RetryPlan, next_step},
    },
    http::retry_after::retry_after,
    key::quote_key,
};

use crate::{
    gate::{learn_clock, learn_retention, mint_key},
    intent::Intent,
    options::{default_retries, key_header},
    page::{
        Js, answer_header, attribute, closest, fire_event, global_member, is_member_text, member, member_text, now,
        parse_date, parse_url, random_bits, set_entry, to_integer, with_key,
    },
};

/// The attempt of an intent that is under way.
pub struct Attempt {
    /// The intent: its key and name.
    pub intent: Intent,
    /// Where its events go.
    pub target: Js,
    /// When to send again.
    pub plan: RetryPlan,
    /// 1 is the first.
    pub number: u32,
    /// The key that this one took the place of.
    pub replaced: Option<Js>,
}

impl Attempt {
    /// The first attempt of an intent.
    pub fn first(intent: Intent, target: Js, plan: RetryPlan) -> Attempt {
        Attempt { intent, target, plan, number: 1, replaced: None }
    }

    /// Puts the key into `Headers`, or an object of names and values: a structured-field String.
    pub fn put_key_into(&self, headers: &Js) {
        set_entry(headers, &key_header(), &Js::from(quote_key(&self.intent.key.as_string().unwrap_or_default())));
    }

    /// What is sent, with the key of the next attempt.
    pub fn with_key(&self, value: &Js) -> Js {
        self.replaced.as_ref().map_or_else(|| value.clone(), |before| with_key(value, before, &self.intent.key))
    }

    /// The first attempt leaves: the key is kept, and the page told.
    pub fn begin(&self) {
        self.intent.keep();
        self.fire("oncekey:issued", self.intent.reason, None);
        if self.intent.reason == "edited" {
            self.fire("oncekey:unknown", "edited", None);
        }
    }

    /// Says something about this attempt.
    fn fire(&self, event: &str, reason: &str, delay: Option<u64>) {
        fire_event(&self.target, event, &self.intent.key, self.number, reason, delay);
    }

    /// What an answer does: the delay in ms before the next attempt, which this one becomes, or `None` and it was the last.
    pub fn conclude(&mut self, answer: AttemptAnswer, asked: Option<u64>) -> Option<u64> {
        if answer.is_of_wrong_clock() && self.number == 1 && self.intent.reason == "new" {
            self.replaced = Some(std::mem::replace(&mut self.intent.key, mint_key()));
            self.intent.keep();
            self.fire("oncekey:retry", answer.reason(), Some(0));
            self.number += 1;
            return Some(0);
        }
        let time_left = self.intent.time_left();
        let (event, delay) = match next_step(answer, self.plan, self.number, asked, time_left, random_bits()) {
            NextStep::Retry(delay) => ("oncekey:retry", Some(delay)),
            NextStep::Finish(outcome) => {
                self.intent.end_attempts(progress_after(outcome));
                if outcome == IntentOutcome::Unknown {
                    learn_retention();
                    ("oncekey:unknown", None)
                } else {
                    ("oncekey:settled", None)
                }
            }
        };
        self.fire(event, answer.reason(), delay);
        self.number += 1;
        delay
    }
}

/// What came back from one attempt.
pub struct Received {
    /// What it says.
    pub answer: AttemptAnswer,
    /// When the server wants to be asked again, in ms from now.
    pub retry_after: Option<u64>,
    /// Whether it leads to another page.
    pub leads_away: bool,
}

/// Reads a response or an xhr; what has no status is no answer.
pub fn read_answer(value: &Js) -> Received {
    // A redirect that is not followed shows no status.
    let is_redirect = is_member_text(value, "type", "opaqueredirect");
    let status = if is_redirect { 302 } else { to_integer(&member(value, "status")) };
    let Some(status) = u16::try_from(status).ok().filter(|status| *status > 0) else {
        return Received { answer: AttemptAnswer::Nothing, retry_after: None, leads_away: false };
    };
    let header = |name| answer_header(value, name).filter(|line| !line.is_empty());
    let server_time = header("Date").and_then(|date| parse_date(&date));
    if let Some(date) = server_time {
        learn_clock(date);
    }
    let retry_after =
        header("Retry-After").and_then(|text| retry_after(&text, parse_date(&text), server_time.unwrap_or_else(now)));
    let word = GateWord::from_field(header("Idempotency-Status").as_deref());
    let leads_away =
        header("HX-Refresh").as_deref() == Some("true") || header("HX-Redirect").is_some_and(|to| leaves_document(&to));
    Received { answer: AttemptAnswer::Status(status, word), retry_after, leads_away }
}

/// Whether an address leads to another document than this, as no fragment does.
fn leaves_document(to: &str) -> bool {
    let href = |url: &Js| member_text(&parse_url(url), "href");
    href(&Js::from(to)) != href(&global_member("location.href"))
}

/// The plan for retries of an element: the attribute on it or on the nearest ancestor, else the page's.
pub fn retry_plan_of(element: &Js) -> RetryPlan {
    let holder = closest(element, "[hx-retry],[data-hx-retry],[data-once-retry]");
    let own = ["hx-retry", "data-hx-retry", "data-once-retry"].iter().find_map(|name| attribute(&holder, name));
    RetryPlan::of_element(own.as_deref(), default_retries().as_deref())
}
