//! One intent under way: what each answer does to it, and the attempts of the doors that use fetch.

use oncekey::{
    client::{
        intent::after,
        retry::{Answer, Outcome, Plan, Verdict, Word, verdict},
    },
    http::retry_after::retry_after,
    key::quote,
};

use crate::{
    gate::learn_retention,
    intent::Intent,
    names::{
        ABORTED, APPEND, DATA_HX_RETRY, DATA_ONCE_RETRY, HX_RETRY, IS_RETRIED, ISSUED, Name, REASON, RETRY, SET,
        SETTLED, UNKNOWN,
    },
    options,
    page::{
        Js, attr, call2, closest, fire, get, head, is, item, js, launch, millis, number, put, random, small, string,
    },
    tickets::{after_delay_on_line, when_settled},
};

/// One intent under way.
pub struct Flight {
    /// Its key and name.
    pub intent: Intent,
    /// Where its events go.
    pub target: Js,
    /// When to send again.
    pub plan: Plan,
    /// The attempt under way; 1 is the first.
    pub attempt: u32,
}

impl Flight {
    /// An intent about to make its first attempt.
    #[allow(clippy::unnecessary_box_returns, reason = "moved between closures: a pointer is less code than the whole")]
    pub fn new(intent: Intent, target: Js, plan: Plan) -> Box<Flight> {
        Box::new(Flight { intent, target, plan, attempt: 1 })
    }

    /// Puts the key into `Headers`, or an object of names and values: a structured-field String.
    pub fn head(&self, headers: &Js) {
        let name = options::header();
        let value = js(&quote(&string(&self.intent.key).unwrap_or_default()));
        if is(headers, APPEND) {
            call2(headers, SET, &name, &value);
        } else {
            put(headers, &name, &value);
        }
    }

    /// The first attempt leaves: the key is kept, and the page told.
    pub fn issue(&self) {
        self.intent.keep();
        self.fire(ISSUED, self.intent.reason, 0);
        if self.intent.reason == "edited" {
            self.fire(UNKNOWN, "edited", 0);
        }
    }

    /// Says something about this attempt.
    pub fn fire(&self, kind: Name, reason: &str, delay: u64) {
        fire(&self.target, kind, &self.intent.key, i32::try_from(self.attempt).unwrap_or(0), reason, delay);
    }

    /// What an answer does: the delay in ms before the next attempt, or `None` and the intent is settled.
    pub fn conclude(&mut self, answer: Answer, asked: Option<u64>) -> Option<u64> {
        let (kind, delay) = match verdict(answer, self.plan, self.attempt, asked, self.intent.left(), random()) {
            Verdict::Retry(delay) => (RETRY, Some(delay)),
            Verdict::Final(outcome) => {
                self.intent.end_attempts(after(outcome));
                if outcome == Outcome::Unknown {
                    learn_retention();
                }
                (if outcome == Outcome::Unknown { UNKNOWN } else { SETTLED }, None)
            }
        };
        self.fire(kind, answer.reason(), delay.unwrap_or(0));
        self.attempt += 1;
        delay
    }
}

/// What an answer says, when the server wants to be asked again, and whether it leads to another page.
/// `value` is a response or an xhr; one without a status is no answer.
pub fn read(value: &Js) -> (Answer, Option<u64>, bool) {
    let head = head(value);
    let status = small(&item(&head, 0));
    if status == 0 {
        return (Answer::None, None, false);
    }
    let word = Word::parse(string(&item(&head, 1)).as_deref());
    let asked = string(&item(&head, 2)).and_then(|text| {
        let date = millis(number(&item(&head, 3)));
        retry_after(&text, (date > 0).then_some(date), millis(number(&item(&head, 4))))
    });
    let answer = Answer::Status(u16::try_from(status).unwrap_or(0), word);
    (answer, asked, item(&head, 5).is_truthy())
}

/// The plan for retries of an element: the attribute on it or on the nearest ancestor, else the page's.
pub fn retry_plan(element: &Js) -> Plan {
    let holder = closest(element, IS_RETRIED);
    let text =
        attr(&holder, HX_RETRY).or_else(|| attr(&holder, DATA_HX_RETRY)).or_else(|| attr(&holder, DATA_ONCE_RETRY));
    match text {
        Some(text) => Plan::of(Some(&text)),
        None => options::retry_plan().unwrap_or(Plan::UNASKED),
    }
}

/// How the attempts of one request by fetch ended.
pub struct Ended {
    /// The response, or why there is none.
    pub value: Js,
    /// Whether it is a response.
    pub ok: bool,
    /// Whether it leads to another page.
    pub leads_away: bool,
}

/// The attempts of one request by fetch.
pub struct Course {
    /// The intent.
    pub flight: Box<Flight>,
    /// The page's fetch, or what an extension put in its place.
    pub fetch: Js,
    /// A `Request` that each attempt clones, or an address.
    pub input: Js,
    /// What goes with an address.
    pub init: Js,
    /// Aborts all attempts.
    pub signal: Js,
    /// Milliseconds an attempt may take; 0 for ever.
    pub limit: f64,
    /// Called once, at the end.
    pub ended: Box<dyn FnOnce(Ended)>,
}

/// Makes the next attempt.
pub fn go(mut course: Box<Course>) {
    let promise = launch(&course.fetch, &course.input, &course.init, &course.signal, course.limit);
    when_settled(
        &promise,
        Box::new(move |value, ok| {
            let (mut answer, asked, leads_away) = read(&value);
            if !ok {
                answer = if is(&course.signal, ABORTED) { Answer::Aborted } else { Answer::None };
            }
            match course.flight.conclude(answer, asked) {
                None => (course.ended)(Ended { value, ok, leads_away }),
                Some(delay) => after_delay_on_line(
                    delay,
                    &course.signal.clone(),
                    Box::new(move |_, _| {
                        if is(&course.signal, ABORTED) {
                            let reason = get(&course.signal, REASON);
                            course.flight.conclude(Answer::Aborted, None);
                            (course.ended)(Ended { value: reason, ok: false, leads_away: false });
                        } else {
                            go(course);
                        }
                    }),
                ),
            }
        }),
    );
}
