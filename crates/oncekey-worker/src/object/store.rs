//! One object's storage: the record and its content as few rows, the alarm, and nothing once it is given back.
//!
//! Invariant: `r` holds `[record, content, parts]`, where `record` is [`Record`]'s stored form, `content` the first
//! part of the reply's content, and `parts` how many more stand under `1`, `2`, …; each at most [`PART`] bytes. Beside
//! an accepted request `q` holds `[head, content, parts]` of the request in the same way, the rest under `q1`, `q2`, ….

use js_sys::{Array, Uint8Array};
use oncekey::{
    decide::accepted,
    stored::{record::Record, request::Held},
};
use wasm_bindgen::{JsCast, JsValue};

use crate::platform::{
    bindings::{Live, Storage, forget, joined},
    clock::js_time,
    failure::Failure,
};

/// Bytes of content in one row: the platform takes 2 MB, the record's head included, but enforces that in
/// production only.
const PART: u32 = 1_000_000;

/// What is found under the key.
pub enum Found {
    /// A record, or none.
    Readable(Option<Record>),
    /// Bytes that no known version wrote: the fate of what was there is unknown.
    Unreadable,
}

/// What is stored, as it stands.
pub struct Row(Option<Array>);

impl Row {
    /// The record in it.
    pub fn found(&self) -> Found {
        let Some(row) = &self.0 else {
            return Found::Readable(None);
        };
        let record = row.get(0).dyn_into::<Uint8Array>().ok().and_then(|bytes| Record::decode(&bytes.to_vec()));
        record.map_or(Found::Unreadable, |record| Found::Readable(Some(record)))
    }

    /// How many parts of the content stand in rows of their own.
    fn parts(&self) -> u32 {
        self.0.as_ref().map_or(0, parts)
    }
}

/// How many parts of a row's content stand in rows of their own.
fn parts(row: &Array) -> u32 {
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
        self.whole(array, "")
    }

    /// The content of a row, the first part and those in rows whose names begin with `prefix`.
    fn whole(&self, array: &Array, prefix: &str) -> Result<JsValue, Failure> {
        let first = array.get(1);
        let parts = parts(array);
        if parts == 0 {
            return Ok(first);
        }
        let kv = self.storage.kv();
        let mut pieces: Vec<Uint8Array> = vec![first.unchecked_into()];
        for part in 1..=parts {
            pieces.push(kv.get(&[prefix, &part.to_string()].concat())?.unchecked_into());
        }
        let total = pieces.iter().map(Uint8Array::length).sum();
        Ok(joined(&pieces, total).into())
    }

    /// Writes the parts of a content; says how many stand in rows of their own.
    fn split(&self, row: &Array, content: &Uint8Array, prefix: &str) -> Result<u32, Failure> {
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

    /// Keeps an accepted request beside its record.
    pub fn hold(&self, head: &Held, content: &Uint8Array) -> Result<(), Failure> {
        let row = Array::of1(&JsValue::from_str(&head.encode()));
        self.split(&row, content, "q")?;
        Ok(self.storage.kv().put("q", &row)?)
    }

    /// The accepted request, if one is kept.
    pub fn held(&self) -> Result<Option<(Held, Uint8Array)>, Failure> {
        let Ok(row) = self.storage.kv().get("q")?.dyn_into::<Array>() else {
            return Ok(None);
        };
        let head = row.get(0).as_string().and_then(|text| Held::decode(&text));
        let content = self.whole(&row, "q")?.dyn_into::<Uint8Array>();
        Ok(head.zip(content.ok()))
    }

    /// Whether an accepted request is kept, readable or not.
    pub fn holds(&self) -> Result<bool, Failure> {
        Ok(!self.storage.kv().get("q")?.is_undefined())
    }

    /// Gives an accepted request back, if one is kept.
    pub fn let_go(&self) -> Result<(), Failure> {
        let kv = self.storage.kv();
        if let Ok(row) = kv.get("q")?.dyn_into::<Array>() {
            for part in 1..=parts(&row) {
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
        let more = content.map_or(Ok(0), |content| self.split(&row, content, ""))?;
        kv.put("r", &row)?;
        for part in more + 1..=old.parts() {
            kv.delete(&part.to_string())?;
        }
        // A claim is looked at again soon; an answer would only fill the memory.
        let seen = if matches!(record, Record::Claimed(_)) { row.into() } else { JsValue::UNDEFINED };
        self.live.set_row(&seen);
        Ok(())
    }

    /// What an accepted request calls for after its record was saved: the alarm, and no request once it has ended.
    pub fn moved(&self, record: &Record, now: u64) -> Result<(), Failure> {
        self.wake_at(accepted::next_alarm(record, now))?;
        if matches!(record, Record::Accepted(_)) { Ok(()) } else { self.let_go() }
    }

    /// Sets the one alarm.
    pub fn wake_at(&self, at: u64) -> Result<(), Failure> {
        forget(&self.storage.set_alarm(js_time(at))?);
        Ok(())
    }

    /// Gives all storage back, the alarm included.
    pub fn clear(&self) -> Result<(), Failure> {
        self.live.set_row(&JsValue::UNDEFINED);
        forget(&self.storage.delete_alarm()?);
        forget(&self.storage.delete_all()?);
        Ok(())
    }

    /// Resolves when all that was written is durable.
    pub fn durable(&self) -> Result<js_sys::Promise, Failure> {
        Ok(self.storage.sync()?)
    }
}
