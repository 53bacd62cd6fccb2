//! Calls of the front's to objects.

use js_sys::JsString;
use oncekey::{
    answer::{log::failure_line, note::with_note, peek::is_remembered},
    call::{CallFailure, CallHistory},
    errand::{Errand, for_older_build, is_not_understood, may_be_not_understood},
    index::IndexErrand,
    key::{scoped::ScopedKey, seal::SealKeys},
    queue::QUEUE_HOST,
    stored::attempt::Attempt,
};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};

use crate::{
    gate::{Class, Gate},
    platform::{
        bindings::{Fetcher, await_promise, log_error},
        clock::now_millis,
        failure::Failure,
        head,
        init::RequestInit,
        message::new_request,
    },
};

/// What is done with the coding of an answer's content where it is read here.
#[derive(Clone, Copy)]
pub enum AnswerCoding {
    /// The platform undoes it.
    Undone,
    /// It is read as it came.
    Kept,
}

/// What is wanted of an object's answer.
#[derive(Clone, Copy)]
pub struct AnswerWanted {
    /// What is done with the coding of its content.
    pub coding: AnswerCoding,
    /// Whether it carries a note.
    pub note: bool,
}

impl Default for AnswerWanted {
    fn default() -> Self {
        Self { coding: AnswerCoding::Undone, note: false }
    }
}

/// One call to the key's object. `headers` are the request's as the object shall see them; they get the errand.
pub async fn call_key_object(
    gate: &Gate,
    key: &ScopedKey,
    errand: &Errand,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, CallFailure> {
    call_key_object_for(AnswerWanted::default(), gate, key, errand, request, headers, body).await
}

/// The same for a caller that says what it wants of the answer.
pub async fn call_key_object_for(
    wanted: AnswerWanted,
    gate: &Gate,
    key: &ScopedKey,
    errand: &Errand,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, CallFailure> {
    let text = match errand {
        Errand::Attempt(Attempt { seal: SealKeys { material: Some(material), .. }, .. }) => {
            // Nothing was asked yet, and nobody else may run what could not be sealed.
            let keys = gate.seal_keys(material).await.map_err(|failure| {
                log_failed_call(key.as_str(), &failure.message());
                CallFailure::NotUnderstood
            })?;
            errand.with_seal(keys).to_string()
        }
        _ => errand.to_string(),
    };
    let text = if wanted.note { with_note(text) } else { text };
    call(wanted.coding, gate, Class::Keys, key.as_str(), &text, request, headers, body).await
}

/// The name under which a key is asked for: the one of before where anything is remembered there, else the one of now.
pub async fn name_in_use(
    gate: &Gate,
    now: ScopedKey,
    before: Option<ScopedKey>,
    url: &str,
) -> Result<ScopedKey, CallFailure> {
    let Some(before) = before else {
        return Ok(now);
    };
    let request = new_request(url, &RequestInit::default()).map_err(|_| CallFailure::Unreached)?;
    let headers = Headers::new().map_err(|_| CallFailure::Unreached)?;
    let peek = Errand::Peek { wait: 0, callers: None, age: None };
    let answer = call_key_object(gate, &before, &peek, &request, &headers, &JsValue::NULL).await?;
    let content = content_of(&answer).await.map_err(|failure| {
        log_failed_call(before.as_str(), &failure.message());
        CallFailure::InDoubt
    })?;
    match is_remembered(answer.status(), &content) {
        Some(true) => Ok(before),
        Some(false) => Ok(now),
        None => {
            log_failed_call(before.as_str(), "");
            Err(CallFailure::InDoubt)
        }
    }
}

/// Asks an object of the operator's list; gives what it says.
pub async fn ask_index(gate: &Gate, name: &str, errand: &IndexErrand, content: &str) -> Result<String, CallFailure> {
    let init = RequestInit { method: Some("POST".to_owned()), ..RequestInit::default() };
    let request = new_request(QUEUE_HOST, &init).map_err(|_| CallFailure::Unreached)?;
    let headers = Headers::new().map_err(|_| CallFailure::Unreached)?;
    let (errand, content) = (errand.to_string(), JsValue::from_str(content));
    let answer = call_object(gate, Class::Keys, name, &errand, &request, &headers, &content).await?;
    if !answer.ok() {
        return Err(CallFailure::NotUnderstood);
    }
    content_of(&answer).await.map_err(|_| CallFailure::InDoubt)
}

/// One call to the object of that name, made once more where the platform says that it may succeed then.
pub async fn call_object(
    gate: &Gate,
    class: Class,
    name: &str,
    errand: &str,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, CallFailure> {
    call(AnswerCoding::Undone, gate, class, name, errand, request, headers, body).await
}

#[allow(clippy::too_many_arguments, reason = "one call's parts, from two callers of this file")]
async fn call(
    coding: AnswerCoding,
    gate: &Gate,
    class: Class,
    name: &str,
    errand: &str,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, CallFailure> {
    let mut errand = errand;
    let mut calls = CallHistory::default();
    loop {
        head::set_errand(headers, errand);
        match attempt_call(coding, gate.object(class, name), request, headers, body).await {
            Ok(response) => {
                let answered = understood(response).await;
                match for_older_build(errand) {
                    Some(older) if matches!(answered, Err(CallFailure::NotUnderstood)) => errand = older,
                    _ => {
                        if answered.is_err() {
                            log_failed_call(name, "");
                        }
                        return answered;
                    }
                }
            }
            Err(failure) if failure.is_without_sqlite() => {
                gate.note_without_sqlite(class);
                return Err(CallFailure::InDoubt);
            }
            Err(failure) => {
                if let Some(failed) = calls.note_failure(failure.fault()) {
                    log_failed_call(name, &failure.message());
                    return Err(failed);
                }
            }
        }
    }
}

/// A call that came to nothing has a line, whoever made it. `name`: the object's, which is told where it is a scoped key; an
/// entity's is its backend's business. `message`: what the platform says.
fn log_failed_call(name: &str, message: &str) {
    log_error(&failure_line("store", now_millis(), name.parse().ok().as_ref(), message));
}

/// An object that runs an earlier build says in a refusal that it does not understand the errand.
async fn understood(response: Response) -> Result<Response, CallFailure> {
    if may_be_not_understood(response.status(), || head::word(&response)) {
        let content = content_of(&response).await.map_err(|_| CallFailure::InDoubt)?;
        if is_not_understood(&content) {
            return Err(CallFailure::NotUnderstood);
        }
    }
    Ok(response)
}

/// The content as a text; the response can still be sent on.
pub async fn content_of(response: &Response) -> Result<String, Failure> {
    let text: JsString = await_promise(response.clone()?.text()?).await?;
    Ok(text.into())
}

async fn attempt_call(
    coding: AnswerCoding,
    stub: Result<Fetcher, Failure>,
    request: &Request,
    headers: &Headers,
    body: &JsValue,
) -> Result<Response, Failure> {
    let body = if body.is_null() { JsValue::UNDEFINED } else { body.clone() };
    let init = RequestInit::to_object(headers, body);
    let init = match coding {
        AnswerCoding::Undone => init,
        AnswerCoding::Kept => init.coding_kept(),
    };
    await_promise(stub?.fetch_with(request, &init.to_js())?).await
}
