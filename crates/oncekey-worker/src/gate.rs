//! What one isolate knows for all its requests: the policy, parsed once, and the bindings.

use std::{cell::RefCell, rc::Rc};

use js_sys::Promise;
use oncekey::{
    answer::{
        log::{fault_line, log_line},
        refusal::Refusal,
    },
    identity::SHORTEST_SECRET,
    key::{
        scope::NameSecret,
        seal::{SealKey, SealMaterial},
    },
    policy::{InvalidPolicy, LimitQuestion, OnUnknown, Policy},
};
use wasm_bindgen::JsValue;
use worker::Env;

use crate::{
    platform::{
        bindings::{self, Fetcher, Namespace, Queue, RateLimit},
        cipher,
        clock::now_millis,
        failure::Failure,
        origin::Origin,
    },
    refusal::missing_origin,
};

/// The gate's configuration.
pub struct Gate {
    pub policy: Rc<Policy>,
    pub origin: Option<Origin>,
    /// Hides callers in the names of their keys.
    pub names: Option<NameSecret>,
    /// Whether there is an operator, who can ask for the list of open fates.
    pub has_operator: bool,
    /// The secrets under which something may be sealed; the first seals.
    pub seal_secrets: Vec<Vec<u8>>,
    keys: Option<Namespace>,
    machines: Option<Namespace>,
    env: Env,
}

/// The classes of objects.
#[derive(Clone, Copy)]
pub enum Class {
    Keys,
    Machines,
}

/// Why the gate forwards nothing: what is said of it.
pub struct Misconfigured(pub Refusal);

thread_local! {
    static GATE: RefCell<Option<Rc<Gate>>> = const { RefCell::new(None) };
    /// The last policy that was read, beside its text.
    static POLICY: RefCell<Option<(String, Rc<Policy>)>> = const { RefCell::new(None) };
    /// The environment of which a call has shown that a class has no SQLite storage, and the class.
    static WITHOUT_SQLITE: RefCell<Option<(Env, Class)>> = const { RefCell::new(None) };
}

/// The policy of a text. One isolate may see more than one, as where a test or another entrypoint hands it on.
fn policy_of(text: String) -> Result<Rc<Policy>, Refusal> {
    let known = POLICY.with_borrow(|last| last.as_ref().filter(|(known, _)| *known == text).map(|(_, p)| p.clone()));
    if let Some(policy) = known {
        return Ok(policy);
    }
    let invalid = |error: InvalidPolicy| Refusal::PolicyInvalid { message: error.to_string() };
    let policy = Rc::new(text.parse::<Policy>().map_err(invalid)?);
    POLICY.set(Some((text, policy.clone())));
    Ok(policy)
}

fn is_same(one: &Env, other: &Env) -> bool {
    AsRef::<JsValue>::as_ref(one) == AsRef::<JsValue>::as_ref(other)
}

/// What is said of an environment with a class of which a call has shown that it has no `SQLite` storage.
fn without_sqlite(env: &Env) -> Option<Refusal> {
    let known = |of: &&(Env, Class)| is_same(&of.0, env);
    let class = WITHOUT_SQLITE.with_borrow(|last| last.as_ref().filter(known).map(|(_, class)| *class))?;
    Some(misconfigured(match class {
        Class::Keys => "KEYS has to be bound to a class with SQLite storage, one of new_sqlite_classes.",
        Class::Machines => "MACHINES has to be bound to a class with SQLite storage, one of new_sqlite_classes.",
    }))
}

/// A secret, where it is bound; one that is too short is no secret, and an empty text is none.
fn secret_of(env: &Env, name: &str) -> Result<Option<String>, Refusal> {
    match bindings::text_binding(env, name).filter(|secret| !secret.is_empty()) {
        Some(secret) if secret.len() < SHORTEST_SECRET => {
            Err(misconfigured(&format!("{name} has to be a secret of at least {SHORTEST_SECRET} bytes.")))
        }
        found => Ok(found),
    }
}

fn misconfigured(message: &str) -> Refusal {
    Refusal::Misconfigured { message: message.to_owned() }
}

impl Gate {
    /// The gate of an environment; what is wrong with one is written to the log each time.
    pub fn of(env: &Env) -> Result<Rc<Self>, Misconfigured> {
        if let Some(gate) = GATE.with_borrow(|gate| gate.as_ref().filter(|gate| is_same(&gate.env, env)).cloned()) {
            return Ok(gate);
        }
        let gate = Self::new(env).map(Rc::new).map_err(|refusal| {
            log_refusal(&refusal);
            Misconfigured(refusal)
        })?;
        GATE.set(Some(gate.clone()));
        Ok(gate)
    }

    fn new(env: &Env) -> Result<Self, Refusal> {
        let policy = policy_of(bindings::text_binding(env, "ONCEKEY").unwrap_or_default())?;
        let keys = bindings::object_binding(env, "KEYS", "getByName");
        let machines = bindings::object_binding(env, "MACHINES", "getByName");
        let origin = Origin::of(env);
        if keys.is_none() {
            return Err(misconfigured("KEYS has to be bound to the class KeyObject."));
        }
        if machines.is_none() && !policy.machines.is_empty() {
            return Err(misconfigured("The policy has machines: MACHINES has to be bound to the class MachineObject."));
        }
        if origin.is_none() {
            return Err(missing_origin());
        }
        if let Some(refusal) = without_sqlite(env) {
            return Err(refusal);
        }
        for name in policy.secrets() {
            if secret_of(env, name)?.is_none() {
                return Err(misconfigured(&format!("{name} has to be a secret: tokens are verified by it.")));
            }
        }
        for (name, limit) in policy.limit_bindings() {
            if bindings::object_binding::<RateLimit>(env, &limit.binding, "limit").is_none() {
                let message = format!("/limits/{name}/binding: {} has to be bound to a rate limit.", limit.binding);
                return Err(Refusal::PolicyInvalid { message });
            }
        }
        if let Some(OnUnknown::Queue(name)) = &policy.on_unknown
            && bindings::object_binding::<Queue>(env, name, "send").is_none()
        {
            let message = format!("/on_unknown/queue: {name} has to be bound to a queue.");
            return Err(Refusal::PolicyInvalid { message });
        }
        let (seals, opens) = (secret_of(env, "ONCEKEY_SEAL")?, secret_of(env, "ONCEKEY_SEAL_OLD")?);
        if policy.seal && seals.is_none() {
            return Err(misconfigured("The policy says \"seal\": ONCEKEY_SEAL has to be a secret."));
        }
        let seal_secrets = seals.into_iter().chain(opens).map(String::into_bytes).collect();
        let names = secret_of(env, "ONCEKEY_NAMES")?.map(|secret| NameSecret::new(secret.as_bytes()));
        let mut gate =
            Self { policy, origin, names, has_operator: false, seal_secrets, keys, machines, env: env.clone() };
        gate.has_operator = gate.secret("ONCEKEY_ADMIN").is_some();
        Ok(gate)
    }

    /// Counts a key; refused where that is over the limit. One that cannot count lets it pass.
    pub async fn check_limit(&self, question: Option<&LimitQuestion>) -> Result<(), Refusal> {
        let Some(LimitQuestion { limit, key }) = question else {
            return Ok(());
        };
        let counted = match bindings::object_binding(&self.env, &limit.binding, "limit") {
            Some(binding) => bindings::count_within(&binding, key).await.ok(),
            None => None,
        };
        if counted.is_none() {
            bindings::log_error(&log_line("limit", now_millis(), None, None));
        }
        if counted == Some(false) { Err(Refusal::TooManyKeys { retry_after: limit.period }) } else { Ok(()) }
    }

    /// Sends what a JSON text says to the queue of that binding.
    pub fn send_to_queue(&self, name: &str, text: &JsValue) -> Result<Promise, Failure> {
        match bindings::object_binding::<Queue>(&self.env, name, "send") {
            Some(queue) => Ok(bindings::send_to_queue(&queue, text)?),
            None => Err(JsValue::from_str("no queue is bound").into()),
        }
    }

    /// The secret under which is sealed.
    pub fn secret_to_seal(&self) -> &[u8] {
        self.seal_secrets.first().map_or(&[], Vec::as_slice)
    }

    /// The keys of each secret.
    pub async fn seal_keys(&self, material: &SealMaterial) -> Result<Vec<SealKey>, Failure> {
        let mut keys = Vec::new();
        for secret in &self.seal_secrets {
            keys.push(cipher::derive_key(secret, material).await?);
        }
        Ok(keys)
    }

    /// A call has shown that a class has no `SQLite` storage: from now on every request hears it.
    pub fn note_without_sqlite(&self, class: Class) {
        WITHOUT_SQLITE.set(Some((self.env.clone(), class)));
        GATE.set(None);
        if let Some(refusal) = without_sqlite(&self.env) {
            log_refusal(&refusal);
        }
    }

    /// What is said of a call to an object that came to nothing.
    pub fn failed_call(&self) -> Refusal {
        without_sqlite(&self.env).unwrap_or(Refusal::StoreUnavailable)
    }

    /// A new stub of the object of that name.
    pub fn object(&self, class: Class, name: &str) -> Result<Fetcher, Failure> {
        let objects = match class {
            Class::Keys => self.keys.as_ref(),
            Class::Machines => self.machines.as_ref(),
        };
        match objects {
            Some(objects) => Ok(objects.get_by_name(name)?),
            None => Err(JsValue::from_str("the objects are not bound").into()),
        }
    }

    /// A secret, where it is configured.
    pub fn secret(&self, name: &str) -> Option<String> {
        bindings::text_binding(&self.env, name).filter(|secret| !secret.is_empty())
    }
}

fn log_refusal(refusal: &Refusal) {
    bindings::log_error(&fault_line(refusal.code(), now_millis(), &refusal.to_string()));
}
