//! Keeps two ends in view with one timer: the caller's patience, and the origin's silence for the length of a lease.

use std::{cell::RefCell, pin::Pin, time::Duration};

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use js_sys::{Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Response;
use worker::Delay;

use crate::platform::{clock::now_millis, failure::Failure, promised::Promised};

/// An answer as the waiting caller gets it, or the failure to build it.
pub type Answer = Result<Response, Failure>;

/// What came of waiting for the origin.
pub enum Heard {
    Answer(JsValue),
    Failed(Failure),
    Silence,
}

/// What came of reading its content.
pub enum Chunk {
    Bytes(Uint8Array),
    End,
    Broken,
}

impl Heard {
    pub fn into_chunk(self) -> Chunk {
        let Self::Answer(value) = self else {
            return Chunk::Broken;
        };
        let result: web_sys::ReadableStreamReadResult = value.unchecked_into();
        match result.get_value().dyn_into::<Uint8Array>() {
            Ok(bytes) => Chunk::Bytes(bytes),
            Err(_) => Chunk::End,
        }
    }
}

/// Keeps two ends in view with one timer: the caller's patience, and the origin's silence for the length of a lease.
pub struct Deadlines(RefCell<DeadlineState>);

struct DeadlineState {
    caller: Option<oneshot::Sender<Answer>>,
    timer: Option<Pin<Box<Delay>>>,
    began: u64,
    patience_ends: u64,
    lease: u64,
    heard_at: u64,
    /// When an answer ends at the latest that is of no use to anybody any more.
    useless_ends: Option<u64>,
}

impl Deadlines {
    pub fn new(caller: oneshot::Sender<Answer>, lease: u32, patience: u32) -> Self {
        Self::of(Some(caller), lease, patience)
    }

    pub fn without_caller(lease: u32) -> Self {
        Self::of(None, lease, 0)
    }

    fn of(caller: Option<oneshot::Sender<Answer>>, lease: u32, patience: u32) -> Self {
        let now = now_millis();
        Self(RefCell::new(DeadlineState {
            caller,
            timer: None,
            began: now,
            patience_ends: now + u64::from(patience) * 1000,
            lease: u64::from(lease) * 1000,
            heard_at: now,
            useless_ends: None,
        }))
    }

    /// When the origin was asked.
    pub fn began(&self) -> u64 {
        self.0.borrow().began
    }

    /// Milliseconds from the origin's being asked until it was heard last.
    pub fn heard_after(&self) -> u64 {
        let watched = self.0.borrow();
        watched.heard_at.saturating_sub(watched.began)
    }

    /// The caller, once: `None` where it was answered or has gone.
    pub fn take_caller(&self) -> Option<oneshot::Sender<Answer>> {
        self.0.borrow_mut().caller.take().filter(|caller| !caller.is_canceled())
    }

    /// Nobody reads the answer any more, and it is too large to be stored: it has a lease from now on to end.
    pub fn limit_useless(&self) {
        let mut watched = self.0.borrow_mut();
        if watched.useless_ends.is_none() {
            watched.useless_ends = Some(now_millis() + watched.lease);
        }
    }

    /// Waits for the origin; gives the caller what `too_long` makes when it has waited long enough, and gives up after a
    /// lease's silence.
    pub async fn await_origin(&self, promise: Promise, too_long: impl Fn() -> Answer) -> Heard {
        let mut promise = Promised::new(&promise);
        loop {
            let (mut timer, ends) = self.take_timer();
            match select(promise, timer.as_mut()).await {
                Either::Left((outcome, _)) => {
                    let mut watched = self.0.borrow_mut();
                    watched.heard_at = now_millis();
                    watched.timer = Some(timer);
                    return outcome.map_or_else(|why| Heard::Failed(why.into()), Heard::Answer);
                }
                Either::Right(((), rest)) => promise = rest,
            }
            let now = now_millis();
            if ends.patience.is_some_and(|at| at <= now)
                && let Some(caller) = self.take_caller()
            {
                let _ = caller.send(too_long());
            }
            if ends.lease <= now {
                return Heard::Silence;
            }
        }
    }

    /// The timer that rings at the next end, or before it: then it is set anew.
    fn take_timer(&self) -> (Pin<Box<Delay>>, NextDeadlines) {
        let mut watched = self.0.borrow_mut();
        let ends = NextDeadlines {
            patience: watched.caller.as_ref().map(|_| watched.patience_ends),
            lease: watched.useless_ends.unwrap_or(u64::MAX).min(watched.heard_at + watched.lease),
        };
        let timer = watched.timer.take().unwrap_or_else(|| {
            let next = ends.patience.map_or(ends.lease, |patience| patience.min(ends.lease));
            Box::pin(Delay::from(Duration::from_millis(next.saturating_sub(now_millis()))))
        });
        (timer, ends)
    }
}

/// When what ends, in milliseconds since 1970.
struct NextDeadlines {
    patience: Option<u64>,
    lease: u64,
}
