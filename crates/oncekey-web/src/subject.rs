//! What a person submits: the form or element, its submitter, and where the request goes; and the intent's name from it.

use oncekey::{
    intent::{Digest, has_fields, is_unsafe, is_volatile},
    key::is_key,
};

use crate::{
    app,
    dom::{Js, attr, call_text, closest, double, each, get, name_of, pairs, parse, text, window},
};

/// The attributes that say where an element's requests go, plain and as htmx reads them.
const TARGETS: [&str; 10] = [
    "action",
    "method",
    "hx-post",
    "hx-put",
    "hx-patch",
    "hx-delete",
    "data-hx-post",
    "data-hx-put",
    "data-hx-patch",
    "data-hx-delete",
];

/// One submit, before its content is known.
pub struct Subject {
    /// The form, else the element that sends.
    pub owner: Js,
    /// The button or link, if one is known.
    pub submitter: Js,
    /// Upper case.
    pub method: String,
    /// A `URL` without fragment.
    action: Js,
}

impl Subject {
    /// A request about to be sent, by its sender's account.
    pub fn new(owner: Js, submitter: Js, mut method: String, action: &str) -> Subject {
        method.make_ascii_uppercase();
        Subject { owner, submitter, method, action: parse(action) }
    }

    /// A plain form: the submitter's method and action, else the form's.
    pub fn plain(form: &Js, submitter: &Js) -> Subject {
        let method = attr(submitter, "formmethod").or_else(|| text(form, "method"));
        let action = attr(submitter, "formaction").filter(|action| !action.is_empty());
        let action = action.or_else(|| text(form, "action")).unwrap_or_default();
        Subject::new(form.clone(), submitter.clone(), method.unwrap_or_default(), &action)
    }

    /// An element of htmx, with the form whose fields it sends.
    pub fn of_htmx(element: &Js, event: &Js, method: String, action: &str) -> Subject {
        let mut owner = get(element, "form");
        if !owner.is_truthy() {
            owner = closest(element, "form");
        }
        if !owner.is_truthy() {
            owner = element.clone();
        }
        let mut submitter = get(event, "submitter");
        if !submitter.is_truthy() && &owner != element {
            submitter = element.clone();
        }
        Subject::new(owner, submitter, method, action)
    }

    /// Whether this request is ours: an unsafe method, an origin that may have the key, not switched off.
    pub fn is_ours(&self) -> bool {
        let off = "[data-once=off]";
        is_unsafe(&self.method)
            && (self.goes_home() || app::is_friend(&get(&self.action, "origin")))
            && !closest(&self.owner, off).is_truthy()
            && !closest(&self.submitter, off).is_truthy()
    }

    /// Whether the page's own origin answers.
    pub fn goes_home(&self) -> bool {
        get(&self.action, "origin") == get(&window(), "location.origin")
    }

    /// Whether a field can carry the key.
    pub fn has_fields(&self) -> bool {
        has_fields(&self.method)
    }

    /// An attribute of the submitter, else of the owner.
    pub fn attr(&self, name: &str) -> Option<String> {
        attr(&self.submitter, name).or_else(|| attr(&self.owner, name))
    }

    /// The intent's name (contract 4, "Identity").
    pub fn name(&self) -> Js {
        let mut target = Digest::default();
        target.part(&self.method);
        target.part(&text(&self.action, "href").unwrap_or_default());
        name_of(place(&self.owner), double(target.value()))
    }

    /// What content says: its digest without the key and the ignored fields; and the key that the author gave,
    /// as an attribute or among the fields.
    pub fn read(&self, body: &Js) -> (u64, Option<Js>) {
        let ignored = self.attr("data-once-ignore").unwrap_or_default();
        let mut digest = Digest::default();
        let mut given = self.attr("data-once-key").filter(|key| is_key(key)).map(|key| Js::from_str(&key));
        let mut name = None;
        each(&pairs(body), &mut |part| {
            let Some(of) = name.take() else {
                name = Some(part);
                return true;
            };
            let value = part.as_string().unwrap_or_default();
            if app::is_field(&of) {
                if given.is_none() && is_key(&value) {
                    given = Some(part);
                }
            } else {
                add(&mut digest, &of, &value, &ignored);
            }
            true
        });
        (digest.value(), given)
    }
}

/// The part of the name that all of an element's intents share: what it is called, and which of its equals it is.
pub fn place(element: &Js) -> f64 {
    let mut name = called(element);
    let own = name.value();
    let tag = text(element, "localName").unwrap_or_default();
    each(&call_text(&get(&window(), "document"), "querySelectorAll", &tag), &mut |other| {
        let more = &other != element;
        if more && called(&other).value() == own {
            name.part("+");
        }
        more
    });
    double(name.value())
}

fn called(element: &Js) -> Digest {
    let mut name = Digest::default();
    let own = attr(element, "data-once-name").or_else(|| attr(element, "id")).filter(|own| !own.is_empty());
    if let Some(own) = own {
        name.part(&own);
        return name;
    }
    for target in TARGETS {
        name.part(&attr(element, target).unwrap_or_default());
    }
    let ignored = attr(element, "data-once-ignore").unwrap_or_default();
    each(&call_text(element, "querySelectorAll", "input[type=hidden]"), &mut |hidden| {
        let field = get(&hidden, "name");
        if !app::is_field(&field) {
            add(&mut name, &field, &text(&hidden, "value").unwrap_or_default(), &ignored);
        }
        true
    });
    name
}

/// Adds a field, unless it changes by itself.
fn add(digest: &mut Digest, name: &Js, value: &str, ignored: &str) {
    let name = name.as_string().unwrap_or_default();
    if !is_volatile(&name, ignored) {
        digest.part(&name);
        digest.part(value);
    }
}

/// Whether a person's submit, or click on a button, link or form control, triggered a request.
pub fn is_by_hand(event: &Js) -> bool {
    let kind = text(event, "type").unwrap_or_default();
    kind == "submit"
        || kind == "click" && closest(&get(event, "target"), "a,button,input,select,textarea,summary").is_truthy()
}
