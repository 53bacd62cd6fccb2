//! The object: owns one scoped key.
//!
//! Invariant: between reading the record and storing what was decided there is no await, so that of all attempts
//! of one key at most one has the claim.

use std::{rc::Rc, time::Duration};

use futures_util::future::{Either, select};
use js_sys::{ArrayBuffer, Promise, Uint8Array};
use oncekey::{
    answer::{head::Head, own::Said, peek::Peek, refusal::Refusal, word::Word},
    decide::{
        alarm::alarm,
        attempt::{Decision, Found as FoundAtOrigin, Probed, decide, probed_since},
        look::{self, Release},
    },
    errand::{ERRAND, Errand, MAX_PEEK_WAIT},
    http::{
        fields::{Fields, of_content},
        lines::Lines,
        negotiate::Audience,
        target::split,
    },
    stored::{
        attempt::Attempt,
        record::{Claim, Kept, Record},
    },
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, Response};
use worker::Delay;

use crate::{
    convert::{self, Ctx, Failure, Live, clock, init, settled},
    effect::{Effect, owner, to_origin},
    fault, front,
    gate::Gate,
    store::{Found, Row, Store},
};

/// One object's handler for one request of the front's.
pub struct Object {
    pub gate: Rc<Gate>,
    pub store: Store,
    pub live: Live,
}

impl Object {
    /// Reads nothing yet.
    pub fn new(gate: Rc<Gate>, live: Live, ctx: &Ctx) -> Self {
        Self { gate, store: Store::new(ctx.storage(), live.clone()), live }
    }

    /// Does the errand that the request carries.
    pub async fn fetch(&self, request: &Request) -> Result<Response, Failure> {
        match convert::errand(request).as_deref().and_then(Errand::decode) {
            Some(Errand::Attempt(attempt)) => match self.attempt(request, &attempt).await {
                Ok(response) => Ok(response),
                Err(_) => self.refuse(request, &Refusal::StoreUnavailable, None),
            },
            Some(Errand::Accept(attempt)) => match self.accept(request, &attempt).await {
                Ok(response) => Ok(response),
                Err(_) => self.refuse(request, &Refusal::StoreUnavailable, None),
            },
            Some(Errand::Peek { wait }) => convert::said(Said::peek(self.peek(wait).await?)),
            Some(Errand::Release) => self.release(),
            None => convert::said(Refusal::NoSuchEndpoint.render(&Audience::default(), None)),
        }
    }

    async fn attempt(&self, request: &Request, attempt: &Attempt) -> Result<Response, Failure> {
        fault::at("before", request);
        let mut waited = false;
        let mut content: Option<ArrayBuffer> = None;
        loop {
            let row = self.store.load()?;
            let Found::Readable(record) = row.found() else {
                return self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None);
            };
            let decision = decide(record.as_ref(), owner(&self.live), attempt, waited, clock());
            match decision {
                Decision::Execute(claim) => match &content {
                    Some(content) => return self.execute(request, attempt, claim, content, &row).await,
                    None => content = Some(read(request).await?),
                },
                Decision::Replay { head, expires } => {
                    return convert::answer(&head, Word::Replayed, Some(expires), &self.store.content(&row)?);
                }
                Decision::Wait { seconds } => {
                    self.ended_within(seconds).await;
                    waited = true;
                }
                Decision::Refuse { refusal, expires } => return self.refuse(request, &refusal, expires),
                Decision::Probe { path } => {
                    // Read before, so that a claim is stored and run without an await between.
                    let body = match content.take() {
                        Some(body) => body,
                        None => read(request).await?,
                    };
                    let asked = record;
                    let (found, head, bytes) = self.ask(request, attempt, &path).await;
                    let kept =
                        if bytes.is_some() { Kept::Reply(head) } else { Kept::Tombstone { status: head.status } };
                    let row = self.store.load()?;
                    let Found::Readable(record) = row.found() else {
                        return self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None);
                    };
                    let owner = owner(&self.live);
                    match probed_since(asked.as_ref(), record.as_ref(), owner, attempt, found, kept, clock()) {
                        Probed::Store(record) => {
                            self.store.save(&record, bytes.as_ref(), &row)?;
                            self.store.wake_at(record.expires())?;
                        }
                        Probed::Execute(claim) => return self.execute(request, attempt, claim, &body, &row).await,
                        Probed::Refuse { refusal, expires } => return self.refuse(request, &refusal, Some(expires)),
                        Probed::Moved => {}
                    }
                    content = Some(body);
                }
            }
        }
    }

    /// Stores the claim, runs the effect, and waits for its answer as long as the caller is kept waiting.
    async fn execute(
        &self,
        request: &Request,
        attempt: &Attempt,
        claim: Claim,
        content: &ArrayBuffer,
        row: &Row,
    ) -> Result<Response, Failure> {
        if self.gate.origin.is_none() {
            return self.refuse(request, &no_origin(), None);
        }
        let abort = AbortController::new()?;
        let init = to_origin(request, attempt, content, &abort)?;
        // The alarm first: should it fail, nothing is claimed.
        self.store.wake_at(alarm(&claim, clock()))?;
        self.store.save(&Record::Claimed(claim.clone()), None, row)?;
        self.live.set_running(claim.generation);
        self.live.set_latest(claim.generation);
        let answer = Effect {
            gate: self.gate.clone(),
            attempt: attempt.clone(),
            claim,
            store: self.store.clone(),
            live: self.live.clone(),
            request: JsCast::unchecked_into(JsValue::from(request)),
            init,
            abort,
            accepted: false,
        }
        .start();
        match answer.await {
            Ok(answer) => answer,
            Err(_) => self.refuse(request, &Refusal::OutcomeUnknown { status: None }, None),
        }
    }

    /// Asks the origin what became of the effect. The content is there where it is small enough to keep.
    pub async fn ask(
        &self,
        request: &Request,
        attempt: &Attempt,
        path: &str,
    ) -> (FoundAtOrigin, Head, Option<Uint8Array>) {
        let seconds = attempt.terms.lease.min(attempt.terms.patience);
        let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
        let asked = self.look_up(request, attempt, path);
        futures_util::pin_mut!(asked);
        match select(asked, timer).await {
            Either::Left((Ok(Some(found)), _)) => found,
            Either::Left((Ok(None) | Err(_), _)) | Either::Right(_) => (FoundAtOrigin::Unclear, Head::bare(0), None),
        }
    }

    async fn look_up(
        &self,
        request: &Request,
        attempt: &Attempt,
        path: &str,
    ) -> Result<Option<(FoundAtOrigin, Head, Option<Uint8Array>)>, Failure> {
        let Some(origin) = &self.gate.origin else {
            return Ok(None);
        };
        let headers = convert::copy(&request.headers())?;
        for name in of_content() {
            headers.delete(name)?;
        }
        headers.delete(ERRAND)?;
        headers.set(&attempt.header, &attempt.scoped_key.to_header())?;
        let init = init();
        init.set_method("GET");
        init.set_headers(&headers);
        let url = request.url();
        let parts = split(&url);
        let question = convert::own_request(&format!("{}://{}{path}", parts.scheme, parts.host), &init)?;
        let response: Response = settled(origin.fetch(&question, &convert::as_it_is())?).await?;
        let found = FoundAtOrigin::of(Some(response.status()));
        let head = Head::keep(response.status(), &Fields::new(convert::pairs(&response.headers())));
        let buffer: ArrayBuffer = settled(response.array_buffer()?).await?;
        let bytes = Uint8Array::new(&buffer);
        let small = u64::from(bytes.length()) <= attempt.terms.max_stored;
        Ok(Some((found, head, small.then_some(bytes))))
    }

    /// Waits until the running execution ends, at most so long.
    async fn ended_within(&self, seconds: u32) {
        let waiters = self.live.waiters();
        let ended = Promise::new(&mut |resolve, _| {
            waiters.push(&resolve);
        });
        let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
        let _ = select(JsFuture::from(ended), timer).await;
    }

    async fn peek(&self, wait: u32) -> Result<Peek, Failure> {
        let look = || -> Result<Peek, Failure> {
            Ok(match self.store.load()?.found() {
                Found::Readable(record) => look::peek(record.as_ref(), owner(&self.live), clock()),
                Found::Unreadable => Peek::Unknown { expires: clock() },
            })
        };
        let ends = clock() + u64::from(wait.min(MAX_PEEK_WAIT)) * 1000;
        loop {
            let found = look()?;
            let left = ends.saturating_sub(clock());
            if found != Peek::Running || left == 0 {
                return Ok(found);
            }
            // What was accepted may be delivered several times until it has ended.
            self.ended_within(u32::try_from(left.div_ceil(1000)).unwrap_or(0)).await;
        }
    }

    /// A refusal in the caller's form.
    pub fn refuse(&self, request: &Request, refusal: &Refusal, expires: Option<u64>) -> Result<Response, Failure> {
        let fields = convert::negotiation(&request.headers());
        convert::said(refusal.render(&front::audience(&self.gate.policy, &fields), expires))
    }

    fn release(&self) -> Result<Response, Failure> {
        let (release, generation) = match self.store.load()?.found() {
            Found::Readable(record) => (
                look::release(record.as_ref(), owner(&self.live), clock()),
                record.map_or(0, |record| record.claim().generation),
            ),
            Found::Unreadable => (Release::Done, 0),
        };
        let refusal = match release {
            Release::Done => {
                // The next claim must not look like the one that is forgotten here.
                self.live.set_latest(self.live.latest().max(generation));
                self.store.clear()?;
                return convert::response(204, Lines::default(), &JsValue::NULL);
            }
            Release::Absent => Refusal::NothingRemembered,
            Release::Running => Refusal::StillRunning,
        };
        convert::said(refusal.render(&Audience::default(), None))
    }
}

/// The refusal of a gate that was deployed without an origin.
pub fn no_origin() -> Refusal {
    Refusal::PolicyInvalid {
        message: "The gate has no origin: bind ORIGIN to a service, or set it to a URL.".to_owned(),
    }
}

/// The content of a request, all of it; the front sends bytes, and no claim is made before they are here.
pub async fn read(request: &Request) -> Result<ArrayBuffer, Failure> {
    settled(request.array_buffer()?).await
}
