//! The operator's list: an object under a name of its own, which keeps rows, and how a key's object tells it.
//!
//! Invariant: a row's name holds its text, `~n` how many rows were given, `~u` until when any of them counts; the alarm
//! gives everything back after that.

use js_sys::{Array, JSON, JsString};
use oncekey::{
    answer::own::GateAnswer,
    decide::telling::OpenFate,
    http::lines::HeaderLines,
    index::{IndexErrand, MOST_ROWS, ROOT},
};
use wasm_bindgen::JsValue;
use web_sys::{Request, Response};

use crate::{
    call::ask_index,
    object::context::Object,
    platform::{
        bindings::{SyncKv, await_promise},
        clock::{js_time, to_count},
        failure::Failure,
        message,
    },
};

/// How many rows were given.
fn given(kv: &SyncKv) -> Result<u32, Failure> {
    Ok(kv.get("~n")?.as_f64().map_or(0, to_count))
}

impl Object {
    /// Does the errand of whoever tells or lists.
    pub async fn serve_index(&self, request: &Request, errand: &IndexErrand) -> Result<Response, Failure> {
        let content: JsString = await_promise(request.text()?).await?;
        let kv = self.store.kv();
        match errand {
            IndexErrand::Add { name, until } => self.add_row(&kv, name, *until, &content.into())?,
            IndexErrand::Remove { name } => drop(kv.delete(name)?),
            IndexErrand::List { most, before } => {
                let before = before.as_deref().unwrap_or("~");
                let options = format!("{{\"end\":\"{before}\",\"reverse\":true,\"limit\":{most}}}");
                let rows = Array::from(&kv.list(&JSON::parse(&options)?)?);
                rows.unshift(&given(&kv)?.into());
                // Each is a list of its own, whose text is its name, a comma and what it holds.
                let said = rows.join("\n").into();
                return message::new_response(200, HeaderLines::default(), &said);
            }
        }
        message::new_response(204, HeaderLines::default(), &JsValue::NULL)
    }

    fn add_row(&self, kv: &SyncKv, name: &str, until: u64, text: &JsValue) -> Result<(), Failure> {
        let stands = kv.get(name)?;
        if stands == *text {
            return Ok(());
        }
        let known = self.index_until()?;
        if known.is_none() {
            // The alarm first: what is kept is given back.
            self.store.wake_at(until)?;
        }
        if known.is_none_or(|known| known < until) {
            kv.put("~u", &js_time(until).into())?;
        }
        if stands.is_undefined() {
            let given = given(kv)?;
            kv.put("~n", &given.saturating_add(1).into())?;
            if given >= MOST_ROWS {
                return Ok(());
            }
        }
        Ok(kv.put(name, text)?)
    }

    /// Until when any row counts; nothing where this object has none.
    pub fn index_until(&self) -> Result<Option<u64>, Failure> {
        let until = self.store.kv().get("~u")?.as_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "written as a time, and a cast saturates"
        )]
        Ok(until.map(|until| until as u64))
    }

    /// Puts a fate on the operator's list; says whether it stands there.
    pub async fn tell_index(&self, fate: &OpenFate) -> bool {
        let (shard, [hour, row]) = IndexErrand::to_add(fate);
        let (until, known) = (fate.listed_until().to_string(), GateAnswer::look(&fate.look).content);
        // The hour first: a row whose hour is not listed is found by nobody.
        ask_index(&self.gate, ROOT, &hour, &until).await.is_ok()
            && ask_index(&self.gate, &shard, &row, &known).await.is_ok()
    }
}
