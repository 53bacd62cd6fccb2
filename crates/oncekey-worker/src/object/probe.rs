//! Asking the origin what became of an effect.

use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{ArrayBuffer, Uint8Array};
use oncekey::{
    answer::head::ReplyHead,
    decide::attempt::ProbeResult,
    errand::ERRAND,
    http::{
        fields::{Fields, is_left_out_of_probe},
        target::split_url,
    },
    stored::attempt::Attempt,
};
use web_sys::{Request, Response};
use worker::Delay;

use crate::{
    object::context::Object,
    platform::{bindings::await_promise, clock::now_millis, failure::Failure, head, init::RequestInit, message},
};

impl Object {
    /// Asks the origin what became of the effect of the execution whose lease ends then. The content is there where it is small enough to keep.
    pub async fn probe_origin(
        &self,
        request: &Request,
        attempt: &Attempt,
        path: &str,
        lease_until: u64,
    ) -> (ProbeResult, ReplyHead, Option<Uint8Array>) {
        let seconds = attempt.terms.lease.min(attempt.terms.patience);
        let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
        let asked = self.fetch_probe(request, attempt, path, lease_until);
        futures_util::pin_mut!(asked);
        match select(asked, timer).await {
            Either::Left((Ok(Some(found)), _)) => found,
            Either::Left((Ok(None) | Err(_), _)) | Either::Right(_) => {
                (ProbeResult::Unclear, ReplyHead::without_lines(0), None)
            }
        }
    }

    async fn fetch_probe(
        &self,
        request: &Request,
        attempt: &Attempt,
        path: &str,
        lease_until: u64,
    ) -> Result<Option<(ProbeResult, ReplyHead, Option<Uint8Array>)>, Failure> {
        let Some(origin) = &self.gate.origin else {
            return Ok(None);
        };
        let headers = head::open_copy(&request.headers())?;
        for (name, _) in Fields::new(head::pairs(&headers)).pairs().filter(|(name, _)| is_left_out_of_probe(name)) {
            headers.delete(name)?;
        }
        headers.delete(ERRAND)?;
        head::set_key(&headers, attempt, self.gate.policy.origin_key)?;
        let init = RequestInit { method: Some("GET".to_owned()), headers: headers.into(), ..RequestInit::default() };
        let url = request.url();
        let parts = split_url(&url);
        let question = message::new_request(&format!("{}://{}{path}", parts.scheme, parts.host), &init)?;
        let asked = now_millis();
        let response: Response = await_promise(origin.fetch(&question, RequestInit::to_origin())?).await?;
        let found = ProbeResult::of(Some(response.status()), asked, lease_until);
        let head = ReplyHead::keep(response.status(), &Fields::new(head::pairs(&response.headers())));
        let buffer: ArrayBuffer = await_promise(response.array_buffer()?).await?;
        let bytes = Uint8Array::new(&buffer);
        let small = u64::from(bytes.length()) <= attempt.terms.max_stored;
        Ok(Some((found, head, small.then_some(bytes))))
    }
}
