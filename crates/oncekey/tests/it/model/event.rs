//! The events of which histories are made, and their random choice.
use oncekey::{
    policy::{Keep, ServerError, Unanswered},
    stored::{attempt::Terms, storing::Storing},
};
use proptest::prelude::{Just, Strategy, any, prop_oneof};

use super::reference::STATUSES;

/// What an origin says when it is asked for an effect.
pub const FOUND: [Option<u16>; 6] = [Some(200), Some(404), Some(404), Some(410), Some(500), None];
/// Milliseconds by which the clock goes on: about leases, waits and retentions.
pub const STEPS: [u64; 7] = [1, 499, 999, 1000, 3000, 11_000, 100_000];

/// What happens next.
#[derive(Clone, Debug)]
pub enum Event {
    /// An attempt, of this request or of the other.
    Arrive { other: bool, terms: Terms },
    /// The origin answers, with content that is too large to keep or not.
    Answer { status: usize, large: bool },
    /// The origin's content breaks off.
    Break { status: usize },
    /// The connection fails.
    Fail,
    /// The lease runs out.
    LeaseEnds,
    /// The object loses its memory and keeps its storage.
    Crash,
    /// An execution of the past settles.
    Late { which: usize, status: u16 },
    /// Time goes by.
    Pass { step: usize },
    /// The alarm rings.
    Ring,
    /// Somebody looks.
    Look,
    /// The operator releases the key.
    Free,
    /// A probe is answered.
    Told { which: usize, found: usize },
    /// A duplicate has waited long enough.
    WaitEnds { which: usize },
}

pub fn some_terms() -> impl Strategy<Value = Terms> {
    let keep = prop_oneof![Just(Keep::Success), Just(Keep::Definite)];
    let server_error = prop_oneof![Just(ServerError::Release), Just(ServerError::Hold), Just(ServerError::Keep)];
    let unanswered = prop_oneof![
        Just(Unanswered::Hold),
        Just(Unanswered::Rerun),
        Just(Unanswered::Probe("/lookup/{key}".to_owned())),
    ];
    let seconds = (1..4_u32, prop_oneof![Just(0), 1..4_u32], 1..12_u32);
    (keep, server_error, unanswered, seconds).prop_map(|(keep, server_error, unanswered, (lease, wait, retention))| {
        Terms {
            keep,
            server_error,
            unanswered,
            lease,
            patience: 25,
            wait,
            retention,
            max_stored: 1,
            storing: Storing::default(),
            route: String::new(),
        }
    })
}

pub fn some_event(terms: impl Strategy<Value = Terms> + 'static) -> impl Strategy<Value = Event> {
    let status = || 0..STATUSES.len();
    let other = prop_oneof![4 => Just(false), 1 => Just(true)];
    prop_oneof![
        12 => (other, terms).prop_map(|(other, terms)| Event::Arrive { other, terms }),
        5 => (status(), any::<bool>()).prop_map(|(status, large)| Event::Answer { status, large }),
        2 => status().prop_map(|status| Event::Break { status }),
        2 => Just(Event::Fail),
        1 => Just(Event::LeaseEnds),
        2 => Just(Event::Crash),
        2 => (any::<usize>(), 200..600_u16).prop_map(|(which, status)| Event::Late { which, status }),
        4 => (0..STEPS.len()).prop_map(|step| Event::Pass { step }),
        1 => Just(Event::Ring),
        1 => Just(Event::Look),
        1 => Just(Event::Free),
        4 => (any::<usize>(), 0..FOUND.len()).prop_map(|(which, found)| Event::Told { which, found }),
        2 => any::<usize>().prop_map(|which| Event::WaitEnds { which }),
    ]
}
