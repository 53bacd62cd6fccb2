//! The state machine: what now, for this record, this owner, this attempt, at this time.
//!
//! A key is free, claimed by one execution, completed, or of unknown fate. [`attempt::decide`] is asked for every
//! attempt, [`outcome::settle_attempt`] when an execution ends, [`alarm::decide_alarm`] when the alarm rings. The shell
//! stores what they return in the same synchronous section in which it asked.
//!
//! Whose key it is comes first. A random UUID names its object for everybody, and the first caller's attributes stand in
//! the record; any other key names one for its caller alone.
//!
//! | the first's attributes | the request's | whatever else | decision |
//! |---|---|---|---|
//! | not remembered, none | | | as below |
//! | some | one of them | | as below |
//! | some | others, none | | refuse: caller changed; a peek says the state alone |
//!
//! | record | fingerprint | owner | `unanswered` | decision |
//! |---|---|---|---|---|
//! | none, expired | | | | execute; refuse where the key is too [old](age) |
//! | unreadable, not expired | | | | refuse: outcome unknown |
//! | claimed | other | | | refuse: reused |
//! | claimed | same | alive | | wait, then refuse: in progress |
//! | claimed | same | gone | hold | refuse: outcome unknown |
//! | claimed | same | gone | probe | probe |
//! | claimed | same | gone, lease runs | rerun | refuse: in progress |
//! | claimed | same | gone, lease over | rerun | execute |
//! | completed | other | | | refuse: reused |
//! | completed, reply | same | | | replay |
//! | completed, tombstone | same | | | refuse: reply unavailable |
//! | completed, sealed | same | | | open, then replay; what cannot be opened: refuse: reply unavailable |
//! | unknown | other | | | refuse: reused |
//! | unknown, ambiguous | same | | | refuse: outcome unknown |
//! | unknown, unanswered | same | | hold | refuse: outcome unknown |
//! | unknown, unanswered | same | | probe | probe |
//! | unknown, unanswered | same | | rerun | execute |
//! | probed: 2xx | same | gone | probe | store, then replay |
//! | probed: 404, asked after the lease | same | gone | probe | execute |
//! | probed: 404, asked before that | same | gone | probe | refuse: in progress |
//! | probed: anything else | same | gone | probe | refuse: outcome unknown |
//! | accepted | other | | | refuse: reused |
//! | accepted, goes on | same | | | wait, then refuse: in progress |
//! | accepted, of unknown fate or dead | same | | | refuse: outcome unknown |
//!
//! Where a deploy has changed what counts, the fingerprints do not tell; the rules stand in [`same`].
//!
//! | request | under another `ignore`, `headers` or `field` | decision |
//! |---|---|---|
//! | same bytes | | as for the same fingerprint |
//! | other bytes | target, type, coding or a header that counts for both is another | refuse: reused |
//! | other bytes | | refuse: outcome unknown |
//!
//! What cannot be read is what another build wrote, in an upgrade or a rollback, or what nobody did. It counts until the
//! time at the fixed place of its [frame](crate::stored::frame); where no time can be read, until it is released.

pub mod accepted;
pub mod age;
pub mod alarm;
pub mod attempt;
pub mod backoff;
pub mod caller;
pub mod look;
pub mod outbox;
pub mod outcome;
pub mod same;
pub mod telling;
pub mod transition;
