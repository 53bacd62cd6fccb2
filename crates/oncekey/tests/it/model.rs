//! Random histories of one key, played by a shell that stores what the core decides, against the reference model.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState, refusal::Refusal},
    decide::{
        alarm::{AlarmDecision, decide_alarm, first_alarm},
        attempt::{AfterProbe, Decision, ProbeResult, decide, decide_since_probe},
        look::{ReleaseDecision, decide_release, peek_record},
        outcome::{
            EffectOutcome, RecordChange, Settlement, outcome_of_broken_answer, outcome_of_status, settle_attempt,
        },
    },
    fingerprint::Fingerprint,
    http::{fields::Fields, negotiate::Audience},
    key::{scoped::ScopedKey, seal::SealKeys},
    policy::Unanswered,
    stored::{
        attempt::{Attempt, Terms},
        record::{Cause, Claim, KeptReply, Owner, Record},
    },
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, proptest};

mod event;
mod reference;

use event::{Event, FOUND, STEPS, some_event, some_terms};
use reference::{DeliveryAnswer, End, Expect, Fate, Learnt, Model, STATUSES};

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
/// An execution whose owner lives.
struct Running {
    attempt: Attempt,
    claim: Claim,
}

/// A probe that is under way.
struct Asking {
    attempt: Attempt,
    waited: bool,
    /// When the origin was asked, and until when the execution that it is asked about may work.
    at: u64,
    lease_until: u64,
    asked: Option<Record>,
    revision: usize,
}

/// One object and its storage, beside the model of what they must do.
struct Gate {
    now: u64,
    stored: Option<Vec<u8>>,
    alarm: Option<u64>,
    owner: Owner,
    running: Option<Running>,
    waiting: Vec<Attempt>,
    asking: Vec<Asking>,
    past: Vec<Claim>,
    replies: usize,
    /// Where every route says hold: until when no effect may follow one that had no answer.
    held_until: u64,
    model: Model,
}

fn is_other(attempt: &Attempt) -> bool {
    attempt.fingerprint.as_str() == PRINTS[1]
}

fn head(status: u16, reply: usize) -> ReplyHead {
    let fields = Fields::new(format!("content-type,text/plain\nx-reply,{reply}"));
    ReplyHead::keep(status, &fields)
}

fn says_retry(refusal: &Refusal) -> bool {
    matches!(refusal.code(), "request_in_progress" | "origin_unreachable" | "origin_unanswered" | "store_unavailable")
}

impl Gate {
    fn new() -> Self {
        Self {
            now: 1_000_000,
            stored: None,
            alarm: None,
            owner: Owner::default(),
            running: None,
            waiting: Vec::new(),
            asking: Vec::new(),
            past: Vec::new(),
            replies: 0,
            held_until: 0,
            model: Model::default(),
        }
    }

    fn record(&self) -> Option<Record> {
        let bytes = self.stored.as_deref()?;
        Some(Record::decode(bytes).expect("what was stored can be read"))
    }

    fn save(&mut self, record: &Record) {
        if let Some(old @ Record::Completed { .. }) = self.record() {
            assert!(self.now >= old.expires(), "a retained reply was overwritten: {record:?}");
        }
        self.stored = Some(record.encode());
        assert_eq!(self.record().as_ref(), Some(record));
    }

    fn clear(&mut self) {
        self.stored = None;
        self.alarm = None;
    }

    fn attempt(&mut self, attempt: Attempt, waited: bool) {
        let record = self.record();
        let expect = self.model.expect(is_other(&attempt), &attempt.terms, waited, self.now);
        match (decide(record.as_ref(), self.owner, &attempt, waited, self.now), expect) {
            (Decision::Execute(claim), Expect::Run) => self.execute(attempt, claim),
            (Decision::Wait { seconds }, Expect::Wait) => {
                assert!(seconds >= 1 && seconds == attempt.terms.wait);
                self.waiting.push(attempt);
            }
            (Decision::Probe { path, lease_until }, Expect::Ask) => {
                assert_eq!(path, format!("/lookup/{SCOPED}"));
                self.asking.push(Asking {
                    at: self.now,
                    lease_until,
                    attempt,
                    waited,
                    asked: record,
                    revision: self.model.revision,
                });
            }
            (Decision::Replay { head: found, expires }, Expect::Replay { reply, status, until }) => {
                assert_eq!((found, expires), (head(status, reply), until));
            }
            (Decision::Refuse { refusal, expires }, Expect::Refuse { code, status, retry_after, until }) => {
                assert_eq!((refusal.code(), expires), (code, until));
                assert_eq!(refusal.retry_after().map(u64::from), retry_after);
                self.check_refusal(&refusal, status, expires);
            }
            (decision, expect) => panic!("{decision:?} where {expect:?}"),
        }
    }

    /// A refusal says either when to come again or until when it stands.
    fn check_refusal(&self, refusal: &Refusal, status: Option<u16>, expires: Option<u64>) {
        match refusal {
            Refusal::OutcomeUnknown { status: said }
            | Refusal::OriginUnreachable { status: said }
            | Refusal::OriginUnanswered { status: said } => assert_eq!(*said, status),
            Refusal::ReplyUnavailable { status: said } => assert_eq!(Some(*said), status),
            _ => assert_eq!(status, None),
        }
        if says_retry(refusal) {
            assert!(refusal.retry_after().is_some_and(|seconds| seconds >= 1), "{refusal:?}");
        } else {
            assert_eq!(refusal.retry_after(), None, "{refusal:?}");
        }
        if matches!(refusal.code(), "outcome_unknown" | "reply_unavailable") {
            assert!(expires.is_some_and(|at| at > self.now), "{refusal:?} without an end");
        }
        let said = refusal.render(&Audience::default(), expires);
        assert_eq!(said.lines.into_json().contains("retry-after"), says_retry(refusal));
    }

    fn execute(&mut self, attempt: Attempt, claim: Claim) {
        assert!(self.running.is_none(), "two live claims on one key");
        let before = self.record().map_or(0, |record| record.claim().generation).max(self.owner.latest);
        assert!(claim.generation > before, "generation {} after {before}", claim.generation);
        if attempt.terms.unanswered == Unanswered::Hold {
            assert!(self.now >= self.held_until, "an effect after one of unknown fate");
        }
        self.held_until = 0;
        self.model.began(is_other(&attempt), &attempt.terms, self.now);
        self.save(&Record::Claimed(claim.clone()));
        self.alarm = Some(first_alarm(&claim, self.now));
        self.owner = Owner { running: Some(claim.generation), latest: claim.generation };
        self.running = Some(Running { attempt, claim });
    }

    fn end(&mut self, end: End) {
        let Some(Running { attempt, claim }) = self.running.take() else {
            return;
        };
        let terms = &attempt.terms;
        self.replies += 1;
        let reply = self.replies;
        let (course, kept) = match end {
            End::Whole { status, large: true, .. } => {
                (outcome_of_status(Some(status), terms), KeptReply::Tombstone { status })
            }
            End::Whole { status, .. } => {
                (outcome_of_status(Some(status), terms), KeptReply::Whole(head(status, reply)))
            }
            End::Broken { status, .. } => {
                (outcome_of_broken_answer(status, terms), KeptReply::Whole(head(status, reply)))
            }
            End::Nothing => (outcome_of_status(None, terms), KeptReply::Whole(head(0, reply))),
        };
        let settled = self.record();
        let then = match &course {
            EffectOutcome::Pass { then, .. } | EffectOutcome::Refuse { then, .. } => *then,
        };
        match settle_attempt(settled.as_ref(), &claim, then, kept, self.now) {
            Settlement::Late => panic!("an owner that lives is never late"),
            Settlement::Release => self.clear(),
            Settlement::Store(record) => self.save(&record),
        }
        let expires = self.record().map(|record| record.expires());
        match (course, self.model.ended(end, terms, reply, self.now)) {
            (EffectOutcome::Pass { word, .. }, DeliveryAnswer::Answer { word: expect }) => {
                assert_eq!(word.as_str(), expect)
            }
            (EffectOutcome::Refuse { refusal, .. }, DeliveryAnswer::Problem { code, status }) => {
                assert_eq!(refusal.code(), code);
                self.check_refusal(&refusal, status, expires);
            }
            (course, heard) => panic!("{course:?} where {heard:?}"),
        }
        if matches!(then, RecordChange::Hold { cause: Cause::Unanswered, .. }) {
            self.held_until = expires.expect("what is held has an end");
        }
        self.past.push(claim);
        self.owner.running = None;
        for waiter in std::mem::take(&mut self.waiting) {
            self.attempt(waiter, true);
        }
    }

    fn crash(&mut self) {
        // A restart takes time.
        self.now += 1;
        self.owner = Owner::default();
        self.waiting.clear();
        self.asking.clear();
        if let Some(Running { claim, .. }) = self.running.take() {
            self.held_until = claim.lease_until + u64::from(claim.retention) * 1000;
            self.past.push(claim);
            self.model.died();
        }
    }

    fn late(&self, which: usize, status: u16) {
        let record = self.record();
        let Some(claim) = self.past.get(which % self.past.len().max(1)) else {
            return;
        };
        // A dead owner's claim is still the last word on its effect.
        if record == Some(Record::Claimed(claim.clone())) {
            return;
        }
        let cause = Cause::Unanswered;
        for then in [RecordChange::Keep, RecordChange::Release, RecordChange::Hold { cause, status: Some(status) }] {
            let kept = KeptReply::Whole(head(status, 0));
            assert_eq!(settle_attempt(record.as_ref(), claim, then, kept, self.now), Settlement::Late);
        }
    }

    fn ring(&mut self) {
        match decide_alarm(self.record().as_ref(), self.owner, self.now) {
            AlarmDecision::Delete => {
                assert!(self.model.remembered(self.now).is_none(), "deleted before its time");
                if self.stored.is_some() {
                    self.model.forgotten();
                }
                self.clear();
            }
            AlarmDecision::Later(at) => {
                assert!(self.model.remembered(self.now).is_some(), "kept beyond its time");
                assert!(at > self.now);
                self.alarm = Some(at);
            }
        }
    }

    fn look(&self) -> PeekState {
        let before = self.stored.clone();
        let found = peek_record(self.record().as_ref(), self.owner, self.now);
        let expect = match self.model.remembered(self.now) {
            None => PeekState::Absent,
            Some(known) => match known.fate {
                Fate::Runs => PeekState::Running,
                Fate::Answered { status, .. } | Fate::TooLarge { status } => {
                    PeekState::Completed { status, expires: known.until }
                }
                Fate::OwnerDied | Fate::Ambiguous { .. } | Fate::Silent { .. } => {
                    PeekState::Unknown { status: None, expires: Some(known.until) }
                }
            },
        };
        assert_eq!(found, expect);
        assert_eq!(self.stored, before);
        found
    }

    fn free(&mut self) {
        let found = decide_release(self.record().as_ref(), self.owner, self.now);
        match self.look() {
            PeekState::Absent | PeekState::Expired => assert_eq!(found, ReleaseDecision::Absent),
            PeekState::Running => assert_eq!(found, ReleaseDecision::Running),
            PeekState::Completed { .. } | PeekState::Dead { .. } | PeekState::Unknown { .. } => {
                assert_eq!(found, ReleaseDecision::Done);
                // Memory counts what the store no longer does.
                let seen = self.record().map_or(0, |record| record.claim().generation);
                self.owner.latest = self.owner.latest.max(seen);
                self.clear();
                self.held_until = 0;
                self.model.forgotten();
            }
        }
    }

    fn told(&mut self, which: usize, status: Option<u16>) {
        if self.asking.is_empty() {
            return;
        }
        let Asking { at, lease_until, attempt, waited, asked, revision } =
            self.asking.remove(which % self.asking.len());
        self.replies += 1;
        let kept = KeptReply::Whole(head(status.unwrap_or(0), self.replies));
        let record = self.record();
        let found = decide_since_probe(
            asked.as_ref(),
            record.as_ref(),
            self.owner,
            &attempt,
            ProbeResult::of(status, at, lease_until),
            kept,
            self.now,
        );
        match (found, self.model.found(revision, at, status, self.replies, self.now)) {
            (AfterProbe::Store(record), Learnt::Answer) => {
                self.held_until = 0;
                self.save(&record);
                self.attempt(attempt, waited);
            }
            (AfterProbe::Execute(claim), Learnt::Run) => self.execute(attempt, claim),
            (AfterProbe::Refuse { refusal, .. }, Learnt::Early(seconds)) => {
                assert_eq!(refusal.code(), "request_in_progress");
                assert_eq!(refusal.retry_after().map(u64::from), Some(seconds));
            }
            (AfterProbe::Refuse { refusal, expires }, Learnt::Nothing) => {
                let status = match self.model.remembered(self.now).map(|known| known.fate) {
                    Some(Fate::Silent { status }) => status,
                    _ => None,
                };
                self.check_refusal(&refusal, status, Some(expires));
                assert_eq!(self.look(), PeekState::Unknown { status: None, expires: Some(expires) });
            }
            (AfterProbe::Moved, Learnt::Moved) => self.attempt(attempt, waited),
            (found, learnt) => panic!("{found:?} where {learnt:?}"),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { other, terms } => {
                let attempt = Attempt {
                    scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
                    fingerprint: PRINTS[usize::from(other)].parse::<Fingerprint>().unwrap(),
                    terms,
                    header: "Idempotency-Key".to_owned(),
                    callers: None,
                    basis: None,
                    age: None,
                    seal: SealKeys::default(),
                };
                self.attempt(attempt, false);
            }
            Event::Answer { status, large } => {
                let (status, class) = STATUSES[status];
                self.end(End::Whole { status, class, large });
            }
            Event::Break { status } => {
                let (status, class) = STATUSES[status];
                self.end(End::Broken { status, class });
            }
            Event::Fail => self.end(End::Nothing),
            Event::LeaseEnds => {
                if let Some(running) = &self.running {
                    self.now = self.now.max(running.claim.lease_until);
                    self.end(End::Nothing);
                }
            }
            Event::Crash => self.crash(),
            Event::Late { which, status } => self.late(which, status),
            Event::Pass { step } => self.now += STEPS[step],
            Event::Ring => self.ring(),
            Event::Look => drop(self.look()),
            Event::Free => self.free(),
            Event::Told { which, found } => self.told(which, FOUND[found]),
            Event::WaitEnds { which } => {
                if !self.waiting.is_empty() {
                    let waiter = self.waiting.remove(which % self.waiting.len());
                    self.attempt(waiter, true);
                }
            }
        }
        assert_eq!(self.stored.is_some(), self.alarm.is_some(), "what is stored is given back by an alarm");
        self.look();
    }

    /// Whatever happened, the storage is given back in the end, and the key is free.
    fn finish(mut self) {
        self.crash();
        for _ in 0..3 {
            if let Some(at) = self.alarm {
                self.now = self.now.max(at);
                self.ring();
            }
        }
        assert_eq!(self.stored, None, "storage that is never given back");
        assert_eq!(self.look(), PeekState::Absent);
    }
}

fn play(events: Vec<Event>) {
    let mut gate = Gate::new();
    for event in events {
        gate.happen(event);
    }
    gate.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    /// The policy may change between any two attempts.
    #[test]
    fn under_changing_policies(events in vec(some_event(some_terms()), 0..60)) {
        play(events);
    }

    /// One policy that holds whatever had no answer.
    #[test]
    fn under_one_policy_that_holds(
        events in some_terms().prop_flat_map(|terms| {
            let terms = Terms { unanswered: Unanswered::Hold, ..terms };
            vec(some_event(Just(terms)), 0..60)
        }),
    ) {
        play(events);
    }

    /// One policy that asks the origin.
    #[test]
    fn under_one_policy_that_probes(
        events in some_terms().prop_flat_map(|terms| {
            let terms = Terms { unanswered: Unanswered::Probe("/lookup/{key}".to_owned()), ..terms };
            vec(some_event(Just(terms)), 0..60)
        }),
    ) {
        play(events);
    }
}
