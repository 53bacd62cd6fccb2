//! Waiting for a promise. Whoever stops waiting gives back what it held, also where the promise never settles: those of
//! a request whose caller has gone do not.

use std::{
    cell::Cell,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use futures_util::future::{Either, select};
use js_sys::Promise;
use wasm_bindgen::{JsValue, closure::Closure, prelude::wasm_bindgen};

#[wasm_bindgen(module = "/src/promise.mjs")]
extern "C" {
    #[wasm_bindgen(js_name = listenToPromise)]
    fn listen_to_promise(promise: &Promise, listener: &Listener);
    #[wasm_bindgen(js_name = forgetListener)]
    fn forget_listener(listener: &Listener);
}

type Listener = Closure<dyn FnMut(bool, JsValue)>;

#[derive(Default)]
struct Settling {
    waker: Cell<Option<Waker>>,
    result: Cell<Option<Result<JsValue, JsValue>>>,
}

/// What becomes of a promise.
pub struct Promised {
    settling: Rc<Settling>,
    listener: Listener,
}

impl Promised {
    /// Begins to listen.
    pub fn new(promise: &Promise) -> Self {
        let settling = Rc::new(Settling::default());
        let told = settling.clone();
        let listener = Closure::new(move |fulfilled, value| {
            told.result.set(Some(if fulfilled { Ok(value) } else { Err(value) }));
            if let Some(waker) = told.waker.take() {
                waker.wake();
            }
        });
        listen_to_promise(promise, &listener);
        Self { settling, listener }
    }
}

impl Future for Promised {
    type Output = Result<JsValue, JsValue>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.settling.result.take() {
            return Poll::Ready(result);
        }
        self.settling.waker.set(Some(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        forget_listener(&self.listener);
    }
}

/// What comes of a future, unless the caller has gone before: then it is dropped.
pub async fn unless_gone<T>(gone: &Promise, future: impl Future<Output = T>) -> Option<T> {
    let future = std::pin::pin!(future);
    match select(future, Promised::new(gone)).await {
        Either::Left((came, _)) => Some(came),
        Either::Right(_) => None,
    }
}
