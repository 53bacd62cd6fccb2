//! Refusals: what is refused, in which words, for which reader.

use std::{error::Error, fmt};

use serde::Serialize;

use crate::{
    answer::{
        own::{GateAnswer, open_lines},
        word::{BypassReason, StatusWord},
    },
    http::{
        date::{self, Millis},
        fields::{EXPIRES, STATUS},
        lines::HeaderLines,
        negotiate::{Audience, RefusalForm},
    },
    json::write::to_json,
    key::{InvalidKey, caller::InvalidCaller},
};

/// Where keys are looked at and released.
const KEYS: &str = "/.oncekey/keys/";

const HTML: &str = "text/html; charset=utf-8";

/// A refusal, with the facts that its problem states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The route requires a key.
    KeyMissing,
    /// The key is malformed.
    KeyInvalid(InvalidKey),
    /// What identifies the caller cannot be read exactly.
    CallerInvalid,
    /// A header field that has to be compared or kept cannot be read exactly.
    HeaderInvalid {
        /// Its name.
        name: String,
    },
    /// Nothing proves who the caller is, or what should does not verify.
    CallerUnverified(InvalidCaller),
    /// The keys by which a caller is verified cannot be had.
    IdentityUnavailable,
    /// Another caller's random UUID.
    CallerChanged,
    /// Too many new keys of this caller.
    TooManyKeys {
        /// Seconds.
        retry_after: u32,
    },
    /// The key is older than its route takes, and nothing is remembered under it.
    KeyExpired,
    /// The first request runs.
    InProgress {
        /// Seconds.
        retry_after: u32,
    },
    /// Another request under the key.
    Reused,
    /// The effect's fate cannot be known.
    OutcomeUnknown {
        /// The origin's status, where there was one.
        status: Option<u16>,
    },
    /// Completed, but the answer was not kept, or cannot be opened.
    ReplyUnavailable {
        /// The answer's status.
        status: u16,
    },
    /// The origin was never reached.
    OriginUnreachable {
        /// The status that said so.
        status: Option<u16>,
    },
    /// No answer, and the next attempt may run: the route says that the origin itself honours the key.
    OriginUnanswered {
        /// The origin's status, where there was one.
        status: Option<u16>,
    },
    /// No answer that can be passed on, of a request that is not protected: nobody will know what became of it.
    UnansweredUnprotected {
        /// Why it is not protected.
        reason: BypassReason,
        /// The origin's status, where there was one.
        status: Option<u16>,
    },
    /// The objects cannot be reached, or gave no answer: what the request did is not said.
    StoreUnavailable,
    /// The content is over the limit.
    ContentTooLarge {
        /// Bytes.
        limit: u64,
    },
    /// A batch of too many items.
    TooManyItems {
        /// How many are taken.
        limit: u64,
    },
    /// The content did not arrive in full.
    ContentIncomplete,
    /// The operator's policy is wrong.
    PolicyInvalid {
        /// What is wrong, and where.
        message: String,
    },
    /// The operator's deployment is wrong: a binding is missing or unfit.
    Misconfigured {
        /// Which, and what it has to be: a sentence.
        message: String,
    },
    /// The content is not what is taken here.
    ContentInvalid {
        /// What was expected, and where: a sentence.
        message: String,
    },
    /// The entity's state does not allow the transition.
    StateConflict {
        /// The state that it is in.
        state: String,
    },
    /// A service endpoint that does not exist.
    NoSuchEndpoint,
    /// A service endpoint that does not take the method.
    MethodNotAllowed {
        /// The methods that it takes.
        allow: &'static str,
    },
    /// The secret is missing or wrong.
    Unauthorized,
    /// A release of a key whose request runs.
    StillRunning,
    /// A delivery of what was not accepted, or goes on, or has been answered.
    NotDeliverable,
    /// A release of a key of which nothing is remembered.
    NothingRemembered,
}

/// The seconds to wait after a failure that should pass soon.
const SOON: u32 = 2;

impl Refusal {
    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::KeyMissing
            | Self::KeyInvalid(_)
            | Self::CallerInvalid
            | Self::HeaderInvalid { .. }
            | Self::ContentIncomplete
            | Self::ContentInvalid { .. } => 400,
            Self::Unauthorized | Self::CallerUnverified(_) => 401,
            Self::NoSuchEndpoint | Self::NothingRemembered => 404,
            Self::MethodNotAllowed { .. } => 405,
            Self::InProgress { .. }
            | Self::OutcomeUnknown { .. }
            | Self::ReplyUnavailable { .. }
            | Self::CallerChanged
            | Self::KeyExpired
            | Self::StateConflict { .. }
            | Self::StillRunning
            | Self::NotDeliverable => 409,
            Self::ContentTooLarge { .. } | Self::TooManyItems { .. } => 413,
            Self::Reused => 422,
            Self::TooManyKeys { .. } => 429,
            Self::PolicyInvalid { .. } | Self::Misconfigured { .. } => 500,
            Self::UnansweredUnprotected { .. } => 502,
            Self::OriginUnreachable { .. } | Self::StoreUnavailable | Self::IdentityUnavailable => 503,
            Self::OriginUnanswered { .. } => 504,
        }
    }

    /// The stable name of the problem, by which programs tell refusals apart.
    pub fn code(&self) -> &'static str {
        match self {
            Self::KeyMissing => "key_missing",
            Self::KeyInvalid(_) => "key_invalid",
            Self::CallerInvalid => "caller_invalid",
            Self::HeaderInvalid { .. } => "header_invalid",
            Self::CallerUnverified(_) => "caller_unverified",
            Self::IdentityUnavailable => "identity_unavailable",
            Self::CallerChanged => "caller_changed",
            Self::KeyExpired => "key_expired",
            Self::TooManyKeys { .. } => "too_many_keys",
            Self::InProgress { .. } => "request_in_progress",
            Self::Reused => "idempotency_key_reused",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
            Self::ReplyUnavailable { .. } => "reply_unavailable",
            Self::OriginUnreachable { .. } => "origin_unreachable",
            Self::OriginUnanswered { .. } | Self::UnansweredUnprotected { .. } => "origin_unanswered",
            Self::StoreUnavailable => "store_unavailable",
            Self::ContentTooLarge { .. } | Self::TooManyItems { .. } => "content_too_large",
            Self::ContentIncomplete => "content_incomplete",
            Self::PolicyInvalid { .. } => "policy_invalid",
            Self::Misconfigured { .. } => "gate_misconfigured",
            Self::ContentInvalid { .. } => "content_invalid",
            Self::StateConflict { .. } => "state_conflict",
            Self::NoSuchEndpoint => "no_such_endpoint",
            Self::MethodNotAllowed { .. } => "method_not_allowed",
            Self::Unauthorized => "unauthorized",
            Self::StillRunning => "still_running",
            Self::NotDeliverable => "not_deliverable",
            Self::NothingRemembered => "nothing_remembered",
        }
    }

    /// The word in `Idempotency-Status`.
    pub fn status_word(&self) -> StatusWord {
        match self {
            Self::InProgress { .. } => StatusWord::InProgress,
            Self::Reused => StatusWord::Mismatch,
            Self::UnansweredUnprotected { reason, .. } => StatusWord::Bypassed(*reason),
            Self::OutcomeUnknown { .. } | Self::CallerChanged => StatusWord::Unknown,
            Self::KeyExpired => StatusWord::Expired,
            _ => StatusWord::Refused,
        }
    }

    /// Seconds after which another attempt makes sense, where one does.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::InProgress { retry_after } | Self::TooManyKeys { retry_after } => Some(*retry_after),
            Self::OriginUnreachable { .. } | Self::StoreUnavailable | Self::IdentityUnavailable => Some(SOON),
            Self::OriginUnanswered { .. } => Some(1),
            _ => None,
        }
    }

    /// The draft's titles where it has one (§2.7).
    fn title(&self) -> &'static str {
        match self {
            Self::KeyMissing => "Idempotency-Key is missing",
            Self::KeyInvalid(_) => "Idempotency-Key is invalid",
            Self::CallerInvalid => "The caller cannot be told",
            Self::HeaderInvalid { .. } => "A header field is not UTF-8",
            Self::CallerUnverified(_) => "The caller is not verified",
            Self::IdentityUnavailable => "The caller cannot be verified now",
            Self::CallerChanged => "Idempotency-Key was used by another caller",
            Self::KeyExpired => "Idempotency-Key is too old",
            Self::TooManyKeys { .. } => "Too many keys",
            Self::InProgress { .. } => "A request is outstanding for this Idempotency-Key",
            Self::Reused => "Idempotency-Key is already used",
            Self::OutcomeUnknown { .. } => "The outcome is unknown",
            Self::ReplyUnavailable { .. } => "The answer was not kept",
            Self::OriginUnreachable { .. } => "The origin was not reached",
            Self::OriginUnanswered { .. } | Self::UnansweredUnprotected { .. } => "The origin did not answer",
            Self::StoreUnavailable => "The store cannot be reached",
            Self::ContentTooLarge { .. } | Self::TooManyItems { .. } => "The content is too large",
            Self::ContentIncomplete => "The content did not arrive in full",
            Self::PolicyInvalid { .. } => "The policy is invalid",
            Self::Misconfigured { .. } => "The gate is misconfigured",
            Self::ContentInvalid { .. } => "The content is invalid",
            Self::StateConflict { .. } => "The state does not allow it",
            Self::NoSuchEndpoint => "No such endpoint",
            Self::MethodNotAllowed { .. } => "Method not allowed",
            Self::Unauthorized => "The secret is missing or wrong",
            Self::StillRunning => "The request runs",
            Self::NotDeliverable => "There is nothing to deliver",
            Self::NothingRemembered => "Nothing is remembered",
        }
    }

    fn detail(&self) -> String {
        let said = |status: &Option<u16>| status.map_or_else(String::new, |s| format!(" The origin's status was {s}."));
        match self {
            Self::KeyMissing => {
                "This operation requires an idempotency key. Send one, and the same one when you try again.".to_owned()
            }
            Self::KeyInvalid(why) => format!("{why} Nothing was run."),
            Self::HeaderInvalid { name } => {
                format!("The field {name} holds bytes that are not UTF-8: it cannot be read exactly. Nothing was run.")
            }
            Self::CallerInvalid => format!("{} Nothing was run.", InvalidCaller::Inexact),
            Self::CallerUnverified(why) => {
                format!("{why} Nothing was run. Send the same key again with credentials that are valid.")
            }
            Self::IdentityUnavailable => {
                "The keys that verify the caller's token cannot be had. Nothing was run. Try again later with the same key."
                    .to_owned()
            }
            Self::CallerChanged => "This key was first used by another caller, or under credentials of which none is left. What became of that request is told to its caller alone. Nothing was run by this attempt. Look at the resource before you use a new key.".to_owned(),
            Self::TooManyKeys { .. } => {
                "This caller has sent too many keys. Nothing was run. Try again later with the same key.".to_owned()
            }
            Self::KeyExpired => "This key is older than is taken here, and nothing is remembered under it: whether a request with it took effect is not known any more. Nothing was run by this attempt. Look at the resource before you use a new key.".to_owned(),
            Self::InProgress { .. } => {
                "The first request with this key has not ended. Try again later with the same key.".to_owned()
            }
            Self::Reused => {
                "This key was first used with another request. Nothing was run. Use a new key for a new request."
                    .to_owned()
            }
            Self::OutcomeUnknown { status } => format!(
                "The request with this key may or may not have taken effect, and it is not run again.{} Look at the resource before you use a new key.",
                said(status)
            ),
            Self::ReplyUnavailable { status } => format!(
                "The request with this key was completed with status {status}, but its answer was not kept, or cannot be opened. It is not run again."
            ),
            Self::OriginUnreachable { status } => {
                format!("Nothing was run.{} Try again later with the same key.", said(status))
            }
            Self::OriginUnanswered { status } => format!(
                "It is not known whether the request took effect.{} Try again with the same key: the origin honours it.",
                said(status)
            ),
            Self::UnansweredUnprotected { status, .. } => format!(
                "It is not known whether the request took effect, and it was sent on without protection.{} Look at the resource before you send it again.",
                said(status)
            ),
            Self::StoreUnavailable => {
                "What became of the request with this key cannot be found out now. Try again later with the same key."
                    .to_owned()
            }
            Self::ContentTooLarge { limit } => format!("At most {limit} bytes are taken here. Nothing was run."),
            Self::TooManyItems { limit } => format!("At most {limit} items are taken in one batch. Nothing was run."),
            Self::ContentIncomplete => "Nothing was run. Send the request again with the same key.".to_owned(),
            Self::PolicyInvalid { message } | Self::Misconfigured { message } => {
                format!("{message} Nothing is forwarded until it is mended.")
            }
            Self::ContentInvalid { message } => format!("{message} Nothing was run."),
            Self::StateConflict { state } => format!("The state is \"{state}\". Nothing was changed."),
            Self::NoSuchEndpoint => "Paths of the gate are never forwarded.".to_owned(),
            Self::MethodNotAllowed { allow } => format!("This endpoint takes {allow}."),
            Self::Unauthorized => "Send the operator's secret as a bearer token.".to_owned(),
            Self::StillRunning => "A key whose request runs is not released.".to_owned(),
            Self::NotDeliverable => {
                "Only an accepted request that is dead or of unknown fate is delivered once more.".to_owned()
            }
            Self::NothingRemembered => "Nothing is remembered under this key.".to_owned(),
        }
    }

    /// The status that the origin gave, as the problem's extension member.
    fn origin_status(&self) -> Option<u16> {
        match self {
            Self::OutcomeUnknown { status }
            | Self::OriginUnreachable { status }
            | Self::OriginUnanswered { status }
            | Self::UnansweredUnprotected { status, .. } => *status,
            Self::ReplyUnavailable { status } => Some(*status),
            _ => None,
        }
    }

    /// The whole refusal for its reader: problem details (RFC 9457) or an HTML fragment with the same facts.
    /// Nothing of the request is in it.
    ///
    /// ```
    /// use oncekey::{answer::refusal::Refusal, http::negotiate::{Audience, RefusalForm}};
    ///
    /// let refusal = Refusal::Reused;
    /// let problem = refusal.render(&Audience::default(), None);
    /// assert_eq!(problem.status, 422);
    /// assert!(problem.content.contains(r#""code":"idempotency_key_reused""#));
    /// let page = refusal.render(&Audience { form: RefusalForm::Fragment, ..Audience::default() }, None);
    /// assert!(page.content.starts_with("<div role=\"alert\""));
    /// ```
    pub fn render(&self, audience: &Audience, expires: Option<Millis>) -> GateAnswer {
        let mut lines = HeaderLines::default();
        lines.push(STATUS, self.status_word().as_str());
        lines.push("cache-control", "no-store");
        if let Some(seconds) = self.retry_after() {
            lines.push("retry-after", &seconds.to_string());
        }
        if let Some(at) = expires {
            lines.push(EXPIRES, &date::http_date(at));
        }
        if let Self::MethodNotAllowed { allow } = self {
            lines.push("allow", allow);
        }
        match self {
            // RFC 6750 §3.1: what was sent is not taken.
            Self::CallerUnverified(InvalidCaller::Token(_)) => {
                lines.push("www-authenticate", "Bearer error=\"invalid_token\"");
            }
            Self::Unauthorized | Self::CallerUnverified(_) => lines.push("www-authenticate", "Bearer"),
            _ => {}
        }
        open_lines(&mut lines, audience);
        let (content_type, content) = match audience.form {
            RefusalForm::Problem => ("application/problem+json", self.problem(audience)),
            RefusalForm::Fragment => (HTML, self.fragment()),
            RefusalForm::Page => (HTML, self.page()),
        };
        lines.push("content-type", content_type);
        GateAnswer { status: self.status(), lines, content }
    }

    fn problem(&self, audience: &Audience) -> String {
        let instance = match self {
            Self::OutcomeUnknown { .. } => audience.scoped_key.as_deref().map(|key| [KEYS, key].concat()),
            _ => None,
        };
        to_json(&Problem {
            uri: &["/.oncekey/problems/", self.code()].concat(),
            title: self.title(),
            status: self.status(),
            detail: &self.detail(),
            instance: instance.as_deref(),
            code: self.code(),
            origin_status: self.origin_status(),
            state: match self {
                Self::StateConflict { state } => Some(state),
                _ => None,
            },
        })
    }

    /// Where there is no script the way back is to the site's first page: nothing of the request is in the page.
    fn page(&self) -> String {
        [
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>",
            &escape_html(self.title()),
            "</title>",
            &self.fragment(),
            "<p><a href=\"/\" onclick=\"history.back();return false\">Back</a></p></html>",
        ]
        .concat()
    }

    fn fragment(&self) -> String {
        format!(
            "<div role=\"alert\" class=\"oncekey-problem\" data-code=\"{code}\"><strong>{}</strong> <span>{}</span> <small>{} {code}</small></div>",
            escape_html(self.title()),
            escape_html(&self.detail()),
            self.status(),
            code = self.code(),
        )
    }
}

impl From<InvalidCaller> for Refusal {
    fn from(why: InvalidCaller) -> Self {
        match why {
            InvalidCaller::Inexact => Self::CallerInvalid,
            InvalidCaller::Anonymous | InvalidCaller::Token(_) => Self::CallerUnverified(why),
        }
    }
}

/// The `detail` of its problem.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail())
    }
}

impl Error for Refusal {}

/// Problem details (RFC 9457 §3) with the gate's own members.
#[derive(Serialize)]
struct Problem<'r> {
    #[serde(rename = "type")]
    uri: &'r str,
    title: &'r str,
    status: u16,
    detail: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'r str>,
    code: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'r str>,
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
