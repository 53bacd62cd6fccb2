//! What the page was told: names, origins, retries.

use std::cell::RefCell;

use crate::page::{Js, call_method1, is_member_truthy, member, member_text};

thread_local! {
    /// As the page gave them: `header`, `field`, `origins`, `retry`, `disable`.
    static OPTIONS: RefCell<Js> = const { RefCell::new(Js::UNDEFINED) };
}

/// Sets options, all of them each time.
pub fn set_options(options: Js) {
    OPTIONS.set(options);
}

fn options() -> Js {
    OPTIONS.with_borrow(Js::clone)
}

fn name_option(option: &str, default: &str) -> String {
    member_text(&options(), option).filter(|name| !name.is_empty()).unwrap_or_else(|| default.to_owned())
}

/// The header's name.
pub fn key_header() -> String {
    name_option("header", "Idempotency-Key")
}

/// The form field's name.
pub fn key_field() -> String {
    name_option("field", "idempotency_key")
}

/// Whether another web origin may get the key.
pub fn may_get_key(origin: &Js) -> bool {
    call_method1(&member(&options(), "origins"), "includes", origin).is_truthy()
}

/// The retries where an element or a call says nothing.
pub fn default_retries() -> Option<String> {
    member_text(&options(), "retry")
}

/// Whether a busy submitter is `disabled` beside `aria-disabled`.
pub fn disables_submitter() -> bool {
    is_member_truthy(&options(), "disable")
}
