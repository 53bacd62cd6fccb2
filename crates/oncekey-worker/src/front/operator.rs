//! The operator's list of what is of unknown fate or dead, newest first.

use js_sys::Promise;
use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    errand::Errand,
    http::target::UrlParts,
    index::{
        IndexErrand, MOST_ROWS, PAGE, ROOT, SeenFate, hour_after, hour_of_cursor, is_over, key_of_row, read_look,
        read_rows, shard_name,
    },
    key::scoped::ScopedKey,
};
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::{
    call::{ask_index, content_of},
    front::incoming::{Incoming, Stop},
    gate::Class,
    platform::{bindings::await_promise, clock::now_millis, failure::Failure, head, init::RequestInit, message},
};

/// One page of the list: of one hour, from the cursor on.
pub async fn answer_list(incoming: &Incoming<'_>, parts: &UrlParts<'_>) -> Result<Response, Stop> {
    let cursor = parts.query.split('&').find_map(|pair| pair.strip_prefix("cursor="));
    let from = match cursor {
        Some(cursor) => Some(hour_of_cursor(cursor).ok_or(Refusal::NothingRemembered)?),
        None => None,
    };
    let said = list_rows(incoming, ROOT, 2, from.as_deref().map(hour_after)).await?;
    let mut hours = read_rows(&said).ok_or(Refusal::StoreUnavailable)?.1.into_iter();
    let (hour, until) = hours.next().unwrap_or_default();
    let before = cursor.filter(|cursor| *cursor != hour && from.as_deref() == Some(hour)).map(str::to_owned);
    let is_begun = before.is_some();
    let shard = shard_name(hour);
    let said = if hour.is_empty() { "0".to_owned() } else { list_rows(incoming, &shard, PAGE, before).await? };
    let (given, rows) = read_rows(&said).ok_or(Refusal::StoreUnavailable)?;
    let mut resolved = Vec::new();
    if rows.is_empty() && is_over(until, now_millis()) {
        resolved.push((ROOT, hour));
    }
    let next = match rows.last() {
        Some((name, _)) if rows.len() >= PAGE => Some(*name),
        _ => hours.next().map(|(hour, _)| hour),
    };
    // All are asked before the first is heard.
    let asked: Vec<_> = rows.iter().map(|(name, _)| ask_key(incoming, name)).collect();
    let mut open = Vec::new();
    for ((name, text), asked) in rows.iter().zip(asked) {
        let known = match hear_key(asked).await {
            (SeenFate::Open, known) => known,
            (SeenFate::Unseen, _) => String::from(*text),
            (SeenFate::Resolved, _) => {
                resolved.push((&shard, name));
                continue;
            }
        };
        open.extend(key_of_row(name).map(|key| (key, known)));
    }
    for (place, name) in resolved {
        let _ = ask_index(incoming.gate, place, &IndexErrand::Remove { name: name.to_owned() }, "").await;
    }
    let unlisted = if is_begun { 0 } else { given.saturating_sub(MOST_ROWS) };
    Ok(message::own_response(GateAnswer::open_fates(&open, unlisted, next))?)
}

/// Asks the object of a row's key what is known of it now.
fn ask_key(incoming: &Incoming<'_>, name: &str) -> Result<Promise, Failure> {
    let key = key_of_row(name).as_ref().map(ScopedKey::to_string).unwrap_or_default();
    let headers = incoming.headers_without_internal()?;
    head::set_errand(&headers, &Errand::Look.to_string());
    let init = RequestInit::to_object(&headers, JsValue::UNDEFINED).to_js();
    Ok(incoming.gate.object(Class::Keys, &key)?.fetch_with(incoming.request, &init)?)
}

async fn hear_key(asked: Result<Promise, Failure>) -> (SeenFate, String) {
    let heard = async {
        let answer: Response = await_promise(asked?).await?;
        let said = content_of(&answer).await?;
        Ok::<_, Failure>((read_look(answer.status(), &said), said))
    };
    heard.await.unwrap_or((SeenFate::Unseen, String::new()))
}

async fn list_rows(
    incoming: &Incoming<'_>,
    name: &str,
    most: usize,
    before: Option<String>,
) -> Result<String, Refusal> {
    let listed = ask_index(incoming.gate, name, &IndexErrand::List { most, before }, "").await;
    listed.map_err(|_| incoming.gate.failed_call())
}
