//! The worker's folder: the shim, the bindings, the wasm and the page's module as a text, each a module of workerd's.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use super::{Built, gzip_size};
use crate::tools;

/// The entry module.
pub const ENTRY: &str = "index.mjs";

/// The modules beside it: name and the kind that workerd's configuration calls it.
pub const MODULES: [(&str, &str); 4] =
    [(ENTRY, "esModule"), ("gate.js", "esModule"), ("gate.wasm", "wasm"), ("oncekey.txt", "text")];

/// Puts the worker together from what wasm-bindgen and wasm-opt made.
pub fn assemble(stage: &Path, wasm: &[u8], page: &Path, dir: &Path) -> Result<Built> {
    let script = bindings(stage)?;
    let shim = fs::read(tools::root().join("crates/oncekey-worker/src/shim.mjs"))?;
    let page = fs::read(page).context("the page's module is built first")?;
    let contents: [&[u8]; 4] = [&shim, script.as_bytes(), wasm, &page];
    let mut gzip = 0;
    for ((name, _), content) in MODULES.iter().zip(contents) {
        gzip += gzip_size(content)?;
        tools::write_if_changed(&dir.join(name), content)?;
    }
    Ok(Built { dir: dir.to_path_buf(), gzip, wasm: wasm.len(), script: script.len() + shim.len() })
}

/// workerd hands a compiled module to a plain import, and the one snippet of a dependency becomes a part of the file.
fn bindings(stage: &Path) -> Result<String> {
    let mut out = String::new();
    for line in fs::read_to_string(stage.join("bound.js"))?.lines() {
        if let Some(rest) = line.strip_prefix("import source ") {
            out.push_str("import ");
            out.push_str(&rest.replace("./bound_bg.wasm", "./gate.wasm"));
        } else if let Some(path) = line.strip_prefix("import ").and_then(|l| l.split('\'').nth(1)) {
            if !path.starts_with("./snippets/") {
                bail!("an import that nobody serves: {line}");
            }
            let snippet = fs::read_to_string(stage.join(path))?;
            out.push_str(&snippet.replace("export const", "const"));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    Ok(out)
}
