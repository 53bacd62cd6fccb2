//! The page's names that the wasm uses: members, attributes, selectors and words. They cross the boundary once, as one
//! text, and then as their places in it.

/// The place of a name in [`ALL`].
pub type Name = i32;

/// Numbers the names in their order, and joins them line by line.
macro_rules! names {
    ($($name:ident $text:literal)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "each is the name of a constant")]
        enum Place { $($name),* }
        $(pub const $name: Name = Place::$name as Name;)*
        /// Every name, one a line.
        pub const ALL: &str = concat!($($text, "\n"),*);
    };
}

names! {
    // What the page is listened to for, first: in the order of `lib::on`.
    SUBMIT "submit"
    FORMDATA "formdata"
    PAGEHIDE "pagehide"
    PAGESHOW "pageshow"
    HTMX_CONFIRM "htmx:confirm"
    HTMX_CONFIG_REQUEST_2 "htmx:configRequest"
    HTMX_BEFORE_SEND "htmx:beforeSend"
    HTMX_ABORT "htmx:abort"
    HTMX_BEFORE_HISTORY_SAVE "htmx:beforeHistorySave"
    HTMX_CONFIG_REQUEST "htmx:config:request"
    HTMX_BEFORE_REQUEST "htmx:before:request"
    HTMX_FINALLY_REQUEST "htmx:finally:request"
    // Where an element's requests go, plain and as htmx reads them.
    ACTION "action"
    METHOD "method"
    _HX_POST "hx-post"
    _HX_PUT "hx-put"
    _HX_PATCH "hx-patch"
    _HX_DELETE "hx-delete"
    _DATA_HX_POST "data-hx-post"
    _DATA_HX_PUT "data-hx-put"
    _DATA_HX_PATCH "data-hx-patch"
    DATA_HX_DELETE "data-hx-delete"
    // Other attributes, and their values.
    FORMACTION "formaction"
    FORMMETHOD "formmethod"
    ID "id"
    HX_RETRY "hx-retry"
    DATA_HX_RETRY "data-hx-retry"
    DATA_ONCE_RETRY "data-once-retry"
    DATA_ONCE_BUSY "data-once-busy"
    DATA_ONCE_IGNORE "data-once-ignore"
    DATA_ONCE_KEY "data-once-key"
    DATA_ONCE_NAME "data-once-name"
    ARIA_BUSY "aria-busy"
    ARIA_DISABLED "aria-disabled"
    DISABLED "disabled"
    TRUE "true"
    EMPTY ""
    // Selectors.
    IS_OFF "[data-once=off]"
    IS_RETRIED "[hx-retry],[data-hx-retry],[data-once-retry]"
    IS_JSON "[hx-ext*=json],[data-hx-ext*=json]"
    IS_CONTROL "a,button,input,select,textarea,summary"
    IS_FORM "form"
    IS_HIDDEN "input[type=hidden]"
    // Addresses of the gate.
    KEYS "/.oncekey/keys/"
    WAIT "?wait=5"
    WELL_KNOWN "/.well-known/idempotency"
    // Events of ours.
    ISSUED "issued"
    BLOCKED "blocked"
    RETRY "retry"
    UNKNOWN "unknown"
    SETTLED "settled"
    // Words.
    ABORT "abort"
    CLICK "click"
    RELOAD "reload"
    SENDING "Sending…"
    // Members.
    ABORTED "aborted"
    APPEND "append"
    ARRAY "Array"
    CLEAR_TIMEOUT "clearTimeout"
    CTX "ctx"
    CURRENT_TARGET "currentTarget"
    DEFAULT_PREVENTED "defaultPrevented"
    DETAIL "detail"
    DETAIL_CTX "detail.ctx"
    DETAIL_CTX_LOCK "detail.ctx.oncekeyLock"
    DISABLE "disable"
    DOCUMENT "document"
    ELT "elt"
    FETCH "fetch"
    FIELD "field"
    FORM_DATA "formData"
    HEADER "header"
    HEADERS "headers"
    HREF "href"
    INCLUDES "includes"
    INIT "init"
    INTENT "intent"
    KEY "key"
    LOCAL_NAME "localName"
    LOCATION_ORIGIN "location.origin"
    LOCK "oncekeyLock"
    NAME "name"
    OF "of"
    OURS "oncekey"
    ORIGIN "origin"
    ORIGINS "origins"
    PARAMETERS "parameters"
    PATH "path"
    PERSISTED "persisted"
    PREVENT_DEFAULT "preventDefault"
    PUSH "push"
    QUERY_SELECTOR_ALL "querySelectorAll"
    REASON "reason"
    REQUEST_ACTION "request.action"
    REQUEST_BODY "request.body"
    REQUEST_CONFIG "requestConfig"
    REQUEST_CONFIG_ELT "requestConfig.elt"
    REQUEST_HEADERS "request.headers"
    REQUEST_METHOD "request.method"
    REQUEST_SUBMIT "requestSubmit"
    REQUEST_TIMEOUT "requestTimeout"
    RESOLVE "resolve"
    RETENTION "retention"
    ROUTES "routes"
    SET "set"
    SIGNAL "signal"
    SOURCE_ELEMENT "sourceElement"
    SOURCE_EVENT "sourceEvent"
    STARTS_WITH "startsWith"
    STATE "state"
    STATUS "status"
    STOP "stopImmediatePropagation"
    SUBMITTER "submitter"
    TARGET "target"
    TIME_STAMP "timeStamp"
    TOP "top"
    TRIGGERING_EVENT "triggeringEvent"
    TYPE "type"
    CONTENT_TYPE "Content-Type"
    URL "url"
    VALUE "value"
    VERB "verb"
    WINDOW "window"
    XHR "xhr"
}

/// How many of the names are events that the page is listened to for.
pub const LISTENED: Name = ACTION;
/// The attributes that say where an element's requests go.
pub const TARGETS: core::ops::RangeInclusive<Name> = ACTION..=DATA_HX_DELETE;
