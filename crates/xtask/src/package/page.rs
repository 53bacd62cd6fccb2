//! The page's module: wasm, glue and the hand-written entry made into one file, and the npm package around it.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use walrus::Module;

use crate::{
    package::built::{Built, gzip_size},
    tools,
};

/// Starts the wasm and gives what it exports. References pass as they are, so a wrapper around each would do nothing.
const RUN: &str = "export const run = (module) => {
    wasm = new WebAssembly.Instance(module, __wbg_get_imports()).exports;
    wasm.__wbindgen_start();
    return wasm;
};\n";
/// What wasm-bindgen exports for a wasm that is started anew after a trap, which a page never does, and for glue that is not
/// ours.
const UNUSED: [&str; 4] = ["__abort_handler", "__instance_terminated", "__wbindgen_realloc", "__wbindgen_free"];
/// How texts and numbers pass. wasm-bindgen's own keeps views and decoders for speed, and a way around a fault of decoders
/// after two gigabytes.
const PASS: &str = "const decoder = new TextDecoder(\"utf-8\", { ignoreBOM: true }), encoder = new TextEncoder();
const bytesAt = (at, length) => new Uint8Array(wasm.memory.buffer, at >>> 0, length);
const getDataViewMemory0 = () => new DataView(wasm.memory.buffer);
const getStringFromWasm0 = (at, length) => decoder.decode(bytesAt(at, length));
const isLikeNone = (value) => value == null;
const passStringToWasm0 = (text) => {
    const bytes = encoder.encode(text);
    const at = wasm.__wbindgen_malloc(WASM_VECTOR_LEN = bytes.length, 1);
    bytesAt(at, bytes.length).set(bytes);
    return at;
};
let wasm, WASM_VECTOR_LEN;
\n";

/// Gives the wasm's imports short names, in the wasm and in the glue alike, lets the glue import each from its file in the
/// crate, and drops what the page has no use for.
fn shorten(wasm: &[u8], glue: &str, krate: &Path) -> Result<(Vec<u8>, String)> {
    let mut module = Module::from_buffer(wasm)?;
    let mut glue = in_crate(glue, krate)?;
    // What wasm calls without a wrapper, by its place in a list.
    let mut direct = Vec::new();
    for (index, import) in module.imports.iter_mut().enumerate() {
        if import.module == "./bound_bg.js" {
            let short = radix(index);
            glue = glue.replace(&format!("{}:", import.name), &format!("{short}:"));
            import.module = "a".into();
            import.name = short;
        } else {
            let place = direct.len();
            let name = std::mem::replace(&mut import.name, place.to_string());
            direct.push(format!(
                "import {{ {name} as own_{place} }} from {};\n",
                in_crate(&format!("{:?}", import.module), krate)?
            ));
            import.module = "b".into();
        }
    }
    for name in UNUSED {
        module.exports.remove(name)?;
    }
    walrus::passes::gc::run(&mut module);
    // One list of them, in place of one namespace an import.
    let mut seen = false;
    let lines = glue.lines().filter_map(|line| {
        if line.starts_with("import * as import") || line.trim() == "__proto__: null," {
            return None;
        }
        if line.contains(": import") && !line.contains("bound_bg") {
            let first = !std::mem::replace(&mut seen, true);
            let list: Vec<_> = (0..direct.len()).map(|place| format!("own_{place}")).collect();
            return first.then(|| format!("b: [{}],", list.join(", ")));
        }
        Some(line.replace("\"./bound_bg.js\"", "a"))
    });
    let body = lines.collect::<Vec<_>>().join("\n");
    // The imports alone: what is left of it starts the wasm in ways that a page has no use for.
    let start = body.find("function __wbg_get_imports").context("no imports")?;
    let end = body.find("let cachedDataViewMemory0").context("nothing passes")?;
    let imports = body.get(start..end).context("out of order")?;
    let imports = imports.replace(", wasm.__wbindgen_malloc, wasm.__wbindgen_realloc", "");
    let named = body.lines().filter(|line| line.starts_with("import {")).collect::<Vec<_>>().join("\n");
    let glue = format!("{}{named}\n{PASS}{imports}\n{RUN}", direct.concat());
    Ok((module.emit_wasm(), glue))
}

/// wasm-bindgen copies the crate's own JavaScript; what imports it is to have the files themselves.
fn in_crate(glue: &str, krate: &Path) -> Result<String> {
    let start = glue.find("./snippets/").context("nothing of the crate is imported")?;
    let copies = glue.get(start..).and_then(|rest| rest.split("/src/").next()).context("no path")?;
    Ok(glue.replace(copies, &krate.display().to_string()))
}

/// A short name for the nth of something.
fn radix(n: usize) -> String {
    let digit = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap_or(0));
    if n < 26 { digit(n).to_string() } else { format!("{}{}", digit(n / 26 - 1), digit(n)) }
}

/// A module whose `compiled` is a promise of the wasm that was deflated. Inflating takes promises only, and compiling none:
/// each step that the browser does elsewhere would wait for its turn at the page's thread, for longer than it takes. Base64 is
/// the one code that browsers read by themselves, the older ones as text.
fn packed(deflated: &[u8], length: usize) -> String {
    let text = BASE64_STANDARD_NO_PAD.encode(deflated);
    format!(
        "const read = (packed) => Uint8Array.fromBase64?.(packed) ?? Uint8Array.from(atob(packed), (c) => c.charCodeAt());
        const inflate = new DecompressionStream(\"deflate-raw\");
        const reader = inflate.readable.getReader(), writer = inflate.writable.getWriter();
        writer.write(read(\"{text}\"));
        writer.close();
        const compile = async () => {{
            const bytes = new Uint8Array({length});
            for (let to = 0, part; (part = (await reader.read()).value); to += part.length) bytes.set(part, to);
            return new WebAssembly.Module(bytes);
        }};
        export const compiled = compile();\n",
    )
}

/// A module whose `compiled` is a promise of the wasm beside it. A server that does not know its type costs the streaming only.
const FETCHED: &str = r#"
    const answer = fetch(new URL("./oncekey.wasm", import.meta.url));
    export const compiled = answer.then((whole) => WebAssembly.compileStreaming(whole.clone())
        .catch(async () => WebAssembly.compile(await whole.arrayBuffer())));
"#;

/// The largest that `bootstrap.js` may be, gzip, in bytes: a page loads it before anything else.
const BOOTSTRAP_BUDGET: usize = 1_000;

/// What is copied from the crate as it stands. Its README is the package's.
const BESIDE: [&str; 8] = [
    "npm/oncekey.d.ts",
    "npm/oncekey.wasm.d.ts",
    "npm/bootstrap.d.ts",
    "npm/react.js",
    "npm/react.d.ts",
    "npm/package.json",
    "README.md",
    "../../LICENSE",
];

/// The npm package: one self-contained `oncekey.js`, `debug.js` with the same to read, `external.js` with its wasm beside it,
/// `bootstrap.js`, and what npm wants to know. What is measured is the first.
pub fn assemble(krate: &str, stage: &Path, wasm: &[u8], dir: &Path) -> Result<Built> {
    let krate = tools::root().join("crates").join(krate);
    let (wasm, glue) = shorten(wasm, &fs::read_to_string(stage.join("bound.js"))?, &krate)?;
    fs::write(stage.join("glue.mjs"), glue)?;
    // A page inflates it once; the smallest stream is worth the seconds it takes here.
    let options = zopfli::Options { iteration_count: 100.try_into()?, ..zopfli::Options::default() };
    let mut deflated = Vec::new();
    zopfli::compress(options, zopfli::Format::Deflate, &wasm[..], &mut deflated)?;
    fs::write(stage.join("packed.mjs"), packed(&deflated, wasm.len()))?;
    fs::write(stage.join("fetched.mjs"), FETCHED)?;
    fs::write(dir.join("oncekey.wasm"), &wasm)?;
    let entry = krate.join("src/platform/entry.mjs");
    let made = |wasm: &str| {
        let alias = |name: &str, file: &str| format!("--alias:{name}={}", stage.join(file).display());
        [alias("oncekey-glue", "glue.mjs"), alias("oncekey-wasm", wasm)]
    };
    let script = minify(&entry, "esm", &made("packed.mjs"), &dir.join("oncekey.js"))?;
    minify(&entry, "esm", &made("fetched.mjs"), &dir.join("external.js"))?;
    readable(&entry, &made("packed.mjs"), dir)?;
    let bootstrap = minify(&krate.join("src/platform/bootstrap.js"), "iife", &[], &dir.join("bootstrap.js"))?;
    let bootstrap = gzip_size(&bootstrap)?;
    if bootstrap > BOOTSTRAP_BUDGET {
        bail!("bootstrap.js is {bootstrap} B gzip, over {BOOTSTRAP_BUDGET} B");
    }
    for file in BESIDE {
        let name = file.trim_start_matches("npm/").trim_start_matches("../");
        fs::copy(krate.join(file), dir.join(name)).with_context(|| file.to_owned())?;
    }
    Ok(Built { dir: dir.to_path_buf(), gzip: gzip_size(&script)?, wasm: wasm.len(), script: script.len() })
}

/// `debug.js`, the same as one can read it, with a source map that names no folder of this machine.
fn readable(entry: &Path, made: &[String], dir: &Path) -> Result<()> {
    let out = dir.join("debug.js");
    tools::run_quiet(tools::bundle(entry, &out)?.args(["--minify=false", "--sourcemap"]).args(made))?;
    let map = dir.join("debug.js.map");
    let text = fs::read_to_string(&map)?.replace(&format!("{}/", tools::root().display()), "");
    Ok(fs::write(map, text)?)
}

/// Makes a module and what it imports one small file; `made` says where the files are that the build makes.
fn minify(entry: &Path, format: &str, made: &[String], out: &Path) -> Result<Vec<u8>> {
    tools::run_quiet(tools::bundle(entry, out)?.arg(format!("--format={format}")).args(made))?;
    Ok(fs::read(out)?)
}
