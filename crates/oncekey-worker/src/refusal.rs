//! Refusals in the form that their reader takes.

use crate::platform::{failure::Failure, head, message};
use oncekey::{
    answer::refusal::Refusal,
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
    audience.scoped_key = head::errand(headers).as_deref().and_then(scoped_key_of).map(str::to_owned);
    message::own_response(refusal.render(&audience, expires))
}

/// The refusal of a gate that was deployed without an origin.
pub fn missing_origin() -> Refusal {
    Refusal::Misconfigured { message: "ORIGIN has to be bound to a service, or be the URL of a web origin.".to_owned() }
}
