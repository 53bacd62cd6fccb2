//! Telling of a fate that a person has to look at: those whom the policy names, and the operator's list.
//!
//! Invariant: the alarm is set before anybody is turned to, and what was told is marked after, so that whatever dies in
//! between, it is told at least once.

use oncekey::{
    answer::{log::log_line, own::GateAnswer},
    decide::telling::{
        AfterTelling, OpenFate, TellingDecision, after_telling, alarm_of_notice, alarm_while_telling, decide_telling,
    },
    key::quote_key,
    policy::OnUnknown,
    queue::QUEUE_HOST,
    stored::{frame::Unreadable, record::Record, told::Listeners},
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{AbortSignal, Headers, Response};

use crate::{
    object::{context::Object, live::owner_of},
    platform::{
        bindings::{await_promise, ignore_rejection, log_error},
        clock::{now_millis, random_fraction},
        failure::Failure,
        init::RequestInit,
        message,
    },
};

/// Milliseconds: how long whoever is told may take to say that it was heard.
const PATIENCE: u32 = 8_000;

impl Object {
    /// Who is told of open fates.
    pub fn listeners(&self) -> Listeners {
        Listeners { policy: self.gate.policy.on_unknown.is_some(), index: self.gate.has_operator }
    }

    /// Somebody has come upon the record: what nobody was told of yet is told soon.
    pub fn notice_fate(&self, record: &Result<Option<Record>, Unreadable>) -> Result<(), Failure> {
        let at = alarm_of_notice(record.into(), owner_of(&self.live), self.listeners(), now_millis());
        at.map_or(Ok(()), |at| self.store.wake_at(at))
    }

    /// Tells of the fate, where it is open. Says whether the alarm has nothing more to do for that: where telling failed,
    /// it is set anew.
    pub async fn tell_open_fate(&self) -> Result<bool, Failure> {
        let (record, now, listeners) = (self.store.load()?.record(), now_millis(), self.listeners());
        let TellingDecision::Tell(fate) = decide_telling((&record).into(), owner_of(&self.live), listeners, now) else {
            return Ok(true);
        };
        self.store.wake_at(alarm_while_telling(now))?;
        if fate.is_news {
            log_error(&log_line("unknown", now, Some(&fate.key), None));
        }
        let heard = Listeners {
            policy: fate.untold.policy && self.tell_policy(&fate).await.unwrap_or(false),
            index: fate.untold.index && self.tell_index(&fate).await,
        };
        let row = self.store.load()?;
        let found = row.record();
        let (owner, now) = (owner_of(&self.live), now_millis());
        let Some(AfterTelling { record, again }) =
            after_telling((&found).into(), owner, &fate, heard, random_fraction(), now)
        else {
            return Ok(true);
        };
        self.store.save(&record, None, &row)?;
        let Some(again) = again else {
            return Ok(true);
        };
        log_error(&log_line("alarm_failed", now, Some(&fate.key), None));
        self.store.wake_at(again)?;
        Ok(false)
    }

    /// Tells those whom the policy names; says whether they heard.
    async fn tell_policy(&self, fate: &OpenFate) -> Result<bool, Failure> {
        let content = JsValue::from_str(&GateAnswer::telling(&fate.key, &fate.look));
        let (told, is_post) = match (&self.gate.policy.on_unknown, &self.gate.origin) {
            (Some(OnUnknown::Queue(binding)), _) => (self.gate.send_to_queue(binding, &content)?, false),
            (Some(OnUnknown::Post(path)), Some(origin)) => {
                let headers = Headers::new()?;
                headers.set("content-type", "application/json")?;
                headers.set(&self.gate.policy.header, &quote_key(&fate.id()))?;
                let init = RequestInit { method: Some("POST".to_owned()), ..RequestInit::default() };
                let request = message::new_request(&[QUEUE_HOST, path].concat(), &init)?;
                let signal = AbortSignal::timeout_with_u32(PATIENCE).into();
                let init = RequestInit { headers: headers.into(), body: content, signal, ..RequestInit::to_origin() };
                (origin.fetch(&request, init)?, true)
            }
            (Some(OnUnknown::Post(_)), None) | (None, _) => return Ok(false),
        };
        let heard: JsValue = await_promise(told).await?;
        if !is_post {
            return Ok(true);
        }
        let answer: Response = heard.unchecked_into();
        if let Some(content) = answer.body() {
            ignore_rejection(&content.cancel());
        }
        Ok(answer.ok())
    }
}
