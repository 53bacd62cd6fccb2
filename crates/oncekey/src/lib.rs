//! The rules of Oncekey: one intent, one effect. No clock, no chance, no I/O, the same on every target: times, random
//! bytes and content are arguments, and what is returned is what a shell stores, sends or answers.
//!
//! # Rooms
//!
//! Each room knows those above it in this table and no other: `cargo test -p xtask --test arrows -- --nocapture` draws
//! the arrows.
//!
//! | room | what is in it | who uses it |
//! |---|---|---|
//! | `work` | steps of parsers, counted in tests | tests |
//! | `digest` | SHA-256 over length-prefixed parts | keys and fingerprints |
//! | [`json`] | JSON read part by part, and the one writer of what the gate says | everybody |
//! | [`http`] | fields, targets, dates, negotiation, each once | everybody |
//! | [`identity`] | signed tokens: who they say that the caller is, and the keys that verify them | front |
//! | [`key`] | the key, whose it is, the scoped key that both become; new keys | front, page |
//! | [`content`] | canonical forms, and the key in them | front |
//! | [`policy`] | what is protected, and how | front, object |
//! | [`mod@fingerprint`] | what makes two requests the same | front |
//! | [`answer`] | what statuses mean, what of an answer is kept, refusals, the gate's own answers | front, object |
//! | [`stored`] | what is stored for a scoped key or an entity, in every version ever written | object |
//! | [`decide`] | what now? The only room that answers that | object |
//! | [`errand`] | what the front asks of an object | front, object |
//! | [`index`] | the operator's list of open fates | front, object |
//! | [`call`] | whether a call that failed may be made again | front |
//! | [`batch`] | lists of items that are sent alone | front |
//! | [`queue`] | messages of queues | queue |
//! | [`explain`] | what the gate makes of a request, and in which part two of them differ, in words | command line |
//! | [`client`] | which key an attempt carries, and whether to send again | page |
//!
//! # A request's walk
//!
//! ```
//! use oncekey::{
//!     answer::{head::ReplyHead, own::GateAnswer, word::StatusWord},
//!     content::{Content, choose_key},
//!     decide::{
//!         attempt::{Decision, decide},
//!         look::peek_record,
//!         outcome::{EffectOutcome, Settlement, outcome_of_status, settle_attempt},
//!     },
//!     errand::Errand,
//!     fingerprint::fingerprint,
//!     http::{fields::Fields, target::{Target, routing_path, split_url}},
//!     key::{scope::Scope, scoped::ScopedKey, seal::SealKeys},
//!     policy::Policy,
//!     stored::{attempt::{Attempt, Terms}, record::{KeptReply, Owner, Record}},
//! };
//!
//! // The front. What is protected? The first route that matches says how.
//! let policy = r#"{"routes": [{"path": "/orders", "require": true}]}"#.parse::<Policy>()?;
//! let url = split_url("https://shop.example/orders?draft=1");
//! let route = policy.route("POST", &routing_path(url.path)).ok_or("not protected")?;
//!
//! // The key is in the header, in a form field or in a JSON member.
//! let sent = br#"{"amount": 10.0, "item": 7}"#;
//! let content = Content::parse(Some("application/json"), None, sent);
//! let key = choose_key(Some("\"order-1042\""), &content, &policy.field)?.ok_or("no key")?;
//! assert_eq!(key.as_str(), "order-1042");
//!
//! // Whose key is it? Both together name the object, and are the key that the origin sees.
//! let mut scope = Scope::new(url.host);
//! scope.add("header:authorization", "Bearer of-ann");
//! let scoped_key = ScopedKey::derive(&scope, &key)?;
//!
//! // What makes a second request the same one?
//! let target = Target { method: "POST", path_and_query: url.path_and_query };
//! let (json, headers) = (Some("application/json"), (route.headers.as_slice(), &Fields::default()));
//! let fingerprint = fingerprint(&target, json, None, &content, &policy.field, &route.ignore, headers);
//! let terms = Terms::of(&policy, route);
//! let callers = scope.callers(&key);
//! let (header, seal) = (policy.header.clone(), SealKeys::default());
//! let attempt = Attempt { scoped_key, fingerprint, terms, header, callers, basis: None, age: None, seal };
//! let errand = Errand::Attempt(attempt.clone());
//!
//! // The object. Nothing is stored: the claim is, before the effect runs.
//! let (now, mut owner) = (1_767_225_600_000, Owner::default());
//! let Decision::Execute(claim) = decide(None, owner, &attempt, false, now) else { unreachable!() };
//! let record = Record::Claimed(claim.clone());
//! owner = Owner { running: Some(claim.generation), latest: claim.generation };
//! assert!(matches!(decide(Some(&record), owner, &attempt, true, now), Decision::Refuse { .. }));
//!
//! // The origin has answered. What does its status say of the effect, and what becomes of the record?
//! let EffectOutcome::Pass { word, then } = outcome_of_status(Some(201), &attempt.terms) else { unreachable!() };
//! let head = ReplyHead::keep(201, &Fields::new("location,/orders/1\nconnection,close".to_owned()));
//! assert_eq!(word, StatusWord::Executed);
//! let settled = settle_attempt(Some(&record), &claim, then, KeptReply::Whole(head), now + 250);
//! let Settlement::Store(record) = settled else { unreachable!() };
//!
//! // A duplicate gets the same answer, and nothing runs.
//! let later = now + 60_000;
//! let Decision::Replay { head, expires } = decide(Some(&record), owner, &attempt, false, later) else { unreachable!() };
//! assert_eq!(
//!     head.lines_to_send(StatusWord::Replayed, Some(expires), false).into_json(),
//!     concat!(
//!         r#"{"location":"/orders/1","idempotency-status":"replayed","idempotent-replayed":"true","#,
//!         r#""idempotency-expires":"Fri, 02 Jan 2026 00:00:00 GMT"}"#,
//!     ),
//! );
//!
//! // And whoever asks what became of the key is told.
//! let peek = GateAnswer::peek(peek_record(Some(&record), owner, later));
//! assert_eq!(peek.content, r#"{"state":"completed","status":201,"expires":"2026-01-02T00:00:00Z"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Words beyond the glossary
//!
//! | word | meaning |
//! |---|---|
//! | terms | a route's rules as an attempt carries them to the object, on which it is judged ever after |
//! | owner | what an object's memory knows of executions; empty after a restart |
//! | generation | counts the executions of a key; a settlement of an older one is late |
//! | settlement | what the end of an execution does to the store |
//! | tombstone | what is left of a reply that was too large to keep: its status |
//! | probe | asking the origin what became of an effect that nobody answered for |
//! | alarm | when an object wakes by itself |
//! | audience | how a refusal is worded for its reader |
//! | form | a record, an accepted request's head, an entity or an outbox's entry as bytes of a version |
//! | claimant | what is remembered of the request that claimed a key, beside its fingerprint |
//! | space | the keys of one caller, or of the gate's own, that no other key meets |
//! | extension | what a newer build adds to a form without a new version |
//! | survive | of a number: to be the value of a double's shortest text, so that a canonical form loses nothing |
//! | hand over | give an effect to the object of its key, which delivers it as an accepted request |
//! | aside | of an effect that could not be handed over: no other waits for it |
//! | note | what an entity remembers of an effect |
//! | line | a header line; in a batch, the items that wait for their turn |
#![forbid(unsafe_code)]

pub mod answer;
pub mod batch;
pub mod call;
pub mod client;
pub mod content;
pub mod decide;
mod digest;
pub mod errand;
pub mod explain;
pub mod fingerprint;
pub mod http;
pub mod identity;
pub mod index;
pub mod json;
pub mod key;
pub mod policy;
pub mod queue;
pub mod stored;
mod work;
