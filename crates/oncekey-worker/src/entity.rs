//! The object of one entity: its state, history and outbox, and the alarm that hands effects over.
//!
//! Invariant: `e` holds the entity, `h1`, `h2`, … its history by version, `o1`, `o2`, … the effects by version that
//! have not been handed over; a transition writes all three without an await between.

use std::rc::Rc;

use js_sys::{Array, ArrayBuffer, Uint8Array};
use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    decide::transition::{OutgoingEffect, TransitionContent, TransitionDecision, decide_transition},
    errand::{Errand, Order, is_handed_over},
    http::target::split_url,
    policy::Machine,
    stored::{
        attempt::Attempt,
        entity::{Entity, kept},
        request::Held,
    },
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Request, Response};

use crate::{
    call::ask,
    gate::Gate,
    platform::{
        bindings::{Ctx, Storage, forget, settled},
        clock::{clock, js_time},
        failure::Failure,
        head, message,
    },
    refusal,
};

/// Milliseconds after which an effect that could not be handed over is tried again.
const AGAIN: u64 = 5_000;

/// One entity's handler.
pub struct EntityObject {
    gate: Rc<Gate>,
    storage: Storage,
}

impl EntityObject {
    /// Reads nothing yet.
    pub fn new(gate: Rc<Gate>, ctx: &Ctx) -> Self {
        Self { gate, storage: ctx.storage() }
    }

    /// Does what the front orders.
    pub async fn fetch(&self, request: &Request) -> Result<Response, Failure> {
        let refuse = |refusal: Refusal| refusal::respond(&self.gate.policy, &request.headers(), &refusal, None);
        let Some(order) = head::errand(request).as_deref().and_then(Order::decode) else {
            return refuse(Refusal::NoSuchEndpoint);
        };
        let content: ArrayBuffer = settled(request.array_buffer()?).await?;
        let content = Uint8Array::new(&content).to_vec();
        let Some(machine) = self.gate.policy.machine(&order.machine) else {
            return refuse(Refusal::NoSuchEndpoint);
        };
        let Ok(entity) = self.load() else {
            return refuse(Refusal::StoreUnavailable);
        };
        match &order.transition {
            None => self.view(machine, entity.as_ref()),
            Some(name) => match self.make(machine, &order, name, entity.as_ref(), &content, &request.url())? {
                Ok(said) => message::said(said),
                Err(refusal) => refuse(refusal),
            },
        }
    }

    fn view(&self, machine: &Machine, entity: Option<&Entity>) -> Result<Response, Failure> {
        let Some(entity) = entity else {
            return message::said(GateAnswer::entity(&machine.initial, 0, &[]));
        };
        let kv = self.storage.kv();
        let mut history = Vec::new();
        for version in kept(entity.version) {
            history.extend(kv.get(&row('h', version))?.as_string());
        }
        message::said(GateAnswer::entity(&entity.state, entity.version, &history))
    }

    /// Makes a transition, all in one write.
    fn make(
        &self,
        machine: &Machine,
        order: &Order,
        name: &str,
        entity: Option<&Entity>,
        content: &[u8],
        url: &str,
    ) -> Result<Result<GateAnswer, Refusal>, Failure> {
        let Some(transition) = machine.transition(name) else {
            return Ok(Err(Refusal::NoSuchEndpoint));
        };
        let given = match TransitionContent::parse(content) {
            Ok(given) => given,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let now = clock();
        match decide_transition(&self.gate.policy, machine, transition, &order.id, entity, &given, now) {
            Err(why) => Ok(Err(Refusal::KeyInvalid(why))),
            Ok(TransitionDecision::There) => Ok(Ok(GateAnswer::transition(&transition.to, false))),
            Ok(TransitionDecision::Conflict(refusal)) => Ok(Err(refusal)),
            Ok(TransitionDecision::Won(won)) => {
                let kv = self.storage.kv();
                let version = won.entity.version;
                // The alarm first and the entity last: should either fail, what was written before counts for nothing.
                if won.effect.is_some() {
                    self.wake_at(now)?;
                }
                kv.put(&row('h', version), &JsValue::from_str(&won.entry))?;
                if let Some(effect) = &won.effect {
                    let parts = split_url(url);
                    let target = [parts.scheme, "://", parts.host, &effect.path].concat();
                    kv.put(&row('o', version), &outgoing(effect, &target))?;
                }
                self.save(&won.entity)?;
                if let Some(old) = kept(version).start().checked_sub(1).filter(|old| *old > 0) {
                    kv.delete(&row('h', old))?;
                }
                Ok(Ok(GateAnswer::transition(&won.entity.state, true)))
            }
        }
    }

    /// The alarm: hands over what is in the outbox. It never fails.
    pub async fn alarm(&self) {
        if !matches!(self.hand_over().await, Ok(true)) {
            let _ = self.wake_at(clock() + AGAIN);
        }
    }

    /// Says whether nothing is left.
    async fn hand_over(&self) -> Result<bool, Failure> {
        let kv = self.storage.kv();
        while let Some(version) = self.load()?.and_then(|entity| entity.pending.first().copied()) {
            // Should this be the last that is heard of it.
            self.wake_at(clock() + AGAIN)?;
            let name = row('o', version);
            let Some((attempt, head, content)) = incoming(&kv.get(&name)?) else {
                return Ok(false);
            };
            let request = message::held_request(&head)?;
            let key = attempt.scoped_key.clone();
            let errand = Errand::Accept(attempt);
            let answer = ask(&self.gate, &key, &errand, &request, &request.headers(), &content).await;
            if !answer.is_ok_and(|answer| is_handed_over(answer.status())) {
                return Ok(false);
            }
            let Some(mut entity) = self.load()? else {
                return Ok(true);
            };
            entity.handed_over(version);
            self.save(&entity)?;
            kv.delete(&name)?;
        }
        Ok(true)
    }

    /// An error also where bytes are stored that no known version wrote.
    fn load(&self) -> Result<Option<Entity>, Failure> {
        let row = self.storage.kv().get("e")?;
        if row.is_undefined() {
            return Ok(None);
        }
        let entity = row.dyn_into::<Uint8Array>().ok().and_then(|bytes| Entity::decode(&bytes.to_vec()));
        entity.map(Some).ok_or_else(|| JsValue::UNDEFINED.into())
    }

    fn save(&self, entity: &Entity) -> Result<(), Failure> {
        Ok(self.storage.kv().put("e", &Uint8Array::from(entity.encode().as_slice()))?)
    }

    fn wake_at(&self, at: u64) -> Result<(), Failure> {
        forget(&self.storage.set_alarm(js_time(at))?);
        Ok(())
    }
}

fn row(kind: char, version: u32) -> String {
    let mut name = version.to_string();
    name.insert(0, kind);
    name
}

/// An effect as its row: terms, head, content.
fn outgoing(effect: &OutgoingEffect, url: &str) -> JsValue {
    let content = Uint8Array::from(effect.content.as_bytes());
    Array::of3(&effect.attempt.encode().into(), &Held::json(url).encode().into(), &content).into()
}

fn incoming(row: &JsValue) -> Option<(Attempt, Held, JsValue)> {
    let row = row.dyn_ref::<Array>()?;
    Some((Attempt::parse(&row.get(0).as_string()?)?, Held::decode(&row.get(1).as_string()?)?, row.get(2)))
}
