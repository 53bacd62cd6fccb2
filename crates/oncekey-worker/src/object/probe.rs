//! Asking the origin what became of an effect.

use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{ArrayBuffer, Uint8Array};
use oncekey::{
    answer::head::ReplyHead,
    decide::attempt::ProbeResult,
    errand::ERRAND,
    http::{
        fields::{Fields, content_fields},
        target::split_url,
    },
    stored::attempt::Attempt,
};
use web_sys::{Request, Response};
use worker::Delay;

use crate::{
    object::context::Object,
    platform::{bindings::settled, failure::Failure, head, init::RequestInit, message},
};

impl Object {
    /// Asks the origin what became of the effect. The content is there where it is small enough to keep.
    pub async fn ask(
        &self,
        request: &Request,
        attempt: &Attempt,
        path: &str,
    ) -> (ProbeResult, ReplyHead, Option<Uint8Array>) {
        let seconds = attempt.terms.lease.min(attempt.terms.patience);
        let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
        let asked = self.look_up(request, attempt, path);
        futures_util::pin_mut!(asked);
        match select(asked, timer).await {
            Either::Left((Ok(Some(found)), _)) => found,
            Either::Left((Ok(None) | Err(_), _)) | Either::Right(_) => {
                (ProbeResult::Unclear, ReplyHead::without_lines(0), None)
            }
        }
    }

    async fn look_up(
        &self,
        request: &Request,
        attempt: &Attempt,
        path: &str,
    ) -> Result<Option<(ProbeResult, ReplyHead, Option<Uint8Array>)>, Failure> {
        let Some(origin) = &self.gate.origin else {
            return Ok(None);
        };
        let headers = head::copy(&request.headers())?;
        for name in content_fields() {
            headers.delete(name)?;
        }
        headers.delete(ERRAND)?;
        headers.set(&attempt.header, &attempt.scoped_key.to_header())?;
        let init = RequestInit { method: Some("GET".to_owned()), headers: headers.into(), ..RequestInit::default() };
        let url = request.url();
        let parts = split_url(&url);
        let question = message::own_request(&format!("{}://{}{path}", parts.scheme, parts.host), &init)?;
        let response: Response = settled(origin.fetch(&question, RequestInit::to_origin())?).await?;
        let found = ProbeResult::of(Some(response.status()));
        let head = ReplyHead::keep(response.status(), &Fields::new(head::pairs(&response.headers())));
        let buffer: ArrayBuffer = settled(response.array_buffer()?).await?;
        let bytes = Uint8Array::new(&buffer);
        let small = u64::from(bytes.length()) <= attempt.terms.max_stored;
        Ok(Some((found, head, small.then_some(bytes))))
    }
}
