//! One object: its gate, its storage, its memory.

use std::{cell::Cell, rc::Rc};

use js_sys::ArrayBuffer;
use oncekey::answer::{own::GateAnswer, refusal::Refusal};
use web_sys::{Request, Response};

use crate::{
    gate::Gate,
    object::store::Store,
    platform::{
        bindings::{Ctx, Live, await_promise},
        failure::Failure,
        head, message,
    },
    refusal,
};

/// One object's handler for one request of the front's.
pub struct Object {
    pub gate: Rc<Gate>,
    pub store: Store,
    pub live: Live,
    /// Whether the front wants a note with the answer.
    pub wants_note: Cell<bool>,
}

impl Object {
    /// Reads nothing yet.
    pub fn new(gate: Rc<Gate>, live: Live, ctx: &Ctx) -> Self {
        Self { gate, store: Store::new(ctx.storage(), live.clone()), live, wants_note: Cell::new(false) }
    }

    /// An answer of the gate's own, open to the web origins that the policy lists.
    pub fn own_answer(&self, request: &Request, said: GateAnswer) -> Result<Response, Failure> {
        let audience = refusal::audience_of(&self.gate.policy, &head::negotiation(&request.headers()));
        message::own_response(said.opened_to(&audience))
    }

    /// A refusal in the caller's form.
    pub fn refuse(&self, request: &Request, refusal: &Refusal, expires: Option<u64>) -> Result<Response, Failure> {
        refusal::refusal_response(&self.gate.policy, &request.headers(), refusal, expires)
    }
}

/// The content of a request, all of it; the front sends bytes, and no claim is made before they are here.
pub async fn read_request(request: &Request) -> Result<ArrayBuffer, Failure> {
    await_promise(request.array_buffer()?).await
}
