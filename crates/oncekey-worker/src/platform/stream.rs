//! An answer's content on its way: kept while it may be stored, and written to the caller.

use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::Uint8Array;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use web_sys::{ReadableStream, ReadableStreamDefaultReader, ReadableStreamReadResult, WritableStreamDefaultWriter};
use worker::Delay;

use crate::platform::{
    bindings::{await_promise, ignore_rejection, join_pieces},
    clock::js_time,
    failure::Failure,
    promised::Promised,
};

#[wasm_bindgen]
extern "C" {
    /// A pipe whose two ends may be in different places; it knows its length beforehand.
    type FixedLengthStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(length: f64) -> Result<FixedLengthStream, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &FixedLengthStream) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &FixedLengthStream) -> web_sys::WritableStream;

    /// The same without a length.
    type IdentityTransformStream;
    #[wasm_bindgen(constructor, catch)]
    fn new() -> Result<IdentityTransformStream, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &IdentityTransformStream) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &IdentityTransformStream) -> web_sys::WritableStream;
}

#[wasm_bindgen(module = "/src/trap.mjs")]
extern "C" {
    /// Lets the stream break off when this instance can go on no more.
    #[wasm_bindgen(js_name = breakOnTrap)]
    fn break_on_trap(writer: &WritableStreamDefaultWriter);
}

/// Empty content of a length that is not known beforehand. The runtime sends a request that is idempotent by its
/// method (RFC 9110 §9.2.2) and has no content again by itself where a connection drops; it cannot send a stream twice.
pub fn sent_once() -> Result<JsValue, Failure> {
    let stream = IdentityTransformStream::new()?;
    ignore_rejection(&stream.writable().close());
    Ok(stream.readable())
}

/// The two ends of a pipe for an answer's content.
pub struct Pipe {
    /// What the caller reads.
    pub readable: JsValue,
    /// Where the answer is written.
    pub writer: WritableStreamDefaultWriter,
}

impl Pipe {
    /// A pipe, of known length where there is one.
    pub fn new(length: Option<u64>) -> Result<Self, Failure> {
        let (readable, writable) = if let Some(length) = length {
            let stream = FixedLengthStream::new(js_time(length))?;
            (stream.readable(), stream.writable())
        } else {
            let stream = IdentityTransformStream::new()?;
            (stream.readable(), stream.writable())
        };
        let writer = writable.get_writer()?;
        break_on_trap(&writer);
        Ok(Self { readable, writer })
    }
}

/// The content as it comes in.
pub struct AnswerContent {
    pieces: Vec<Uint8Array>,
    /// How many pieces the caller has been given.
    given: usize,
    length: u64,
    announced: Option<u64>,
    limit: u64,
}

impl AnswerContent {
    /// `announced`: the length that the head gives; `limit`: bytes that are kept at most.
    pub fn new(announced: Option<u64>, limit: u64) -> Self {
        Self { pieces: Vec::new(), given: 0, length: 0, announced, limit }
    }

    /// Adds what has arrived.
    pub fn push(&mut self, bytes: Uint8Array) {
        self.length += u64::from(bytes.length());
        self.pieces.push(bytes);
    }

    /// The pieces that the caller has not been given; those that cannot be stored are let go.
    pub fn take_unsent(&mut self) -> Vec<Uint8Array> {
        let fresh = self.pieces.iter().skip(self.given).cloned().collect();
        if self.is_kept() {
            self.given = self.pieces.len();
        } else {
            self.pieces.clear();
            self.given = 0;
        }
        fresh
    }

    /// It is small enough to store.
    pub fn is_kept(&self) -> bool {
        self.length <= self.limit
    }

    /// All that was announced is there.
    pub fn is_whole(&self) -> bool {
        self.announced == Some(self.length)
    }

    /// An end here is no breaking off.
    pub fn may_end(&self) -> bool {
        self.announced.is_none_or(|announced| announced == self.length)
    }

    /// All of it in one piece, where nothing was let go.
    pub fn in_one_piece(&self) -> Uint8Array {
        join_pieces(&self.pieces, u32::try_from(self.length).unwrap_or(u32::MAX))
    }
}

/// Reads a stream; nothing where that is more than `limit` bytes. Then it is read `to_end` all the same, or let go.
pub async fn read_within(stream: &ReadableStream, limit: u64, to_end: bool) -> Result<Option<Vec<u8>>, Failure> {
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut bytes = Some(Vec::new());
    loop {
        let read: ReadableStreamReadResult = await_promise(reader.read()).await?;
        let Ok(chunk) = read.get_value().dyn_into::<Uint8Array>() else {
            return Ok(bytes);
        };
        bytes = bytes.filter(|bytes| bytes.len() as u64 + u64::from(chunk.length()) <= limit);
        match &mut bytes {
            Some(bytes) => bytes.extend_from_slice(&chunk.to_vec()),
            None if to_end => {}
            None => {
                ignore_rejection(&reader.cancel());
                return Ok(None);
            }
        }
    }
}

/// The caller's end of a stream; nothing once it has gone.
pub struct CallerStream(Option<WritableStreamDefaultWriter>);

impl CallerStream {
    /// The way to a caller that listens.
    pub fn to_caller(writer: WritableStreamDefaultWriter) -> Self {
        Self(Some(writer))
    }

    /// No caller: the answer is read for the store alone.
    pub fn to_nobody() -> Self {
        Self(None)
    }

    /// Whether nobody takes what is written.
    pub fn is_gone(&self) -> bool {
        self.0.is_none()
    }

    /// Writes without waiting: the bytes are held for storing anyway.
    pub fn write(&mut self, bytes: &Uint8Array) {
        if let Some(writer) = &self.0 {
            ignore_rejection(&writer.write_with_chunk(bytes));
        }
    }

    /// Writes and waits for the caller to take it, at most so many seconds: then it is treated as gone.
    pub async fn write_through(&mut self, bytes: &Uint8Array, seconds: u32) {
        if let Some(writer) = &self.0 {
            let written = Promised::new(&writer.write_with_chunk(bytes));
            let timer = Delay::from(Duration::from_secs(u64::from(seconds)));
            if !matches!(select(written, timer).await, Either::Left((Ok(_), _))) {
                self.abort();
            }
        }
    }

    /// The end of a whole answer.
    pub fn close(&mut self) {
        if let Some(writer) = self.0.take() {
            ignore_rejection(&writer.close());
        }
    }

    /// The end of one that broke off, or of a caller that takes nothing.
    pub fn abort(&mut self) {
        if let Some(writer) = self.0.take() {
            ignore_rejection(&writer.abort());
        }
    }
}

impl Drop for CallerStream {
    fn drop(&mut self) {
        self.abort();
    }
}
