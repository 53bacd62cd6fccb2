//! The worker's folder: one script, the wasm and the page's module as a text, each a module of workerd's.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use walrus::{ExportId, ExportItem, Module};

use crate::{
    package::{
        built::{Built, gzip_size},
        policy,
    },
    tools,
};

/// The entry module: the shim and the bindings.
const ENTRY: &str = "index.mjs";

/// The modules of the worker: name and the kind that workerd's configuration calls it.
pub const MODULES: [(&str, &str); 7] = [
    (ENTRY, "esModule"),
    ("gate.wasm", "wasm"),
    ("oncekey.txt", "text"),
    ("bootstrap.txt", "text"),
    ("operator-page.txt", "text"),
    ("operator-script.txt", "text"),
    ("operator-style.txt", "text"),
];

/// The hand-written modules around the bindings: the shim, what it and the wasm share, and what stands in a global's
/// place.
const WRITTEN: [&str; 7] =
    ["shim.mjs", "trap.mjs", "promise.mjs", "wire.mjs", "microtask.mjs", "seal.mjs", "verify.mjs"];

/// The texts of the hand-written modules, one after the other.
pub fn written() -> Result<Vec<u8>> {
    let texts: Result<Vec<_>> = WRITTEN.iter().map(|name| Ok(fs::read(source(name))?)).collect();
    Ok(texts?.concat())
}

fn source(name: &str) -> PathBuf {
    tools::root().join("crates/oncekey-worker/src").join(name)
}

/// Makes the shim and the bindings one script, without what the shim does not use, and takes out of the wasm what then
/// nobody calls: a dependency exports classes of its own.
pub fn trim(stage: &Path) -> Result<()> {
    fs::write(stage.join("gate.js"), bindings(stage)?)?;
    for name in WRITTEN {
        fs::copy(source(name), stage.join(name))?;
    }
    let script = stage.join(ENTRY);
    let mut bundle = tools::bundle(&stage.join("shim.mjs"), &script)?;
    // Rust drops its closures itself; to register each with the collector costs more than to call it.
    bundle.arg("--define:FinalizationRegistry=undefined");
    bundle.arg(format!("--inject:{}", stage.join("microtask.mjs").display()));
    bundle.args([
        "--external:./gate.wasm",
        "--external:./oncekey.txt",
        "--external:./bootstrap.txt",
        "--external:./operator-*.txt",
        "--external:cloudflare:workers",
    ]);
    tools::run_quiet(&mut bundle)?;
    let script = fs::read_to_string(script)?;
    let path = stage.join("bound_bg.wasm");
    let mut module = Module::from_file(&path)?;
    let unused: Vec<ExportId> = module
        .exports
        .iter()
        .filter(|export| matches!(export.item, ExportItem::Function(_)) && !mentions(&script, &export.name))
        .map(walrus::Export::id)
        .collect();
    for export in unused {
        module.exports.delete(export);
    }
    walrus::passes::gc::run(&mut module);
    module.emit_wasm_file(path)
}

/// Whether a script reads a property of that name.
fn mentions(script: &str, name: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    script.match_indices(&format!(".{name}")).any(|(at, found)| {
        let rest = script.get(at + found.len()..).unwrap_or_default();
        !rest.starts_with(part_of_name)
    })
}

/// Puts the worker together from what wasm-bindgen and wasm-opt made.
pub fn assemble(stage: &Path, wasm: &[u8], page: &Path, dir: &Path) -> Result<Built> {
    let script = fs::read(stage.join(ENTRY))?;
    let bootstrap = fs::read(page.with_file_name("bootstrap.js")).context("the page's scripts are built first")?;
    let page = fs::read(page).context("the page's module is built first")?;
    let operator = source("operator");
    let [operator_script, operator_style] = ["page.mjs", "page.css"].map(|name| small(stage, &operator.join(name)));
    let (operator_script, operator_style) = (operator_script?, operator_style?);
    let operator_page = fs::read(operator.join("page.html"))?;
    let contents: [&[u8]; 7] = [&script, wasm, &page, &bootstrap, &operator_page, &operator_script, &operator_style];
    let mut gzip = 0;
    for ((name, _), content) in MODULES.iter().zip(contents) {
        gzip += gzip_size(content)?;
        tools::write_if_changed(&dir.join(name), content)?;
    }
    policy::describe(dir)?;
    Ok(Built { dir: dir.to_path_buf(), gzip, wasm: wasm.len(), script: script.len() })
}

/// A script or style as small as it can be.
fn small(stage: &Path, file: &Path) -> Result<Vec<u8>> {
    let out = stage.join(file.file_name().context("a file has a name")?);
    tools::run_quiet(&mut tools::bundle(file, &out)?)?;
    Ok(fs::read(out)?)
}

/// workerd hands a compiled module to a plain import; the one snippet of a dependency becomes a part of the file; and the
/// bindings import the very module that the shim does.
fn bindings(stage: &Path) -> Result<String> {
    let mut out = String::new();
    for line in fs::read_to_string(stage.join("bound.js"))?.lines() {
        if let Some(rest) = line.strip_prefix("import source ") {
            out.push_str("import ");
            out.push_str(&rest.replace("./bound_bg.wasm", "./gate.wasm"));
        } else if let Some(path) = line.strip_prefix("import ").and_then(|line| line.split(['\'', '"']).nth(1)) {
            if !path.starts_with("./snippets/") {
                bail!("an import that nobody serves: {line}");
            }
            if let Some(written) = WRITTEN.iter().find(|written| path.ends_with(&format!("/{written}"))) {
                out.push_str(&line.replace(path, &format!("./{written}")));
            } else {
                let snippet = fs::read_to_string(stage.join(path))?;
                // The dependency shares its state through the global object with a script that is not used here.
                out.push_str(
                    &snippet.replace("export const", "const").replace("globalThis.__worker_init_state = ", ""),
                );
            }
        } else if line.starts_with("if (Symbol.dispose)") {
            // A class with a side effect is kept though nobody uses it.
            continue;
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    Ok(out)
}
