//! A platform call that threw or rejected.

use oncekey::call::CallFault;
use wasm_bindgen::{JsCast, JsValue};

/// A platform call that threw or rejected.
#[derive(Debug)]
pub struct Failure(JsValue);

impl Failure {
    /// What the platform says of it.
    pub fn message(&self) -> String {
        self.0.dyn_ref::<js_sys::Error>().map_or_else(|| "unknown".to_owned(), |error| String::from(error.message()))
    }

    /// The runtime would not send the request: what fails on the way is no `TypeError`, and one that was thrown behind a
    /// binding says so.
    pub fn is_own_refusal(&self) -> bool {
        self.0.is_instance_of::<js_sys::TypeError>() && !self.fault().remote
    }

    /// The object's class has no `SQLite` storage, which the platform says by no flag.
    pub fn is_without_sqlite(&self) -> bool {
        self.message().contains("SQLite-backed")
    }

    /// Whether it says that content is not in the coding that its label names, or not all of it. The platform has no
    /// type for that, but its messages begin with the coding's name.
    pub fn is_of_coding(&self) -> bool {
        let message = self.message();
        message.starts_with("Gzip ") || message.starts_with("Brotli ")
    }

    /// What the platform says of a failed call to an object.
    pub fn fault(&self) -> CallFault {
        let flag = |name: &str| js_sys::Reflect::get(&self.0, &JsValue::from_str(name)).is_ok_and(|v| v.is_truthy());
        CallFault {
            overloaded: flag("overloaded"),
            retryable: flag("retryable"),
            remote: flag("remote"),
            reset: flag("durableObjectReset"),
        }
    }
}

impl From<JsValue> for Failure {
    fn from(value: JsValue) -> Self {
        Self(value)
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}
