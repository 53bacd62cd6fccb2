//! The gate's shell on Cloudflare Workers: it does the I/O and decides nothing; `oncekey` does.
//!
//! From the lowest floor up; a room knows only rooms above it in this table, and the core.
//!
//! | room | what happens there | who uses it |
//! |---|---|---|
//! | `platform` | JavaScript's values: bindings, header lists, messages, streams, the origin, the clock | all |
//! | `refusal` | refusals in the form that their reader takes | all below |
//! | `gate` | what an isolate knows: the policy, the bindings | all below |
//! | `report` | lines and points of attempts | exchange, front |
//! | `call` | calls to objects, made again where that is safe | front, exchange, entity |
//! | `exchange` | items under way, at most so many at once | front, queue |
//! | `fault` | traps on demand, in builds for tests | front, object |
//! | `object` | the object of one scoped key: claims, runs, settles, replays | this file |
//! | `entity` | the object of one entity: its state, its history, its outbox | this file |
//! | `queue` | a queue's messages | this file |
//! | `front` | finds route and key, and asks the key's object once | this file |
//! | `shim.mjs` | what only JavaScript can: classes, an object's memory, a fresh wasm after a trap, word of callers that go | the runtime |
//!
//! The front and the objects never import each other: they meet in the core's errands.
//!
//! This file has one export for each handler. The runtime calls the shim, which calls them.

mod call;
mod entity;
mod exchange;
mod fault;
mod front;
mod gate;
mod object;
mod platform;
mod queue;
mod refusal;
mod report;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    rc::Rc,
};

use js_sys::{Array, Function};
use oncekey::{
    answer::{log::failure_line, own::GateAnswer, refusal::Refusal},
    http::{
        fields::Fields,
        target::{HEALTH_PATH, split_url},
    },
    policy::Policy,
};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::{Request, Response};
use worker::Env;

use crate::{
    entity::EntityObject,
    gate::{Gate, Misconfigured},
    object::context::Object,
    platform::{
        bindings::{Ctx, Live, log_error},
        clock::now_millis,
        failure::Failure,
        head, message,
        task::begin_task,
    },
};

/// Answers a request at the front, by a task whose number this gives. `scripts`: the texts of the browser module, of its
/// bootstrap and of the operator's page.
#[wasm_bindgen(js_name = fetchFront)]
pub fn fetch_front(request: Request, env: Env, scripts: Array, settle: Function) -> u32 {
    begin_task(async move { answer_at_front(&request, &env, &scripts).await }, settle)
}

async fn answer_at_front(request: &Request, env: &Env, scripts: &Array) -> Result<Response, JsValue> {
    let gate = match Gate::of(env) {
        Ok(gate) => gate,
        Err(Misconfigured(refusal)) => {
            if split_url(&request.url()).path == HEALTH_PATH {
                return Ok(message::own_response(GateAnswer::health(false))?);
            }
            let audience = refusal::audience_of(&Policy::default(), &fields(request));
            return Ok(message::own_response(refusal.render(&audience, None))?);
        }
    };
    Ok(front::fetch(&gate, request, scripts).await?)
}

/// The answer where [`fetch_front`] itself failed by `why`, undefined where its caller has gone: whether the object was
/// reached is not known.
#[wasm_bindgen(js_name = answerFailedFront)]
pub fn answer_failed_front(request: &Request, env: &Env, why: JsValue) -> Result<Response, JsValue> {
    if !why.is_undefined() {
        log_error(&failure_line("store", now_millis(), None, &Failure::from(why).message()));
    }
    let audience = Gate::of(env).map(|gate| refusal::audience_of(&gate.policy, &fields(request)));
    Ok(message::own_response(Refusal::StoreUnavailable.render(&audience.unwrap_or_default(), None))?)
}

/// Sends each message of a queue's batch. Gives for each the seconds after which it is to come again, 0 where it is done
/// with. `messages`: `[id, content, attempts]` each, the content as text or bytes, where there is any.
#[wasm_bindgen(js_name = consumeQueue)]
pub async fn consume_queue(name: String, messages: Array, env: Env) -> Result<Vec<u32>, JsValue> {
    Ok(queue::consume_batch(configured(&env)?, &name, &messages).await)
}

/// Does the front's errand at the object of a key, by a task whose number this gives. What is claimed goes on without the
/// caller, nothing else does.
#[wasm_bindgen(js_name = fetchKeyObject)]
pub fn fetch_key_object(request: Request, live: Live, ctx: Ctx, env: Env, settle: Function) -> u32 {
    let errand = async move {
        let object = Object::new(configured(&env)?, live, &ctx);
        Ok(object.fetch(&request).await?)
    };
    begin_task(errand, settle)
}

/// The alarm of a key's object.
#[wasm_bindgen(js_name = alarmKeyObject)]
pub async fn alarm_key_object(live: Live, ctx: Ctx, env: Env) -> Result<(), JsValue> {
    Ok(Object::new(configured(&env)?, live, &ctx).alarm().await?)
}

/// Does the front's errand at the object of an entity.
#[wasm_bindgen(js_name = fetchMachineObject)]
pub async fn fetch_machine_object(request: Request, ctx: Ctx, env: Env) -> Result<Response, JsValue> {
    Ok(EntityObject::new(configured(&env)?, &ctx).fetch(&request).await?)
}

/// The alarm of an entity's object.
#[wasm_bindgen(js_name = alarmMachineObject)]
pub async fn alarm_machine_object(ctx: Ctx, env: Env) -> Result<(), JsValue> {
    Ok(EntityObject::new(configured(&env)?, &ctx).alarm().await?)
}

/// The gate, where nobody can be told that its policy is wrong: whatever there is has to come again.
fn configured(env: &Env) -> Result<Rc<Gate>, JsValue> {
    Gate::of(env).map_err(|Misconfigured(refusal)| JsValue::from_str(&refusal.to_string()))
}

fn fields(request: &Request) -> Fields {
    Fields::new(head::pairs(&request.headers()))
}

#[wasm_bindgen(module = "/src/trap.mjs")]
extern "C" {
    /// Tells the shim that this instance can go on no more.
    #[wasm_bindgen(js_name = tellTrapped)]
    fn trapped();
}

/// The system's allocator, which tells the shim when memory has run out: the trap that follows says nothing.
struct Telling;

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait; every call goes straight to the system's")]
// SAFETY: each method forwards its arguments unchanged.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system allocator's condition.
        tell(unsafe { System.alloc(layout) })
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        tell(unsafe { System.realloc(at, layout, size) })
    }
}

fn tell(at: *mut u8) -> *mut u8 {
    if at.is_null() {
        trapped();
    }
    at
}

#[global_allocator]
static ALLOCATOR: Telling = Telling;
