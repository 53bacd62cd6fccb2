//! Batches and queues: items sent alone under keys of their own, at most six at a time, two of one key one after the
//! other.

use serde::Serialize;

use crate::{
    answer::{
        own::open_lines,
        refusal::Refusal,
        word::{BypassReason, StatusWord},
    },
    content::{ignore::Ignore, json::DEEPEST, may_hold_json},
    digest::base64,
    http::{
        fields::{Fields, STATUS, content_fields, has_no_content},
        lines::HeaderLines,
        negotiate::{Audience, RefusalForm, refusal_form},
    },
    json::{
        pointer::pointer_text,
        select::{Selected, is_json, json_text, list_elements, select, string_value},
        write::{RawJson, to_json},
    },
    key::{InvalidKey, Key, scoped::ScopedKey, scopes::CallerScopes, seal::SealKeys},
    policy::{Policy, Route},
    stored::{
        attempt::{Attempt, Terms},
        request::StoredRequest,
    },
};

/// Items that are under way at once.
const MOST: usize = 6;

/// Items that are looked at before the first of them is done with: their answers may have to wait for its own.
const WINDOW: usize = 64;

/// Bytes of answers that wait for an earlier one, beyond which no further item is begun.
const WAITING: usize = 4_194_304;

/// Which item is begun next.
///
/// An item is begun when no other of its key is under way or before it in the line, so that of one key the first in
/// the list runs first.
///
/// ```
/// use oncekey::{batch::ItemLine, key::scoped::ScopedKey};
///
/// let key: ScopedKey = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY".parse()?;
/// let mut line = ItemLine::default();
/// let (first, second) = (line.join_item(Some(&key)), line.join_item(Some(&key)));
/// assert_eq!((line.begin_next(), line.begin_next()), (Some(first), None));
/// line.end_item(first);
/// assert_eq!(line.begin_next(), Some(second));
/// # Ok::<(), oncekey::key::scoped::InvalidScopedKey>(())
/// ```
#[derive(Debug, Default)]
pub struct ItemLine {
    /// At most [`WINDOW`] or a queue's batch: too few for anything cleverer than a list.
    places: Vec<(Option<ScopedKey>, ItemState)>,
    /// How many items have left the line at its front.
    gone: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemState {
    Waits,
    Runs,
    Done,
}

impl ItemLine {
    /// Whether another item may join, while so many answers of so many bytes cannot be passed on yet.
    pub fn has_room(&self, answers: usize, bytes: usize) -> bool {
        self.places.len().max(answers) < WINDOW && bytes < WAITING
    }

    /// An item joins at the end; says its number, counted from 0. One without a key needs nothing done.
    pub fn join_item(&mut self, key: Option<&ScopedKey>) -> usize {
        let number = self.gone + self.places.len();
        self.places.push((key.cloned(), if key.is_some() { ItemState::Waits } else { ItemState::Done }));
        self.drop_done();
        number
    }

    /// The item to begin now, if one can be.
    pub fn begin_next(&mut self) -> Option<usize> {
        if self.places.iter().filter(|(_, stage)| *stage == ItemState::Runs).count() >= MOST {
            return None;
        }
        let is_free = |at: usize, key: &Option<ScopedKey>| {
            !self.places.iter().take(at).any(|(other, stage)| other == key && *stage != ItemState::Done)
        };
        let at = self
            .places
            .iter()
            .enumerate()
            .position(|(at, (key, stage))| *stage == ItemState::Waits && is_free(at, key))?;
        self.places.get_mut(at)?.1 = ItemState::Runs;
        Some(self.gone + at)
    }

    /// An item is done with.
    pub fn end_item(&mut self, number: usize) {
        if let Some(place) = number.checked_sub(self.gone).and_then(|at| self.places.get_mut(at)) {
            place.1 = ItemState::Done;
        }
        self.drop_done();
    }

    fn drop_done(&mut self) {
        let done = self.places.iter().take_while(|(_, stage)| *stage == ItemState::Done).count();
        self.places.drain(..done);
        self.gone += done;
    }
}

/// Where the list of a batch is in its content, and how an item is sent: what its route says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    item_key: Vec<String>,
    path: String,
    route: Route,
    terms: Terms,
    scopes: CallerScopes,
    head: StoredRequest,
}

/// The name that an item's key had while callers were told apart by other attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameBefore {
    /// It.
    pub name: ScopedKey,
    /// Under which keys the answer is sealed there.
    pub seal: SealKeys,
}

impl BatchPlan {
    /// `origin`: scheme and host that the caller used; `fields`: its head, which every item has too, but for what
    /// describes the content.
    pub fn new(
        policy: &Policy,
        route: &Route,
        item: (&[String], &str),
        scopes: CallerScopes,
        origin: &str,
        fields: &Fields,
    ) -> Self {
        Self {
            item_key: item.0.to_vec(),
            path: item.1.to_owned(),
            route: route.clone(),
            terms: Terms::of(policy, route),
            scopes,
            head: StoredRequest::json(&[origin, item.1].concat()).with(&item_fields(fields, &policy.header)),
        }
    }

    /// Whether something identifies its caller.
    pub fn is_identified(&self) -> bool {
        !self.scopes.now.is_anonymous()
    }

    /// The head of each item's request.
    pub fn head(&self) -> &StoredRequest {
        &self.head
    }

    /// Reads an element of the list, as written; and the name that its key had [before](CallerScopes::name_before).
    pub fn attempt_of_item(&self, policy: &Policy, element: &str) -> Result<(Attempt, Option<NameBefore>), Refusal> {
        let key = match select(element, &self.item_key) {
            Selected::Nothing => return Err(Refusal::KeyMissing),
            Selected::Twice => return Err(Refusal::KeyInvalid(InvalidKey::Repeated)),
            Selected::Value(value) => {
                string_value(value).ok_or(InvalidKey::NotAString).and_then(|key| Key::from_content(&key))
            }
        };
        let key = key.map_err(Refusal::KeyInvalid)?;
        let scoped_key = ScopedKey::derive(&self.scopes.now, &key).map_err(Refusal::KeyInvalid)?;
        let age = self.route.age_of(&key).map_err(Refusal::KeyInvalid)?;
        let terms = self.terms.clone();
        let key_place = [Ignore::Pointer(self.item_key.clone())];
        let (left_out, headers) = ((&*self.route.ignore, &key_place[..]), (&*self.route.headers, self.head.fields()));
        let attempt = Attempt::of_item(policy, scoped_key, &self.path, element.as_bytes(), left_out, headers, terms);
        let seal = policy.seal_keys(&self.scopes.now, &key);
        let before = self
            .scopes
            .name_before(&key)
            .map(|name| NameBefore { seal: policy.seal_keys(self.scopes.of_name(&name, &key), &key), name });
        Ok((Attempt { callers: self.scopes.callers(&key), age, seal, ..attempt }, before))
    }
}

/// What an item has of the caller's head: its answer is to be JSON, not what a browser would show.
fn item_fields(fields: &Fields, key_header: &str) -> Fields {
    let is_html = refusal_form(fields) != RefusalForm::Problem;
    let mut kept = String::new();
    for (name, value) in fields.pairs() {
        let is_left_out = content_fields().contains(&name)
            || name.eq_ignore_ascii_case(key_header)
            || matches!(name, "hx-request" | "sec-fetch-mode" | "accept-encoding")
            || (is_html && name == "accept");
        if !is_left_out {
            for part in [name, ",", value, "\n"] {
                kept.push_str(part);
            }
        }
    }
    Fields::new(kept)
}

/// The list in a batch's content, as written. `most`: how many items it may have.
///
/// ```
/// use oncekey::{batch::items_of, json::select::list_elements};
///
/// let content = br#"{"orders": [{"id": 1}, {"id": 2}]}"#;
/// let list = items_of(Some("application/json"), None, content, &["orders".to_owned()], 1000)?;
/// let elements: Vec<&str> = list_elements(list).into_iter().flatten().collect();
/// assert_eq!(elements, [r#"{"id": 1}"#, r#"{"id": 2}"#]);
/// # Ok::<(), oncekey::answer::refusal::Refusal>(())
/// ```
pub fn items_of<'t>(
    content_type: Option<&str>,
    content_encoding: Option<&str>,
    bytes: &'t [u8],
    items: &[String],
    most: u64,
) -> Result<&'t str, Refusal> {
    let invalid = |message: String| Refusal::ContentInvalid { message };
    if !may_hold_json(content_type, content_encoding) {
        return Err(invalid("JSON is taken here, without a coding.".to_owned()));
    }
    let text = json_text(bytes).map_err(|not_json| invalid(not_json.to_string()))?;
    match select(text, items) {
        Selected::Value(list) if let Some(elements) = list_elements(list) => {
            let most_here = usize::try_from(most).unwrap_or(usize::MAX);
            // No more of them are counted than it takes to know.
            if elements.take(most_here.saturating_add(1)).count() > most_here {
                return Err(Refusal::TooManyItems { limit: most });
            }
            Ok(list)
        }
        _ => Err(invalid(["There has to be one list at \"", &pointer_text(items), "\" of the content."].concat())),
    }
}

/// The head of a batch's answer, 207 (RFC 4918 §13).
pub fn batch_head(audience: &Audience) -> HeaderLines {
    let mut lines = HeaderLines::default();
    lines.push("content-type", "application/json");
    lines.push("cache-control", "no-store");
    lines.push(STATUS, StatusWord::Bypassed(BypassReason::Batch).as_str());
    open_lines(&mut lines, audience);
    lines
}

/// An item's answer: status, word, location and seconds to wait where it says so, and content; `None` where that was too large.
///
/// JSON that any reader can take stands as it came; other content is a base64 string (RFC 4648 §4), and the item says
/// so.
pub fn item_answer(
    status: u16,
    word: &str,
    location: Option<&str>,
    retry_after: Option<u64>,
    content: Option<&[u8]>,
) -> String {
    let (body, encoding, omitted) = match content {
        None => (None, None, Some(true)),
        Some([]) if has_no_content(status) => (None, None, None),
        Some(content) => match str::from_utf8(content) {
            Ok(text) if is_json(content, DEEPEST) => (Some(ItemBody::Json(RawJson(text))), None, None),
            _ => (Some(ItemBody::Base64(base64(content))), Some("base64"), None),
        },
    };
    to_json(&ItemAnswer { status, idempotency_status: word, location, retry_after, body, encoding, omitted })
}

#[derive(Serialize)]
struct ItemAnswer<'a> {
    status: u16,
    idempotency_status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    body: Option<ItemBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ItemBody<'a> {
    Json(RawJson<'a>),
    Base64(String),
}
