//! Items under way: at most so many at once as the core's line lets begin, each asked of its key's object.

use std::{future::poll_fn, pin::Pin, rc::Rc, task::Poll};

use js_sys::Uint8Array;
use oncekey::{
    batch::{ItemLine, NameBefore},
    errand::Errand,
    http::negotiate::known_coding,
    stored::{attempt::Attempt, request::StoredRequest},
};

use crate::{
    call::{AnswerCoding, call_key_object_for, name_in_use},
    gate::Gate,
    platform::{
        clock::{self, now_millis},
        head, message,
        stream::read_within,
    },
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
    waiting: Vec<(usize, ItemFuture)>,
    running: Vec<(usize, ItemFuture)>,
}

impl Exchange {
    /// Nothing is under way yet.
    pub fn new(gate: Rc<Gate>, limit: u64) -> Self {
        Self { gate, limit, line: ItemLine::default(), waiting: Vec::new(), running: Vec::new() }
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
        let (gate, limit) = (self.gate.clone(), self.limit);
        // Nothing happens before it is polled.
        let asked = async move { exchange_item(&gate, attempt, before, &head, &content, limit).await };
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

async fn exchange_item(
    gate: &Gate,
    mut attempt: Attempt,
    before: Option<NameBefore>,
    head: &StoredRequest,
    content: &[u8],
    limit: u64,
) -> Option<ItemAnswer> {
    let request = message::request_of_stored(head).ok()?;
    let name_before = before.as_ref().map(|before| before.name.clone());
    let key = name_in_use(gate, attempt.scoped_key, name_before, &request.url()).await.ok()?;
    if let Some(NameBefore { seal, .. }) = before.filter(|before| before.name == key) {
        attempt.seal = seal;
    }
    attempt.scoped_key = key.clone();
    let body = Uint8Array::from(content).into();
    let coding = if limit > 0 { AnswerCoding::Undone } else { AnswerCoding::Kept };
    let errand = Errand::Attempt(attempt);
    let answer = call_key_object_for(coding, gate, &key, &errand, &request, &request.headers(), &body).await.ok()?;
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
