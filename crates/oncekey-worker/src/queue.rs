//! A queue's messages, each sent alone.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use oncekey::{
    queue::{QUEUE_HOST, Receipt, attempt_of_message, read_receipt, redelivery_delay},
    stored::request::Held,
};
use wasm_bindgen::JsCast;

use crate::{
    exchange::Flight,
    gate::Gate,
    platform::clock::{self, chance},
};

/// Sends each message of a queue's batch; gives for each the seconds after which it is to come again, 0 where it is
/// done with. `messages`: id, content where there is any, and how often it was delivered.
pub async fn consume(gate: Rc<Gate>, name: &str, messages: &Array) -> Vec<u32> {
    let later = |attempts: u32, retry_after: u64| redelivery_delay(attempts, chance(), retry_after);
    let mut delays = Vec::new();
    let mut attempts = Vec::new();
    let mut flight = Flight::new(gate.clone(), 0);
    let mut numbers = Vec::new();
    for (at, each) in messages.iter().enumerate() {
        let each: Array = each.unchecked_into();
        let count = each.get(2).as_f64().map_or(1, clock::whole);
        attempts.push(count);
        delays.push(later(count, 0));
        let content = each.get(1);
        let bytes = match content.as_string() {
            Some(text) => text.into_bytes(),
            None => content.dyn_into::<Uint8Array>().map(|bytes| bytes.to_vec()).unwrap_or_default(),
        };
        let id = each.get(0).as_string().unwrap_or_default();
        if let Some(queue) = gate.policy.queue(name)
            && let Some(attempt) = attempt_of_message(&gate.policy, queue, &id, &bytes)
        {
            let url = [QUEUE_HOST, &queue.path].concat();
            flight.join(attempt, Held::json(&url), bytes);
            numbers.push(at);
        }
    }
    while let Some((number, answer)) = flight.next().await {
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
