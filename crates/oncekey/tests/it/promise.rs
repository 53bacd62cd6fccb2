//! Random histories of one accepted request, against a model of what was promised: taken once, delivered once, tried
//! until its retention ends, and never two deliveries at a time.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState},
    decide::{
        accepted::{
            AcceptDecision, DeliveryAnswer, DeliveryDecision, decide_accept, decide_after_delivery_probe,
            decide_delivery, next_alarm, settle_delivery,
        },
        attempt::ProbeResult,
        look::peek_record,
        outcome::{EffectOutcome, RecordChange, Settlement, outcome_of_broken_answer, outcome_of_status},
    },
    fingerprint::Fingerprint,
    key::scoped::ScopedKey,
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        record::{Claim, Delivery, KeptReply, Owner, Record},
    },
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
/// Statuses, and what the contract says of them: an end, another try, or silence.
const STATUSES: [(u16, Says); 13] = [
    (200, Says::Done),
    (204, Says::Done),
    (303, Says::Done),
    (400, Says::Declined),
    (422, Says::Declined),
    (401, Says::Again),
    (429, Says::Again),
    (503, Says::Again),
    (521, Says::Again),
    (500, Says::Ambiguous),
    (599, Says::Ambiguous),
    (408, Says::Silence),
    (504, Says::Silence),
];
const STEPS: [u64; 6] = [1, 400, 1_000, 5_000, 20_000, 400_000];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Done,
    Declined,
    Again,
    Ambiguous,
    Silence,
}

#[derive(Clone, Debug)]
enum Event {
    Arrive {
        other: bool,
    },
    Answer {
        which: usize,
        retry_after: u64,
    },
    Break {
        which: usize,
    },
    Fail,
    Told {
        status: Option<u16>,
    },
    Crash,
    Late {
        status: u16,
    },
    Pass {
        step: usize,
    },
    /// Time goes by until the alarm rings.
    Wake,
}

/// What became of the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing was taken, or it was declined.
    Free,
    /// It will be delivered.
    Waits,
    /// It is delivered.
    Runs,
    /// Its owner died, or nothing was heard: whether it took effect is open.
    Open,
    Answered,
    Unknown,
}

struct World {
    now: u64,
    terms: Terms,
    stored: Option<Vec<u8>>,
    alarm: Option<u64>,
    owner: Owner,
    running: Option<Claim>,
    asking: Option<Delivery>,
    asked_at: u64,
    past: Vec<Claim>,
    jitter: u32,
    fate: Fate,
    /// Until when it may be tried, and until when what is known is remembered.
    until: u64,
    known_until: u64,
    /// When the origin wants to be left alone no longer.
    not_before: u64,
    lease_until: u64,
}

impl World {
    fn new(terms: Terms) -> Self {
        Self {
            now: 1_000_000,
            terms,
            stored: None,
            alarm: None,
            owner: Owner::default(),
            running: None,
            asking: None,
            asked_at: 0,
            past: Vec::new(),
            jitter: 0,
            fate: Fate::Free,
            until: 0,
            known_until: 0,
            not_before: 0,
            lease_until: 0,
        }
    }

    fn record(&self) -> Option<Record> {
        self.stored.as_deref().map(|bytes| Record::decode(bytes).expect("what was stored can be read"))
    }

    fn save(&mut self, record: &Record) {
        self.stored = Some(record.encode());
        assert_eq!(self.record().as_ref(), Some(record));
        let at = next_alarm(record, self.now);
        assert!(at > self.now || !matches!(record, Record::Accepted(_)), "an alarm in the past: {record:?}");
        self.alarm = Some(at);
    }

    fn ends(&mut self, fate: Fate) {
        self.fate = fate;
        self.known_until = self.now + u64::from(self.terms.retention) * 1000;
    }

    fn attempt(&self, other: bool) -> Attempt {
        Attempt {
            scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
            fingerprint: PRINTS[usize::from(other)].parse::<Fingerprint>().unwrap(),
            terms: self.terms.clone(),
            header: "Idempotency-Key".to_owned(),
            callers: None,
            basis: None,
        }
    }

    fn arrive(&mut self, other: bool) {
        let forgotten = matches!(self.fate, Fate::Answered | Fate::Unknown) && self.now >= self.known_until;
        let free = self.fate == Fate::Free || forgotten;
        let first = free && !other;
        match decide_accept(self.record().as_ref(), self.owner, &self.attempt(other), self.now) {
            // The other request would be as good a first one; histories are of this one.
            AcceptDecision::Store(_) if free && other => {}
            AcceptDecision::Store(record) if first => {
                self.stored = Some(record.encode());
                self.alarm = Some(self.now);
                self.fate = Fate::Waits;
                self.until = self.now + u64::from(self.terms.retention) * 1000;
                self.not_before = self.now;
            }
            AcceptDecision::Duplicate => assert!(!free && !other),
            AcceptDecision::Refuse { refusal, .. } => {
                assert!(!free && other);
                assert_eq!(refusal.code(), "idempotency_key_reused");
            }
            AcceptDecision::Store(record) => panic!("taken twice: {record:?}"),
        }
    }

    /// A delivery begins.
    fn deliver(&mut self, delivery: Delivery) {
        assert!(self.running.is_none() && self.asking.is_none(), "two deliveries at a time");
        assert!(self.now < self.until, "tried after its retention");
        assert!(self.now >= self.not_before, "before the origin wanted it");
        match self.fate {
            Fate::Waits => {}
            Fate::Open => {
                assert_ne!(self.terms.unanswered, Unanswered::Hold, "an effect after one of unknown fate");
                assert!(self.now >= self.lease_until || self.terms.unanswered != Unanswered::Rerun);
            }
            fate => panic!("delivered where {fate:?}"),
        }
        let before = self.record().map_or(0, |record| record.claim().generation).max(self.owner.latest);
        assert!(delivery.claim.generation > before, "a generation twice");
        self.fate = Fate::Runs;
        self.lease_until = delivery.claim.lease_until;
        self.owner = Owner { running: Some(delivery.claim.generation), latest: delivery.claim.generation };
        self.running = Some(delivery.claim.clone());
        self.save(&Record::Accepted(delivery));
    }

    fn end(&mut self, status: Option<u16>, says: Says, whole: bool, retry_after: u64) {
        let Some(claim) = self.running.take() else {
            return;
        };
        let course = if whole {
            outcome_of_status(status, &self.terms)
        } else {
            outcome_of_broken_answer(status.unwrap_or(0), &self.terms)
        };
        let (EffectOutcome::Pass { then, .. } | EffectOutcome::Refuse { then, .. }) = course;
        let kept = KeptReply::Whole(ReplyHead::without_lines(status.unwrap_or(0)));
        let heard = DeliveryAnswer { status: status.filter(|_| whole), retry_after };
        self.past.push(claim.clone());
        self.owner.running = None;
        let settled = settle_delivery(self.record().as_ref(), &claim, then, kept, heard, self.jitter, self.now);
        let silent = says == Says::Silence || (!whole && says != Says::Again);
        self.not_before = 0;
        match settled {
            Settlement::Late => panic!("an owner that lives is never late"),
            Settlement::Release => {
                assert!(says == Says::Declined && !silent && self.terms.keep == Keep::Success);
                self.fate = Fate::Free;
                self.stored = None;
                self.alarm = None;
            }
            Settlement::Store(record @ Record::Completed { .. }) => {
                let kept = match says {
                    Says::Done => true,
                    Says::Declined => self.terms.keep == Keep::Definite,
                    Says::Ambiguous => self.terms.server_error == ServerError::Keep,
                    Says::Again | Says::Silence => false,
                };
                assert!(kept && !silent, "{says:?} kept");
                self.ends(Fate::Answered);
                self.save(&record);
            }
            Settlement::Store(record @ Record::Unknown { .. }) => {
                let held = if silent {
                    self.terms.unanswered == Unanswered::Hold
                } else {
                    says == Says::Ambiguous && self.terms.server_error == ServerError::Hold
                };
                assert!(held, "{says:?} held");
                self.ends(Fate::Unknown);
                self.save(&record);
            }
            Settlement::Store(record) => {
                let again = if silent {
                    self.terms.unanswered != Unanswered::Hold
                } else {
                    says == Says::Again || (says == Says::Ambiguous && self.terms.server_error == ServerError::Release)
                };
                assert!(again, "{says:?} tried again");
                let asks = silent && matches!(self.terms.unanswered, Unanswered::Probe(_));
                self.fate = if asks { Fate::Open } else { Fate::Waits };
                self.not_before = (self.now + retry_after).min(self.until);
                // Whose fate is asked for has its lease still: a 404 counts when that is over.
                if !asks {
                    self.lease_until = 0;
                }
                self.save(&record);
            }
        }
    }

    fn gives_up(&self) -> bool {
        match self.fate {
            Fate::Waits => self.now >= self.until,
            Fate::Open => self.now >= self.until || self.terms.unanswered == Unanswered::Hold,
            _ => false,
        }
    }

    fn wake(&mut self) {
        // Alarms are one after another: none rings while what it began goes on.
        if self.running.is_some() || self.asking.is_some() {
            return;
        }
        let Some(at) = self.alarm else {
            assert_eq!(self.fate, Fate::Free, "nobody will look again");
            return;
        };
        self.now = self.now.max(at);
        let record = self.record();
        let decided = decide_delivery(record.as_ref(), self.owner, self.now);
        self.follow(decided);
    }

    fn follow(&mut self, decided: DeliveryDecision) {
        match decided {
            DeliveryDecision::Delete => {
                let over = matches!(self.fate, Fate::Answered | Fate::Unknown) && self.now >= self.known_until;
                assert!(over, "forgotten where {:?}", self.fate);
                self.fate = Fate::Free;
                self.stored = None;
                self.alarm = None;
            }
            DeliveryDecision::Later(at) => {
                assert!(at > self.now);
                self.alarm = Some(at);
            }
            DeliveryDecision::Deliver(delivery) => self.deliver(delivery),
            DeliveryDecision::Probe { delivery, path } => {
                assert_eq!((self.fate, path), (Fate::Open, format!("/lookup/{SCOPED}")));
                assert!(self.now < self.until && self.now >= self.not_before);
                self.alarm = Some(next_alarm(&Record::Accepted(delivery.clone()), self.now));
                self.asked_at = self.now;
                self.asking = Some(delivery);
            }
            DeliveryDecision::Store(record) => {
                assert!(self.gives_up(), "given up where {:?}", self.fate);
                assert!(matches!(record, Record::Unknown { .. }));
                self.ends(Fate::Unknown);
                self.save(&record);
            }
            DeliveryDecision::Nothing => panic!("nobody else decides here"),
        }
    }

    fn told(&mut self, status: Option<u16>) {
        let Some(asking) = self.asking.take() else {
            return;
        };
        let kept = KeptReply::Whole(ReplyHead::without_lines(status.unwrap_or(0)));
        let record = self.record();
        let found = ProbeResult::of(status, self.asked_at, asking.claim.lease_until);
        match decide_after_delivery_probe(record.as_ref(), &asking, self.owner, found, kept, self.jitter, self.now) {
            DeliveryDecision::Store(record @ Record::Completed { .. }) => {
                assert_eq!(found, ProbeResult::Answer);
                self.ends(Fate::Answered);
                self.save(&record);
            }
            DeliveryDecision::Store(record @ Record::Accepted(_)) => {
                assert!(matches!(found, ProbeResult::Unclear | ProbeResult::TooEarly));
                self.not_before =
                    if found == ProbeResult::TooEarly { asking.claim.lease_until.min(self.until) } else { 0 };
                self.save(&record);
            }
            decided => {
                assert_eq!(found, ProbeResult::Nothing);
                assert!(self.asked_at >= asking.claim.lease_until, "delivered again while the first may still work");
                self.follow(decided);
            }
        }
    }

    fn crash(&mut self) {
        self.now += 1;
        self.owner = Owner::default();
        self.asking = None;
        if let Some(claim) = self.running.take() {
            self.past.push(claim);
            self.fate = Fate::Open;
        }
    }

    fn late(&self, status: u16) {
        let record = self.record();
        let heard = DeliveryAnswer { status: Some(status), retry_after: 0 };
        for claim in &self.past {
            // A dead owner's claim is still the last word on its delivery.
            let is_last = matches!(&record, Some(Record::Accepted(delivery)) if delivery.claim == *claim);
            if !is_last {
                let kept = KeptReply::Whole(ReplyHead::without_lines(status));
                let settled = settle_delivery(record.as_ref(), claim, RecordChange::Keep, kept, heard, 0, self.now);
                assert_eq!(settled, Settlement::Late);
            }
        }
    }

    fn look(&self) {
        let expect = match self.fate {
            Fate::Free => "absent",
            Fate::Answered | Fate::Unknown if self.now >= self.known_until => "absent",
            Fate::Answered => "completed",
            Fate::Unknown => "unknown",
            Fate::Runs => "running",
            Fate::Waits | Fate::Open if self.now >= self.until => "unknown",
            // The last delivery was settled as open, or its owner is known to be gone.
            Fate::Open if self.terms.unanswered == Unanswered::Hold => "unknown",
            Fate::Waits | Fate::Open => "running",
        };
        let found = match peek_record(self.record().as_ref(), self.owner, self.now) {
            PeekState::Absent => "absent",
            PeekState::Running => "running",
            PeekState::Completed { .. } => "completed",
            PeekState::Unknown { expires } => {
                assert!(expires.is_some_and(|expires| expires > self.now), "an unknown fate without an end");
                "unknown"
            }
        };
        assert_eq!(found, expect, "{:?} at {}", self.fate, self.now);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { other } => self.arrive(other),
            Event::Answer { which, retry_after } => {
                let (status, says) = STATUSES[which];
                self.end(Some(status), says, true, retry_after);
            }
            Event::Break { which } => {
                let (status, says) = STATUSES[which];
                self.end(Some(status), says, false, 0);
            }
            Event::Fail => self.end(None, Says::Silence, true, 0),
            Event::Told { status } => self.told(status),
            Event::Crash => self.crash(),
            Event::Late { status } => self.late(status),
            Event::Pass { step } => {
                // An object cannot sleep through its alarm by more than it was down.
                self.now += STEPS[step];
            }
            Event::Wake => self.wake(),
        }
        assert_eq!(self.stored.is_some(), self.fate != Fate::Free, "{:?}", self.fate);
        assert_eq!(self.stored.is_some(), self.alarm.is_some(), "what is stored is looked at again");
        self.look();
    }

    /// Whatever happened, it ends: an origin that answers gets what was promised, and then the storage is given back.
    fn finish(mut self) {
        self.crash();
        let open = matches!(self.fate, Fate::Waits | Fate::Open);
        let hope = open && self.alarm.is_some_and(|at| self.now.max(at).max(self.lease_until) < self.until);
        for _ in 0..8 {
            self.wake();
            self.told(Some(404));
            self.end(Some(200), Says::Done, true, 0);
            self.look();
            if hope && self.fate == Fate::Unknown {
                assert_eq!(self.terms.unanswered, Unanswered::Hold, "given up too early");
            }
        }
        assert_eq!((self.fate, self.stored), (Fate::Free, None), "storage that is never given back");
    }
}

fn some_terms() -> impl Strategy<Value = Terms> {
    let keep = prop_oneof![Just(Keep::Success), Just(Keep::Definite)];
    let server_error =
        prop_oneof![3 => Just(ServerError::Release), 1 => Just(ServerError::Hold), 1 => Just(ServerError::Keep)];
    let unanswered = prop_oneof![
        Just(Unanswered::Hold),
        Just(Unanswered::Rerun),
        Just(Unanswered::Probe("/lookup/{key}".to_owned())),
    ];
    (keep, server_error, unanswered, 1..30_u32, 1..600_u32).prop_map(
        |(keep, server_error, unanswered, lease, retention)| Terms {
            keep,
            server_error,
            unanswered,
            lease,
            patience: 25,
            wait: 0,
            retention,
            max_stored: 1,
        },
    )
}

fn some_event() -> impl Strategy<Value = Event> {
    let told = prop_oneof![Just(Some(200)), Just(Some(404)), Just(Some(500)), Just(None)];
    prop_oneof![
        4 => any::<bool>().prop_map(|other| Event::Arrive { other }),
        6 => (0..STATUSES.len(), prop_oneof![3 => Just(0), 1 => 0..100_000_u64])
            .prop_map(|(which, retry_after)| Event::Answer { which, retry_after }),
        1 => (0..STATUSES.len()).prop_map(|which| Event::Break { which }),
        2 => Just(Event::Fail),
        3 => told.prop_map(|status| Event::Told { status }),
        3 => Just(Event::Crash),
        1 => (200..600_u16).prop_map(|status| Event::Late { status }),
        2 => (0..STEPS.len()).prop_map(|step| Event::Pass { step }),
        10 => Just(Event::Wake),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn what_was_accepted_is_delivered_once(
        terms in some_terms(), jitter in any::<u32>(), events in vec(some_event(), 0..60),
    ) {
        let mut world = World::new(terms);
        world.jitter = jitter;
        world.happen(Event::Arrive { other: false });
        for event in events {
            world.happen(event);
        }
        world.finish();
    }
}
