//! What one isolate knows for all its requests: the policy, parsed once, and the bindings.

use std::{cell::RefCell, rc::Rc};

use oncekey::{key::ScopedKey, policy::Policy};
use wasm_bindgen::{JsCast, JsValue};
use worker::{Env, ObjectNamespace};

use crate::convert::{Failure, Fetcher, Origin};

/// The gate's configuration.
pub struct Gate {
    pub policy: Policy,
    pub origin: Option<Origin>,
    keys: Option<ObjectNamespace>,
    machines: Option<ObjectNamespace>,
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
        let text = env.var("ONCEKEY").map(|var| var.to_string()).unwrap_or_default();
        let policy = Policy::parse(&text).map_err(|error| Misconfigured(error.message()))?;
        let gate = Rc::new(Self {
            policy,
            origin: Origin::of(env),
            keys: env.durable_object("KEYS").ok(),
            machines: env.durable_object("MACHINES").ok(),
            env: env.clone(),
        });
        GATE.set(Some(gate.clone()));
        Ok(gate)
    }

    /// A new stub of the key's object.
    pub fn stub(&self, key: &ScopedKey) -> Result<Fetcher, Failure> {
        stub(self.keys.as_ref(), key.as_str())
    }

    /// A new stub of an entity's object.
    pub fn entity(&self, name: &str) -> Result<Fetcher, Failure> {
        stub(self.machines.as_ref(), name)
    }

    /// A secret, where it is configured.
    pub fn secret(&self, name: &str) -> Option<String> {
        let secret = self.env.secret(name).ok()?.to_string();
        Some(secret).filter(|secret| !secret.is_empty())
    }
}

fn stub(objects: Option<&ObjectNamespace>, name: &str) -> Result<Fetcher, Failure> {
    let stub = objects
        .ok_or_else(|| JsValue::from_str("the objects are not bound"))
        .and_then(|objects| objects.get_by_name(name).map_err(JsValue::from))?;
    Ok(stub.into_rpc::<JsValue>().unchecked_into())
}
