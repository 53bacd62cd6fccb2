//! The platform's types as far as the gate uses them.

use js_sys::{Array, Function, JSON, Object, Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use web_sys::Request;
use worker::Env;

use crate::platform::{failure::Failure, promised::Promised};

#[wasm_bindgen]
extern "C" {
    /// A Durable Object's `ctx`.
    pub type Ctx;
    #[wasm_bindgen(method, getter)]
    pub fn storage(this: &Ctx) -> Storage;

    /// A Durable Object's storage.
    #[derive(Clone)]
    pub type Storage;
    #[wasm_bindgen(method, getter)]
    pub fn kv(this: &Storage) -> SyncKv;
    /// `at`: milliseconds since 1970, absolute.
    #[wasm_bindgen(method, catch, js_name = setAlarm)]
    pub fn set_alarm(this: &Storage, at: f64) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAlarm)]
    pub fn delete_alarm(this: &Storage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAll)]
    pub fn delete_all(this: &Storage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn sync(this: &Storage) -> Result<Promise, JsValue>;

    /// The synchronous key-value store within a Durable Object's database.
    pub type SyncKv;
    #[wasm_bindgen(method, catch)]
    pub fn get(this: &SyncKv, key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn put(this: &SyncKv, key: &str, value: &JsValue) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn delete(this: &SyncKv, key: &str) -> Result<bool, JsValue>;
    /// Names and values, in the order of the names.
    #[wasm_bindgen(method, catch)]
    pub fn list(this: &SyncKv, options: &JsValue) -> Result<JsValue, JsValue>;

    /// What the shim keeps in memory for one object: gone with the object, and emptied when the wasm is reset.
    #[derive(Clone)]
    pub type Live;
    /// The generation that runs, 0 for none.
    #[wasm_bindgen(method, getter)]
    pub fn running(this: &Live) -> u32;
    #[wasm_bindgen(method, setter)]
    pub fn set_running(this: &Live, generation: u32);
    /// The highest generation seen, 0 for none.
    #[wasm_bindgen(method, getter)]
    pub fn latest(this: &Live) -> u32;
    #[wasm_bindgen(method, setter)]
    pub fn set_latest(this: &Live, generation: u32);
    /// Ends the request of an execution that was given up and is still listened to, `undefined` where there is none.
    #[wasm_bindgen(method, getter)]
    pub fn late(this: &Live) -> JsValue;
    #[wasm_bindgen(method, setter)]
    pub fn set_late(this: &Live, abort: &JsValue);
    /// The row as it was last written while a claim stands, `undefined` where it must be read.
    #[wasm_bindgen(method, getter)]
    pub fn row(this: &Live) -> JsValue;
    #[wasm_bindgen(method, setter)]
    pub fn set_row(this: &Live, row: &JsValue);
    /// Functions to call when the running execution ends.
    #[wasm_bindgen(method, getter)]
    pub fn waiters(this: &Live) -> Array;
    #[wasm_bindgen(method, setter)]
    pub fn set_waiters(this: &Live, waiters: Array);

    /// A class of objects.
    pub type Namespace;
    /// A new stub of the object of that name.
    #[wasm_bindgen(method, catch, js_name = getByName)]
    pub fn get_by_name(this: &Namespace, name: &str) -> Result<Fetcher, JsValue>;

    /// A service binding or an object's stub.
    #[derive(Clone)]
    pub type Fetcher;
    #[wasm_bindgen(method, catch, js_name = fetch)]
    pub fn fetch_with(this: &Fetcher, request: &Request, init: &JsValue) -> Result<Promise, JsValue>;

    /// A rate limit.
    pub type RateLimit;
    #[wasm_bindgen(method, catch)]
    fn limit(this: &RateLimit, of: &JsValue) -> Result<Promise, JsValue>;

    /// A dataset of measurements.
    pub type Dataset;
    #[wasm_bindgen(method, catch, js_name = writeDataPoint)]
    fn write_data_point(this: &Dataset, point: &JsValue) -> Result<(), JsValue>;
    /// What sends to a queue.
    pub type Queue;
    #[wasm_bindgen(method, catch)]
    fn send(this: &Queue, message: &JsValue, options: &JsValue) -> Result<Promise, JsValue>;

    /// Sends a request to whatever its URL names.
    #[wasm_bindgen(catch, js_name = fetch)]
    pub fn global_fetch(input: &JsValue, init: &JsValue) -> Result<Promise, JsValue>;

    /// Writes a line for the operator, of what is ordinary.
    #[wasm_bindgen(js_namespace = console, js_name = log)]
    pub fn log(line: &str);

    /// Writes a line for the operator, of what a person may have to look at.
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    pub fn log_error(line: &str);

    #[wasm_bindgen(js_name = Promise)]
    type AnyPromise;
    #[wasm_bindgen(method, js_name = catch)]
    fn catch_with(this: &AnyPromise, handler: &Function) -> Promise;
    /// A function that does nothing with its argument: no code is made of text in a Worker.
    #[wasm_bindgen(thread_local_v2, js_name = Boolean)]
    static IGNORE: Function;
}

/// Waits for a promise.
pub async fn await_promise<T: JsCast>(promise: Promise) -> Result<T, Failure> {
    let value = Promised::new(&promise).await?;
    Ok(value.unchecked_into())
}

/// A binding that is an object with that method, of the type that its name promises. A loopback export
/// (`ctx.exports.NAME`) is a function that has the methods of a service.
pub fn object_binding<T: JsCast>(env: &Env, name: &str, method: &str) -> Option<T> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    let is_fit = || js_sys::Reflect::get(&value, &JsValue::from_str(method)).is_ok_and(|found| found.is_function());
    ((value.is_object() || value.is_function()) && is_fit()).then(|| value.unchecked_into())
}

/// Counts one for this key; says whether that is within the limit.
pub async fn count_within(limit: &RateLimit, key: &str) -> Result<bool, Failure> {
    let of = Object::new();
    js_sys::Reflect::set(&of, &JsValue::from_str("key"), &JsValue::from_str(key))?;
    let outcome: JsValue = await_promise(limit.limit(&of)?).await?;
    Ok(js_sys::Reflect::get(&outcome, &JsValue::from_str("success"))?.is_truthy())
}

/// Whether anything is bound under that name.
pub fn is_bound(env: &Env, name: &str) -> bool {
    js_sys::Reflect::get(env, &JsValue::from_str(name)).is_ok_and(|value| !value.is_undefined() && !value.is_null())
}

impl Dataset {
    /// Writes a point, as JSON. One that cannot be written is lost: no request fails for it.
    pub fn write(&self, point: &str) {
        if let Ok(point) = JSON::parse(point) {
            let _ = self.write_data_point(&point);
        }
    }
}

/// Sends what a JSON text says to a queue, as JSON.
pub fn send_to_queue(queue: &Queue, text: &JsValue) -> Result<Promise, JsValue> {
    let text = text.as_string().unwrap_or_default();
    queue.send(&JSON::parse(&text)?, &JSON::parse("{\"contentType\":\"json\"}")?)
}

/// A variable or secret; a variable that was written as JSON comes as what it says, and is text again here.
pub fn text_binding(env: &Env, name: &str) -> Option<String> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    value.as_string().or_else(|| JSON::stringify(value.dyn_ref::<Object>()?).ok()?.as_string())
}

/// Lets a promise take its course: a rejection is nobody's business.
pub fn ignore_rejection(promise: &Promise) {
    IGNORE.with(|ignore| {
        let _ = promise.unchecked_ref::<AnyPromise>().catch_with(ignore);
    });
}

/// One chunk of the pieces, in one piece: no copy where there is just one.
pub fn join_pieces(pieces: &[Uint8Array], total: u32) -> Uint8Array {
    if let [one] = pieces {
        return one.clone();
    }
    let whole = Uint8Array::new_with_length(total);
    let mut at = 0;
    for piece in pieces {
        whole.set(piece, at);
        at += piece.length();
    }
    whole
}
