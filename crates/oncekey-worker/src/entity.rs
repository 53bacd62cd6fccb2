//! The object of one entity: its state, history and outbox, and the alarm that hands effects over.
//!
//! Invariant: `e` holds the entity, `h1`, `h2`, … its history by version, `o1`, `o2`, … the effects by version that
//! have not been handed over; a transition writes all three without an await between. `f1`, `f2`, … say what became of
//! effects, and `w` how far they have come: what is handed over leaves `o` and enters both in one write. `e` is an
//! [`Entity`]'s stored form, each `h` JSON, each `f` an [`EffectNote`]'s, `w` an [`OutboxProgress`]', and each `o` holds
//! `[entry, content]`, where `entry` is an [`OutboxEntry`]'s; version 1 wrote two texts in its place. A `k` with a key or a
//! call holds a [`TransitionAnswer`]'s form, written with the transition; an `x` with a time and the same says when to look
//! whether it can go.

use std::rc::Rc;

use js_sys::{Array, ArrayBuffer, JSON, JsString, Uint8Array};
use oncekey::{
    answer::{
        log::{failure_line, log_line},
        own::GateAnswer,
        refusal::Refusal,
    },
    decide::{
        outbox::{AfterStep, HandOver, OutboxStep, after_hand_over, after_look, next_step},
        transition::{
            KEY_KEPT, OutgoingEffect, TransitionContent, TransitionDecision, answer_to_keep, decide_repeat,
            decide_transition, fingerprint_of_transition,
        },
    },
    errand::{CALL, EntityErrand, Errand, is_handed_over},
    http::{date::later_by, target::split_url},
    key::scoped::ScopedKey,
    policy::Machine,
    queue::QUEUE_HOST,
    stored::{
        entity::{Entity, TransitionAnswer, expiry_row, identity_of_row, kept_versions},
        frame::Unreadable,
        outbox::{EffectFate, EffectNote, OutboxEntry, OutboxProgress, told_entry},
        request::StoredRequest,
    },
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Request, Response};

use crate::{
    call::call_key_object,
    gate::Gate,
    platform::{
        bindings::{Ctx, Storage, await_promise, ignore_rejection, log_error},
        clock::{js_time, now_millis, random_fraction},
        failure::Failure,
        head, message,
    },
    refusal,
};

/// Milliseconds after which an alarm that failed rings again.
const AGAIN: u64 = 5_000;

/// Milliseconds beyond a step's own wait after which the alarm rings again, should that be the last that is heard of it.
const LATE: u64 = 5_000;

/// The newest effects of a history of which it is asked whether the operator had them delivered.
const MOST_LOOKS: usize = 20;

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
        let entity = match self.load_entity() {
            Ok(entity) => entity,
            Err(failure) if failure.is_without_sqlite() => return Err(failure),
            Err(_) => return refuse(Refusal::StoreUnavailable),
        };
        match &order.transition {
            None => self.show_entity(machine, entity.as_ref()).await,
            Some(name) => match self.make_transition(machine, &order, name, entity.as_ref(), &content, request)? {
                Ok(said) => message::own_response(said),
                Err(refusal) => refuse(refusal),
            },
        }
    }

    async fn show_entity(&self, machine: &Machine, entity: Option<&Entity>) -> Result<Response, Failure> {
        let Some(entity) = entity else {
            return message::own_response(GateAnswer::entity(&machine.initial, 0, &[]));
        };
        let mut history = Vec::new();
        let mut looks = 0;
        for version in kept_versions(entity.version).rev() {
            let Some(entry) = self.text(&row_name('h', version))? else {
                continue;
            };
            let mut note = self.load_note(version)?;
            if let Some(EffectNote { fate, key: Some(key) }) = &mut note
                && !matches!(fate, EffectFate::Delivered(_))
                && looks < MOST_LOOKS
            {
                looks += 1;
                let found = self.look_at_effect(key, 0).await;
                if let Some(found) = found.filter(|found| *found != EffectFate::Forgotten && found != fate) {
                    *fate = found;
                    self.save_note(version, &EffectNote { fate: found, key: Some(key.clone()) })?;
                }
            }
            if note.is_none() && entity.pending.contains(&version) {
                note = Some(EffectNote { fate: EffectFate::Waiting, key: None });
            }
            history.push(told_entry(&entry, note.as_ref()));
        }
        history.reverse();
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
        request: &Request,
    ) -> Result<Result<GateAnswer, Refusal>, Failure> {
        let Some(transition) = machine.transition(name) else {
            return Ok(Err(Refusal::StoreUnavailable));
        };
        let given = match TransitionContent::parse(content) {
            Ok(given) => given,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let (now, policy) = (now_millis(), &self.gate.policy);
        let call = request.headers().get(CALL)?;
        let identity = order.key.as_ref().map(ToString::to_string).or(call);
        let asked = fingerprint_of_transition(policy, name, content);
        let version = entity.map_or(0, |entity| entity.version);
        let kept = identity.as_ref().map_or(Ok(None), |identity| self.load_answer(identity))?;
        let decision = match kept.and_then(|kept| decide_repeat(&kept, version, &asked, now)) {
            Some(decision) => decision,
            None => match decide_transition(policy, machine, transition, &order.id, entity, &given, now) {
                Ok(decision) => decision,
                Err(why) => return Ok(Err(Refusal::KeyInvalid(why))),
            },
        };
        let told = answer_to_keep(&decision, order.key.is_some(), asked, &transition.to, now);
        let answer = match decision {
            TransitionDecision::There => GateAnswer::transition(&transition.to, false),
            TransitionDecision::Again { state, won } => GateAnswer::transition(&state, won),
            TransitionDecision::Refuse(refusal) => return Ok(Err(refusal)),
            TransitionDecision::Won(won) => {
                let kv = self.storage.kv();
                let version = won.entity.version;
                // The alarm first and the entity last: should either fail, what was written before counts for nothing.
                if won.effect.is_some() {
                    self.wake_at(now)?;
                }
                kv.put(&row_name('h', version), &JsValue::from_str(&won.entry))?;
                if let Some(effect) = &won.effect {
                    let url = request.url();
                    let parts = split_url(&url);
                    let target = [parts.scheme, "://", parts.host, &effect.path].concat();
                    kv.put(&row_name('o', version), &outbox_row(effect, &target))?;
                }
                self.save_entity(&won.entity)?;
                if let Some(old) = kept_versions(version).start().checked_sub(1).filter(|old| *old > 0) {
                    kv.delete(&row_name('h', old))?;
                    kv.delete(&row_name('f', old))?;
                }
                GateAnswer::transition(&won.entity.state, true)
            }
        };
        // After the entity: what was not made must not be told.
        if let (Some(identity), Some(told)) = (identity, told) {
            self.keep_answer(&identity, &told, version, now)?;
        }
        Ok(Ok(answer))
    }

    /// What the caller of a key or call was told.
    fn load_answer(&self, identity: &str) -> Result<Option<TransitionAnswer>, Failure> {
        Ok(self.text(&["k", identity].concat())?.and_then(|text| text.parse().ok()))
    }

    /// Keeps an answer, and lets go of some that are kept no longer.
    fn keep_answer(&self, identity: &str, told: &TransitionAnswer, version: u32, now: u64) -> Result<(), Failure> {
        let kv = self.storage.kv();
        let over = ["{\"start\":\"x\",\"end\":\"", &expiry_row(now, ""), "\",\"limit\":4}"].concat();
        for row in Array::from(&kv.list(&JSON::parse(&over)?)?).iter() {
            let row = row.unchecked_into::<Array>().get(0).as_string().unwrap_or_default();
            let identity = identity_of_row(&row).unwrap_or_default();
            if self.load_answer(identity)?.is_some_and(|answer| answer.is_kept(version, now)) {
                self.put_text(&expiry_row(later_by(now, KEY_KEPT), identity), "")?;
            } else {
                kv.delete(&["k", identity].concat())?;
            }
            kv.delete(&row)?;
        }
        self.put_text(&["k", identity].concat(), &told.to_string())?;
        self.put_text(&expiry_row(told.until, identity), "")
    }

    /// The alarm: goes on with the effects. It fails only where it cannot be set again.
    pub async fn alarm(&self) -> Result<(), Failure> {
        let later = self.advance_outbox().await.unwrap_or_else(|failure| {
            log_error(&failure_line("alarm_failed", now_millis(), None, &failure.message()));
            Some(AGAIN)
        });
        later.map_or(Ok(()), |later| self.wake_at(now_millis() + later))
    }

    /// Says after how many milliseconds there is more to do.
    async fn advance_outbox(&self) -> Result<Option<u64>, Failure> {
        while let Some(entity) = self.load_entity()? {
            let mut progress = self.load_progress()?;
            let (version, after, key) = match next_step(&entity, &progress) {
                OutboxStep::Rest => break,
                OutboxStep::Look { version, wait } => {
                    self.wake_at(now_millis() + u64::from(wait) * 1000 + LATE)?;
                    let key = self.load_note(version)?.and_then(|note| note.key);
                    let fate = match &key {
                        Some(key) => self.look_at_effect(key, wait).await,
                        None => Some(EffectFate::Unknown(None)),
                    };
                    (version, after_look(&mut progress, fate, random_fraction()), key)
                }
                OutboxStep::HandOver { version } => {
                    self.wake_at(now_millis() + LATE)?;
                    let (key, result) = self.hand_over(version).await?;
                    // Transitions may have been made meanwhile.
                    let Some(mut entity) = self.load_entity()? else {
                        break;
                    };
                    let after = after_hand_over(&mut entity, &mut progress, version, result, random_fraction());
                    self.save_entity(&entity)?;
                    if result == HandOver::Taken {
                        self.storage.kv().delete(&row_name('o', version))?;
                    }
                    (version, after, key)
                }
            };
            self.put_text("w", &progress.to_string())?;
            match after {
                AfterStep::Later(later) => return Ok(Some(later)),
                AfterStep::Note(fate) => self.save_note(version, &EffectNote { fate, key })?,
                AfterStep::Aside => {
                    log_error(&log_line("alarm_failed", now_millis(), key.as_ref(), None));
                    self.save_note(version, &EffectNote { fate: EffectFate::Unknown(None), key })?;
                }
            }
        }
        Ok(None)
    }

    /// Hands an effect to the object of its key.
    async fn hand_over(&self, version: u32) -> Result<(Option<ScopedKey>, HandOver), Failure> {
        let Ok((entry, content)) = read_outbox_row(&self.storage.kv().get(&row_name('o', version))?) else {
            return Ok((None, HandOver::Unreadable));
        };
        let key = entry.attempt.scoped_key.clone();
        let answer = self.ask_key_object(&key, &Errand::Accept(entry.attempt), &entry.request, &content).await;
        let is_taken = answer.is_some_and(|answer| is_handed_over(answer.status()));
        Ok((Some(key), if is_taken { HandOver::Taken } else { HandOver::Failed }))
    }

    /// Asks the object of a key what became of its effect.
    async fn look_at_effect(&self, key: &ScopedKey, wait: u32) -> Option<EffectFate> {
        let errand = Errand::Peek { wait, callers: None, age: None };
        let answer = self.ask_key_object(key, &errand, &StoredRequest::json(QUEUE_HOST), &JsValue::NULL).await?;
        let text: JsString = await_promise(answer.text().ok()?).await.ok()?;
        EffectFate::of_peek(&String::from(text))
    }

    async fn ask_key_object(
        &self,
        key: &ScopedKey,
        errand: &Errand,
        request: &StoredRequest,
        content: &JsValue,
    ) -> Option<Response> {
        let request = message::request_of_stored(request).ok()?;
        call_key_object(&self.gate, key, errand, &request, &request.headers(), content).await.ok()
    }

    /// What is remembered of an effect.
    fn load_note(&self, version: u32) -> Result<Option<EffectNote>, Failure> {
        Ok(self.text(&row_name('f', version))?.and_then(|text| text.parse().ok()))
    }

    fn save_note(&self, version: u32, note: &EffectNote) -> Result<(), Failure> {
        self.put_text(&row_name('f', version), &note.to_string())
    }

    fn load_progress(&self) -> Result<OutboxProgress, Failure> {
        Ok(self.text("w")?.and_then(|text| text.parse().ok()).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.storage.kv().get(name)?.as_string())
    }

    fn put_text(&self, name: &str, text: &str) -> Result<(), Failure> {
        Ok(self.storage.kv().put(name, &JsValue::from_str(text))?)
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
