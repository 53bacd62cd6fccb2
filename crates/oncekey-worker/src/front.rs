//! The front: finds the route and the key, makes the fingerprint, and asks the key's object once.

use std::rc::Rc;

use js_sys::Uint8Array;
use oncekey::{
    answer::{
        refusal::Refusal,
        word::{Reason, Word},
    },
    call::Failed,
    content::{Content, choose_key, may_hold_key},
    errand::Errand,
    fingerprint::fingerprint,
    http::{
        cookie::cookie,
        fields::Fields,
        negotiate::{self, Audience},
        target::{self, Parts, Target},
    },
    key::{InvalidKey, scope::Scope, scoped::ScopedKey},
    policy::{Attribute, Mode, Policy, Route, StoreFailure},
    stored::attempt::{Attempt, Terms},
};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};

use crate::{
    ask::ask,
    batches,
    content::read_within,
    convert::{self, Failure, settled},
    fault,
    gate::Gate,
    object::no_origin,
    service,
};

/// One request at the front.
pub struct Front<'a> {
    pub gate: &'a Rc<Gate>,
    pub request: &'a Request,
    pub fields: Fields,
}

/// What stops a request at the front.
pub enum Stop {
    /// Answer with this refusal.
    Refuse(Refusal),
    /// The platform failed.
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<JsValue> for Stop {
    fn from(value: JsValue) -> Self {
        Self::Failed(value.into())
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refuse(refusal)
    }
}

impl From<InvalidKey> for Stop {
    fn from(why: InvalidKey) -> Self {
        Self::Refuse(Refusal::KeyInvalid(why))
    }
}

/// What is known of a request's content once it is read.
pub enum Body {
    /// All of it.
    Whole(JsValue, Vec<u8>),
    /// More than the limit; the request can still be sent on.
    TooLarge,
}

/// Answers a request.
pub async fn fetch(gate: &Rc<Gate>, request: &Request, page_module: &JsValue) -> Result<Response, Failure> {
    let fields = Fields::new(convert::pairs(&request.headers()));
    let front = Front { gate, request, fields };
    match front.answer(page_module).await {
        Ok(response) => Ok(response),
        Err(Stop::Refuse(refusal)) => front.refuse(&refusal),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// Who reads a refusal.
pub fn audience(policy: &Policy, fields: &Fields) -> Audience {
    let origin = fields.get("origin");
    Audience {
        html: negotiate::prefers_html(fields.get("accept"), fields.get("hx-request")),
        allow_origin: origin.filter(|origin| policy.cors.iter().any(|listed| listed == origin)).map(str::to_owned),
    }
}

impl Front<'_> {
    /// A refusal in the caller's form.
    pub fn refuse(&self, refusal: &Refusal) -> Result<Response, Failure> {
        convert::said(refusal.render(&audience(&self.gate.policy, &self.fields), None))
    }

    async fn answer(&self, page_module: &JsValue) -> Result<Response, Stop> {
        let url = self.request.url();
        let method = self.request.method();
        let parts = target::split(&url);
        let path = target::normal(parts.path);
        if service::is_own(&path) {
            return service::answer(self, &method, &path, &parts, page_module).await;
        }
        if method == "OPTIONS" {
            return self.preflight(&path).await;
        }
        match self.gate.policy.route(&method, &path) {
            Some(route) => self.protect(route, &method, &parts).await,
            None => self.pass(None, None).await,
        }
    }

    async fn protect(&self, route: &Route, method: &str, parts: &Parts<'_>) -> Result<Response, Stop> {
        fault::at("front", self.request);
        let policy = &self.gate.policy;
        if let Mode::Batch { items, item_key, item_path } = &route.mode {
            return batches::answer(self, route, (items, (item_key, item_path)), parts).await;
        }
        let header = self.fields.get(&policy.header);
        let content_type = self.fields.get("content-type");
        let content_encoding = self.fields.get("content-encoding");
        if header.is_none() && !may_hold_key(content_type, content_encoding) {
            return self.without_key(route, Reason::NoKey, None).await;
        }
        let (body, bytes) = match self.read(header.is_some(), policy.max_content).await? {
            Body::Whole(body, bytes) => (body, bytes),
            Body::TooLarge if header.is_some() || route.require => {
                return Err(Refusal::ContentTooLarge { limit: policy.max_content }.into());
            }
            Body::TooLarge => return self.without_key(route, Reason::ContentTooLarge, None).await,
        };
        let content = Content::parse(content_type, content_encoding, &bytes);
        let Some(key) = choose_key(header, &content, &policy.field)? else {
            return self.without_key(route, Reason::NoKey, Some(&body)).await;
        };
        let scoped_key = ScopedKey::derive(&self.scope(parts), &key)?;
        let fingerprint = fingerprint(
            &Target { method, path_and_query: parts.path_and_query },
            content_type,
            content_encoding,
            &content,
            &policy.field,
            &route.ignore,
        );
        drop(bytes);
        let attempt = Attempt {
            scoped_key: scoped_key.clone(),
            fingerprint,
            terms: Terms::of(policy, route),
            header: policy.header.clone(),
        };
        let errand = if route.mode == Mode::Accept { Errand::Accept(attempt) } else { Errand::Attempt(attempt) };
        match self.ask(&scoped_key, &errand, &body).await {
            Ok(response) => Ok(self.decoded(response)?),
            Err(Failed::Unreached) if policy.store_failure == StoreFailure::Open => {
                self.pass(Some(Word::Bypassed(Reason::StoreUnavailable)), Some(&body)).await
            }
            Err(Failed::Unreached | Failed::InDoubt) => Err(Refusal::StoreUnavailable.into()),
        }
    }

    /// Who sends, as far as the policy's scope tells.
    pub fn scope(&self, parts: &Parts<'_>) -> Scope {
        let mut scope = Scope::new(parts.host);
        for attribute in &self.gate.policy.scope {
            let value = match attribute {
                Attribute::Header(name) => {
                    self.fields.get(name).filter(|value| !value.trim().is_empty()).map(str::to_owned)
                }
                Attribute::Cookie(name) => self.fields.get("cookie").and_then(|line| cookie(line, name)),
            };
            if let Some(value) = value {
                scope.add(&attribute.name(), &value);
            }
        }
        scope
    }

    /// One call to the key's object.
    pub async fn ask(&self, key: &ScopedKey, errand: &Errand, body: &JsValue) -> Result<Response, Failed> {
        let headers = self.stripped().map_err(|_| Failed::Unreached)?;
        ask(self.gate, key, errand, self.request, &headers, body).await
    }

    /// A request without a key: refused where one is required, else passed on unprotected.
    async fn without_key(&self, route: &Route, reason: Reason, body: Option<&JsValue>) -> Result<Response, Stop> {
        if route.require {
            return Err(match reason {
                Reason::ContentTooLarge => Refusal::ContentTooLarge { limit: self.gate.policy.max_content },
                Reason::NoKey | Reason::StoreUnavailable | Reason::Batch => Refusal::KeyMissing,
            }
            .into());
        }
        self.pass(Some(Word::Bypassed(reason)), body).await
    }

    /// Sends the request on and its answer back, both as they are but for the gate's own fields.
    async fn pass(&self, word: Option<Word>, body: Option<&JsValue>) -> Result<Response, Stop> {
        let response = self.forward(body).await?;
        if let Some(word) = word {
            let response = convert::passed(&response)?;
            convert::set_status(&response.headers(), word)?;
            return Ok(response);
        }
        if convert::has_own(&response.headers()) {
            let response = convert::passed(&response)?;
            convert::remove_own(&response.headers());
            return Ok(response);
        }
        Ok(response)
    }

    async fn forward(&self, body: Option<&JsValue>) -> Result<Response, Stop> {
        let Some(origin) = &self.gate.origin else {
            return Err(no_origin().into());
        };
        let init = convert::as_it_is();
        if self.fields.internal().next().is_some() {
            init.set_headers(&self.stripped()?.into());
        }
        if let Some(body) = body {
            init.set_body(body);
        }
        match settled(origin.fetch(self.request, &init)?).await {
            Ok(response) => Ok(response),
            // Without a key nothing is promised; with none in flight either, the caller may try again.
            Err(_) => Err(Refusal::OriginUnanswered { status: None }.into()),
        }
    }

    /// The request's head without what the client forged.
    pub fn stripped(&self) -> Result<Headers, Failure> {
        let headers = convert::copy(&self.request.headers())?;
        for name in self.fields.internal() {
            headers.delete(name)?;
        }
        Ok(headers)
    }

    /// OPTIONS is the origin's to answer. Where it lets a page send to a protected route, the page may send the key.
    async fn preflight(&self, path: &str) -> Result<Response, Stop> {
        let response = self.pass(None, None).await?;
        let policy = &self.gate.policy;
        let wanted = self.fields.get("access-control-request-method");
        let protected = wanted.is_some_and(|method| policy.route(method, path).is_some());
        let allowed = response.headers().get("access-control-allow-origin")?;
        if !protected || !negotiate::allows(allowed.as_deref(), self.fields.get("origin")) {
            return Ok(response);
        }
        let response = convert::passed(&response)?;
        let headers = response.headers();
        let listed = headers.get("access-control-allow-headers")?.unwrap_or_default();
        if !listed.split(',').any(|name| name.trim().eq_ignore_ascii_case(&policy.header)) {
            headers.append("access-control-allow-headers", &policy.header)?;
        }
        Ok(response)
    }

    /// An answer kept in a coding that the caller does not take is sent without it.
    fn decoded(&self, response: Response) -> Result<Response, Failure> {
        let Some(coding) = convert::coding(&response) else {
            return Ok(response);
        };
        if !negotiate::can_decode(&coding) || negotiate::accepts_coding(self.fields.get("accept-encoding"), &coding) {
            return Ok(response);
        }
        convert::decoded(&response)
    }

    /// Reads the content, at most `limit` bytes of it. A request that carries its key in the header alone needs no
    /// second copy: it is refused if it is too large.
    pub async fn read(&self, keyed: bool, limit: u64) -> Result<Body, Stop> {
        let announced = self.fields.content_length();
        if announced.is_some_and(|length| length > limit) {
            return Ok(Body::TooLarge);
        }
        let incomplete = |_| Stop::Refuse(Refusal::ContentIncomplete);
        if announced.is_some() {
            let buffer: js_sys::ArrayBuffer = settled(self.request.array_buffer()?).await.map_err(incomplete)?;
            let bytes = Uint8Array::new(&buffer).to_vec();
            return Ok(Body::Whole(buffer.into(), bytes));
        }
        if self.request.body().is_none() {
            return Ok(Body::Whole(JsValue::NULL, Vec::new()));
        }
        // Of unknown length: a copy is read, so that the request can still be sent on whole if it is too large.
        let copy = if keyed { None } else { Some(self.request.clone()?) };
        let Some(body) = copy.as_ref().unwrap_or(self.request).body() else {
            return Ok(Body::Whole(JsValue::NULL, Vec::new()));
        };
        Ok(match read_within(&body, limit, false).await.map_err(incomplete)? {
            None => Body::TooLarge,
            Some(bytes) => Body::Whole(Uint8Array::from(bytes.as_slice()).into(), bytes),
        })
    }
}
