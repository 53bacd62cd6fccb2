//! What is told of an attempt with a key: a line in the log, a point of measurement, a field of its answer.
//!
//! Where the policy asks for none of them and nothing is bound, nothing is done and the clock is not asked.

use oncekey::{
    answer::{
        log::{AnsweredAttempt, attempt_line, is_logged},
        note::AnswerNote,
        point::point_of,
        timing::server_timing,
    },
    key::scoped::ScopedKey,
};
use web_sys::Response;

use crate::{
    gate::Gate,
    platform::{
        bindings::log,
        clock::{now_millis, random_fraction},
        failure::Failure,
        head, message,
    },
};

/// What is to be told of one attempt.
pub struct Report {
    began: u64,
    /// It is one of those that get a line.
    is_logged: bool,
}

/// What is known of an attempt as it goes on.
#[derive(Default)]
pub struct Sighting {
    /// It carries a key, whatever key that is.
    pub is_keyed: bool,
    /// The scoped key, once there is one.
    pub key: Option<ScopedKey>,
    /// Whether something identifies its caller.
    pub is_identified: bool,
    /// Bytes of its content.
    pub bytes: u64,
    /// Its answer is an object's: no other carries a note.
    pub is_of_object: bool,
}

/// What names an attempt in a report.
#[derive(Clone, Copy)]
pub struct AttemptName<'a> {
    /// The path of its route.
    pub route: &'a str,
    /// Its method.
    pub method: &'a str,
}

impl Report {
    /// Begins where something is to be told.
    pub fn begin(gate: &Gate) -> Option<Self> {
        let is_logged = gate.policy.log > 0 && is_logged(gate.policy.log, random_fraction());
        let is_wanted = is_logged || gate.policy.server_timing || gate.metrics.is_some();
        is_wanted.then(|| Self { began: now_millis(), is_logged })
    }

    /// Tells it by an answer that goes to the caller, which leaves without the note. `note`: what is known beside it,
    /// where the answer carries none.
    pub fn tell_by_answer(
        &self,
        gate: &Gate,
        name: AttemptName<'_>,
        seen: &Sighting,
        answer: Response,
        note: Option<AnswerNote>,
    ) -> Result<Response, Failure> {
        let carried = if seen.is_of_object { head::note(&answer) } else { None };
        let is_carried = carried.is_some();
        let note = carried.map(|text| AnswerNote::read(&text)).or(note).unwrap_or_default();
        let word = head::word(&answer).unwrap_or_default();
        let ms = self.tell(gate, name, seen, answer.status(), &word, &note);
        if !is_carried && !gate.policy.server_timing {
            return Ok(answer);
        }
        // Any other answer was made here, and its head can be changed as it stands.
        let answer = if seen.is_of_object { message::with_own_head(&answer)? } else { answer };
        let headers = answer.headers();
        if is_carried {
            head::remove_note(&headers);
        }
        if gate.policy.server_timing {
            head::add_timing(&headers, &server_timing(&word, ms, note.origin_ms))?;
        }
        Ok(answer)
    }

    /// Tells it; gives the milliseconds that the attempt took.
    pub fn tell(
        &self,
        gate: &Gate,
        AttemptName { route, method }: AttemptName<'_>,
        seen: &Sighting,
        status: u16,
        word: &str,
        note: &AnswerNote,
    ) -> u64 {
        let now = now_millis();
        let attempt = AnsweredAttempt {
            route,
            method,
            word,
            status,
            note,
            key: seen.key.as_ref(),
            is_identified: seen.is_identified,
            ms: now.saturating_sub(self.began),
            bytes: seen.bytes,
            version: env!("CARGO_PKG_VERSION"),
        };
        if self.is_logged {
            log(&attempt_line(&attempt, now));
        }
        if let Some(metrics) = &gate.metrics {
            metrics.write(&point_of(&attempt));
        }
        attempt.ms
    }
}
