//! What the page was told: names, origins, retries.

use std::cell::RefCell;

use oncekey::client::retry::Plan;

use crate::{
    names::{DISABLE, FIELD, HEADER, INCLUDES, ORIGINS, RETRY},
    page::{Js, call1, get, is, text},
};

/// The options of one page.
struct Options {
    /// The header's name: a text of the page.
    header: Js,
    /// The form field's name: a text of the page.
    field: Js,
    /// Other web origins that may get the key: an array.
    origins: Js,
    /// What holds where an element or a call says nothing.
    retry: Option<Plan>,
    /// Use `disabled` beside `aria-disabled`.
    disable: bool,
}

thread_local! {
    static OPTIONS: RefCell<Options> = const {
        RefCell::new(Options {
            header: Js::UNDEFINED,
            field: Js::UNDEFINED,
            origins: Js::UNDEFINED,
            retry: None,
            disable: false,
        })
    };
}

/// Sets options, all of them each time; a name that is left out stays.
pub fn set_options(options: &Js) {
    let (header, field, origins) = (get(options, HEADER), get(options, FIELD), get(options, ORIGINS));
    let (header, field) = (Some(header).filter(Js::is_truthy), Some(field).filter(Js::is_truthy));
    let retry = text(options, RETRY).and_then(|text| Plan::parse(&text));
    let disable = is(options, DISABLE);
    OPTIONS.with_borrow_mut(|kept| {
        kept.header = header.unwrap_or(kept.header.clone());
        kept.field = field.unwrap_or(kept.field.clone());
        kept.origins = origins;
        kept.retry = retry;
        kept.disable = disable;
    });
}

/// The header's name.
pub fn header() -> Js {
    OPTIONS.with_borrow(|options| options.header.clone())
}

/// The form field's name.
pub fn field() -> Js {
    OPTIONS.with_borrow(|options| options.field.clone())
}

/// Whether another web origin may get the key.
pub fn may_get_key(origin: &Js) -> bool {
    let origins = OPTIONS.with_borrow(|options| options.origins.clone());
    call1(&origins, INCLUDES, origin).is_truthy()
}

/// The plan for retries where an element or a call says nothing.
pub fn retry_plan() -> Option<Plan> {
    OPTIONS.with_borrow(|options| options.retry)
}

/// Whether a busy submitter is `disabled` too.
pub fn disables_submitter() -> bool {
    OPTIONS.with_borrow(|options| options.disable)
}
