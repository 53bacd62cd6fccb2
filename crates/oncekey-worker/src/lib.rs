//! The gate's shell on Cloudflare Workers: it does the I/O and decides nothing.

mod ask;
mod content;
mod convert;
mod deliver;
mod effect;
mod entity;
mod fault;
mod front;
mod gate;
mod object;
mod service;
mod store;

use std::alloc::{GlobalAlloc, Layout, System};

use oncekey::{fields::Fields, negotiate::Audience, policy::Policy, reply::Refusal};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::{Request, Response};
use worker::Env;

use crate::{
    convert::{Ctx, Live},
    entity::EntityObject,
    gate::{Gate, Misconfigured},
    object::Object,
};

/// The Worker's fetch handler. `page_module` is the browser module's text.
#[wasm_bindgen(js_name = frontFetch)]
pub async fn front_fetch(request: Request, env: Env, page_module: JsValue) -> Result<Response, JsValue> {
    match Gate::of(&env) {
        Ok(gate) => Ok(front::fetch(&gate, &request, &page_module).await?),
        Err(Misconfigured(message)) => {
            let audience = front::audience(&Policy::default(), &fields(&request));
            Ok(convert::said(Refusal::PolicyInvalid { message }.render(&audience, None))?)
        }
    }
}

/// The answer where the front itself failed: whether the object was reached is not known.
#[wasm_bindgen(js_name = frontFailed)]
pub fn front_failed(request: &Request, env: &Env) -> Result<Response, JsValue> {
    let audience = match Gate::of(env) {
        Ok(gate) => front::audience(&gate.policy, &fields(request)),
        Err(_) => Audience::default(),
    };
    Ok(convert::said(Refusal::StoreUnavailable.render(&audience, None))?)
}

fn fields(request: &Request) -> Fields {
    Fields::new(convert::pairs(&request.headers()))
}

/// An object's handlers, all in one: each asynchronous export costs much text. `live` is what the object of a key
/// keeps in memory, and missing for an entity's; `request` is missing for the alarm, which has no answer.
#[wasm_bindgen(js_name = objectEvent)]
pub async fn object_event(
    live: Option<Live>,
    ctx: Ctx,
    env: Env,
    request: Option<Request>,
) -> Result<Option<Response>, JsValue> {
    let gate = match Gate::of(&env) {
        Ok(gate) => gate,
        Err(Misconfigured(message)) => return Err(JsValue::from_str(&message)),
    };
    let answer = match (live, request) {
        (Some(live), Some(request)) => Object::new(gate, live, &ctx).fetch(&request).await,
        (None, Some(request)) => EntityObject::new(gate, &ctx).fetch(&request).await,
        (Some(live), None) => {
            Object::new(gate, live, &ctx).alarm().await;
            return Ok(None);
        }
        (None, None) => {
            EntityObject::new(gate, &ctx).alarm().await;
            return Ok(None);
        }
    };
    Ok(Some(answer?))
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
