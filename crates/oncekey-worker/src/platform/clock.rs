//! Time and chance.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;
    #[wasm_bindgen(js_namespace = Date, js_name = parse)]
    fn parse_date(text: &str) -> f64;
    #[wasm_bindgen(js_namespace = Math)]
    fn random() -> f64;
}

/// Milliseconds since 1970.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the clock is far from both ends")]
pub fn now_millis() -> u64 {
    now() as u64
}

/// A count as JavaScript has it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
pub fn to_count(count: f64) -> u32 {
    count as u32
}

/// A random fraction of 2^32.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1, and a cast saturates")]
pub fn random_fraction() -> u32 {
    (random() * 4_294_967_296.0) as u32
}

/// What a `Retry-After` asks for, in milliseconds; 0 for nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, and no date is 0")]
pub fn retry_after(text: Option<&str>, now: u64) -> u64 {
    let Some(text) = text else {
        return 0;
    };
    let date = parse_date(text);
    oncekey::http::retry_after::retry_after(text, (date > 0.0).then_some(date as u64), now).unwrap_or(0)
}

/// A point in time as JavaScript writes it.
#[expect(clippy::cast_precision_loss, reason = "times stay below 2^53 ms")]
pub fn js_time(at: u64) -> f64 {
    at as f64
}
