//! What is under way for a request: it ends with its answer, or is dropped where its caller has gone.

use std::{cell::RefCell, collections::BTreeMap};

use futures_util::future::{AbortHandle, Abortable};
use js_sys::Function;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::Response;

thread_local! {
    static TASKS: RefCell<Tasks> = const { RefCell::new(Tasks { last: 0, under_way: BTreeMap::new() }) };
}

struct Tasks {
    last: u32,
    under_way: BTreeMap<u32, AbortHandle>,
}

impl Tasks {
    fn add(&mut self, handle: AbortHandle) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.under_way.insert(self.last, handle);
        self.last
    }
}

/// Begins what answers a request, and gives its number. `settle` is called once: with true and the answer, or with false
/// and what it failed by.
pub fn begin_task(answer: impl Future<Output = Result<Response, JsValue>> + 'static, settle: Function) -> u32 {
    let (handle, registration) = AbortHandle::new_pair();
    let number = TASKS.with_borrow_mut(|tasks| tasks.add(handle));
    wasm_bindgen_futures::spawn_local(async move {
        let (is_answer, value) = match Abortable::new(answer, registration).await {
            Ok(Ok(response)) => (true, response.into()),
            Ok(Err(why)) => (false, why),
            Err(_) => (false, JsValue::UNDEFINED),
        };
        TASKS.with_borrow_mut(|tasks| tasks.under_way.remove(&number));
        let _ = settle.call2(&JsValue::UNDEFINED, &JsValue::from_bool(is_answer), &value);
    });
    number
}

/// The caller has gone: nothing is held for it any more.
#[wasm_bindgen(js_name = dropTask)]
pub fn drop_task(number: u32) {
    if let Some(handle) = TASKS.with_borrow_mut(|tasks| tasks.under_way.remove(&number)) {
        handle.abort();
    }
}
