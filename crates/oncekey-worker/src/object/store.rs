//! One object's storage: the record and its content as few rows, the alarm, and nothing once it is given back.
//!
//! Invariant: `r` holds `[record, content, parts]`, where `record` is [`Record`]'s stored form, `content` the first
//! part of the reply's content, and `parts` how many more stand under `1`, `2`, …; each at most [`PART`] bytes. Beside
//! an accepted request `q` holds `[head, content, parts]` of the request in the same way, the rest under `q1`, `q2`, ….
//! Both stand as bytes; the head is a text where version 1 wrote it.

use js_sys::{Array, Uint8Array};
use oncekey::{
    decide::{accepted, telling::ring_for_telling},
    stored::{
        attempt::Attempt,
        frame::Unreadable,
        record::{Record, Seal},
        request::StoredRequest,
        told::Listeners,
    },
};
use wasm_bindgen::{JsCast, JsValue};

use crate::{
    object::live::owner_of,
    platform::{
        bindings::{Live, Storage, SyncKv, ignore_rejection, join_pieces, log_error},
        clock::js_time,
        failure::Failure,
    },
};

/// Bytes of content in one row: the platform takes 2 MB, the record's head included, but enforces that in
/// production only.
const PART: u32 = 1_000_000;

/// An accepted request and its content; an error where this build cannot read it.
pub type HeldRequest = Result<(StoredRequest, Uint8Array), Unreadable>;

/// An accepted request as it stands.
pub enum FoundRequest {
    /// As it was sent.
    Open(HeldRequest),
    /// Sealed.
    Sealed {
        /// How.
        seal: Seal,
        /// The content, sealed.
        content: Uint8Array,
        /// What it is to whoever cannot open it.
        unreadable: Unreadable,
    },
}

/// What is stored, as it stands.
pub struct Row(Option<Array>);

impl Row {
    /// The record in it, if there is one; an error where this build cannot read what is there.
    pub fn record(&self) -> Result<Option<Record>, Unreadable> {
        let Some(row) = &self.0 else {
            return Ok(None);
        };
        let bytes: Uint8Array = row.get(0).dyn_into().map_err(|_| Unreadable::default())?;
        Record::decode(&bytes.to_vec()).map(Some)
    }

    /// The attempt of an accepted request.
    pub fn accepted_attempt(&self) -> Option<Attempt> {
        match self.record() {
            Ok(Some(Record::Accepted(delivery))) => Some(delivery.attempt),
            Ok(Some(Record::Claimed(_) | Record::Completed { .. } | Record::Unknown { .. }) | None) | Err(_) => None,
        }
    }

    /// How many parts of the content stand in rows of their own.
    fn parts(&self) -> u32 {
        self.0.as_ref().map_or(0, count_parts)
    }
}

/// The head of an accepted request.
fn head(stored: &JsValue) -> Result<StoredRequest, Unreadable> {
    if let Some(text) = stored.as_string() {
        return StoredRequest::decode_v1(&text);
    }
    let bytes = stored.dyn_ref::<Uint8Array>().ok_or(Unreadable::default())?;
    StoredRequest::decode(&bytes.to_vec())
}

/// How many parts of a row's content stand in rows of their own.
fn count_parts(row: &Array) -> u32 {
    let parts = row.get(2).as_f64().unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "written as a u32, and a cast saturates"
    )]
    let parts = parts as u32;
    parts
}

/// An object's storage. What was read or written while an execution runs is not read again.
#[derive(Clone)]
pub struct Store {
    storage: Storage,
    live: Live,
}

impl Store {
    /// Wraps the platform's storage; reads and writes nothing yet.
    pub fn new(storage: Storage, live: Live) -> Self {
        Self { storage, live }
    }

    /// The rows of an object that is no key's.
    pub fn kv(&self) -> SyncKv {
        self.storage.kv()
    }

    /// Reads the row.
    pub fn load(&self) -> Result<Row, Failure> {
        let seen = self.live.row();
        let value = if seen.is_undefined() { self.storage.kv().get("r")? } else { seen };
        Ok(Row(value.dyn_into::<Array>().ok()))
    }

    /// The content beside the record.
    pub fn content(&self, row: &Row) -> Result<JsValue, Failure> {
        let Some(array) = &row.0 else {
            return Ok(JsValue::NULL);
        };
        self.read_parts(array, "")
    }

    /// The content of a row, the first part and those in rows whose names begin with `prefix`.
    fn read_parts(&self, array: &Array, prefix: &str) -> Result<JsValue, Failure> {
        let first = array.get(1);
        let parts = count_parts(array);
        if parts == 0 {
            return Ok(first);
        }
        let kv = self.storage.kv();
        let mut pieces: Vec<Uint8Array> = vec![first.unchecked_into()];
        for part in 1..=parts {
            pieces.push(kv.get(&[prefix, &part.to_string()].concat())?.unchecked_into());
        }
        let total = pieces.iter().map(Uint8Array::length).sum();
        Ok(join_pieces(&pieces, total).into())
    }

    /// Writes the parts of a content; says how many stand in rows of their own.
    fn write_parts(&self, row: &Array, content: &Uint8Array, prefix: &str) -> Result<u32, Failure> {
        let length = content.length();
        // A part of its own, where there are several: a view would be stored with its whole buffer.
        let first = if length > PART { content.slice(0, PART) } else { content.clone() };
        row.push(&first);
        let more = length.saturating_sub(1) / PART;
        for part in 1..=more {
            let at = part * PART;
            let name = [prefix, &part.to_string()].concat();
            self.storage.kv().put(&name, &content.slice(at, length.min(at + PART)))?;
        }
        row.push(&JsValue::from(more));
        Ok(more)
    }

    /// Keeps an accepted request beside its record; `head`: its stored form.
    pub fn save_request(&self, head: &[u8], content: &Uint8Array) -> Result<(), Failure> {
        let row = Array::of1(&Uint8Array::from(head));
        self.write_parts(&row, content, "q")?;
        Ok(self.storage.kv().put("q", &row)?)
    }

    /// The accepted request, if one is kept.
    pub fn load_request(&self) -> Result<Option<FoundRequest>, Failure> {
        let Ok(row) = self.storage.kv().get("q")?.dyn_into::<Array>() else {
            return Ok(None);
        };
        let stored = row.get(0);
        let content = self.read_parts(&row, "q")?.dyn_into::<Uint8Array>().map_err(|_| Unreadable::default());
        Ok(Some(match (head(&stored), content) {
            (Ok(head), content) => FoundRequest::Open(content.map(|content| (head, content))),
            (Err(unreadable), content) => {
                let seal = stored.dyn_ref::<Uint8Array>().and_then(|bytes| StoredRequest::decode_seal(&bytes.to_vec()));
                match (seal, content) {
                    (Some(seal), Ok(content)) => FoundRequest::Sealed { seal, content, unreadable },
                    _ => FoundRequest::Open(Err(unreadable)),
                }
            }
        }))
    }

    /// Gives an accepted request back, if one is kept.
    pub fn delete_request(&self) -> Result<(), Failure> {
        let kv = self.storage.kv();
        if let Ok(row) = kv.get("q")?.dyn_into::<Array>() {
            for part in 1..=count_parts(&row) {
                kv.delete(&["q", &part.to_string()].concat())?;
            }
            kv.delete("q")?;
        }
        Ok(())
    }

    /// Writes a record, and its content if it has one, in the place of what was there.
    pub fn save(&self, record: &Record, content: Option<&Uint8Array>, old: &Row) -> Result<(), Failure> {
        let kv = self.storage.kv();
        let row = Array::new();
        row.push(&Uint8Array::from(record.encode().as_slice()));
        let more = content.map_or(Ok(0), |content| self.write_parts(&row, content, ""))?;
        kv.put("r", &row)?;
        for part in more + 1..=old.parts() {
            kv.delete(&part.to_string())?;
        }
        // A claim is looked at again soon; an answer would only fill the memory.
        let seen = if matches!(record, Record::Claimed(_)) { row.into() } else { JsValue::UNDEFINED };
        self.live.set_row(&seen);
        Ok(())
    }

    /// What an accepted request calls for after its record was saved: a line in the log where a person has to look at it,
    /// the alarm, and no request once it has been answered. `message`: what the platform said, where its fetch failed.
    pub fn after_delivery_change(
        &self,
        record: &Record,
        message: Option<&str>,
        listeners: Listeners,
        now: u64,
    ) -> Result<(), Failure> {
        if let Some(line) = accepted::line_of_end(record, message, now) {
            log_error(&line);
        }
        let next = accepted::next_alarm(record, now);
        self.wake_at(ring_for_telling(Some(record).into(), owner_of(&self.live), listeners, next, now))?;
        if matches!(record, Record::Accepted(_)) { Ok(()) } else { self.delete_request() }
    }

    /// Sets the one alarm.
    pub fn wake_at(&self, at: u64) -> Result<(), Failure> {
        ignore_rejection(&self.storage.set_alarm(js_time(at))?);
        Ok(())
    }

    /// Gives all storage back, the alarm included.
    pub fn clear(&self) -> Result<(), Failure> {
        self.live.set_row(&JsValue::UNDEFINED);
        ignore_rejection(&self.storage.delete_alarm()?);
        ignore_rejection(&self.storage.delete_all()?);
        Ok(())
    }

    /// Resolves when all that was written is durable.
    pub fn when_durable(&self) -> Result<js_sys::Promise, Failure> {
        Ok(self.storage.sync()?)
    }
}
