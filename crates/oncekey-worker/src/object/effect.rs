//! Runs one claimed effect to its end, whoever still listens, and settles it.
//!
//! Invariant: the claim is stored before the origin is asked; the caller sees the end of an answer only after it
//! is stored.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use js_sys::{ArrayBuffer, Promise, Uint8Array};
use oncekey::{
    answer::{
        head::ReplyHead,
        log::{failure_line, late_line},
        note::AnswerNote,
        refusal::Refusal,
        word::StatusWord,
    },
    decide::{
        accepted,
        outcome::{
            EffectOutcome, RecordChange, Settlement, line_of_fate, outcome_of_broken_answer, outcome_of_status,
            outcome_of_unsent, reply_to_store, settle_attempt,
        },
        telling::alarm_of_settled,
    },
    http::fields::Fields,
    policy::OriginKey,
    stored::{
        attempt::Attempt,
        record::{Claim, KeptReply, Record},
        told::Listeners,
    },
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{AbortController, ReadableStreamDefaultReader, Request, Response};
use worker::Delay;

use crate::{
    fault,
    gate::Gate,
    object::{
        deadlines::{Answer, Chunk, Deadlines, Heard},
        live::end_execution,
        seal::seal_reply,
        store::Store,
    },
    platform::{
        bindings::{Live, log_error},
        clock::{self, now_millis},
        failure::Failure,
        head,
        init::RequestInit,
        message,
        promised::Promised,
        stream::{self, AnswerContent, CallerStream, Pipe},
    },
    refusal,
};

/// Content of unknown or larger size is passed on as it arrives if it has not ended so soon after its head.
const GRACE: Duration = Duration::from_millis(20);

/// Content announced as no larger than this is answered in one piece, in bytes.
const SMALL: u64 = 65_536;

/// The longest that the answer of an execution is listened for after it was given up, in seconds; not longer than its lease.
const LATE: u32 = 60;

/// What was heard of the origin.
#[derive(Default)]
pub struct OriginHeard {
    /// When it was asked.
    began: Cell<u64>,
    /// Its status, and the milliseconds until its head.
    head: Cell<Option<(u16, u64)>>,
    /// What the platform says, where the fetch failed.
    message: RefCell<Option<String>>,
}

/// One execution.
pub struct Effect {
    pub gate: std::rc::Rc<Gate>,
    pub attempt: Attempt,
    pub claim: Claim,
    pub store: Store,
    pub live: Live,
    /// The request as the front sent it; its content has been read.
    pub request: Request,
    /// What the origin sees otherwise.
    pub init: RequestInit,
    /// Ends the request where its lease runs out.
    pub abort: AbortController,
    /// Nobody waits for it: an accepted request, which may be tried again.
    pub accepted: bool,
    /// Whether the front wants a note with the answer.
    pub wants_note: bool,
    pub heard: OriginHeard,
    /// Who is told should its fate be open.
    pub listeners: Listeners,
}

/// What the origin sees that is not in the request: the scoped key, and the content in full.
pub fn request_to_origin(
    request: &Request,
    attempt: &Attempt,
    key: OriginKey,
    content: &ArrayBuffer,
    abort: &AbortController,
) -> Result<RequestInit, Failure> {
    let headers = head::open_copy(&request.headers())?;
    head::remove_errand(&headers);
    head::set_key(&headers, attempt, key)?;
    let is_repeated_by_runtime = content.byte_length() == 0 && !matches!(request.method().as_str(), "POST" | "PATCH");
    let body = if is_repeated_by_runtime { stream::sent_once()? } else { content.into() };
    Ok(RequestInit { headers: headers.into(), body, signal: abort.signal().into(), ..RequestInit::to_origin() })
}

impl Effect {
    /// Starts the execution; it goes on without its caller. The receiver gets the answer, or word that it takes
    /// longer than the caller is kept waiting.
    pub fn start_for_caller(self) -> oneshot::Receiver<Answer> {
        let (sender, answer) = oneshot::channel();
        wasm_bindgen_futures::spawn_local(async move {
            let deadlines = Deadlines::new(sender, self.attempt.terms.lease, self.attempt.terms.patience);
            let unheard = self.run_effect(&deadlines).await;
            end_execution(&self.live, self.claim.generation);
            self.listen_late(unheard).await;
        });
        answer
    }

    /// Runs the execution to its end, with nobody to answer.
    pub async fn run_alone(self) {
        let unheard = self.run_effect(&Deadlines::without_caller(self.attempt.terms.lease)).await;
        end_execution(&self.live, self.claim.generation);
        // The alarm does not wait for it: it may have to ring for the next try.
        wasm_bindgen_futures::spawn_local(async move { self.listen_late(unheard).await });
    }

    /// Runs it and settles it. Gives the origin's promise where the lease ran out before its answer began.
    async fn run_effect(&self, deadlines: &Deadlines) -> Option<Promise> {
        let Some(origin) = &self.gate.origin else {
            self.settle_unanswered(deadlines);
            return None;
        };
        self.heard.began.set(deadlines.began());
        let Ok(promise) = origin.fetch(&self.request, self.init.clone()) else {
            self.answer_instead(outcome_of_unsent(), &ReplyHead::without_lines(0), deadlines);
            return None;
        };
        let asked = self.await_origin(promise.clone(), deadlines).await;
        fault::at("after", &self.request);
        match asked {
            Heard::Answer(value) => self.receive_answer(&value.unchecked_into(), deadlines).await,
            Heard::Failed(failure) if failure.is_own_refusal() => {
                self.answer_instead(outcome_of_unsent(), &ReplyHead::without_lines(0), deadlines);
            }
            Heard::Failed(_) => self.settle_unanswered(deadlines),
            Heard::Silence => {
                self.settle_unanswered(deadlines);
                return Some(promise);
            }
        }
        None
    }

    /// Listens on for the answer of an execution that was given up, for a while and until another begins: what the origin
    /// did may be all that a person can learn of the key's fate. Nothing but a line comes of it.
    async fn listen_late(&self, unheard: Option<Promise>) {
        let Some(promise) = unheard else {
            return;
        };
        self.live.set_late(&self.abort);
        let timer = Delay::from(Duration::from_secs(u64::from(self.attempt.terms.lease.min(LATE))));
        if let Either::Left((Ok(answer), _)) = select(Promised::new(&promise), timer).await {
            self.log_late(answer.unchecked_into::<Response>().status());
        }
        self.abort.abort();
    }

    fn log_late(&self, status: u16) {
        let (claim, began) = (&self.claim, self.heard.began.get());
        let key = &self.attempt.scoped_key;
        log_error(&late_line(key, &claim.claimant.route, claim.generation, status, began, now_millis()));
    }

    /// A failure of the storage's that is no answer's to tell.
    fn log_failed_store(&self, failure: &Failure) {
        log_error(&failure_line("store", now_millis(), Some(&self.attempt.scoped_key), &failure.message()));
    }

    /// Answers the caller, with a note where the front wants one.
    fn answer_caller(&self, caller: oneshot::Sender<Answer>, answer: Answer, code: Option<&str>) -> Result<(), Answer> {
        if self.wants_note
            && let Ok(response) = &answer
        {
            let head = self.heard.head.get();
            let (origin_status, origin_ms) = (head.map(|(status, _)| status), head.map(|(_, ms)| ms));
            let note = AnswerNote { code: code.map(str::to_owned), origin_status, origin_ms };
            head::set_note(&response.headers(), &note.to_string());
        }
        caller.send(answer)
    }

    async fn receive_answer(&self, response: &Response, deadlines: &Deadlines) {
        let status = response.status();
        self.heard.head.set(Some((status, deadlines.heard_after())));
        let fields = Fields::new(head::pairs(&response.headers()));
        let head = ReplyHead::keep(status, &fields);
        let (word, then) = match outcome_of_status(Some(status), &self.attempt.terms) {
            EffectOutcome::Pass { word, then } => (word, then),
            course @ EffectOutcome::Refuse { .. } => {
                self.abort.abort();
                return self.answer_instead(course, &head, deadlines);
            }
        };
        let announced = fields.content_length();
        if head.has_no_content() || announced == Some(0) {
            return self.settle_whole(&head, word, then, None, deadlines).await;
        }
        let mut content = AnswerContent::new(announced, self.attempt.terms.max_stored);
        if announced.is_some_and(|length| length <= SMALL) {
            let Ok(bytes) = response.array_buffer() else {
                return self.settle_broken(&head, deadlines);
            };
            match self.await_origin(bytes, deadlines).await {
                Heard::Answer(bytes) => content.push(Uint8Array::new(&bytes)),
                Heard::Failed(_) | Heard::Silence => return self.settle_broken(&head, deadlines),
            }
            if !content.may_end() {
                return self.settle_broken(&head, deadlines);
            }
            return self.settle_whole(&head, word, then, Some(&content), deadlines).await;
        }
        let Some(body) = response.body() else {
            return self.settle_whole(&head, word, then, None, deadlines).await;
        };
        let Ok(reader) = body.get_reader().dyn_into::<ReadableStreamDefaultReader>() else {
            return self.settle_broken(&head, deadlines);
        };
        let grace = Delay::from(GRACE);
        futures_util::pin_mut!(grace);
        while !content.is_whole() {
            let next = self.await_origin(reader.read(), deadlines);
            futures_util::pin_mut!(next);
            let came = match select(next, grace.as_mut()).await {
                Either::Left((came, _)) => came,
                Either::Right(((), next)) => {
                    let mut out = self.begin_stream(&head, word, announced, deadlines);
                    for piece in content.take_unsent() {
                        out.write(&piece);
                    }
                    // The read that is under way belongs to the stream that now begins.
                    let came = next.await;
                    return self.stream_answer(&head, then, content, out, came, &reader, deadlines).await;
                }
            };
            match came.into_chunk() {
                Chunk::Bytes(bytes) => content.push(bytes),
                Chunk::End if content.may_end() => break,
                Chunk::End | Chunk::Broken => return self.settle_broken(&head, deadlines),
            }
        }
        self.settle_whole(&head, word, then, Some(&content), deadlines).await;
    }

    /// Passes content on as it arrives. The last bytes, or the end where no length was announced, go out only
    /// after the answer is stored.
    #[expect(clippy::too_many_arguments, reason = "the state of a read that is half done")]
    async fn stream_answer(
        &self,
        head: &ReplyHead,
        then: RecordChange,
        mut content: AnswerContent,
        mut out: CallerStream,
        mut came: Heard,
        reader: &ReadableStreamDefaultReader,
        deadlines: &Deadlines,
    ) {
        loop {
            match came.into_chunk() {
                Chunk::Bytes(bytes) => {
                    content.push(bytes);
                    if content.is_whole() {
                        break;
                    }
                    for piece in content.take_unsent() {
                        if content.is_kept() {
                            out.write(&piece);
                        } else {
                            out.write_through(&piece, self.attempt.terms.lease).await;
                        }
                    }
                    if out.is_gone() && !content.is_kept() {
                        deadlines.limit_useless();
                    }
                }
                Chunk::End if content.may_end() => break,
                Chunk::End | Chunk::Broken => {
                    let (EffectOutcome::Pass { then, .. } | EffectOutcome::Refuse { then, .. }) =
                        outcome_of_broken_answer(head.status, &self.attempt.terms);
                    self.settle_claim(then, head, without_content(head), false);
                    self.abort.abort();
                    out.abort();
                    return;
                }
            }
            came = self.await_origin(reader.read(), deadlines).await;
        }
        let last = content.take_unsent();
        let reply = self.reply_to_store(head, then, Some(&content)).await;
        self.settle_claim(then, head, reply, true);
        if let Ok(durable) = self.store.when_durable() {
            let _ = Promised::new(&durable).await;
        }
        for piece in last {
            out.write(&piece);
        }
        out.close();
    }

    /// Content that broke off before the caller saw any of the answer.
    fn settle_broken(&self, head: &ReplyHead, deadlines: &Deadlines) {
        self.abort.abort();
        self.answer_instead(outcome_of_broken_answer(head.status, &self.attempt.terms), head, deadlines);
    }

    /// No answer.
    fn settle_unanswered(&self, deadlines: &Deadlines) {
        self.answer_instead(outcome_of_status(None, &self.attempt.terms), &ReplyHead::without_lines(0), deadlines);
    }

    /// The gate answers in the origin's place.
    fn answer_instead(&self, course: EffectOutcome, head: &ReplyHead, deadlines: &Deadlines) {
        let (refusal, then) = match course {
            EffectOutcome::Refuse { refusal, then } => (refusal, then),
            // A status that never consumes a key, without its content: nothing ran, and the next attempt may.
            EffectOutcome::Pass { then, .. } => (Refusal::OriginUnreachable { status: Some(head.status) }, then),
        };
        let expires = self.settle_claim(then, head, without_content(head), false);
        if let Some(caller) = deadlines.take_caller() {
            let _ = self.answer_caller(caller, self.refuse(&refusal, expires), Some(refusal.code()));
        }
    }

    fn refuse(&self, refusal: &Refusal, expires: Option<u64>) -> Answer {
        refusal::refusal_response(&self.gate.policy, &self.request.headers(), refusal, expires)
    }

    /// Waits for the origin. A caller that has waited long enough is told that the request runs.
    async fn await_origin(&self, promise: Promise, deadlines: &Deadlines) -> Heard {
        let heard =
            deadlines.await_origin(promise, || self.refuse(&Refusal::InProgress { retry_after: 1 }, None)).await;
        if let Heard::Failed(failure) = &heard {
            self.heard.message.replace(Some(failure.message()));
        }
        heard
    }

    /// The whole answer is there.
    async fn settle_whole(
        &self,
        head: &ReplyHead,
        word: StatusWord,
        then: RecordChange,
        content: Option<&AnswerContent>,
        deadlines: &Deadlines,
    ) {
        let reply = self.reply_to_store(head, then, content).await;
        let expires = self.settle_claim(then, head, reply, true);
        if let Some(caller) = deadlines.take_caller() {
            let body = content.map_or(JsValue::NULL, |content| content.in_one_piece().into());
            let _ = self.answer_caller(caller, message::kept_response(head, word, expires, &body), None);
        }
    }

    /// What is stored of a whole answer, where it is remembered: sealed while the claim is held, where the policy says so.
    async fn reply_to_store(
        &self,
        head: &ReplyHead,
        then: RecordChange,
        content: Option<&AnswerContent>,
    ) -> ReplyToStore {
        let kept = reply_to_store(head, content.is_none_or(AnswerContent::is_kept), &self.attempt.terms.storing);
        if then != RecordChange::Keep || !matches!(kept, KeptReply::Whole(_)) {
            return (kept, None);
        }
        let bytes = content.map(AnswerContent::in_one_piece);
        seal_reply(&self.gate, &self.attempt, &self.claim, kept, bytes).await
    }

    /// Moves the record; says until when something is remembered. A store that fails leaves the claim, which then
    /// has no owner: its fate is unknown, and nothing runs twice.
    fn settle_claim(
        &self,
        then: RecordChange,
        head: &ReplyHead,
        (kept, content): ReplyToStore,
        whole: bool,
    ) -> Option<u64> {
        let row = match self.store.load() {
            Ok(row) => row,
            Err(failure) => {
                self.log_failed_store(&failure);
                return None;
            }
        };
        let found = row.record();
        let now = now_millis();
        let settlement = if self.accepted {
            let answer = accepted::DeliveryAnswer {
                status: head.status,
                is_whole: whole,
                retry_after: clock::retry_after(head.get("retry-after"), now),
            };
            accepted::settle_delivery(&found, &self.claim, then, kept, answer, clock::random_fraction(), now)
        } else {
            settle_attempt(&found, &self.claim, then, kept, now)
        };
        match settlement {
            Settlement::Late => {
                if head.status > 0 {
                    self.log_late(head.status);
                }
                None
            }
            Settlement::Release => {
                if let Err(failure) = self.store.clear() {
                    self.log_failed_store(&failure);
                }
                None
            }
            Settlement::Store(record) => {
                let content = content.filter(|_| matches!(record, Record::Completed { .. }));
                if let Err(failure) = self.store.save(&record, content.as_ref(), &row) {
                    self.log_failed_store(&failure);
                    return None;
                }
                let message = self.heard.message.take();
                if let Some(line) = line_of_fate(&record, &self.attempt.scoped_key, message.as_deref(), now) {
                    log_error(&line);
                }
                let changed = if self.accepted {
                    self.store.after_delivery_change(&record, message.as_deref(), self.listeners, now)
                } else {
                    // Should it fail, the alarm of the claim finds what has to be told.
                    alarm_of_settled(&record, self.listeners, now).map_or(Ok(()), |at| self.store.wake_at(at))
                };
                if let Err(failure) = changed {
                    self.log_failed_store(&failure);
                }
                Some(record.expires())
            }
        }
    }
}

impl Effect {
    /// Sends the head, with a pipe for the content; nothing where the caller has gone.
    fn begin_stream(
        &self,
        head: &ReplyHead,
        word: StatusWord,
        length: Option<u64>,
        deadlines: &Deadlines,
    ) -> CallerStream {
        let Some(caller) = deadlines.take_caller() else {
            return CallerStream::to_nobody();
        };
        match Pipe::new(length) {
            Ok(pipe) => {
                let answer = message::kept_response(head, word, None, &pipe.readable);
                match self.answer_caller(caller, answer, None) {
                    Ok(()) => CallerStream::to_caller(pipe.writer),
                    Err(_) => CallerStream::to_nobody(),
                }
            }
            Err(failure) => {
                let _ = caller.send(Err(failure));
                CallerStream::to_nobody()
            }
        }
    }
}

/// What is stored of an answer, and of its content.
type ReplyToStore = (KeptReply, Option<Uint8Array>);

/// Of an answer whose content is not here.
fn without_content(head: &ReplyHead) -> ReplyToStore {
    (KeptReply::Tombstone { status: head.status }, None)
}
