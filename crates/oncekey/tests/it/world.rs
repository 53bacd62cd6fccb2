//! Random histories of one key before an origin that has a clock of its own: an effect begins, lands, and its answer comes,
//! late, in part or not at all. What the gate decides is not asked here, only what is seen from outside: how many
//! effects landed, and whether what was said is true.
//!
//! No second effect lands unless somebody allowed it: a route that says `release` or `rerun`, the operator, the end of
//! what is remembered. One thing is taken for granted: an effect lands before its lease ends, or never.
use oncekey::{
    answer::{head::ReplyHead, peek::PeekState, refusal::Refusal},
    decide::{
        accepted::{DeliveryDecision, decide_delivery},
        attempt::{AfterProbe, Decision, ProbeResult, decide, decide_since_probe},
        look::{ReleaseDecision, decide_release, peek_record},
        outcome::{EffectOutcome, Settlement, outcome_of_broken_answer, outcome_of_status, settle_attempt},
    },
    fingerprint::Fingerprint,
    http::fields::Fields,
    key::{InvalidKey, age::KeyAge, caller::CallerDigest, scoped::ScopedKey, seal::SealKeys},
    policy::{Keep, ServerError, Unanswered},
    stored::{
        attempt::{Attempt, Terms},
        frame::Unreadable,
        record::{Claim, KeptReply, Owner, Record},
        told::Listeners,
    },
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

mod event;
mod telling;

use event::{Behaviour, Event, Heard, Probe, STEPS, some_event, some_listeners};
use telling::Telling;

const SCOPED: &str = "37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
const PRINTS: [&str; 2] =
    ["1.37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY", "1.hU9vxvilLsILVXIMC9GQglHKqHSMVCY8pvVFoWbwuEM"];
/// A version of stored forms that no build reads yet.
const LATER_VERSION: u8 = 200;

struct Execution {
    content: usize,
    caller: usize,
    terms: Terms,
    claim: Claim,
    lands_at: Option<u64>,
    ends_at: u64,
    heard: Heard,
    /// Whether its owner died before its end.
    has_died: bool,
    /// Whether somebody allowed another one since.
    forgiven: bool,
    /// The answer's mark, where the gate may keep it.
    reply: usize,
}

/// An attempt of which the origin is asked.
struct Asking {
    attempt: Attempt,
    event: (usize, usize, Behaviour, Probe),
    asked: Result<Option<Record>, Unreadable>,
    asked_at: u64,
    lease_until: u64,
    heard_at: u64,
    status: Option<u16>,
}

struct World {
    now: u64,
    stored: Option<Vec<u8>>,
    alarm: Option<u64>,
    owner: Owner,
    executions: Vec<Execution>,
    /// The one whose owner lives.
    running: Option<usize>,
    asking: Vec<Asking>,
    /// Until when what happened last is remembered; `None` while it runs, or where nothing is.
    remembered_until: Option<u64>,
    /// The mark of the answer that the origin gave to a question, and the content that it answers.
    answered: Option<(usize, u16)>,
    /// Whose key it is.
    first_caller: Option<usize>,
    replies: usize,
    is_other_build: bool,
    /// What took effect may be remembered no more.
    is_forgotten: bool,
    /// The key's own time and how old it may be, where the route says so.
    age: Option<KeyAge>,
    telling: Telling,
}

fn head(status: u16, reply: usize) -> ReplyHead {
    ReplyHead::keep(status, &Fields::new(format!("x-reply,{reply}")))
}

fn callers(caller: usize) -> Option<Vec<CallerDigest>> {
    let digest = |value: u8| CallerDigest(vec![value; 16]);
    Some(match caller {
        0 => vec![],
        1 => vec![digest(1)],
        2 => vec![digest(1), digest(2)],
        _ => vec![digest(3)],
    })
}

fn attempt_of(content: usize, caller: usize, terms: Terms) -> Attempt {
    Attempt {
        scoped_key: SCOPED.parse::<ScopedKey>().unwrap(),
        fingerprint: PRINTS[content].parse::<Fingerprint>().unwrap(),
        terms,
        header: "Idempotency-Key".to_owned(),
        callers: callers(caller),
        basis: None,
        age: None,
        seal: SealKeys::default(),
    }
}

/// Whether an answer is too large to keep.
fn is_large(reply: usize) -> bool {
    reply.is_multiple_of(5)
}

/// No answer of the origin's own, or only a part of one.
fn is_unanswered(heard: Heard) -> bool {
    match heard {
        Heard::Answer(status) => matches!(status, 408 | 502 | 504),
        Heard::Part(status) => status != 503,
        Heard::Nothing | Heard::Silence => true,
    }
}

impl World {
    fn new(listeners: Listeners) -> Self {
        Self {
            now: 1_000_000,
            stored: None,
            alarm: None,
            owner: Owner::default(),
            executions: Vec::new(),
            running: None,
            asking: Vec::new(),
            remembered_until: None,
            answered: None,
            first_caller: None,
            replies: 0,
            is_other_build: false,
            is_forgotten: false,
            age: None,
            telling: Telling::new(listeners),
        }
    }

    /// Until when is remembered what ends then.
    fn until(&self, end: u64, retention: u32) -> u64 {
        end.max(self.age.map_or(0, |age| age.time)) + u64::from(retention) * 1000
    }

    fn found(&self) -> Result<Option<Record>, Unreadable> {
        self.stored.as_deref().map(Record::decode).transpose()
    }

    fn save(&mut self, record: &Record) {
        self.stored = Some(record.encode());
    }

    fn clear(&mut self) {
        self.stored = None;
        self.alarm = None;
    }

    /// The key is free.
    fn free_key(&mut self) {
        self.remembered_until = None;
        self.first_caller = None;
        self.forgive();
    }

    /// Somebody allowed another execution.
    fn forgive(&mut self) {
        for execution in &mut self.executions {
            execution.forgiven = true;
        }
        self.answered = None;
    }

    /// The last execution, where nobody allowed another.
    fn last(&self) -> Option<&Execution> {
        self.executions.last().filter(|execution| !execution.forgiven)
    }

    fn may_have_landed(&self) -> bool {
        self.executions.iter().any(|execution| !execution.forgiven && execution.lands_at.is_some())
    }

    /// What is remembered ends by itself.
    fn forget_in_time(&mut self) {
        if self.remembered_until.is_some_and(|until| self.now >= until) {
            if let Some(age) = self.age {
                // What took effect is forgotten, and must not do so again.
                assert!(self.now > age.time + u64::from(age.most) * 1000, "forgotten while the key is young");
                self.remembered_until = None;
                self.first_caller = None;
                self.is_forgotten = true;
            } else {
                self.free_key();
            }
        }
    }

    fn arrive(&mut self, attempt: &Attempt, event: (usize, usize, Behaviour, Probe)) {
        self.forget_in_time();
        let found = self.found();
        match decide(&found, self.owner, attempt, true, self.now) {
            Decision::Execute(claim) => {
                // The route lets it run again, as soon as no execution of a dead owner works any more.
                let may_rerun = self.last().is_some_and(|last| {
                    if last.has_died {
                        last.claim.lease_until <= self.now
                    } else {
                        is_unanswered(last.heard) && self.running.is_none() && self.answered.is_none()
                    }
                });
                if attempt.terms.unanswered == Unanswered::Rerun && may_rerun {
                    self.forgive();
                }
                self.execute(attempt, claim, event);
            }
            Decision::Wait { .. } => panic!("it has waited"),
            Decision::Open { .. } => panic!("nothing is sealed"),
            Decision::Probe { lease_until, .. } => {
                let (_, _, _, probe) = event;
                let landed = self.executions.iter().any(|past| past.lands_at.is_some_and(|at| at <= self.now));
                let truth = Some(if landed { 200 } else { 404 });
                self.asking.push(Asking {
                    attempt: attempt.clone(),
                    event,
                    asked: found,
                    asked_at: self.now,
                    lease_until,
                    heard_at: self.now + probe.takes,
                    status: probe.says.unwrap_or(truth),
                });
            }
            Decision::Replay { head: said, expires } => {
                assert_eq!(Some(expires), self.remembered_until, "replayed until then");
                let last = self.last().expect("an answer of nobody");
                assert_eq!(PRINTS[last.content], attempt.fingerprint.as_str(), "the answer to another request");
                assert!(last.caller == 0 || event.1 != 0, "shown to nobody");
                assert!((last.caller == 3) == (event.1 == 3) || last.caller == 0, "another caller's answer");
                let (reply, status) = match (self.answered, last.heard) {
                    (Some(answered), _) => answered,
                    (None, Heard::Answer(status)) => (last.reply, status),
                    (None, heard) => panic!("replayed where {heard:?}"),
                };
                assert_eq!(said, head(status, reply), "another answer");
            }
            Decision::Refuse { refusal, expires } => self.hear(&refusal, expires, attempt),
        }
    }

    /// What a refusal says is true.
    fn hear(&self, refusal: &Refusal, expires: Option<u64>, attempt: &Attempt) {
        let last = self.last();
        match refusal {
            Refusal::InProgress { .. } => {
                let works = |last: &Execution| last.ends_at.max(last.claim.lease_until) > self.now;
                assert!(last.is_some_and(works), "nothing is in progress");
            }
            Refusal::ReplyUnavailable { status } => assert!(
                last.is_some_and(|last| is_large(last.reply) && last.heard == Heard::Answer(*status)),
                "an answer that is there"
            ),
            Refusal::Reused => assert_ne!(last.map(|last| PRINTS[last.content]), Some(attempt.fingerprint.as_str())),
            Refusal::KeyExpired => {
                let age = self.age.expect("of a key without an age");
                assert!(self.now > age.time + u64::from(age.most) * 1000 && self.remembered_until.is_none());
                assert!(self.running.is_none());
            }
            Refusal::KeyInvalid(InvalidKey::Ahead) => {
                assert!(self.age.expect("of a key without an age").time > self.now + 300_000);
                assert!(self.executions.is_empty(), "it was not ahead before");
            }
            Refusal::CallerChanged => assert!(last.is_some_and(|last| last.caller != 0)),
            Refusal::OutcomeUnknown { .. } => {
                assert!(last.is_some(), "unknown, of nothing");
                if !self.is_other_build {
                    assert!(self.running.is_none(), "unknown, while it runs");
                }
            }
            refusal => panic!("{refusal:?}"),
        }
        if let Some(expires) = expires {
            assert!(expires > self.now && Some(expires) == self.remembered_until, "{refusal:?} until {expires}");
        }
    }

    fn execute(&mut self, attempt: &Attempt, claim: Claim, event: (usize, usize, Behaviour, Probe)) {
        let (content, caller, behaviour, _) = event;
        assert!(self.running.is_none(), "two executions at a time");
        assert!(!self.may_have_landed(), "a second effect");
        let lease = u64::from(attempt.terms.lease) * 1000;
        assert_eq!(claim.lease_until, self.now + lease);
        assert_eq!(claim.retention, attempt.terms.retention);
        assert!(self.executions.last().is_none_or(|last| last.forgiven || last.claim.generation < claim.generation));
        self.save(&Record::Claimed(claim.clone()));
        self.alarm = self.alarm_of_claim(&claim);
        self.telling.is_resolved();
        self.owner = Owner { running: Some(claim.generation), latest: claim.generation };
        self.replies += 1;
        self.running = Some(self.executions.len());
        self.remembered_until = None;
        self.answered = None;
        let first_caller = *self.first_caller.get_or_insert(caller);
        self.executions.push(Execution {
            content,
            caller: first_caller,
            terms: attempt.terms.clone(),
            lands_at: behaviour.lands.map(|share| self.now + lease * share.min(behaviour.ends) / 100),
            ends_at: match behaviour.heard {
                Heard::Silence => claim.lease_until,
                _ => self.now + lease * behaviour.ends / 100,
            },
            claim,
            heard: behaviour.heard,
            has_died: false,
            forgiven: false,
            reply: self.replies,
        });
    }

    /// The running execution ends.
    fn end(&mut self) {
        let Some(execution) = self.running.take().and_then(|at| self.executions.get(at)) else {
            return;
        };
        let Execution { terms, claim, heard, reply, .. } = execution;
        let (outcome, kept) = match *heard {
            Heard::Answer(status) => (outcome_of_status(Some(status), terms), head(status, *reply)),
            Heard::Part(status) => (outcome_of_broken_answer(status, terms), head(status, *reply)),
            Heard::Nothing | Heard::Silence => (outcome_of_status(None, terms), head(0, *reply)),
        };
        let allows = match *heard {
            unanswered if is_unanswered(unanswered) => terms.unanswered == Unanswered::Rerun,
            Heard::Answer(400 | 422) => terms.keep == Keep::Success,
            Heard::Answer(500 | 501) => terms.server_error == ServerError::Release,
            Heard::Answer(status) => !matches!(status, 200..=303),
            Heard::Part(_) | Heard::Nothing | Heard::Silence => true,
        };
        let (EffectOutcome::Pass { then, .. } | EffectOutcome::Refuse { then, .. }) = outcome;
        if let EffectOutcome::Refuse { refusal: Refusal::OriginUnreachable { .. }, .. } = outcome {
            assert_eq!(execution.lands_at, None, "unreachable, it says");
        }
        let until = self.until(self.now, terms.retention);
        let kept = if is_large(*reply) { KeptReply::Tombstone { status: kept.status } } else { KeptReply::Whole(kept) };
        match settle_attempt(&self.found(), claim, then, kept, self.now) {
            Settlement::Late => panic!("an owner that lives is never late"),
            Settlement::Release => {
                assert!(allows, "released");
                self.clear();
                self.free_key();
            }
            Settlement::Store(record) => {
                assert!(!allows, "held");
                assert_eq!(record.expires(), until);
                self.remembered_until = Some(until);
                self.save(&record);
                self.settled(&record);
            }
        }
        self.owner.running = None;
    }

    /// The first question under way is answered.
    fn told(&mut self, which: usize) {
        let Asking { attempt, event, asked, asked_at, lease_until, status, .. } = self.asking.remove(which);
        self.forget_in_time();
        let found = ProbeResult::of(status, asked_at, lease_until);
        self.replies += 1;
        let kept = KeptReply::Whole(head(status.unwrap_or(0), self.replies));
        match decide_since_probe(&asked, &self.found(), self.owner, &attempt, found, kept, self.now) {
            AfterProbe::Store(record) => {
                assert!(self.executions.iter().any(|past| past.lands_at.is_some()), "an answer to nothing");
                self.answered = Some((self.replies, status.unwrap_or(0)));
                let last = self.last().expect("asked for nobody");
                self.remembered_until = Some(self.until(self.now, last.claim.retention));
                self.save(&record);
                self.alarm = Some(record.expires());
                self.telling.is_resolved();
                self.arrive(&attempt, event);
            }
            AfterProbe::Execute(claim) => self.execute(&attempt, claim, event),
            // The question was too early, and the lease may have ended since.
            AfterProbe::Refuse { refusal: Refusal::InProgress { retry_after }, .. } => {
                assert!(found == ProbeResult::TooEarly && retry_after >= 1);
            }
            AfterProbe::Refuse { refusal, expires } => self.hear(&refusal, Some(expires), &attempt),
            AfterProbe::Moved => self.arrive(&attempt, event),
        }
    }

    fn ring(&mut self) {
        if !self.tell() {
            return;
        }
        match decide_delivery(&self.found(), self.owner, self.now) {
            DeliveryDecision::Delete => {
                self.forget_in_time();
                assert!(!self.may_have_landed() || self.is_forgotten, "deleted before its time");
                // What another build cannot read it gives back, but not before its time.
                assert!(!self.telling.owes() || self.found().is_err(), "a fate that nobody was told of");
                self.telling.is_resolved();
                self.clear();
            }
            DeliveryDecision::Later(at) => {
                assert!(at > self.now);
                self.alarm = self.ring_at(at);
                assert!(self.alarm > Some(self.now));
            }
            decided => panic!("{decided:?}"),
        }
    }

    fn crash(&mut self) {
        self.owner = Owner::default();
        self.asking.clear();
        if let Some(execution) = self.running.take().and_then(|at| self.executions.get_mut(at)) {
            execution.has_died = true;
            let Claim { lease_until, retention, generation, .. } = execution.claim;
            self.telling.opens(generation);
            self.remembered_until = Some(self.until(lease_until, retention));
        }
    }

    fn deploy(&mut self) {
        self.crash();
        self.is_other_build = !self.is_other_build;
        if let Some(version) = self.stored.as_mut().and_then(|bytes| bytes.first_mut()) {
            *version = if *version == LATER_VERSION { 2 } else { LATER_VERSION };
        }
    }

    fn free(&mut self) {
        self.forget_in_time();
        match decide_release(&self.found(), self.owner, self.now) {
            ReleaseDecision::Done => {
                assert!(self.running.is_none(), "released while it runs");
                self.telling.is_resolved();
                self.clear();
                self.free_key();
            }
            ReleaseDecision::Absent => assert!(!self.may_have_landed() || self.is_forgotten, "absent, it says"),
            ReleaseDecision::Running => assert!(self.running.is_some(), "running, it says"),
        }
    }

    fn pass(&mut self, until: u64) {
        loop {
            let ends = self.running.and_then(|at| self.executions.get(at)).map(|execution| execution.ends_at);
            let told = self.asking.iter().map(|asking| asking.heard_at).min();
            let Some(next) = [ends, told, self.alarm].into_iter().flatten().min().filter(|at| *at <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if ends == Some(next) {
                self.end();
            } else if let Some(which) = self.asking.iter().position(|asking| asking.heard_at == next) {
                self.told(which);
            } else {
                self.ring();
            }
            self.look();
        }
        self.now = self.now.max(until);
    }

    fn look(&mut self) {
        self.forget_in_time();
        match peek_record(&self.found(), self.owner, self.now) {
            PeekState::Absent | PeekState::Expired => {
                let is_none = !self.may_have_landed() || self.is_forgotten;
                assert!(is_none && self.running.is_none(), "absent, it says");
            }
            PeekState::Running => assert!(self.running.is_some(), "running, it says"),
            PeekState::Completed { expires, .. } => assert_eq!(Some(expires), self.remembered_until),
            PeekState::Unknown { expires, .. } => assert_eq!(expires, self.remembered_until, "unknown until then"),
            PeekState::Dead { .. } => panic!("nothing was accepted"),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { content, caller, terms, behaviour, probe } => {
                let attempt = Attempt { age: self.age, ..attempt_of(content, caller, terms) };
                self.arrive(&attempt, (content, caller, behaviour, probe));
            }
            Event::Pass { step } => self.pass(self.now + STEPS[step]),
            Event::Crash => self.crash(),
            Event::Deploy => self.deploy(),
            Event::Free => self.free(),
            Event::Hear(hears) => self.telling.hears = hears,
        }
        self.look();
    }

    /// In the end the key is free, and nothing is stored.
    fn finish(mut self) {
        if self.is_other_build {
            self.deploy();
        }
        self.crash();
        self.telling.hears = self.telling.listeners;
        self.pass(self.now + 1_000_000);
        assert!(!self.telling.owes(), "a fate that nobody was told of");
        assert_eq!((self.found(), self.alarm), (Ok(None), None), "what is never given back");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn no_second_effect_lands(listeners in some_listeners(), events in vec(some_event(), 1..60)) {
        let mut world = World::new(listeners);
        for event in events {
            world.happen(event);
        }
        world.finish();
    }

    /// The route says how old a key may be, and the client's clock is wrong by as much as it likes: what is forgotten
    /// never runs again.
    #[test]
    fn no_second_effect_lands_ever(
        (retention, most) in (2..60_u32).prop_flat_map(|retention| (Just(retention), 1..retention)),
        ahead in prop_oneof![4 => -60_000..60_000_i64, 2 => 240_000..330_000_i64, 1 => -1_000_000..0_i64],
        events in vec(some_event(), 1..60),
    ) {
        let mut world = World::new(Listeners { policy: true, index: true });
        world.age = Some(KeyAge { time: world.now.saturating_add_signed(ahead), most });
        for mut event in events {
            if let Event::Arrive { terms, .. } = &mut event {
                terms.retention = retention;
            }
            world.happen(event);
        }
        world.finish();
    }
}
