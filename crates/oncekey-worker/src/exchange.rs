//! Items under way: at most so many at once as the core's line lets begin, each asked of its key's object.

use std::{cell::Cell, future::poll_fn, pin::Pin, rc::Rc, task::Poll};

use js_sys::Uint8Array;
use oncekey::{
    answer::{note::AnswerNote, point::MOST_POINTS, refusal::Refusal},
    batch::{ItemLine, NameBefore},
    errand::Errand,
    http::negotiate::known_coding,
    stored::{attempt::Attempt, request::StoredRequest},
};

use crate::{
    call::{AnswerCoding, AnswerWanted, call_key_object_for, name_in_use},
    gate::Gate,
    platform::{
        clock::{self, now_millis},
        head, message,
        stream::read_within,
    },
    report::{AttemptName, Report, Sighting},
};

/// What came of an item.
pub struct ItemAnswer {
    pub status: u16,
    pub word: String,
    pub location: Option<String>,
    /// Milliseconds that it asks to wait, 0 for none.
    pub retry_after: u64,
    /// The content, where it was asked for and is not too large.
    pub content: Option<Vec<u8>>,
}

type ItemFuture = Pin<Box<dyn Future<Output = Option<ItemAnswer>>>>;

/// A line and those of it that are under way.
pub struct Exchange {
    gate: Rc<Gate>,
    /// Bytes of content that are kept of an answer.
    limit: u64,
    line: ItemLine,
    /// Whether something identifies who sends them.
    is_identified: bool,
    /// Items that may still have a report: one invocation writes so many points.
    reports: Rc<Cell<u32>>,
    waiting: Vec<(usize, ItemFuture)>,
    running: Vec<(usize, ItemFuture)>,
}

impl Exchange {
    /// Nothing is under way yet.
    pub fn new(gate: Rc<Gate>, limit: u64, is_identified: bool) -> Self {
        Self {
            gate,
            limit,
            line: ItemLine::default(),
            is_identified,
            reports: Rc::new(Cell::new(MOST_POINTS)),
            waiting: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Whether another item may join, while so many answers of so many bytes cannot be passed on yet.
    pub fn has_room(&self, answers: usize, bytes: usize) -> bool {
        self.line.has_room(answers, bytes)
    }

    /// An item joins; says its number. `before`: the name that its key had before, where there is one.
    pub fn add_item(
        &mut self,
        attempt: Attempt,
        before: Option<NameBefore>,
        head: StoredRequest,
        content: Vec<u8>,
    ) -> usize {
        let number = self.line.join_item(Some(&attempt.scoped_key));
        let (gate, limit, reports) = (self.gate.clone(), self.limit, self.reports.clone());
        let seen = Sighting {
            is_keyed: true,
            key: None,
            is_identified: self.is_identified,
            bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
            is_of_object: true,
        };
        // Nothing happens before it is polled.
        let asked = async move {
            let report = if reports.get() > 0 { Report::begin(&gate) } else { None };
            reports.set(reports.get().saturating_sub(u32::from(report.is_some())));
            let mut told = report.as_ref().map(|_| ItemReport { seen, note: None });
            let route = told.as_ref().map(|_| attempt.terms.route.clone()).unwrap_or_default();
            let answer = exchange_item(&gate, attempt, before, &head, &content, limit, told.as_mut()).await;
            if let (Some(report), Some(ItemReport { seen, note })) = (report, told) {
                let name = AttemptName { route: &route, method: &head.method };
                let failed = Refusal::StoreUnavailable;
                let (status, word, note) = match &answer {
                    Some(answer) => (answer.status, answer.word.as_str(), note.unwrap_or_default()),
                    None => (failed.status(), failed.status_word().as_str(), AnswerNote::of_code(failed.code())),
                };
                report.tell(&gate, name, &seen, status, word, &note);
            }
            answer
        };
        self.waiting.push((number, Box::pin(asked)));
        number
    }

    /// An item joins for which nothing is sent; says its number.
    pub fn add_refused(&mut self) -> usize {
        self.line.join_item(None)
    }

    /// Begins what may begin, and waits for one to end; nothing where nothing is under way. An object that could not
    /// be reached gives no answer, nor does one whose answer breaks off.
    pub async fn next_ended(&mut self) -> Option<(usize, Option<ItemAnswer>)> {
        while let Some(number) = self.line.begin_next() {
            let at = self.waiting.iter().position(|(waits, _)| *waits == number)?;
            self.running.push(self.waiting.swap_remove(at));
        }
        if self.running.is_empty() {
            return None;
        }
        let (number, answer) = poll_fn(|context| {
            for (at, (number, asked)) in self.running.iter_mut().enumerate() {
                if let Poll::Ready(answer) = asked.as_mut().poll(context) {
                    let number = *number;
                    drop(self.running.swap_remove(at));
                    return Poll::Ready((number, answer));
                }
            }
            Poll::Pending
        })
        .await;
        self.line.end_item(number);
        Some((number, answer))
    }
}

/// What is told of an item.
struct ItemReport {
    seen: Sighting,
    note: Option<AnswerNote>,
}

async fn exchange_item(
    gate: &Gate,
    mut attempt: Attempt,
    before: Option<NameBefore>,
    head: &StoredRequest,
    content: &[u8],
    limit: u64,
    told: Option<&mut ItemReport>,
) -> Option<ItemAnswer> {
    let request = message::request_of_stored(head).ok()?;
    let name_before = before.as_ref().map(|before| before.name.clone());
    let key = name_in_use(gate, attempt.scoped_key, name_before, &request.url()).await.ok()?;
    if let Some(NameBefore { seal, .. }) = before.filter(|before| before.name == key) {
        attempt.seal = seal;
    }
    attempt.scoped_key = key.clone();
    let is_told = told.is_some();
    let body = Uint8Array::from(content).into();
    let coding = if limit > 0 { AnswerCoding::Undone } else { AnswerCoding::Kept };
    let errand = Errand::Attempt(attempt);
    let wanted = AnswerWanted { coding, note: is_told };
    let answer = call_key_object_for(wanted, gate, &key, &errand, &request, &request.headers(), &body).await;
    if let Some(told) = told {
        told.seen.key = Some(key);
        told.note = answer.as_ref().ok().and_then(head::note).map(|text| AnswerNote::read(&text));
    }
    let answer = answer.ok()?;
    let headers = answer.headers();
    let retry_after = clock::retry_after(headers.get("retry-after").ok()?.as_deref(), now_millis());
    let location = headers.get("location").ok()?;
    let word = headers.get("idempotency-status").ok()?.unwrap_or_default();
    // The end comes only after it is stored. Content whose coding is undone has none that is sure to come soon.
    let is_undone = limit > 0 && head::coding(&answer).is_some_and(|coding| known_coding(&coding).is_some());
    let content = match answer.body() {
        Some(body) => match read_within(&body, limit, !is_undone).await {
            Ok(content) => content,
            // The status stands, whatever its content is.
            Err(failure) if is_undone && failure.is_of_coding() => None,
            Err(_) => return None,
        },
        None => Some(Vec::new()),
    };
    Some(ItemAnswer { status: answer.status(), word, location, retry_after, content })
}
