//! A queue's messages, each sent alone.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use oncekey::{
    answer::log::fault_line,
    queue::{QUEUE_HOST, Receipt, attempt_of_message, content_of_text, read_receipt, redelivery_delay},
    stored::request::StoredRequest,
};
use wasm_bindgen::JsCast;

use crate::{
    exchange::Exchange,
    gate::Gate,
    platform::{
        bindings::log_error,
        clock::{self, now_millis, random_fraction},
    },
};

/// Sends each message of a queue's batch; gives for each the seconds after which it is to come again, 0 where it is
/// done with. `messages`: id, content where there is any, and how often it was delivered.
pub async fn consume_batch(gate: Rc<Gate>, name: &str, messages: &Array) -> Vec<u32> {
    let later = |attempts: u32, retry_after: u64| redelivery_delay(attempts, random_fraction(), retry_after);
    if gate.policy.queue(name).is_none() {
        let detail = format!("the policy names no queue {name:?}: its messages are retried and none is sent");
        log_error(&fault_line("misconfigured", now_millis(), &detail));
    }
    let mut delays = Vec::new();
    let mut attempts = Vec::new();
    let mut exchange = Exchange::new(gate.clone(), 0, false);
    let mut numbers = Vec::new();
    for (at, each) in messages.iter().enumerate() {
        let each: Array = each.unchecked_into();
        let count = each.get(2).as_f64().map_or(1, clock::to_count);
        attempts.push(count);
        delays.push(later(count, 0));
        let content = each.get(1);
        let bytes = match content.as_string() {
            Some(text) => content_of_text(&text).into_bytes(),
            None => content.dyn_into::<Uint8Array>().map(|bytes| bytes.to_vec()).unwrap_or_default(),
        };
        let id = each.get(0).as_string().unwrap_or_default();
        if let Some(queue) = gate.policy.queue(name)
            && let Some(attempt) = attempt_of_message(&gate.policy, queue, &id, &bytes)
        {
            let url = [QUEUE_HOST, &queue.path].concat();
            exchange.add_item(attempt, None, StoredRequest::json(&url), bytes);
            numbers.push(at);
        }
    }
    while let Some((number, answer)) = exchange.next_ended().await {
        let (Some(at), Some(answer)) = (numbers.get(number), answer) else {
            continue;
        };
        let (Some(delay), Some(count)) = (delays.get_mut(*at), attempts.get(*at)) else {
            continue;
        };
        *delay = match read_receipt(answer.status, Some(&answer.word)) {
            Receipt::Taken => 0,
            Receipt::Again => later(*count, answer.retry_after),
        };
    }
    delays
}
