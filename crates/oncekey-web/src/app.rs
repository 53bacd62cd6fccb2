//! The page's one set of options and what is in flight. Nothing calls out to the page while it is borrowed.

use std::cell::UnsafeCell;

use oncekey::client::retry::Plan;

use crate::{
    attempt::Flight,
    door::htmx::Wire,
    door::send::Joint,
    guard::Lock,
    names::INCLUDES,
    page::{Js, Waiter, call1},
    subject::Subject,
};

/// The state of one page.
pub struct App {
    /// The header's name: a text of the page.
    pub header: Js,
    /// The form field's name: a text of the page.
    pub field: Js,
    /// Other web origins that may get the key: an array.
    pub origins: Js,
    /// What holds where an element or a call says nothing.
    pub retry: Option<Plan>,
    /// Use `disabled` beside `aria-disabled`.
    pub disable: bool,
    /// Whether `start` has run.
    pub started: bool,
    /// How long the gate remembers a key, in ms.
    pub retention: u64,
    /// Whether the gate was asked.
    pub learning: bool,
    /// Busy intents.
    pub locks: Vec<Lock>,
    /// The last number given to a lock or a waiter.
    pub last: i32,
    /// What waits for the page, by number.
    pub waiters: Vec<(i32, Waiter)>,
    /// `send`s of named intents under way.
    pub joints: Vec<Joint>,
    /// A request of htmx 1.9 or 2 between its configuration and its sending.
    pub configured: Option<(Js, Subject, Box<Flight>)>,
    /// Requests of htmx 1.9 or 2 between two attempts.
    #[allow(clippy::vec_box, reason = "moved between closures: a pointer is less code than the whole")]
    pub waiting: Vec<Box<Wire>>,
    /// The plain submit being dispatched: its event, the form, the submitter.
    pub submitting: Option<(Js, Js, Js)>,
    /// Looks under way that say what became of plain forms.
    pub looks: u32,
    /// Plain submits that wait for those looks.
    pub held: Vec<(Js, Js)>,
}

thread_local! {
    static APP: UnsafeCell<App> = const {
        UnsafeCell::new(App {
            header: Js::UNDEFINED,
            field: Js::UNDEFINED,
            origins: Js::UNDEFINED,
            retry: None,
            disable: false,
            started: false,
            retention: oncekey::client::intent::DEFAULT_RETENTION,
            learning: false,
            locks: Vec::new(),
            last: 0,
            waiters: Vec::new(),
            joints: Vec::new(),
            configured: None,
            waiting: Vec::new(),
            submitting: None,
            looks: 0,
            held: Vec::new(),
        })
    };
}

/// Reads or changes the state. `f` moves values in and out; at most it compares them or reads a member, and nothing that
/// it calls leads back here. Under that rule a `RefCell` would only count to one, at every place of use.
pub fn with<T>(f: impl FnOnce(&mut App) -> T) -> T {
    // SAFETY: one thread, and by the rule above no second borrow begins before this one ends.
    APP.with(|app| unsafe { f(&mut *app.get()) })
}

/// Whether a field's name is the key's.
pub fn is_field(name: &Js) -> bool {
    with(|app| &app.field == name)
}

/// Whether another web origin may get the key.
pub fn is_friend(origin: &Js) -> bool {
    let origins = with(|app| app.origins.clone());
    call1(&origins, INCLUDES, origin).is_truthy()
}

/// The form field's name.
pub fn field() -> Js {
    with(|app| app.field.clone())
}
