//! The reference model: what the contract promises of one key, told as what is remembered of it.
use oncekey::{
    policy::{Keep, ServerError, Unanswered},
    stored::attempt::Terms,
};

/// What an origin's status tells, in the contract's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    Done,
    Declined,
    NeverConsumes,
    NeverReached,
    Ambiguous,
    Unanswered,
}

/// Statuses of every class, by the contract's table.
pub const STATUSES: [(u16, StatusClass); 21] = [
    (200, StatusClass::Done),
    (201, StatusClass::Done),
    (204, StatusClass::Done),
    (303, StatusClass::Done),
    (400, StatusClass::Declined),
    (404, StatusClass::Declined),
    (422, StatusClass::Declined),
    (308, StatusClass::NeverConsumes),
    (401, StatusClass::NeverConsumes),
    (425, StatusClass::NeverConsumes),
    (429, StatusClass::NeverConsumes),
    (503, StatusClass::NeverConsumes),
    (521, StatusClass::NeverReached),
    (530, StatusClass::NeverReached),
    (500, StatusClass::Ambiguous),
    (501, StatusClass::Ambiguous),
    (599, StatusClass::Ambiguous),
    (408, StatusClass::Unanswered),
    (502, StatusClass::Unanswered),
    (504, StatusClass::Unanswered),
    (524, StatusClass::Unanswered),
];

/// How an execution ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The whole answer came; `large` where it is over `max_stored`.
    Whole { status: u16, class: StatusClass, large: bool },
    /// The answer's content broke off.
    Broken { status: u16, class: StatusClass },
    /// No answer began.
    Nothing,
}

/// What became of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Runs,
    OwnerDied,
    Answered { reply: usize, status: u16 },
    TooLarge { status: u16 },
    Ambiguous { status: u16 },
    Silent { status: Option<u16> },
}

/// What is remembered under the key. Times are milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub other: bool,
    pub fate: Fate,
    pub lease_until: u64,
    pub retention: u64,
    /// Counts from the end; while the request runs or its owner is dead, from the end of its lease.
    pub until: u64,
}

/// What an attempt must get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    Run,
    Wait,
    Ask,
    Replay { reply: usize, status: u16, until: u64 },
    Refuse { code: &'static str, status: Option<u16>, retry_after: Option<u64>, until: Option<u64> },
}

/// What the first caller must hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryAnswer {
    Answer { word: &'static str },
    Problem { code: &'static str, status: Option<u16> },
}

/// What a probe's answer must lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learnt {
    Answer,
    Run,
    /// It may still take effect for so many seconds.
    Early(u64),
    Nothing,
    /// What was asked for is no longer what is remembered.
    Moved,
}

#[derive(Debug, Default)]
pub struct Model {
    known: Option<Known>,
    /// Counts the changes of what is known.
    pub revision: usize,
}

fn refuse(code: &'static str, status: Option<u16>, until: Option<u64>) -> Expect {
    Expect::Refuse { code, status, retry_after: None, until }
}

fn in_progress(seconds: u64) -> Expect {
    Expect::Refuse { code: "request_in_progress", status: None, retry_after: Some(seconds), until: None }
}

impl Model {
    pub fn remembered(&self, now: u64) -> Option<Known> {
        self.known.filter(|known| known.fate == Fate::Runs || now < known.until)
    }

    pub fn expect(&self, other: bool, terms: &Terms, waited: bool, now: u64) -> Expect {
        let Some(known) = self.remembered(now) else {
            return Expect::Run;
        };
        let until = Some(known.until);
        if known.other != other {
            let ended = !matches!(known.fate, Fate::Runs | Fate::OwnerDied);
            return refuse("idempotency_key_reused", None, until.filter(|_| ended));
        }
        let silent = |status| match terms.unanswered {
            Unanswered::Hold => refuse("outcome_unknown", status, until),
            Unanswered::Probe(_) => Expect::Ask,
            Unanswered::Rerun => Expect::Run,
        };
        match known.fate {
            Fate::Runs if terms.wait > 0 && !waited => Expect::Wait,
            Fate::Runs => in_progress(1),
            Fate::OwnerDied if terms.unanswered == Unanswered::Rerun && now < known.lease_until => {
                in_progress((known.lease_until - now).div_ceil(1000))
            }
            Fate::OwnerDied => silent(None),
            Fate::Silent { status } => silent(status),
            Fate::Ambiguous { status } => refuse("outcome_unknown", Some(status), until),
            Fate::TooLarge { status } => refuse("reply_unavailable", Some(status), until),
            Fate::Answered { reply, status } => Expect::Replay { reply, status, until: known.until },
        }
    }

    /// An execution begins.
    pub fn began(&mut self, other: bool, terms: &Terms, now: u64) {
        let lease_until = now + u64::from(terms.lease) * 1000;
        let retention = u64::from(terms.retention) * 1000;
        self.set(Some(Known { other, fate: Fate::Runs, lease_until, retention, until: lease_until + retention }));
    }

    /// The object's memory is lost.
    pub fn died(&mut self) {
        if let Some(known) = &mut self.known
            && known.fate == Fate::Runs
        {
            known.fate = Fate::OwnerDied;
            self.revision += 1;
        }
    }

    /// The execution ends; `reply` names its answer.
    pub fn ended(&mut self, end: End, terms: &Terms, reply: usize, now: u64) -> DeliveryAnswer {
        let answer = |word| DeliveryAnswer::Answer { word };
        let (fate, heard) = match end {
            End::Whole { status, class, large } => {
                let kept = Some(if large { Fate::TooLarge { status } } else { Fate::Answered { reply, status } });
                match class {
                    StatusClass::Done => (kept, answer("executed")),
                    StatusClass::Declined if terms.keep == Keep::Definite => (kept, answer("executed")),
                    StatusClass::Declined | StatusClass::NeverConsumes => (None, answer("executed")),
                    StatusClass::NeverReached => {
                        (None, DeliveryAnswer::Problem { code: "origin_unreachable", status: Some(status) })
                    }
                    StatusClass::Ambiguous => match terms.server_error {
                        ServerError::Release => (None, answer("executed")),
                        ServerError::Keep => (kept, answer("executed")),
                        ServerError::Hold => (Some(Fate::Ambiguous { status }), answer("unknown")),
                    },
                    StatusClass::Unanswered => silence(Some(status), terms),
                }
            }
            // Such a status says by itself that nothing ran.
            End::Broken { class: StatusClass::NeverConsumes | StatusClass::NeverReached, .. } => {
                (None, answer("executed"))
            }
            End::Broken { status, .. } => silence(Some(status), terms),
            End::Nothing => silence(None, terms),
        };
        let known = self.known.zip(fate).map(|(known, fate)| Known { fate, until: now + known.retention, ..known });
        self.set(known);
        heard
    }

    /// The answer to a probe that was asked at a revision and a time.
    pub fn found(&mut self, asked: usize, at: u64, status: Option<u16>, reply: usize, now: u64) -> Learnt {
        let Some(known) = self.remembered(now).filter(|_| asked == self.revision) else {
            return Learnt::Moved;
        };
        match status {
            Some(status @ 200..=299) => {
                self.set(Some(Known { fate: Fate::Answered { reply, status }, until: now + known.retention, ..known }));
                Learnt::Answer
            }
            Some(404) if at < known.lease_until => {
                Learnt::Early(known.lease_until.saturating_sub(now).div_ceil(1000).max(1))
            }
            Some(404) => Learnt::Run,
            _ => Learnt::Nothing,
        }
    }

    /// The operator, or the end of its retention, frees the key.
    pub fn forgotten(&mut self) {
        self.set(None);
    }

    fn set(&mut self, known: Option<Known>) {
        self.known = known;
        self.revision += 1;
    }
}

fn silence(status: Option<u16>, terms: &Terms) -> (Option<Fate>, DeliveryAnswer) {
    let (fate, code) = match terms.unanswered {
        Unanswered::Rerun => (None, "origin_unanswered"),
        Unanswered::Hold | Unanswered::Probe(_) => (Some(Fate::Silent { status }), "outcome_unknown"),
    };
    (fate, DeliveryAnswer::Problem { code, status })
}
