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
        let gate =
            Rc::new(Self { policy, origin: Origin::of(env), keys: env.durable_object("KEYS").ok(), env: env.clone() });
        GATE.set(Some(gate.clone()));
        Ok(gate)
    }

    /// A new stub of the key's object.
    pub fn stub(&self, key: &ScopedKey) -> Result<Fetcher, Failure> {
        let stub = self
            .keys
            .as_ref()
            .ok_or_else(|| JsValue::from_str("KEYS is not bound"))
            .and_then(|keys| keys.get_by_name(key.as_str()).map_err(JsValue::from))?;
        Ok(stub.into_rpc::<JsValue>().unchecked_into())
    }

    /// The operator's secret, where one is configured.
    pub fn admin(&self) -> Option<String> {
        let secret = self.env.secret("ONCEKEY_ADMIN").ok()?.to_string();
        Some(secret).filter(|secret| !secret.is_empty())
    }
}
