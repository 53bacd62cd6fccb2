//! htmx 1.9, 2 and 4: where a request gets its key, where a second one is refused, and how it is sent again.
//!
//! 1.9 and 2 (`xhr`): after its configuration a request is an `XMLHttpRequest` of its own. It is opened and sent again with
//! the first attempt's content, and htmx hears of the last answer only; nothing is serialised twice.
//! 4 (`fetch`): the request's `fetch` is ours, so retries stay inside the request.

pub mod fetch;
pub mod xhr;

use oncekey::client::intent::Progress;

use crate::{
    attempt::{Attempt, retry_plan_of},
    guard::{self, Admission},
    intent::{find_or_mint, forget_intent, known_contents},
    page::{Js, refuse_event},
    subject::Subject,
};

/// The subject, if it is ours; what must not be sent is refused. `event` is htmx's, `trigger` what caused the request.
fn admit_subject(subject: Subject, trigger: &Js, event: &Js) -> Option<Subject> {
    if !subject.is_ours() {
        return None;
    }
    // Whose requests are queued or replaced, the author has said.
    if !subject.is_synced() && guard::admit(&subject, trigger) != Admission::Free {
        refuse_event(event);
        return None;
    }
    Some(subject)
}

/// The first attempt with the content that an element is about to send.
fn first_attempt(subject: &Subject, body: &Js, element: &Js) -> Attempt {
    let (content, name) = (subject.read_content(body), subject.intent_name());
    if guard::is_busy(name) && !known_contents(name, content.digest).1 {
        // This one takes the place of the one under way, or has waited behind it. The same content is the same intent.
        forget_intent(name);
    }
    let intent = find_or_mint(name, content.digest, content.given_key, Progress::Sent);
    Attempt::first(intent, subject.owner.clone(), retry_plan_of(element))
}
