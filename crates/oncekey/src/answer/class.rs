//! What a status of the origin tells about the effect.

/// What a status tells about the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    /// 2xx, 3xx but those below: it happened, or will.
    Done,
    /// 4xx but those below: it was refused.
    Declined,
    /// The request was not taken, for a reason that is not its own: it may come again. 307 and 308 are among them: the
    /// same method and content are to be sent to another place (RFC 9110 §15.4.8, §15.4.9), with the same key.
    NeverConsumes,
    /// A proxy says that it did not reach the origin.
    NeverReached,
    /// Every other 5xx: something happened.
    Ambiguous,
    /// No answer of the origin's own, or none that HTTP knows.
    Unanswered,
}

/// Sorts an origin's status. A status outside 200 to 599 is no final answer (RFC 9110 §15).
///
/// ```
/// use oncekey::answer::class::{StatusClass, classify};
///
/// assert_eq!(classify(201), StatusClass::Done);
/// assert_eq!(classify(429), StatusClass::NeverConsumes);
/// assert_eq!(classify(504), StatusClass::Unanswered);
/// ```
pub fn classify(status: u16) -> StatusClass {
    match status {
        408 | 502 | 504 | 520 | 522 | 524 => StatusClass::Unanswered,
        307 | 308 | 401 | 403 | 407 | 425 | 429 | 503 => StatusClass::NeverConsumes,
        521 | 523 | 525 | 526 | 530 => StatusClass::NeverReached,
        200..=399 => StatusClass::Done,
        400..=499 => StatusClass::Declined,
        500..=599 => StatusClass::Ambiguous,
        _ => StatusClass::Unanswered,
    }
}

/// Whether a status refuses the gate rather than the request: credentials, a place in the way, a time. It may pass, and
/// mostly does not.
pub fn refuses_gate(status: u16) -> bool {
    matches!(status, 401 | 403 | 407 | 425)
}

/// Whether a status ends a delivery without an effect. 307 and 308 do as well as what is declined: there is no caller who
/// would follow them, and the gate follows none.
///
/// ```
/// use oncekey::answer::class::declines_delivery;
///
/// assert!(declines_delivery(404) && declines_delivery(308));
/// assert!(!declines_delivery(302) && !declines_delivery(429));
/// ```
pub fn declines_delivery(status: u16) -> bool {
    matches!(status, 307 | 308) || classify(status) == StatusClass::Declined
}
