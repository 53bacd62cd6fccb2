//! Refusals in the form that their reader takes.

use oncekey::{
    answer::refusal::Refusal,
    http::{
        fields::Fields,
        negotiate::{self, Audience},
    },
    policy::Policy,
};

/// Who reads a refusal.
pub fn audience(policy: &Policy, fields: &Fields) -> Audience {
    let origin = fields.get("origin");
    Audience {
        html: negotiate::prefers_html(fields.get("accept"), fields.get("hx-request")),
        allow_origin: origin.filter(|origin| policy.cors.iter().any(|listed| listed == origin)).map(str::to_owned),
    }
}

/// The refusal of a gate that was deployed without an origin.
pub fn no_origin() -> Refusal {
    Refusal::PolicyInvalid {
        message: "The gate has no origin: bind ORIGIN to a service, or set it to a URL.".to_owned(),
    }
}
