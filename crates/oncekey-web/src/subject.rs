//! What a person submits: the form or element, its submitter, and where the request goes; and the intent's name from it.

use oncekey::{
    client::subject::{ContentDigest, IntentName, can_carry_field, is_unsafe_method, is_volatile_field},
    key::is_key,
};

use crate::{
    options::{key_field, may_get_key},
    page::{
        Js, attribute, attribute_or_empty, attribute_value, closest, content_parts, global_member, is_member_text,
        item_text_or_empty, items, member, member_text, member_text_or_empty, parse_url, select_all, truthy_or,
    },
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
    /// A `URL` without fragment, if it is one.
    action: Js,
}

/// What a submit's content says.
pub struct SubmitContent {
    /// Its digest, without the key and the ignored fields.
    pub digest: u64,
    /// The key that the author gave, as an attribute or among the fields.
    pub given_key: Option<Js>,
}

impl Subject {
    /// A request about to be sent, by its sender's account.
    pub fn new(owner: Js, submitter: Js, method: Option<String>, action: &Js) -> Subject {
        let method = method.unwrap_or_default().to_ascii_uppercase();
        Subject { owner, submitter, method, action: parse_url(action) }
    }

    /// A plain form: the submitter's method and action, else the form's.
    pub fn plain(form: &Js, submitter: &Js) -> Subject {
        let method = attribute(submitter, "formmethod").or_else(|| member_text(form, "method"));
        let action = truthy_or(attribute_value(submitter, "formaction"), || member(form, "action"));
        Subject::new(form.clone(), submitter.clone(), method, &action)
    }

    /// An element of htmx, with the form whose fields it sends.
    pub fn of_htmx(element: &Js, event: &Js, method: Option<String>, action: &Js) -> Subject {
        let form = truthy_or(member(element, "form"), || closest(element, "form"));
        let owner = truthy_or(form, || element.clone());
        let mut submitter = member(event, "submitter");
        if !submitter.is_truthy() && &owner != element {
            submitter = element.clone();
        }
        Subject::new(owner, submitter, method, action)
    }

    /// Whether this request is ours: an unsafe method, an origin that may have the key, not switched off.
    pub fn is_ours(&self) -> bool {
        let is_off = |element| closest(element, "[data-once=off]").is_truthy();
        is_unsafe_method(&self.method)
            && (self.goes_home() || may_get_key(&member(&self.action, "origin")))
            && !is_off(&self.owner)
            && !is_off(&self.submitter)
    }

    /// Whether the page's own origin answers.
    pub fn goes_home(&self) -> bool {
        member(&self.action, "origin") == global_member("location.origin")
    }

    /// Whether a field can carry the key.
    pub fn can_carry_field(&self) -> bool {
        can_carry_field(&self.method)
    }

    /// An attribute of the submitter, else of the owner.
    pub fn attribute(&self, name: &str) -> Option<String> {
        attribute(&self.submitter, name).or_else(|| attribute(&self.owner, name))
    }

    /// The intent's name (contract 4, "Identity").
    pub fn intent_name(&self) -> IntentName {
        let mut target = ContentDigest::default();
        target.add_part(&self.method);
        target.add_part(&member_text_or_empty(&self.action, "href"));
        IntentName { place: place_of(&self.owner), target: target.value() }
    }

    /// Reads content: what is sent with this submit.
    pub fn read_content(&self, body: &Js) -> SubmitContent {
        let ignored = self.attribute("data-once-ignore").unwrap_or_default();
        let key_field = key_field();
        let mut digest = ContentDigest::default();
        let mut given_key = self.attribute("data-once-key").filter(|key| is_key(key)).map(Js::from);
        for part in items(content_parts(body)) {
            let (name, value) = (item_text_or_empty(&part, 0), item_text_or_empty(&part, 1));
            if name != key_field {
                add_field(&mut digest, &name, &value, &ignored);
            } else if given_key.is_none() && is_key(&value) {
                given_key = Some(Js::from(value));
            }
        }
        SubmitContent { digest: digest.value(), given_key }
    }
}

/// The part of the name that all of an element's intents share: what it is called, and which of its equals it is.
pub fn place_of(element: &Js) -> u64 {
    let mut place = name_of(element);
    let own = place.value();
    let equals = select_all(&global_member("document"), &member_text_or_empty(element, "localName"));
    for other in items(equals).take_while(|other| other != element) {
        if name_of(&other).value() == own {
            place.add_part("+");
        }
    }
    place.value()
}

/// What an element is called: by its author, else by where its requests go and its hidden fields.
fn name_of(element: &Js) -> ContentDigest {
    let mut name = ContentDigest::default();
    let own = attribute(element, "data-once-name").unwrap_or_else(|| attribute_or_empty(element, "id"));
    if !own.is_empty() {
        name.add_part(&own);
        return name;
    }
    for target in &TARGETS {
        name.add_part(&attribute_or_empty(element, target));
    }
    let ignored = attribute_or_empty(element, "data-once-ignore");
    let key_field = key_field();
    for hidden in items(select_all(element, "input[type=hidden]")) {
        let field = member_text_or_empty(&hidden, "name");
        if field != key_field {
            add_field(&mut name, &field, &member_text_or_empty(&hidden, "value"), &ignored);
        }
    }
    name
}

/// Adds a field, unless it changes by itself.
fn add_field(digest: &mut ContentDigest, name: &str, value: &str, ignored: &str) {
    if !is_volatile_field(name, ignored) {
        digest.add_part(name);
        digest.add_part(value);
    }
}

/// Whether a person's submit, or click on a button, link or form control, triggered a request.
pub fn is_by_hand(event: &Js) -> bool {
    let is_control = |element| closest(element, "a,button,input,select,textarea,summary").is_truthy();
    is_member_text(event, "type", "submit")
        || is_member_text(event, "type", "click") && is_control(&member(event, "target"))
}
