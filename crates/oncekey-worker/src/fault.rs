//! Faults on demand: a test build can be told to trap, a released build has nothing of it.

use web_sys::Request;

/// Traps here if the request's field `x-fault` says so: `panic-PLACE` or `memory-PLACE`.
#[cfg(feature = "faults")]
pub fn at(place: &str, request: &Request) {
    let wanted = request.headers().get("x-fault").ok().flatten().unwrap_or_default();
    match wanted.split_once('-') {
        Some(("panic", there)) if there == place => {
            #[expect(clippy::panic, reason = "that is what is tested")]
            {
                panic!("told to")
            }
        }
        Some(("memory", there)) if there == place => {
            let mut held = Vec::new();
            loop {
                held.push(Vec::<u8>::with_capacity(1 << 30));
            }
        }
        _ => {}
    }
}

/// Nothing.
#[cfg(not(feature = "faults"))]
#[inline]
pub fn at(_place: &str, _request: &Request) {}
