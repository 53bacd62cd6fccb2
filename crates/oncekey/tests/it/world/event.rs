//! The events of which histories are made, and their random choice.
use oncekey::{
    policy::{Keep, ServerError, Unanswered},
    stored::{attempt::Terms, storing::Storing, told::Listeners},
};
use proptest::prelude::{Just, Strategy, any, prop_oneof};

/// What an origin does with a request, and what is heard of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Whether it takes effect, after this share of the lease, in hundredths.
    pub lands: Option<u64>,
    /// When its end is heard, in hundredths of the lease; not before it landed, where it answers.
    pub ends: u64,
    pub heard: Heard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A whole answer.
    Answer(u16),
    /// An answer whose content breaks off.
    Part(u16),
    /// The connection ends.
    Nothing,
    /// Nothing until the lease ends.
    Silence,
}

/// The answers of origins that took effect, of those that did not, and of those that do not say.
pub const LANDED: [Heard; 6] =
    [Heard::Answer(200), Heard::Answer(201), Heard::Answer(303), Heard::Part(200), Heard::Part(400), Heard::Part(500)];
pub const NOT_LANDED: [Heard; 10] = [
    Heard::Answer(400),
    Heard::Answer(422),
    Heard::Answer(401),
    Heard::Answer(307),
    Heard::Answer(308),
    Heard::Answer(425),
    Heard::Answer(503),
    Heard::Part(503),
    Heard::Answer(521),
    Heard::Answer(530),
];
pub const UNCLEAR: [Heard; 9] = [
    Heard::Nothing,
    Heard::Nothing,
    Heard::Silence,
    Heard::Answer(500),
    Heard::Answer(501),
    Heard::Answer(502),
    Heard::Answer(504),
    Heard::Answer(408),
    Heard::Part(500),
];
pub const STEPS: [u64; 7] = [1, 499, 1_000, 1_700, 4_000, 11_000, 100_000];

#[derive(Clone, Debug)]
pub enum Event {
    /// An attempt with one of two contents, by one of three callers or by nobody, on a policy's terms.
    Arrive { content: usize, caller: usize, terms: Terms, behaviour: Behaviour, probe: Probe },
    /// Time goes by, and what is due happens.
    Pass { step: usize },
    /// The object loses its memory and keeps its storage.
    Crash,
    /// Another build takes over, which writes what this one cannot read; or this one comes back.
    Deploy,
    /// The operator releases the key.
    Free,
    /// Who is told of fates takes them from now on, or does not.
    Hear(Listeners),
}

/// How the origin answers, should it be asked.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// The truth, or else what does not tell.
    pub says: Option<Option<u16>>,
    /// Milliseconds until it is heard.
    pub takes: u64,
}

fn some_terms() -> impl Strategy<Value = Terms> {
    let keep = prop_oneof![Just(Keep::Success), Just(Keep::Definite)];
    let server_error =
        prop_oneof![1 => Just(ServerError::Release), 2 => Just(ServerError::Hold), 2 => Just(ServerError::Keep)];
    let unanswered = prop_oneof![
        2 => Just(Unanswered::Hold),
        1 => Just(Unanswered::Rerun),
        3 => Just(Unanswered::Probe("/lookup/{key}".to_owned())),
    ];
    (keep, server_error, unanswered, 1..6_u32, 1..60_u32).prop_map(
        |(keep, server_error, unanswered, lease, retention)| Terms {
            keep,
            server_error,
            unanswered,
            lease,
            patience: 25,
            wait: 0,
            retention,
            max_stored: 1,
            storing: Storing::default(),
            route: String::new(),
        },
    )
}

fn some_behaviour() -> impl Strategy<Value = Behaviour> {
    let landed = prop_oneof![3 => (0..LANDED.len()).prop_map(|at| LANDED[at]), 5 => (0..UNCLEAR.len()).prop_map(|at| UNCLEAR[at])];
    let not_landed = prop_oneof![2 => (0..NOT_LANDED.len()).prop_map(|at| NOT_LANDED[at]), 2 => (0..UNCLEAR.len()).prop_map(|at| UNCLEAR[at])];
    prop_oneof![
        // What is heard before it lands says nothing of it.
        3 => (0..=100_u64, 0..=100_u64, landed).prop_map(|(lands, ends, heard)| Behaviour {
            lands: Some(lands),
            ends,
            heard,
        }),
        2 => (0..=100_u64, not_landed).prop_map(|(ends, heard)| Behaviour { lands: None, ends, heard }),
    ]
}

pub fn some_listeners() -> impl Strategy<Value = Listeners> {
    (any::<bool>(), any::<bool>()).prop_map(|(policy, index)| Listeners { policy, index })
}

pub fn some_event() -> impl Strategy<Value = Event> {
    let content = prop_oneof![6 => Just(0), 1 => Just(1)];
    let caller = prop_oneof![4 => Just(1), 2 => Just(2), 1 => Just(0), 1 => Just(3_usize)];
    let probe = (prop_oneof![4 => Just(None), 1 => Just(Some(None)), 1 => Just(Some(Some(500)))], 0..3_000_u64)
        .prop_map(|(says, takes)| Probe { says, takes });
    prop_oneof![
        12 => (content, caller, some_terms(), some_behaviour(), probe).prop_map(
            |(content, caller, terms, behaviour, probe)| Event::Arrive { content, caller, terms, behaviour, probe }
        ),
        8 => (0..STEPS.len()).prop_map(|step| Event::Pass { step }),
        2 => Just(Event::Crash),
        1 => Just(Event::Deploy),
        1 => Just(Event::Free),
        1 => some_listeners().prop_map(Event::Hear),
    ]
}
