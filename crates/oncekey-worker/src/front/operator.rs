//! The operator's list of what is of unknown fate or dead, newest first.

use js_sys::Promise;
use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    errand::Errand,
    http::target::UrlParts,
    index::{
        HOURS, IndexErrand, MOST_ROWS, PAGE, ROOT, SeenFate, cursor_before_hour, hour_after, hour_of_row, is_over,
        key_of_row, read_look, read_rows, shard_name,
    },
    key::scoped::ScopedKey,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    call::{call_object, content_of},
    front::incoming::{Incoming, Stop},
    gate::Class,
    platform::{bindings::await_promise, clock::now_millis, failure::Failure, head, init::RequestInit, message},
};

/// One page of the list.
pub async fn answer_list(incoming: &Incoming<'_>, parts: &UrlParts<'_>) -> Result<Response, Stop> {
    let cursor = parts.query.split('&').find_map(|pair| pair.strip_prefix("cursor="));
    let from = match cursor {
        Some(cursor) => Some(hour_of_row(cursor).ok_or(Refusal::NothingRemembered)?),
        None => None,
    };
    let (_, hours) = list_rows(incoming, ROOT, HOURS + 1, from.as_deref().map(hour_after)).await?;
    let (mut rows, mut unlisted, mut next) = (Vec::new(), 0, None);
    for (at, (hour, until)) in (0..).zip(&hours) {
        let room = PAGE.saturating_sub(u32::try_from(rows.len()).unwrap_or(PAGE));
        if room == 0 || at == HOURS {
            next = Some(cursor_before_hour(hour));
            break;
        }
        if is_over(until, now_millis()) {
            let _ = ask_index(incoming, ROOT, &IndexErrand::Remove { name: hour.clone() }).await;
            continue;
        }
        let before = cursor.filter(|_| from.as_ref() == Some(hour)).map(str::to_owned);
        let is_begun = before.is_some();
        let (given, listed) = list_rows(incoming, &shard_name(hour), room, before).await?;
        unlisted += if is_begun { 0 } else { given.saturating_sub(MOST_ROWS) };
        rows.extend(listed);
    }
    if rows.len() >= usize::try_from(PAGE).unwrap_or(0) {
        next = rows.last().map(|(name, _)| name.clone());
    }
    // All are asked before the first is heard.
    let asked: Vec<_> = rows.iter().map(|(name, _)| ask_key(incoming, name)).collect();
    let mut open = Vec::new();
    for ((name, text), asked) in rows.iter().zip(asked) {
        match hear_key(asked).await {
            SeenFate::Open(known) => open.extend(key_of_row(name).map(|key| (key, known))),
            SeenFate::Unseen => open.extend(key_of_row(name).map(|key| (key, text.clone()))),
            SeenFate::Resolved => {
                let shard = shard_name(&hour_of_row(name).unwrap_or_default());
                let _ = ask_index(incoming, &shard, &IndexErrand::Remove { name: name.clone() }).await;
            }
        }
    }
    Ok(message::own_response(GateAnswer::open_fates(&open, next.as_deref(), unlisted))?)
}

/// Asks the object of a row's key what is known of it now.
fn ask_key(incoming: &Incoming<'_>, name: &str) -> Result<Promise, Failure> {
    let key = key_of_row(name).as_ref().map(ScopedKey::to_string).unwrap_or_default();
    let headers = incoming.headers_without_internal()?;
    head::set_errand(&headers, &Errand::Look.to_string());
    let init = RequestInit::to_object(&headers, JsValue::UNDEFINED).to_js();
    Ok(incoming.gate.object(Class::Keys, &key)?.fetch_with(incoming.request, &init)?)
}

async fn hear_key(asked: Result<Promise, Failure>) -> SeenFate {
    let heard = async {
        let answer: Response = await_promise(asked?).await?;
        Ok::<_, Failure>(read_look(answer.status(), &content_of(&answer).await?))
    };
    heard.await.unwrap_or(SeenFate::Unseen)
}

async fn list_rows(
    incoming: &Incoming<'_>,
    name: &str,
    most: u32,
    before: Option<String>,
) -> Result<(u32, Vec<(String, String)>), Stop> {
    let answer = ask_index(incoming, name, &IndexErrand::List { most, before }).await?;
    Ok(read_rows(&content_of(&answer).await?).ok_or(Refusal::StoreUnavailable)?)
}

async fn ask_index(incoming: &Incoming<'_>, name: &str, errand: &IndexErrand) -> Result<Response, Stop> {
    let headers = incoming.headers_without_internal()?;
    let (errand, gate) = (errand.to_string(), incoming.gate);
    let asked = call_object(gate, Class::Keys, name, &errand, incoming.request, &headers, &JsValue::NULL).await;
    asked.map_err(|_| gate.failed_call().into())
}
