//! Panics without their words: the machinery that puts them together is half of a small wasm, and nobody reads them there.

use anyhow::Result;
use walrus::{FunctionBuilder, FunctionId, FunctionKind, ImportKind, Module};

/// Parts of the (mangled) names of functions that only word a panic.
const PANICS: [&str; 13] = [
    "panicking",
    "panic_already_",
    "panic_access_error",
    "expect_failed",
    "alloc_error_handler",
    "slice_error_fail",
    "slice_index_fail",
    "handle_error",
    "handle_alloc_error",
    // What a panic says of a borrow that cannot be had.
    "BorrowError",
    "BorrowMutError",
    "AccessError",
    // The hook that a dependency sets at its start.
    "6worker4init4init28_$u7b$$u7b$closure",
];

/// How the name of a source file of the standard library begins, and ends.
const LIBRARY: &[u8] = b"/rustc/";
const SOURCE: &[u8] = b".rs";

/// What only panics say.
const WORDS: [&[u8]; 6] = [
    b"cannot access a Thread Local Storage value during or after destruction: ",
    b"RefCell already mutably borrowed",
    b"RefCell already borrowed",
    b"window size must be non-zero",
    b"capacity overflow",
    b"AccessError",
];

/// Part of the (mangled) names of functions that format.
const FORMATS: &str = "core3fmt";

/// Setting a hook words nothing, and is called where nothing panics.
const HARMLESS: [&str; 2] = ["set_hook", "take_hook"];

/// Replaces each function that words a panic by a trap, so that formatting is linked no more. Where the wasm imports a
/// function whose name contains `told`, that is called first. `formats`: whether texts are formatted elsewhere too.
pub fn silence(wasm: &[u8], told: &str, formats: bool) -> Result<Vec<u8>> {
    let mut module = Module::from_buffer(wasm)?;
    let told = module.imports.iter().find_map(|import| match import.kind {
        ImportKind::Function(id) if import.name.contains(told) => Some(id),
        _ => None,
    });
    let is_mute = |name: &str| words_a_panic(name) || !formats && name.contains(FORMATS);
    let mute: Vec<FunctionId> = module
        .funcs
        .iter()
        .filter(|function| matches!(function.kind, FunctionKind::Local(_)))
        .filter(|function| function.name.as_deref().is_some_and(is_mute))
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
    let data: Vec<_> = module.data.iter().map(walrus::Data::id).collect();
    for id in data {
        let data = &mut module.data.get_mut(id).value;
        blank_places(data);
        blank_words(data);
    }
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}

/// Puts zeros in the place of the names of the standard library's source files (`/rustc/COMMIT/library/….rs`): panics said
/// where they came from.
fn blank_places(data: &mut [u8]) {
    let mut from = 0;
    while let Some(place) = data.get(from..).and_then(|rest| rest.windows(LIBRARY.len()).position(|at| at == LIBRARY)) {
        let start = from + place;
        let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"/_.".contains(byte);
        let name: Vec<u8> = data.iter().skip(start).copied().take_while(is_path).collect();
        from = start + LIBRARY.len();
        if let Some(end) = name.windows(SOURCE.len()).position(|at| at == SOURCE) {
            data.iter_mut().skip(start).take(end + SOURCE.len()).for_each(|byte| *byte = 0);
        }
    }
}

/// Puts zeros in the place of [`WORDS`].
fn blank_words(data: &mut [u8]) {
    for words in WORDS {
        while let Some(place) = data.windows(words.len()).position(|at| at == words) {
            data.iter_mut().skip(place).take(words.len()).for_each(|byte| *byte = 0);
        }
    }
}

fn words_a_panic(name: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(&PANICS) && !has(&HARMLESS)
}
