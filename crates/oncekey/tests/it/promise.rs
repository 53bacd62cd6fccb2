//! Random histories of one accepted request, against a model of what was promised: taken once, delivered once, tried
//! until its retention ends, never two deliveries at a time, and never lost: dead or unknown, it is kept for the
//! operator, who has it delivered once more or ends it.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState},
    decide::{
        accepted::{
            AcceptDecision, DeliveryAnswer, DeliveryDecision, RedeliveryDecision, decide_accept,
            decide_after_delivery_probe, decide_delivery, decide_redelivery, next_alarm, settle_delivery,
        },
        attempt::ProbeResult,
        look::{ReleaseDecision, decide_release, peek_record},
        outcome::{EffectOutcome, RecordChange, Settlement, outcome_of_broken_answer, outcome_of_status},
    },
    fingerprint::Fingerprint,
    key::{scoped::ScopedKey, seal::SealKeys},
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        record::{Claim, Delivery, DeliveryStage, KeptReply, Owner, Record},
        storing::Storing,
    },
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
/// Statuses, and what the contract says of them: an end, another try, or silence.
const STATUSES: [(u16, Says); 16] = [
    (200, Says::Done),
    (204, Says::Done),
    (303, Says::Done),
    (400, Says::Declined),
    (422, Says::Declined),
    (307, Says::Declined),
    (401, Says::Refused),
    (403, Says::Refused),
    (425, Says::Refused),
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
    /// The gate itself is refused.
    Refused,
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
    /// The operator wants it delivered.
    Redeliver,
    /// The operator ends it.
    Release,
}

/// What became of the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing was taken, or it was forgotten.
    Free,
    /// It will be delivered.
    Waits,
    /// It is delivered.
    Runs,
    /// Its owner died, or nothing was heard: whether it took effect is open.
    Open,
    Answered,
    Unknown,
    /// It took no effect, and is tried no more by itself.
    Dead,
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
    /// How often the gate itself was refused.
    refusals: u32,
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
            refusals: 0,
        }
    }

    /// The fate as it is now: the alarm that ends it may be late.
    fn fate(&self) -> Fate {
        match self.fate {
            Fate::Answered | Fate::Unknown | Fate::Dead if self.now >= self.known_until => Fate::Free,
            Fate::Waits if self.now >= self.until => Fate::Dead,
            Fate::Open if self.gives_up() => Fate::Unknown,
            fate => fate,
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
            age: None,
            seal: SealKeys::default(),
        }
    }

    fn arrive(&mut self, other: bool) {
        let fate = self.fate();
        match decide_accept(self.record().as_ref(), self.owner, &self.attempt(other), self.now) {
            // The other request would be as good a first one; histories are of this one.
            AcceptDecision::Store(_) if fate == Fate::Free && other => {}
            AcceptDecision::Store(record) => {
                assert_eq!(fate, Fate::Free, "taken twice: {record:?}");
                self.stored = Some(record.encode());
                self.alarm = Some(self.now);
                self.waits();
            }
            AcceptDecision::Duplicate => {
                assert!(!other && matches!(fate, Fate::Waits | Fate::Runs | Fate::Open | Fate::Answered), "{fate:?}");
            }
            AcceptDecision::Refuse { refusal, .. } if other => assert_eq!(refusal.code(), "idempotency_key_reused"),
            AcceptDecision::Refuse { refusal, .. } => {
                assert_eq!(refusal.code(), "outcome_unknown");
                assert!(matches!(fate, Fate::Dead | Fate::Unknown), "{fate:?}");
            }
        }
    }

    /// It will be tried from now on, for a retention.
    fn waits(&mut self) {
        self.fate = Fate::Waits;
        self.until = self.now + u64::from(self.terms.retention) * 1000;
        self.not_before = self.now;
        self.refusals = 0;
        self.lease_until = 0;
    }

    fn redeliver(&mut self) {
        let fate = self.fate();
        match decide_redelivery(self.record().as_ref(), self.owner, self.now) {
            RedeliveryDecision::Absent => assert_eq!(fate, Fate::Free),
            RedeliveryDecision::Refuse => {
                assert!(matches!(fate, Fate::Waits | Fate::Runs | Fate::Open | Fate::Answered), "{fate:?}");
            }
            RedeliveryDecision::Store(delivery) => {
                assert!(matches!(fate, Fate::Dead | Fate::Unknown), "{fate:?}");
                self.stored = Some(Record::Accepted(delivery).encode());
                self.alarm = Some(self.now);
                self.waits();
            }
        }
    }

    fn release(&mut self) {
        let found = decide_release(self.record().as_ref(), self.owner, self.now);
        let expect = match self.fate() {
            Fate::Free => ReleaseDecision::Absent,
            Fate::Runs => ReleaseDecision::Running,
            Fate::Waits | Fate::Open | Fate::Answered | Fate::Unknown | Fate::Dead => ReleaseDecision::Done,
        };
        assert_eq!(found, expect);
        if found == ReleaseDecision::Done {
            let seen = self.record().map_or(0, |record| record.claim().generation);
            self.owner.latest = self.owner.latest.max(seen);
            self.fate = Fate::Free;
            self.stored = None;
            self.alarm = None;
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
        let heard = DeliveryAnswer { status: status.unwrap_or(0), is_whole: whole, retry_after };
        self.past.push(claim.clone());
        self.owner.running = None;
        let settled = settle_delivery(self.record().as_ref(), &claim, then, kept, heard, self.jitter, self.now);
        let says = match says {
            // Of a status that never consumes a key the rest of the answer is of no account.
            _ if !whole && status == Some(307) => Says::Again,
            Says::Again | Says::Refused if !whole => Says::Again,
            _ if !whole => Says::Silence,
            says => says,
        };
        self.refusals += u32::from(says == Says::Refused);
        let expect = match says {
            Says::Done => Fate::Answered,
            Says::Declined => Fate::Dead,
            Says::Refused if self.refusals > 5 => Fate::Dead,
            Says::Refused | Says::Again => Fate::Waits,
            Says::Ambiguous => match self.terms.server_error {
                ServerError::Release => Fate::Waits,
                ServerError::Hold => Fate::Unknown,
                ServerError::Keep => Fate::Answered,
            },
            Says::Silence if self.terms.unanswered == Unanswered::Hold => Fate::Unknown,
            Says::Silence => Fate::Open,
        };
        let Settlement::Store(record) = settled else {
            panic!("an owner that lives is never late, and nothing is forgotten: {settled:?}");
        };
        let found = match &record {
            Record::Completed { .. } => Fate::Answered,
            Record::Accepted(Delivery { stage, .. }) => match stage {
                DeliveryStage::Waiting { .. } => Fate::Waits,
                DeliveryStage::Asking { .. } => Fate::Open,
                DeliveryStage::Dead { .. } => Fate::Dead,
                DeliveryStage::Unknown { .. } => Fate::Unknown,
                DeliveryStage::Running => panic!("it has ended"),
            },
            record => panic!("{record:?}"),
        };
        assert_eq!(found, expect, "{says:?}");
        self.not_before = 0;
        if matches!(found, Fate::Waits | Fate::Open) {
            self.fate = found;
            self.not_before = (self.now + retry_after).min(self.until);
            // Whose fate is asked for has its lease still: a 404 counts when that is over.
            if !matches!(self.terms.unanswered, Unanswered::Probe(_)) || found == Fate::Waits {
                self.lease_until = 0;
            }
        } else {
            self.ends(found);
        }
        self.save(&record);
    }

    fn gives_up(&self) -> bool {
        match self.fate {
            Fate::Waits => self.now >= self.until,
            Fate::Open => self.now >= self.until || self.terms.unanswered == Unanswered::Hold,
            _ => false,
        }
    }

    fn wake(&mut self) {
        if self.running.is_some() {
            // The platform rings one alarm after another, but no object relies on that.
            let decided = decide_delivery(self.record().as_ref(), self.owner, self.now);
            assert!(matches!(decided, DeliveryDecision::Later(at) if at > self.now), "a second one: {decided:?}");
            return;
        }
        if self.asking.is_some() {
            return;
        }
        let Some(at) = self.alarm else {
            assert_eq!(self.fate, Fate::Free, "nobody will look again");
            return;
        };
        self.now = self.now.max(at);
        let record = self.record();
        let decided = decide_delivery(record.as_ref(), self.owner, self.now);
        self.follow(decided, false);
    }

    /// `denied`: the origin said that it did not happen.
    fn follow(&mut self, decided: DeliveryDecision, denied: bool) {
        match decided {
            DeliveryDecision::Delete => {
                assert_eq!(self.fate(), Fate::Free, "forgotten where {:?}", self.fate);
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
                let Record::Accepted(Delivery { stage, .. }) = &record else { panic!("{record:?}") };
                let (is_dead, is_unknown) =
                    (matches!(stage, DeliveryStage::Dead { .. }), matches!(stage, DeliveryStage::Unknown { .. }));
                // Of what is open nothing is known, unless the origin says that it did not happen.
                assert!(if self.fate == Fate::Waits || denied { is_dead } else { is_unknown }, "{record:?}");
                self.ends(if is_dead { Fate::Dead } else { Fate::Unknown });
                self.save(&record);
            }
            DeliveryDecision::Nothing => panic!("nobody else has decided"),
        }
    }

    fn told(&mut self, status: Option<u16>) {
        let Some(asking) = self.asking.take() else {
            return;
        };
        let kept = KeptReply::Whole(ReplyHead::without_lines(status.unwrap_or(0)));
        let record = self.record();
        let found = ProbeResult::of(status, self.asked_at, asking.claim.lease_until);
        let is_same = record == Some(Record::Accepted(asking.clone()));
        match decide_after_delivery_probe(record.as_ref(), &asking, self.owner, found, kept, self.jitter, self.now) {
            DeliveryDecision::Nothing => assert!(!is_same, "an answer that counts for nothing"),
            // The operator has decided meanwhile.
            decided if !is_same => panic!("{decided:?}"),
            DeliveryDecision::Store(record @ Record::Completed { .. }) => {
                assert_eq!(found, ProbeResult::Answer);
                self.ends(Fate::Answered);
                self.save(&record);
            }
            DeliveryDecision::Store(
                record @ Record::Accepted(Delivery { stage: DeliveryStage::Asking { .. }, .. }),
            ) => {
                assert!(matches!(found, ProbeResult::Unclear | ProbeResult::TooEarly));
                self.not_before =
                    if found == ProbeResult::TooEarly { asking.claim.lease_until.min(self.until) } else { 0 };
                self.save(&record);
            }
            decided => {
                assert_eq!(found, ProbeResult::Nothing);
                assert!(self.asked_at >= asking.claim.lease_until, "delivered again while the first may still work");
                self.follow(decided, true);
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
        let heard = DeliveryAnswer { status, is_whole: true, retry_after: 0 };
        for claim in &self.past {
            // A dead owner's claim is still the last word on its delivery.
            let is_last = matches!(&record, Some(Record::Accepted(delivery))
                if delivery.claim == *claim && delivery.stage == DeliveryStage::Running);
            if !is_last {
                let kept = KeptReply::Whole(ReplyHead::without_lines(status));
                let settled = settle_delivery(record.as_ref(), claim, RecordChange::Keep, kept, heard, 0, self.now);
                assert_eq!(settled, Settlement::Late);
            }
        }
    }

    fn look(&self) {
        let expect = match self.fate() {
            Fate::Free => "absent",
            Fate::Waits | Fate::Runs | Fate::Open => "running",
            Fate::Answered => "completed",
            Fate::Unknown => "unknown",
            Fate::Dead => "dead",
        };
        let found = match peek_record(self.record().as_ref(), self.owner, self.now) {
            PeekState::Absent | PeekState::Expired => "absent",
            PeekState::Running => "running",
            PeekState::Completed { .. } => "completed",
            PeekState::Dead { expires, .. } => {
                assert!(expires > self.now, "dead without an end");
                "dead"
            }
            PeekState::Unknown { expires, .. } => {
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
            Event::Redeliver => self.redeliver(),
            Event::Release => self.release(),
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
            assert!(!hope || self.fate != Fate::Dead, "lost");
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
        |(keep, server_error, unanswered, lease, retention)| {
            let (patience, wait, max_stored, storing) = (25, 0, 1, Storing::default());
            let route = String::new();
            Terms { keep, server_error, unanswered, lease, patience, wait, retention, max_stored, storing, route }
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
        2 => Just(Event::Redeliver),
        1 => Just(Event::Release),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn what_was_accepted_is_delivered_once(
        terms in some_terms(), jitter in any::<u32>(), habit in option::of(0..STATUSES.len()),
        events in vec(some_event(), 0..100),
    ) {
        let mut world = World::new(terms);
        world.jitter = jitter;
        world.happen(Event::Arrive { other: false });
        for event in events {
            world.happen(match (event, habit) {
                // Most origins answer in one way for a while.
                (Event::Answer { which: 1.., retry_after: 0 } | Event::Fail | Event::Crash | Event::Release, Some(habit)) => {
                    Event::Answer { which: habit, retry_after: 0 }
                }
                (event, _) => event,
            });
        }
        world.finish();
    }
}
