//! Batches: lists of items that are sent alone.

use std::rc::Rc;

use js_sys::Uint8Array;
use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    batch::{BatchPlan, batch_head, item_answer, items_of},
    http::target::UrlParts,
    json::select::list_elements,
    policy::{LimitQuestion, Route},
};
use web_sys::Response;

use crate::{
    exchange::Exchange,
    front::incoming::{Incoming, IncomingContent, Stop},
    gate::Gate,
    platform::{
        message,
        promised::{gone_of, unless_gone},
        stream::{CallerStream, Pipe},
    },
    refusal::audience_of,
};

/// Where a batch's list is, and how many items it may have.
pub struct BatchList<'a> {
    pub items: &'a [String],
    pub max_items: u64,
}

/// Sends each element of a batch's list alone, and answers with what came of each, in the list's order.
pub async fn answer_batch(
    incoming: &Incoming<'_>,
    route: &Route,
    list: BatchList<'_>,
    item: (&[String], &str),
    parts: &UrlParts<'_>,
) -> Result<Response, Stop> {
    let policy = &incoming.gate.policy;
    let IncomingContent::Whole(_, bytes) = incoming.read_content(true, policy.max_content).await? else {
        return Err(Refusal::ContentTooLarge { limit: policy.max_content }.into());
    };
    let BatchList { items, max_items } = list;
    let (kind, coding) = (incoming.fields.get("content-type"), incoming.fields.get("content-encoding"));
    items_of(kind, coding, &bytes, items, max_items)?;
    let origin = [parts.scheme, "://", parts.host].concat();
    let scopes = incoming.caller_scopes(parts).await?;
    incoming.check_exact(|_| true)?;
    let limit = policy.limit_question(&scopes.now, &incoming.fields);
    let plan = BatchPlan::new(policy, route, item, scopes, &origin, &incoming.fields);
    let run = BatchRun {
        gate: incoming.gate.clone(),
        plan,
        limit,
        items: items.to_vec(),
        max_items,
        bytes,
        patience: route.lease,
    };
    let pipe = Pipe::new(None)?;
    let audience = audience_of(policy, &incoming.fields);
    let answer = message::new_response(207, batch_head(&audience), &pipe.readable)?;
    let (gone, out) = (gone_of(incoming.request), CallerStream::to_caller(pipe.writer));
    // What is under way goes on in the objects; sent again, the batch finds it there.
    wasm_bindgen_futures::spawn_local(async move {
        let _ = unless_gone(&gone, run.send_items(out)).await;
    });
    Ok(answer)
}

struct BatchRun {
    gate: Rc<Gate>,
    plan: BatchPlan,
    /// What counts its items.
    limit: Option<LimitQuestion>,
    items: Vec<String>,
    max_items: u64,
    bytes: Vec<u8>,
    /// Seconds that a caller may take nothing.
    patience: u32,
}

impl BatchRun {
    async fn send_items(self, mut out: CallerStream) {
        let policy = &self.gate.policy;
        let whole = items_of(Some("application/json"), None, &self.bytes, &self.items, self.max_items);
        let mut rest = whole.ok().and_then(list_elements);
        let mut exchange = Exchange::new(self.gate.clone(), policy.max_stored, self.plan.is_identified());
        let mut ready: Vec<(usize, String)> = Vec::new();
        let mut waiting = 0;
        let mut told_up_to = 0;
        let mut before = "{\"items\":[";
        loop {
            while exchange.has_room(ready.len(), waiting)
                && let Some(element) = rest.as_mut().and_then(Iterator::next)
            {
                let attempt = match self.plan.attempt_of_item(policy, element) {
                    Ok(attempt) => {
                        let counted = self.gate.check_limit(self.limit.as_ref(), &attempt.0.scoped_key).await;
                        counted.map(|()| attempt)
                    }
                    refused => refused,
                };
                match attempt {
                    Ok((attempt, before)) => {
                        exchange.add_item(attempt, before, self.plan.head().clone(), element.as_bytes().to_vec());
                    }
                    Err(refusal) => {
                        let text = refused_item(&refusal);
                        waiting += text.len();
                        ready.push((exchange.add_refused(), text));
                    }
                }
            }
            let ended = exchange.next_ended().await;
            let is_over = ended.is_none() && ready.is_empty();
            if let Some((number, answer)) = ended {
                let text = match answer {
                    None => refused_item(&Refusal::StoreUnavailable),
                    Some(answer) => {
                        let seconds = answer.retry_after.div_ceil(1000);
                        let after = (seconds > 0).then_some(seconds);
                        let location = answer.location.as_deref();
                        item_answer(answer.status, &answer.word, location, after, answer.content.as_deref())
                    }
                };
                waiting += text.len();
                ready.push((number, text));
            }
            let mut piece = String::new();
            while let Some(at) = ready.iter().position(|(number, _)| *number == told_up_to) {
                let (_, text) = ready.swap_remove(at);
                waiting -= text.len();
                told_up_to += 1;
                piece.push_str(before);
                piece.push_str(&text);
                before = ",";
            }
            if !piece.is_empty() {
                out.write_through(&Uint8Array::from(piece.as_bytes()), self.patience).await;
                if out.is_gone() {
                    return;
                }
            }
            if is_over {
                break;
            }
        }
        let end = if told_up_to == 0 { "{\"items\":[]}" } else { "]}" };
        out.write(&Uint8Array::from(end.as_bytes()));
        out.close();
    }
}

/// An item that the gate itself answers.
fn refused_item(refusal: &Refusal) -> String {
    let GateAnswer { status, content, .. } = refusal.render(&oncekey::http::negotiate::Audience::default(), None);
    let after = refusal.retry_after().map(u64::from);
    item_answer(status, refusal.status_word().as_str(), None, after, Some(content.as_bytes()))
}
