//! Refusals in the form that their reader takes.

use crate::platform::{failure::Failure, head, message};
use oncekey::{
    answer::{
        note::{AnswerNote, NOTE, wants_note},
        refusal::Refusal,
    },
    errand::scoped_key_of,
    http::{
        fields::Fields,
        negotiate::{Audience, refusal_form},
    },
    policy::Policy,
};
use web_sys::{Headers, Response};

/// Who reads a refusal.
pub fn audience_of(policy: &Policy, fields: &Fields) -> Audience {
    let origin = fields.get("origin");
    Audience {
        form: refusal_form(fields),
        allow_origin: origin.filter(|origin| policy.cors.iter().any(|listed| listed == origin)).map(str::to_owned),
        scoped_key: None,
    }
}

/// A refusal in the form that the sender of this head takes; `expires`: until when something is remembered.
pub fn refusal_response(
    policy: &Policy,
    headers: &Headers,
    refusal: &Refusal,
    expires: Option<u64>,
) -> Result<Response, Failure> {
    let mut audience = audience_of(policy, &head::negotiation(headers));
    let errand = head::errand(headers).unwrap_or_default();
    audience.scoped_key = scoped_key_of(&errand).map(str::to_owned);
    let mut said = refusal.render(&audience, expires);
    if wants_note(&errand) {
        said.lines.push(NOTE, &AnswerNote::of_code(refusal.code()).to_string());
    }
    message::own_response(said)
}

/// The refusal of a gate that was deployed without an origin.
pub fn missing_origin() -> Refusal {
    Refusal::Misconfigured { message: "ORIGIN has to be bound to a service, or be the URL of a web origin.".to_owned() }
}
