//! What one isolate knows for all its requests: the policy, parsed once, and the bindings.

use std::{cell::RefCell, rc::Rc};

use oncekey::{
    key::scoped::ScopedKey,
    policy::{InvalidPolicy, Policy},
};
use wasm_bindgen::JsValue;
use worker::Env;

use crate::platform::{
    bindings::{self, Fetcher, Namespace},
    failure::Failure,
    origin::Origin,
};

/// The gate's configuration.
pub struct Gate {
    pub policy: Policy,
    pub origin: Option<Origin>,
    keys: Option<Namespace>,
    machines: Option<Namespace>,
    env: Env,
}

/// Why the gate forwards nothing.
pub struct Misconfigured(pub String);

thread_local! {
    static GATE: RefCell<Option<Rc<Gate>>> = const { RefCell::new(None) };
}

impl Gate {
    /// The gate of this isolate. The environment of an isolate never changes.
    pub fn of(env: &Env) -> Result<Rc<Self>, Misconfigured> {
        if let Some(gate) = GATE.with_borrow(Clone::clone) {
            return Ok(gate);
        }
        let text = bindings::text_binding(env, "ONCEKEY").unwrap_or_default();
        let policy: Policy = text.parse().map_err(|error: InvalidPolicy| Misconfigured(error.to_string()))?;
        let gate = Rc::new(Self {
            policy,
            origin: Origin::of(env),
            keys: bindings::object_binding(env, "KEYS"),
            machines: bindings::object_binding(env, "MACHINES"),
            env: env.clone(),
        });
        GATE.set(Some(gate.clone()));
        Ok(gate)
    }

    /// A new stub of the key's object.
    pub fn key_object(&self, key: &ScopedKey) -> Result<Fetcher, Failure> {
        new_stub(self.keys.as_ref(), key.as_str())
    }

    /// A new stub of an entity's object.
    pub fn machine_object(&self, name: &str) -> Result<Fetcher, Failure> {
        new_stub(self.machines.as_ref(), name)
    }

    /// A secret, where it is configured.
    pub fn secret(&self, name: &str) -> Option<String> {
        bindings::text_binding(&self.env, name).filter(|secret| !secret.is_empty())
    }
}

fn new_stub(objects: Option<&Namespace>, name: &str) -> Result<Fetcher, Failure> {
    match objects {
        Some(objects) => Ok(objects.get_by_name(name)?),
        None => Err(JsValue::from_str("the objects are not bound").into()),
    }
}
