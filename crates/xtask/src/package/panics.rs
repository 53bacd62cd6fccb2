//! Panics without their words: the machinery that puts them together is half of a small wasm, and nobody reads them there.

use anyhow::Result;
use walrus::{FunctionBuilder, FunctionId, FunctionKind, ImportKind, Module};

/// Parts of the (mangled) names of functions that only word a panic.
const PANICS: [&str; 6] = [
    "panicking",
    "slice_error_fail",
    "slice_index_fail",
    "handle_error",
    "handle_alloc_error",
    // The hook that a dependency sets at its start.
    "6worker4init4init28_$u7b$$u7b$closure",
];

/// Setting a hook words nothing, and is called where nothing panics.
const HARMLESS: [&str; 2] = ["set_hook", "take_hook"];

/// Parts of the names of functions that put text together.
const FORMATTING: [&str; 3] = ["7Display3fmt", "5Debug3fmt", "3fmt9Formatter"];

/// What a wasm may go without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// The words of its panics.
    Panics,
    /// Those, and all formatting: nothing else in it formats.
    Formatting,
}

/// Replaces each function that words a panic by a trap, so that formatting is linked no more. Where the wasm imports a
/// function whose name contains `told`, that is called first.
pub fn silence(wasm: &[u8], without: Without, told: &str) -> Result<Vec<u8>> {
    let mut module = Module::from_buffer(wasm)?;
    let told = module.imports.iter().find_map(|import| match import.kind {
        ImportKind::Function(id) if import.name.contains(told) => Some(id),
        _ => None,
    });
    let mute: Vec<FunctionId> = module
        .funcs
        .iter()
        .filter(|function| matches!(function.kind, FunctionKind::Local(_)))
        .filter(|function| function.name.as_deref().is_some_and(|name| words(without, name)))
        .map(walrus::Function::id)
        .collect();
    for id in mute {
        let ty = module.types.get(module.funcs.get(id).ty());
        let (params, results) = (ty.params().to_vec(), ty.results().to_vec());
        let mut builder = FunctionBuilder::new(&mut module.types, &params, &results);
        if let Some(told) = told {
            builder.func_body().call(told);
        }
        builder.func_body().unreachable();
        let args = params.iter().map(|ty| module.locals.add(*ty)).collect();
        module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(args));
    }
    if without == Without::Formatting {
        let all: Vec<_> = module.data.iter().map(walrus::Data::id).collect();
        for id in all {
            blank_places(&mut module.data.get_mut(id).value);
        }
    }
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}

/// What panics say of their place: what begins so ends with a source file's name.
const PLACES: [&[u8]; 3] = [b"cannot access a Thread Local", b"/rustc/", b"crates/"];
/// How a source file's name ends.
const SOURCE: &[u8] = b".rs";

/// Puts zeros in the place of the names of source files, which nothing reads any more.
fn blank_places(data: &mut [u8]) {
    let find = |data: &[u8], from: usize, what: &[u8]| {
        data.get(from..)?.windows(what.len()).position(|window| window == what).map(|at| from + at)
    };
    for place in PLACES {
        let mut from = 0;
        while let Some(start) = find(data, from, place) {
            let Some(end) = find(data, start, SOURCE).map(|at| at + SOURCE.len()) else { break };
            data.iter_mut().take(end).skip(start).for_each(|byte| *byte = 0);
            from = end;
        }
    }
}

fn words(without: Without, name: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(&PANICS) && !has(&HARMLESS) || without == Without::Formatting && has(&FORMATTING)
}
