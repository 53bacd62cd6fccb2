//! The page's module: wasm, glue and the hand-written entry made into one file, and the npm package around it.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use walrus::Module;

use super::{Built, Package, gzip_size};
use crate::tools;

/// Gives the wasm's imports short names, in the wasm and in the glue alike, and drops the glue's repeated imports of one
/// file. Returns the quoted path of that file too.
fn shorten(wasm: &[u8], glue: &str) -> Result<(Vec<u8>, String, String)> {
    let mut module = Module::from_buffer(wasm)?;
    let mut glue = glue.to_owned();
    let star = "import * as import";
    let platform = glue
        .lines()
        .find_map(|line| {
            line.strip_prefix(star)?.split_once(" from ").map(|(_, path)| path.trim_end_matches(';').to_owned())
        })
        .context("the glue imports nothing")?;
    let raw: Vec<String> = module
        .imports
        .iter()
        .filter(|import| import.module != "./bound_bg.js")
        .map(|import| import.name.clone())
        .collect();
    for (index, import) in module.imports.iter_mut().enumerate() {
        if import.module == "./bound_bg.js" {
            let short = radix(index);
            glue = glue.replace(&format!("{}:", import.name), &format!("{short}:"));
            import.name = short;
        }
        import.module = if import.module == "./bound_bg.js" { "a".into() } else { "b".into() };
    }
    // One object of what wasm imports by its own name, in place of one namespace an import.
    let mut seen = false;
    let lines = glue.lines().filter_map(|line| {
        if line.starts_with(star) {
            return None;
        }
        let member = line.trim_start();
        if member.starts_with("\"./snippets/") {
            let first = !std::mem::replace(&mut seen, true);
            return first.then(|| format!("b: {{ {} }},", list(&raw, ": ")));
        }
        Some(line.replace("\"./bound_bg.js\"", "a"))
    });
    let body = lines.collect::<Vec<_>>().join("\n");
    let glue = format!("import {{ {} }} from {platform};\n{body}\n", list(&raw, " as "));
    Ok((module.emit_wasm(), glue, platform))
}

/// Names beside names of their own, for an import or an object.
fn list(names: &[String], between: &str) -> String {
    let pairs = names.iter().map(|name| format!("{name}{between}own_{name}"));
    pairs.collect::<Vec<_>>().join(", ")
}

/// A short name for the nth of something.
fn radix(n: usize) -> String {
    let digit = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap_or(0));
    if n < 26 { digit(n).to_string() } else { format!("{}{}", digit(n / 26 - 1), digit(n)) }
}

/// One self-contained `oncekey.js`, its declarations and its package.json.
pub fn assemble(package: &Package, stage: &Path, wasm: &[u8], dir: &Path) -> Result<Built> {
    let krate = tools::root().join("crates").join(&package.krate);
    let (wasm, glue, platform) = shorten(wasm, &fs::read_to_string(stage.join("bound.js"))?)?;
    fs::write(stage.join("glue.mjs"), glue)?;
    let page = fs::read_to_string(krate.join("src/page.mjs")).context("page.mjs")?;
    let page = page.replace("\"./bound.js\"", "\"./glue.mjs\"").replace("\"./platform.mjs\"", &platform);
    fs::write(stage.join("page.mjs"), page)?;
    // A page inflates it once; the smallest stream is worth the seconds it takes here.
    let mut deflated = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Deflate, &wasm[..], &mut deflated)?;
    let packed = format!("export default {:?};\n", BASE64_STANDARD.encode(deflated));
    fs::write(stage.join("packed.mjs"), packed)?;
    let out = dir.join("oncekey.js");
    tools::run_quiet(
        tools::command("node")
            .arg(tools::npm()?.join("esbuild/bin/esbuild"))
            .arg(stage.join("page.mjs"))
            .args(["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning"])
            .arg(format!("--outfile={}", out.display())),
    )?;
    for file in ["oncekey.d.ts", "package.json", "README.md"] {
        fs::copy(krate.join("npm").join(file), dir.join(file)).with_context(|| file.to_owned())?;
    }
    let script = fs::read(&out)?;
    Ok(Built { dir: dir.to_path_buf(), gzip: gzip_size(&script)?, wasm: wasm.len(), script: script.len() })
}
