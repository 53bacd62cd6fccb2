//! Waiting for a promise. Whoever stops waiting gives back what it held, also where the promise never settles: those of
//! a request whose caller has gone do not.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use futures_util::future::{Either, select};
use js_sys::Promise;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::Request;

#[wasm_bindgen(module = "/src/promise.mjs")]
extern "C" {
    #[wasm_bindgen(js_name = listenToPromise)]
    fn listen_to_promise(promise: &Promise) -> u32;
    /// Resolves once the caller of a request has gone.
    #[wasm_bindgen(js_name = goneOf)]
    pub fn gone_of(request: &Request) -> Promise;
}

thread_local! {
    /// The promises that somebody waits for, by their numbers.
    static AWAITED: RefCell<BTreeMap<u32, Rc<Settling>>> = const { RefCell::new(BTreeMap::new()) };
}

#[derive(Default)]
struct Settling {
    waker: Cell<Option<Waker>>,
    result: Cell<Option<Result<JsValue, JsValue>>>,
}

/// What became of the promise of that number; nothing where nobody waits for it any more.
#[wasm_bindgen(js_name = settlePromise)]
pub fn settle_promise(number: u32, fulfilled: bool, value: JsValue) {
    let Some(settling) = AWAITED.with_borrow_mut(|awaited| awaited.remove(&number)) else {
        return;
    };
    settling.result.set(Some(if fulfilled { Ok(value) } else { Err(value) }));
    if let Some(waker) = settling.waker.take() {
        waker.wake();
    }
}

/// What becomes of a promise.
pub struct Promised {
    settling: Rc<Settling>,
    number: u32,
}

impl Promised {
    /// Begins to listen.
    pub fn new(promise: &Promise) -> Self {
        let settling = Rc::new(Settling::default());
        let number = listen_to_promise(promise);
        AWAITED.with_borrow_mut(|awaited| awaited.insert(number, settling.clone()));
        Self { settling, number }
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
        AWAITED.with_borrow_mut(|awaited| awaited.remove(&self.number));
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
