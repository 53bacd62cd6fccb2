//! The object of one entity: its state, history and outbox, and the alarm that hands effects over.
//!
//! Invariant: `e` holds the entity, `h1`, `h2`, … its history by version, `o1`, `o2`, … the effects by version that
//! have not been handed over; a transition writes all three without an await between. `e` is an [`Entity`]'s stored form,
//! each `h` JSON, and each `o` holds `[entry, content]`, where `entry` is an [`OutboxEntry`]'s; version 1 wrote two texts
//! in its place.

use std::rc::Rc;

use js_sys::{Array, ArrayBuffer, Uint8Array};
use oncekey::{
    answer::{own::GateAnswer, refusal::Refusal},
    decide::transition::{OutgoingEffect, TransitionContent, TransitionDecision, decide_transition},
    errand::{EntityErrand, Errand, is_handed_over},
    http::target::split_url,
    policy::Machine,
    stored::{
        entity::{Entity, kept_versions},
        frame::Unreadable,
        outbox::OutboxEntry,
        request::StoredRequest,
    },
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Request, Response};

use crate::{
    call::call_key_object,
    gate::Gate,
    platform::{
        bindings::{Ctx, Storage, await_promise, ignore_rejection},
        clock::{js_time, now_millis},
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
        let refuse =
            |refusal: Refusal| refusal::refusal_response(&self.gate.policy, &request.headers(), &refusal, None);
        let Ok(order) = head::errand(&request.headers()).unwrap_or_default().parse::<EntityErrand>() else {
            return refuse(Refusal::StoreUnavailable);
        };
        let content: ArrayBuffer = await_promise(request.array_buffer()?).await?;
        let content = Uint8Array::new(&content).to_vec();
        // The front knows it: this object runs under an older policy.
        let Some(machine) = self.gate.policy.machine(&order.machine) else {
            return refuse(Refusal::StoreUnavailable);
        };
        let Ok(entity) = self.load_entity() else {
            return refuse(Refusal::StoreUnavailable);
        };
        match &order.transition {
            None => self.show_entity(machine, entity.as_ref()),
            Some(name) => {
                match self.make_transition(machine, &order, name, entity.as_ref(), &content, &request.url())? {
                    Ok(said) => message::own_response(said),
                    Err(refusal) => refuse(refusal),
                }
            }
        }
    }

    fn show_entity(&self, machine: &Machine, entity: Option<&Entity>) -> Result<Response, Failure> {
        let Some(entity) = entity else {
            return message::own_response(GateAnswer::entity(&machine.initial, 0, &[]));
        };
        let kv = self.storage.kv();
        let mut history = Vec::new();
        for version in kept_versions(entity.version) {
            history.extend(kv.get(&row_name('h', version))?.as_string());
        }
        message::own_response(GateAnswer::entity(&entity.state, entity.version, &history))
    }

    /// Makes a transition, all in one write.
    fn make_transition(
        &self,
        machine: &Machine,
        order: &EntityErrand,
        name: &str,
        entity: Option<&Entity>,
        content: &[u8],
        url: &str,
    ) -> Result<Result<GateAnswer, Refusal>, Failure> {
        let Some(transition) = machine.transition(name) else {
            return Ok(Err(Refusal::StoreUnavailable));
        };
        let given = match TransitionContent::parse(content) {
            Ok(given) => given,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let now = now_millis();
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
                kv.put(&row_name('h', version), &JsValue::from_str(&won.entry))?;
                if let Some(effect) = &won.effect {
                    let parts = split_url(url);
                    let target = [parts.scheme, "://", parts.host, &effect.path].concat();
                    kv.put(&row_name('o', version), &outbox_row(effect, &target))?;
                }
                self.save_entity(&won.entity)?;
                if let Some(old) = kept_versions(version).start().checked_sub(1).filter(|old| *old > 0) {
                    kv.delete(&row_name('h', old))?;
                }
                Ok(Ok(GateAnswer::transition(&won.entity.state, true)))
            }
        }
    }

    /// The alarm: hands over what is in the outbox. It never fails.
    pub async fn alarm(&self) {
        if !matches!(self.hand_over_effects().await, Ok(true)) {
            let _ = self.wake_at(now_millis() + AGAIN);
        }
    }

    /// Says whether nothing is left.
    async fn hand_over_effects(&self) -> Result<bool, Failure> {
        let kv = self.storage.kv();
        while let Some(version) = self.load_entity()?.and_then(|entity| entity.pending.first().copied()) {
            // Should this be the last that is heard of it.
            self.wake_at(now_millis() + AGAIN)?;
            let name = row_name('o', version);
            let Ok((entry, content)) = read_outbox_row(&kv.get(&name)?) else {
                return Ok(false);
            };
            let request = message::request_of_stored(&entry.request)?;
            let key = entry.attempt.scoped_key.clone();
            let errand = Errand::Accept(entry.attempt);
            let answer = call_key_object(&self.gate, &key, &errand, &request, &request.headers(), &content).await;
            if !answer.is_ok_and(|answer| is_handed_over(answer.status())) {
                return Ok(false);
            }
            let Some(mut entity) = self.load_entity()? else {
                return Ok(true);
            };
            entity.handed_over(version);
            self.save_entity(&entity)?;
            kv.delete(&name)?;
        }
        Ok(true)
    }

    /// An error also where this build cannot read what is stored.
    fn load_entity(&self) -> Result<Option<Entity>, Failure> {
        let row = self.storage.kv().get("e")?;
        if row.is_undefined() {
            return Ok(None);
        }
        let entity = row.dyn_into::<Uint8Array>().ok().and_then(|bytes| Entity::decode(&bytes.to_vec()).ok());
        entity.map(Some).ok_or_else(|| JsValue::UNDEFINED.into())
    }

    fn save_entity(&self, entity: &Entity) -> Result<(), Failure> {
        Ok(self.storage.kv().put("e", &Uint8Array::from(entity.encode().as_slice()))?)
    }

    fn wake_at(&self, at: u64) -> Result<(), Failure> {
        ignore_rejection(&self.storage.set_alarm(js_time(at))?);
        Ok(())
    }
}

fn row_name(kind: char, version: u32) -> String {
    let mut name = version.to_string();
    name.insert(0, kind);
    name
}

/// An effect as its row.
fn outbox_row(effect: &OutgoingEffect, url: &str) -> JsValue {
    let entry = OutboxEntry { attempt: effect.attempt.clone(), request: StoredRequest::json(url) };
    let content = Uint8Array::from(effect.content.as_bytes());
    Array::of2(&Uint8Array::from(entry.encode().as_slice()), &content).into()
}

/// An effect and its content from its row.
fn read_outbox_row(row: &JsValue) -> Result<(OutboxEntry, JsValue), Unreadable> {
    let row = row.dyn_ref::<Array>().ok_or(Unreadable::default())?;
    if let Some(bytes) = row.get(0).dyn_ref::<Uint8Array>() {
        return Ok((OutboxEntry::decode(&bytes.to_vec())?, row.get(1)));
    }
    let text = |at| row.get(at).as_string().ok_or(Unreadable::default());
    Ok((OutboxEntry::decode_v1(&text(0)?, &text(1)?)?, row.get(2)))
}
