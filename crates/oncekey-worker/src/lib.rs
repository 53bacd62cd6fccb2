//! The gate's shell on Cloudflare Workers: it does the I/O and decides nothing.

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

use std::alloc::{GlobalAlloc, Layout, System};

use js_sys::Array;
use oncekey::{
    answer::refusal::Refusal,
    http::{fields::Fields, negotiate::Audience},
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
        bindings::{Ctx, Live},
        head, message,
    },
};

#[wasm_bindgen]
extern "C" {
    /// What the shim hands over.
    pub type Event;
    #[wasm_bindgen(method, getter)]
    fn env(this: &Event) -> Env;
    /// Missing for an alarm and a queue's batch.
    #[wasm_bindgen(method, getter)]
    fn request(this: &Event) -> Option<Request>;
    /// An object's `ctx`; missing for the front.
    #[wasm_bindgen(method, getter)]
    fn ctx(this: &Event) -> Option<Ctx>;
    /// What the object of a key keeps in memory; missing for an entity's.
    #[wasm_bindgen(method, getter)]
    fn live(this: &Event) -> Option<Live>;
    /// The browser module's text, for the front.
    #[wasm_bindgen(method, getter)]
    fn page(this: &Event) -> JsValue;
    /// A queue's name.
    #[wasm_bindgen(method, getter)]
    fn queue(this: &Event) -> Option<String>;
    /// A queue's batch.
    #[wasm_bindgen(method, getter)]
    fn messages(this: &Event) -> Array;
}

/// Every handler in one: each asynchronous export costs much text. A request gets its response, a batch the numbers
/// of [`batches::consume`], an alarm nothing.
#[wasm_bindgen]
pub async fn handle(event: Event) -> Result<JsValue, JsValue> {
    let gate = match Gate::of(&event.env()) {
        Ok(gate) => gate,
        Err(Misconfigured(message)) => return misconfigured(&event, message),
    };
    let answer = match (event.ctx(), event.live(), event.request()) {
        (None, _, Some(request)) => front::fetch(&gate, &request, &event.page()).await?,
        (None, _, None) => {
            let name = event.queue().unwrap_or_default();
            return Ok(queue::numbers(&queue::consume(gate, &name, &event.messages()).await));
        }
        (Some(ctx), Some(live), Some(request)) => Object::new(gate, live, &ctx).fetch(&request).await?,
        (Some(ctx), None, Some(request)) => EntityObject::new(gate, &ctx).fetch(&request).await?,
        (Some(ctx), Some(live), None) => {
            Object::new(gate, live, &ctx).alarm().await;
            return Ok(JsValue::UNDEFINED);
        }
        (Some(ctx), None, None) => {
            EntityObject::new(gate, &ctx).alarm().await;
            return Ok(JsValue::UNDEFINED);
        }
    };
    Ok(answer.into())
}

/// A caller is told what is wrong; whatever else there is has to come again.
fn misconfigured(event: &Event, message: String) -> Result<JsValue, JsValue> {
    match (event.ctx(), event.request()) {
        (None, Some(request)) => {
            let audience = refusal::audience(&Policy::default(), &fields(&request));
            Ok(message::said(Refusal::PolicyInvalid { message }.render(&audience, None))?.into())
        }
        _ => Err(JsValue::from_str(&message)),
    }
}

/// The answer where the front itself failed: whether the object was reached is not known.
#[wasm_bindgen(js_name = frontFailed)]
pub fn front_failed(request: &Request, env: &Env) -> Result<Response, JsValue> {
    let audience = match Gate::of(env) {
        Ok(gate) => refusal::audience(&gate.policy, &fields(request)),
        Err(_) => Audience::default(),
    };
    Ok(message::said(Refusal::StoreUnavailable.render(&audience, None))?)
}

fn fields(request: &Request) -> Fields {
    Fields::new(head::pairs(&request.headers()))
}

#[wasm_bindgen]
extern "C" {
    /// Tells the shim that this instance can go on no more.
    #[wasm_bindgen(js_name = oncekeyTrapped)]
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
