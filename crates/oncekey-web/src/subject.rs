//! What a person submits: the form or element, its submitter, and where the request goes; and the intent's name from it.

use oncekey::{
    client::intent::{Digest, has_fields, is_unsafe, is_volatile},
    key::is_key,
};

use crate::{
    names::{
        ACTION, CLICK, DATA_ONCE_IGNORE, DATA_ONCE_KEY, DATA_ONCE_NAME, DOCUMENT, FORMACTION, FORMMETHOD, HREF, ID,
        IS_CONTROL, IS_FORM, IS_HIDDEN, IS_OFF, LOCAL_NAME, LOCATION_ORIGIN, METHOD, NAME, Name, ORIGIN,
        QUERY_SELECTOR_ALL, SUBMIT, SUBMITTER, TARGET, TARGETS, TYPE, VALUE,
    },
    options,
    page::{
        Js, attr, attribute, call1, closest, double, each, get, global, is_text, name_of, pairs, parse, says, string,
        text, word,
    },
};

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
    pub fn new(owner: Js, submitter: Js, method: Option<String>, action: &Js) -> Subject {
        let mut method = method.unwrap_or_default();
        method.make_ascii_uppercase();
        Subject { owner, submitter, method, action: parse(action) }
    }

    /// A plain form: the submitter's method and action, else the form's.
    pub fn plain(form: &Js, submitter: &Js) -> Subject {
        let method = attr(submitter, FORMMETHOD).or_else(|| text(form, METHOD));
        let mut action = attribute(submitter, FORMACTION);
        if !action.is_truthy() {
            action = get(form, ACTION);
        }
        Subject::new(form.clone(), submitter.clone(), method, &action)
    }

    /// An element of htmx, with the form whose fields it sends.
    pub fn of_htmx(element: &Js, event: &Js, method: Option<String>, action: &Js) -> Subject {
        let mut owner = get(element, IS_FORM);
        if !owner.is_truthy() {
            owner = closest(element, IS_FORM);
        }
        if !owner.is_truthy() {
            owner = element.clone();
        }
        let mut submitter = get(event, SUBMITTER);
        if !submitter.is_truthy() && &owner != element {
            submitter = element.clone();
        }
        Subject::new(owner, submitter, method, action)
    }

    /// Whether this request is ours: an unsafe method, an origin that may have the key, not switched off.
    pub fn is_ours(&self) -> bool {
        is_unsafe(&self.method)
            && (self.goes_home() || options::may_get_key(&get(&self.action, ORIGIN)))
            && !closest(&self.owner, IS_OFF).is_truthy()
            && !closest(&self.submitter, IS_OFF).is_truthy()
    }

    /// Whether the page's own origin answers.
    pub fn goes_home(&self) -> bool {
        get(&self.action, ORIGIN) == global(LOCATION_ORIGIN)
    }

    /// Whether a field can carry the key.
    pub fn has_fields(&self) -> bool {
        has_fields(&self.method)
    }

    /// An attribute of the submitter, else of the owner.
    pub fn attribute(&self, name: Name) -> Js {
        let own = attribute(&self.submitter, name);
        if is_text(&own) { own } else { attribute(&self.owner, name) }
    }

    /// The intent's name (contract 4, "Identity").
    pub fn name(&self) -> Js {
        let mut target = Digest::default();
        target.part(&self.method);
        target.part(&text(&self.action, HREF).unwrap_or_default());
        name_of(place(&self.owner), double(target.value()))
    }

    /// What content says: its digest without the key and the ignored fields; and the key that the author gave,
    /// as an attribute or among the fields.
    pub fn read(&self, body: &Js) -> (u64, Option<Js>) {
        let ignored = string(&self.attribute(DATA_ONCE_IGNORE)).unwrap_or_default();
        let mut digest = Digest::default();
        let mut given = Some(self.attribute(DATA_ONCE_KEY)).filter(|key| string(key).is_some_and(|key| is_key(&key)));
        let (mut name, field) = (None, options::field());
        each(&pairs(body), &mut |part| {
            let Some(of) = name.take() else {
                name = Some(part);
                return true;
            };
            let value = string(&part).unwrap_or_default();
            if of == field {
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
    each(&call1(&global(DOCUMENT), QUERY_SELECTOR_ALL, &get(element, LOCAL_NAME)), &mut |other| {
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
    let own = attr(element, DATA_ONCE_NAME).or_else(|| attr(element, ID)).filter(|own| !own.is_empty());
    if let Some(own) = own {
        name.part(&own);
        return name;
    }
    for target in TARGETS {
        name.part(&attr(element, target).unwrap_or_default());
    }
    let ignored = attr(element, DATA_ONCE_IGNORE).unwrap_or_default();
    let key_field = options::field();
    each(&call1(element, QUERY_SELECTOR_ALL, &word(IS_HIDDEN)), &mut |hidden| {
        let field = get(&hidden, NAME);
        if field != key_field {
            add(&mut name, &field, &text(&hidden, VALUE).unwrap_or_default(), &ignored);
        }
        true
    });
    name
}

/// Adds a field, unless it changes by itself.
fn add(digest: &mut Digest, name: &Js, value: &str, ignored: &str) {
    let name = string(name).unwrap_or_default();
    if !is_volatile(&name, ignored) {
        digest.part(&name);
        digest.part(value);
    }
}

/// Whether a person's submit, or click on a button, link or form control, triggered a request.
pub fn is_by_hand(event: &Js) -> bool {
    says(event, TYPE, SUBMIT) || says(event, TYPE, CLICK) && closest(&get(event, TARGET), IS_CONTROL).is_truthy()
}
