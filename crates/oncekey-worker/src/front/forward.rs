//! Requests that pass: sent on as they are, and their answers back.

use oncekey::{
    answer::{refusal::Refusal, word::StatusWord},
    http::negotiate,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    front::incoming::{Front, Stop},
    platform::{bindings::settled, head, init::RequestInit, message},
    refusal::no_origin,
};

impl Front<'_> {
    /// Sends the request on and its answer back, both as they are but for the gate's own fields.
    pub async fn pass(&self, word: Option<StatusWord>, body: Option<&JsValue>) -> Result<Response, Stop> {
        let response = self.forward(body).await?;
        if let Some(word) = word {
            let response = message::passed(&response)?;
            head::set_status(&response.headers(), word)?;
            return Ok(response);
        }
        if head::has_own(&response.headers()) {
            let response = message::passed(&response)?;
            head::remove_own(&response.headers());
            return Ok(response);
        }
        Ok(response)
    }

    async fn forward(&self, body: Option<&JsValue>) -> Result<Response, Stop> {
        let Some(origin) = &self.gate.origin else {
            return Err(no_origin().into());
        };
        let mut init = RequestInit::to_origin();
        if self.fields.internal_names().next().is_some() {
            init.headers = self.stripped()?.into();
        }
        if let Some(body) = body {
            init.body = body.clone();
        }
        match settled(origin.fetch(self.request, init)?).await {
            Ok(response) => Ok(response),
            // Without a key nothing is promised; with none in flight either, the caller may try again.
            Err(_) => Err(Refusal::OriginUnanswered { status: None }.into()),
        }
    }

    /// OPTIONS is the origin's to answer. Where it lets a page send to a protected route, the page may send the key.
    pub async fn preflight(&self, path: &str) -> Result<Response, Stop> {
        let response = self.pass(None, None).await?;
        let policy = &self.gate.policy;
        let wanted = self.fields.get("access-control-request-method");
        let protected = wanted.is_some_and(|method| policy.route(method, path).is_some());
        let allowed = response.headers().get("access-control-allow-origin")?;
        if !protected || !negotiate::lets_origin_read(allowed.as_deref(), self.fields.get("origin")) {
            return Ok(response);
        }
        let response = message::passed(&response)?;
        let headers = response.headers();
        let listed = headers.get("access-control-allow-headers")?.unwrap_or_default();
        if !listed.split(',').any(|name| name.trim().eq_ignore_ascii_case(&policy.header)) {
            headers.append("access-control-allow-headers", &policy.header)?;
        }
        Ok(response)
    }
}
