//! The command line's folder: the script, the bindings, and the wasm that they read.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    package::built::{Built, gzip_size},
    tools,
};

/// The script that a person starts; it imports the bindings.
const SCRIPT: &str = "oncekey.mjs";

/// Puts the folder together from what wasm-bindgen and wasm-opt made.
pub fn assemble(krate: &str, stage: &Path, wasm: &[u8], dir: &Path) -> Result<Built> {
    let script = tools::root().join("crates").join(krate).join("src").join(SCRIPT);
    let script = fs::read(&script).with_context(|| script.display().to_string())?;
    let bindings = fs::read_to_string(stage.join("bound.js"))?.replace("bound_bg.wasm", "rules.wasm");
    let mut gzip = 0;
    for (name, content) in [(SCRIPT, script.as_slice()), ("rules.mjs", bindings.as_bytes()), ("rules.wasm", wasm)] {
        gzip += gzip_size(content)?;
        tools::write_if_changed(&dir.join(name), content)?;
    }
    Ok(Built { dir: dir.to_path_buf(), gzip, wasm: wasm.len(), script: script.len() + bindings.len() })
}
