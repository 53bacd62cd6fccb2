//! What a person submits: the form or element, its submitter, and where the request goes; and the intent's name from it.

use oncekey::{
    client::subject::{ContentDigest, IntentName, can_carry_field, is_unsafe_method, is_volatile_field},
    key::is_key,
};

use crate::{
    options::{key_field, may_get_key},
    page::{
        Js, attribute, attribute_lines, attribute_or_empty, attribute_value, call_method, closest, content_parts,
        control_parts, count_equals, give_place, given_place, global_member, hidden_fields, is_member_text,
        is_member_truthy, item_text_or_empty, items, member, member_text, member_text_or_empty, note, parse_url,
        pressed_button, to_double, to_millis, truthy_or, unplaced_like,
    },
};

/// The attributes that say where an element's requests go and what they say of it, plain and as htmx reads them.
const TARGETS: &str = "hx-vals data-hx-vals action method hx-post hx-put hx-patch hx-delete data-hx-post data-hx-put data-hx-patch data-hx-delete";
/// Those of a submitter that make another intent.
const OWN_TARGETS: &str = "formtarget hx-vals data-hx-vals";

/// What `hx-sync` says where a second request is queued, or takes the place of the first.
const QUEUES: &str = "[hx-sync*=queue],[hx-sync*=replace],[data-hx-sync*=queue],[data-hx-sync*=replace]";

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
        let method = attribute(submitter, "formmethod")
            .and_then(|_| member_text(submitter, "formMethod"))
            .or_else(|| member_text(form, "method"));
        let action = truthy_or(attribute_value(submitter, "formaction"), || member(form, "action"));
        Subject::new(form.clone(), submitter.clone(), method, &action)
    }

    /// An element of htmx, with the form whose fields it sends.
    pub fn of_htmx(element: &Js, event: &Js, method: Option<String>, action: &Js) -> Subject {
        let form = truthy_or(member(element, "form"), || closest(element, "form"));
        let owner = truthy_or(form, || element.clone());
        let pressed = pressed_button(element);
        let pressed = if is_member_truthy(&pressed, "isConnected") { pressed } else { member(event, "submitter") };
        let by_element = || if &owner == element { Js::UNDEFINED } else { element.clone() };
        let submitter = truthy_or(pressed, by_element);
        Subject::new(owner, submitter, method, action)
    }

    /// Whether this request is ours: an unsafe method, an origin that may have the key, not switched off.
    pub fn is_ours(&self) -> bool {
        let origin = member(&self.action, "origin");
        let is_off = |element| closest(element, "[data-once=off]").is_truthy();
        let why = if !is_unsafe_method(&self.method) {
            "left alone, its method"
        } else if origin != global_member("origin") && !may_get_key(&origin) {
            "left alone, its origin"
        } else if is_off(&self.owner) || is_off(&self.submitter) {
            "left alone, switched off"
        } else {
            return true;
        };
        note(why, &self.owner);
        false
    }

    /// Where it goes.
    pub fn address(&self) -> Js {
        member(&self.action, "href")
    }

    /// Whether a field can carry the key.
    pub fn can_carry_field(&self) -> bool {
        can_carry_field(&self.method)
    }

    /// An attribute of the submitter, else of the owner.
    pub fn attribute(&self, name: &str) -> Option<String> {
        attribute(&self.submitter, name).or_else(|| attribute(&self.owner, name))
    }

    /// Where the answer is shown: a frame's name, or nothing.
    pub fn target_name(&self) -> String {
        attribute(&self.submitter, "formtarget").unwrap_or_else(|| attribute_or_empty(&self.owner, "target"))
    }

    /// What all intents that go from its place to one target share.
    pub fn base_name(&self) -> IntentName {
        IntentName { place: place_of(&self.owner), target: self.target_digest().value() }
    }

    /// The intent's name (contract 4, "Identity").
    pub fn intent_name(&self) -> IntentName {
        let place = place_of(&self.owner);
        let mut target = self.target_digest();
        let button = |name| member_text_or_empty(&self.submitter, name);
        let (own_name, ignored) = (button("name"), attribute_or_empty(&self.owner, "data-once-ignore"));
        if !own_name.is_empty() {
            add_field(&mut target, &own_name, &button("value"), &ignored);
        }
        target.add_part(&attribute_lines(&self.submitter, OWN_TARGETS));
        for hidden in items(hidden_fields(&self.owner)) {
            let [name, first, value] = [0, 1, 2].map(|at| item_text_or_empty(&hidden, at));
            if value != first && name != key_field() {
                add_field(&mut target, &name, &value, &ignored);
            }
        }
        IntentName { place, target: target.value() }
    }

    fn target_digest(&self) -> ContentDigest {
        let mut target = ContentDigest::default();
        target.add_part(&self.method);
        target.add_part(&member_text_or_empty(&self.action, "href"));
        target
    }

    /// What the form's controls say, whichever submitter sends them.
    pub fn control_digest(&self) -> u64 {
        self.digest_parts(control_parts(&self.owner))
    }

    fn digest_parts(&self, parts: Js) -> u64 {
        let ignored = self.attribute("data-once-ignore").unwrap_or_default();
        let mut digest = ContentDigest::default();
        for part in items(parts) {
            let (name, value) = (item_text_or_empty(&part, 0), item_text_or_empty(&part, 1));
            if name != key_field() {
                add_field(&mut digest, &name, &value, &ignored);
            }
        }
        digest.value()
    }

    /// Whether the author has said that a second request is queued, or takes the place of the first.
    pub fn is_synced(&self) -> bool {
        let from = truthy_or(self.submitter.clone(), || self.owner.clone());
        let holder = closest(&from, "[hx-sync],[data-hx-sync]");
        holder.is_truthy() && closest(&holder, QUEUES) == holder
    }

    /// Reads content: what is sent with this submit.
    pub fn read_content(&self, body: &Js) -> SubmitContent {
        let key_field = key_field();
        let parts = content_parts(body);
        let mut given_key = self.attribute("data-once-key").filter(|key| is_key(key));
        for part in items(parts.clone()).filter(|part| item_text_or_empty(part, 0) == key_field) {
            given_key = given_key.or_else(|| Some(item_text_or_empty(&part, 1)).filter(|key| is_key(key)));
        }
        SubmitContent { digest: self.digest_parts(parts), given_key: given_key.map(Js::from) }
    }
}

/// The part of the name that all of an element's intents share: what it is called, and which of its equals it is. An
/// element that lives keeps it, wherever it moves.
pub fn place_of(element: &Js) -> u64 {
    for other in items(unplaced_like(element, TARGETS)) {
        let mut place = name_of(&other);
        for _ in 0..count_equals(&other, to_double(place.value())) {
            place.add_part("+");
        }
        give_place(&other, to_double(place.value()));
    }
    given_place(element).map_or(0, to_millis)
}

/// What an element is called: by its author, else by where its requests go and its hidden fields; within a shadow root of
/// whose host.
fn name_of(element: &Js) -> ContentDigest {
    let mut name = ContentDigest::default();
    let host = member(&call_method(element, "getRootNode"), "host");
    if host.is_truthy() {
        name.add_number(place_of(&host));
    }
    let own = attribute(element, "data-once-name").unwrap_or_else(|| attribute_or_empty(element, "id"));
    if !own.is_empty() {
        name.add_part(&own);
        return name;
    }
    name.add_part(&attribute_lines(element, TARGETS));
    let ignored = attribute_or_empty(element, "data-once-ignore");
    let key_field = key_field();
    for hidden in items(hidden_fields(element)) {
        let field = item_text_or_empty(&hidden, 0);
        if field != key_field {
            add_field(&mut name, &field, &item_text_or_empty(&hidden, 1), &ignored);
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

/// What a click is a press of.
const BUTTONS: &str = "a,button,[role=button],[type=submit],[type=image],[type=button]";

/// Whether a person's submit, or click on a button or link, triggered an element's request, or its author says that whatever
/// does is one.
pub fn is_by_hand(element: &Js, event: &Js) -> bool {
    is_member_text(event, "type", "submit")
        || is_member_text(event, "type", "click") && closest(&member(event, "target"), BUTTONS).is_truthy()
        || attribute(element, "data-once").as_deref() == Some("on")
}
