//! Requests that pass: sent on as they are, and their answers back.

use oncekey::{
    answer::{
        refusal::Refusal,
        word::{BypassReason, StatusWord},
    },
    http::negotiate,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    front::incoming::{Incoming, Stop},
    platform::{bindings::await_promise, head, init::RequestInit, message},
    refusal::missing_origin,
};

impl Incoming<'_> {
    /// Sends the request on and its answer back, both as they are but for the gate's own fields.
    pub async fn pass_on(&self, word: Option<StatusWord>, body: Option<&JsValue>) -> Result<Response, Stop> {
        let reason = match word {
            Some(StatusWord::Bypassed(reason)) => reason,
            _ => BypassReason::NoKey,
        };
        let response = self.send_to_origin(reason, body).await?;
        // A status that the platform reads but does not write, such as 999, is an answer that cannot be passed on.
        let status = Some(response.status());
        let with_open_head = || {
            let unreadable = |_| Stop::Refuse(Refusal::UnansweredUnprotected { reason, status });
            message::with_open_head(&response).map_err(unreadable)
        };
        if let Some(word) = word {
            let response = with_open_head()?;
            head::set_status(&response.headers(), word)?;
            return Ok(response);
        }
        if head::has_own(&response.headers()) {
            let response = with_open_head()?;
            head::remove_own(&response.headers());
            return Ok(response);
        }
        Ok(response)
    }

    async fn send_to_origin(&self, reason: BypassReason, body: Option<&JsValue>) -> Result<Response, Stop> {
        let Some(origin) = &self.gate.origin else {
            return Err(missing_origin().into());
        };
        let mut init = RequestInit::to_origin();
        if self.fields.internal_names().next().is_some() {
            init.headers = self.headers_to_pass()?.into();
        }
        if let Some(body) = body {
            init.body = body.clone();
        }
        match await_promise(origin.fetch(self.request, init)?).await {
            Ok(response) => Ok(response),
            Err(_) => Err(Refusal::UnansweredUnprotected { reason, status: None }.into()),
        }
    }

    /// OPTIONS is the origin's to answer. Where it lets a page send to a protected route, the page may send the key.
    pub async fn answer_preflight(&self, path: &str) -> Result<Response, Stop> {
        let response = self.pass_on(None, None).await?;
        let policy = &self.gate.policy;
        let wanted = self.fields.get("access-control-request-method");
        let protected = wanted.is_some_and(|method| policy.route(method, path).is_some());
        let allowed = response.headers().get("access-control-allow-origin")?;
        if !protected || !negotiate::lets_origin_read(allowed.as_deref(), self.fields.get("origin")) {
            return Ok(response);
        }
        let response = message::with_open_head(&response)?;
        let headers = response.headers();
        let listed = headers.get("access-control-allow-headers")?.unwrap_or_default();
        if !listed.split(',').any(|name| name.trim().eq_ignore_ascii_case(&policy.header)) {
            headers.append("access-control-allow-headers", &policy.header)?;
        }
        Ok(response)
    }
}
