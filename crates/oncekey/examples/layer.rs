//! The order of calls as a small layer around any handler, with records in memory: what a service of one process needs.
//!
//! `cargo run -p oncekey --example layer` sends one order three times. A service with more than one process keeps the records
//! where all of them see them, and writes the claim there before the handler runs, as here: one write that fails where another
//! was first.

use std::{collections::BTreeMap, error::Error};

use oncekey::{
    answer::head::ReplyHead,
    content::{Content, choose_key},
    decide::{
        attempt::{Decision, decide},
        outcome::{EffectOutcome, Settlement, outcome_of_status, settle_attempt},
    },
    fingerprint::fingerprint,
    http::{
        date::Millis,
        fields::Fields,
        target::{Target, routing_path, split_url},
    },
    key::{scoped::ScopedKey, seal::SealKeys},
    policy::{CallerParts, Policy},
    stored::{
        attempt::{Attempt, Terms},
        record::{KeptReply, Owner, Record},
    },
};

/// A request, as a server reads it. `head`: `name,value` a line, names in small letters.
struct Request<'r> {
    method: &'r str,
    url: &'r str,
    head: &'r str,
    content: &'r [u8],
}

/// An answer; the word is what `Idempotency-Status` says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Response {
    status: u16,
    word: &'static str,
    content: String,
}

/// What is remembered of a key: the record, and the content of its answer.
#[derive(Default)]
struct Entry {
    record: Option<Record>,
    owner: Owner,
    content: String,
}

/// Lets each request with a key happen once.
#[derive(Default)]
struct Layer {
    policy: Policy,
    entries: BTreeMap<String, Entry>,
}

impl Layer {
    /// Answers a request; `handler` gives status and content, and is called where the request is to happen. `now`: ms.
    fn call(
        &mut self,
        request: &Request,
        now: Millis,
        handler: impl FnOnce() -> (u16, String),
    ) -> Result<Response, Box<dyn Error>> {
        let passed = |(status, content), word| Ok(Response { status, word, content });
        let url = split_url(request.url);
        let Some(route) = self.policy.route(request.method, &routing_path(url.path)) else {
            return passed(handler(), "");
        };
        let fields = Fields::new(request.head.to_owned());
        let content_type = fields.get("content-type");
        let content = Content::parse(content_type, None, request.content);
        // A key that is none is a 400, and nothing runs.
        let Some(key) = choose_key(fields.get(&self.policy.header), &content, &self.policy.field)? else {
            return passed(handler(), "bypassed;reason=no-key");
        };
        let caller = CallerParts { url: &url, fields: &fields, certificate: None };
        let scopes = self.policy.caller_scopes(caller, &[])?;
        let target = Target { method: request.method, path_and_query: url.path_and_query };
        let headers = (route.headers.as_slice(), &fields);
        let attempt = Attempt {
            scoped_key: ScopedKey::derive(&scopes.now, &key)?,
            fingerprint: fingerprint(&target, content_type, None, &content, &self.policy.field, &route.ignore, headers),
            terms: Terms::of(&self.policy, route),
            header: self.policy.header.clone(),
            callers: scopes.callers(&key),
            basis: None,
            age: None,
            seal: SealKeys::default(),
        };
        let entry = self.entries.entry(attempt.scoped_key.to_string()).or_default();
        let claim = match decide(entry.record.as_ref(), entry.owner, &attempt, false, now) {
            Decision::Execute(claim) => claim,
            Decision::Replay { head, .. } => {
                return Ok(Response { status: head.status, word: "replayed", content: entry.content.clone() });
            }
            Decision::Wait { .. } => return passed((409, "in progress".to_owned()), "in-progress"),
            Decision::Refuse { refusal, .. } => {
                return passed((refusal.status(), refusal.to_string()), "refused");
            }
            Decision::Probe { .. } | Decision::Open { .. } => return Err("this layer neither asks nor seals".into()),
        };
        // The claim is written before the handler runs.
        let record = Record::Claimed(claim.clone());
        entry.record = Some(record.clone());
        entry.owner = Owner { running: Some(claim.generation), latest: claim.generation };
        let (status, content) = handler();
        let (then, answer) = match outcome_of_status(Some(status), &attempt.terms) {
            EffectOutcome::Pass { then, .. } => (then, passed((status, content.clone()), "executed")),
            EffectOutcome::Refuse { then, refusal } => {
                (then, passed((refusal.status(), refusal.to_string()), "refused"))
            }
        };
        let head = ReplyHead::keep(status, &Fields::default());
        match settle_attempt(Some(&record), &claim, then, KeptReply::Whole(head), now) {
            Settlement::Store(record) => entry.record = Some(record),
            Settlement::Release => entry.record = None,
            Settlement::Late => {}
        }
        entry.owner.running = None;
        entry.content = content;
        answer
    }
}

/// An order of that quantity, under one key.
fn order(layer: &mut Layer, quantity: u32, count: &mut u32) -> Result<Response, Box<dyn Error>> {
    let content = format!(r#"{{"item": "Mug", "quantity": {quantity}}}"#);
    let request = Request {
        method: "POST",
        url: "https://shop.example/orders",
        head: "authorization,Bearer of-ann\ncontent-type,application/json\nidempotency-key,order-1042",
        content: content.as_bytes(),
    };
    layer.call(&request, 1_767_225_600_000, || {
        *count += 1;
        (201, format!("order {count}"))
    })
}

#[allow(clippy::disallowed_macros, reason = "an example shows what it does")]
fn main() -> Result<(), Box<dyn Error>> {
    let (mut layer, mut count) = (Layer::default(), 0);
    for quantity in [1, 1, 2] {
        let answer = order(&mut layer, quantity, &mut count)?;
        println!("{} {}: {}", answer.status, answer.word, answer.content);
    }
    println!("orders: {count}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Layer, Response, order};

    #[test]
    fn an_order_is_made_once() {
        let (mut layer, mut count) = (Layer::default(), 0);
        let answers = [1, 1, 2].map(|quantity| order(&mut layer, quantity, &mut count).ok());
        let told = answers.map(|answer| answer.map(|Response { status, word, .. }| (status, word)));
        assert_eq!(told, [Some((201, "executed")), Some((201, "replayed")), Some((422, "refused"))]);
        assert_eq!(count, 1);
    }
}
