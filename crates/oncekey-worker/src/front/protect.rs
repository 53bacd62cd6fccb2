//! Requests of a matched route: the key is found, the fingerprint made, and the key's object asked once.

use oncekey::{
    answer::{
        note::AnswerNote,
        refusal::Refusal,
        word::{BypassReason, StatusWord},
    },
    call::CallFailure,
    content::{Content, choose_key, coding::undo_coding, may_hold_key},
    errand::Errand,
    fingerprint::fingerprint,
    http::{
        negotiate::{accepts_coding, known_coding},
        target::{Target, UrlParts},
    },
    key::{quote_key, scoped::ScopedKey, seal::SealKeys},
    policy::{Mode, OriginKey, Route, StoreFailure},
    stored::{
        attempt::{Attempt, Terms},
        basis::basis_digests,
    },
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    call::{AnswerWanted, name_in_use},
    fault,
    front::{
        batch::{self, BatchList},
        incoming::{Incoming, IncomingContent, Stop},
    },
    platform::{failure::Failure, head, message},
    report::{AttemptName, Report, Sighting},
};

impl Incoming<'_> {
    pub async fn protect_request(&self, route: &Route, method: &str, parts: &UrlParts<'_>) -> Result<Response, Stop> {
        fault::at("front", self.request);
        if let Mode::Batch { items, item_key, item_path, max_items } = &route.mode {
            let list = BatchList { items, max_items: *max_items };
            return batch::answer_batch(self, route, list, (item_key, item_path), parts).await;
        }
        let mut seen = Sighting::default();
        let report = Report::begin(self.gate);
        let answered = self.answer_attempt(route, method, parts, &mut seen, report.is_some()).await;
        let Some(report) = report.filter(|_| seen.is_keyed) else {
            return answered;
        };
        let (answer, note) = match answered {
            Err(Stop::Refuse(refusal)) => (self.refuse(&refusal)?, Some(AnswerNote::of_code(refusal.code()))),
            answered => (answered?, None),
        };
        let name = AttemptName { route: route.path.as_str(), method };
        Ok(report.tell_by_answer(self.gate, name, &seen, answer, note)?)
    }

    /// `seen`: what is known of the attempt, for its report; `is_told`: whether there is one.
    async fn answer_attempt(
        &self,
        route: &Route,
        method: &str,
        parts: &UrlParts<'_>,
        seen: &mut Sighting,
        is_told: bool,
    ) -> Result<Response, Stop> {
        let policy = &self.gate.policy;
        let header = self.fields.get(&policy.header);
        let content_type = self.fields.get("content-type");
        let content_encoding = self.fields.get("content-encoding");
        seen.is_keyed = header.is_some();
        if header.is_none() && !may_hold_key(content_type, content_encoding) {
            return self.handle_keyless(route, BypassReason::NoKey, None).await;
        }
        let (body, bytes) = match self.read_content(header.is_some(), policy.max_content).await? {
            IncomingContent::Whole(body, bytes) => (body, bytes),
            IncomingContent::TooLarge if header.is_some() || route.require => {
                return Err(Refusal::ContentTooLarge { limit: policy.max_content }.into());
            }
            IncomingContent::TooLarge => return self.handle_keyless(route, BypassReason::ContentTooLarge, None).await,
        };
        let plain = content_encoding.and_then(|coding| undo_coding(coding, &bytes, policy.max_content));
        let content = match &plain {
            Some(plain) => Content::parse_decoded(content_type, plain),
            None => Content::parse(content_type, content_encoding, &bytes),
        };
        seen.bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let key = match choose_key(header, &content, &policy.field) {
            Ok(Some(key)) => key,
            Ok(None) => {
                // In a form the header's key is left out of account.
                seen.is_keyed = false;
                return self.handle_keyless(route, BypassReason::NoKey, Some(&body)).await;
            }
            Err(why) => {
                seen.is_keyed = true;
                return Err(why.into());
            }
        };
        seen.is_keyed = true;
        let age = route.age_of(&key)?;
        let scopes = self.caller_scopes(parts).await?;
        let is_kept = route.mode == Mode::Accept;
        self.check_exact(|name| is_kept || route.headers.iter().any(|counts| counts.eq_ignore_ascii_case(name)))?;
        seen.is_identified = !scopes.now.is_anonymous();
        let scoped_key = ScopedKey::derive(&scopes.now, &key)?;
        seen.key = is_told.then(|| scoped_key.clone());
        self.gate.check_limit(policy.limit_question(&scopes.now, &self.fields).as_ref(), &scoped_key).await?;
        let target = Target { method, path_and_query: parts.path_and_query };
        let (field, ignore, headers) = (&policy.field, &route.ignore, (&*route.headers, &self.fields));
        let fingerprint = fingerprint(&target, content_type, content_encoding, &content, field, ignore, headers);
        let basis = basis_digests(&target, content_type, content_encoding, &content, field, ignore, headers);
        let key_is_in_content = header.is_none() || content.is_form() && content.key(&policy.field)?.is_some();
        drop((bytes, plain));
        let before = scopes.name_before(&key);
        let scoped_key = match name_in_use(self.gate, scoped_key.clone(), before, &self.request.url()).await {
            Ok(name) => name,
            Err(failure) => return self.answer_failed_call(failure, &body).await,
        };
        let attempt = Attempt {
            scoped_key: scoped_key.clone(),
            fingerprint,
            terms: Terms::of(policy, route),
            header: policy.header.clone(),
            callers: scopes.callers(&key),
            basis: Some(basis.into()),
            age,
            // What is accepted is delivered without its caller.
            seal: if is_kept { SealKeys::default() } else { policy.seal_keys(scopes.of_name(&scoped_key, &key), &key) },
        };
        let errand = if is_kept { Errand::Accept(attempt) } else { Errand::Attempt(attempt) };
        let headers = self.headers_without_internal()?;
        if policy.origin_key == OriginKey::Original && key_is_in_content {
            headers.set(&policy.header, &quote_key(key.as_str()))?;
        }
        if is_told {
            seen.key = Some(scoped_key.clone());
        }
        let wanted = AnswerWanted { note: is_told, ..AnswerWanted::default() };
        match self.call_key_object_for(wanted, &scoped_key, &errand, &headers, &body).await {
            Ok(response) => {
                seen.is_of_object = true;
                Ok(self.in_accepted_coding(response).await?)
            }
            Err(failure) => self.answer_failed_call(failure, &body).await,
        }
    }

    /// A request whose object could not be asked, of which the call has written a line.
    async fn answer_failed_call(&self, failure: CallFailure, body: &JsValue) -> Result<Response, Stop> {
        match failure {
            CallFailure::Unreached if self.gate.policy.store_failure == StoreFailure::Open => {
                self.pass_on(Some(StatusWord::Bypassed(BypassReason::StoreUnavailable)), Some(body)).await
            }
            CallFailure::Unreached | CallFailure::InDoubt | CallFailure::NotUnderstood => {
                Err(self.gate.failed_call().into())
            }
        }
    }

    /// A request without a key: refused where one is required, else passed on unprotected.
    async fn handle_keyless(
        &self,
        route: &Route,
        reason: BypassReason,
        body: Option<&JsValue>,
    ) -> Result<Response, Stop> {
        if route.require {
            return Err(match reason {
                BypassReason::ContentTooLarge => Refusal::ContentTooLarge { limit: self.gate.policy.max_content },
                BypassReason::NoKey | BypassReason::StoreUnavailable | BypassReason::Batch => Refusal::KeyMissing,
            }
            .into());
        }
        self.pass_on(Some(StatusWord::Bypassed(reason)), body).await
    }

    /// An answer kept in a coding that the caller does not take is sent without it.
    async fn in_accepted_coding(&self, response: Response) -> Result<Response, Failure> {
        match head::coding(&response).as_deref().and_then(known_coding) {
            Some(coding) if !accepts_coding(self.fields.get("accept-encoding"), coding) => {
                message::without_coding(response, self.gate.policy.max_stored).await
            }
            _ => Ok(response),
        }
    }
}
