//! The wasm packages of `wasm-pack.toml`: compile, bind, optimise, measure.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

use self::built::Built;
use crate::{args::Usage, tools};

mod built;
mod node;
pub mod old;
mod page;
mod panics;
pub mod policy;
pub mod worker;

/// What `build` takes.
pub const USAGE: Usage = Usage {
    command: "build",
    does: "Builds both packages into target/pkg/, and prints the gzip size of each beside its budget.",
    flags: &[],
    words: "",
    more: "The packages and budgets stand in wasm-pack.toml; one that is over is an error.",
};

/// What wasm-opt may use: what rustc emits by default, and what workerd and every current browser accept.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// How wasm-opt makes the page's wasm small: through its flat form and back; little is inlined, since a
/// call is smaller than what it calls.
const SMALLEST: [&str; 10] = [
    "-O2",
    "--flatten",
    "--rereloop",
    "-Oz",
    "--converge",
    "--always-inline-max-function-size=3",
    "--flexible-inline-max-function-size=3",
    "--one-caller-inline-max-function-size=20",
    "-Oz",
    "--reorder-functions",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    package: Vec<Package>,
}

/// One entry of `wasm-pack.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The folder below `target/pkg/`.
    pub name: String,
    /// The cargo package.
    #[serde(rename = "crate")]
    pub krate: String,
    /// What loads it.
    pub target: Target,
    /// Cargo features.
    #[serde(default)]
    pub features: Vec<String>,
    /// Bytes after gzip, of everything that is deployed or loaded.
    pub budget: usize,
}

/// What loads a package.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// workerd: the wasm stands beside the script as a `WebAssembly.Module`.
    Module,
    /// A page: one self-contained script.
    Web,
    /// Node: the wasm stands beside the script, which reads it.
    Node,
}

impl Target {
    /// What rustc is told besides. A page's calls are shallow, frames of some hundred bytes: 64 kB of stack are plenty, and
    /// what overflows them traps. Inlined is what is smaller then, after DEFLATE: five times what LLVM takes for it.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Target::Module | Target::Node => &[],
            Target::Web => &["-C", "link-arg=-zstack-size=65536", "-C", "llvm-args=-inline-threshold=25"],
        }
    }
}

/// The packages, as `wasm-pack.toml` lists them.
pub fn packages() -> Result<Vec<Package>> {
    let text = fs::read_to_string(tools::root().join("wasm-pack.toml"))?;
    let manifest: Manifest = toml::from_str(&text).context("wasm-pack.toml")?;
    Ok(manifest.package)
}

/// `cargo xtask build`: every package, each size beside its budget; an error if one is over.
pub fn build_all(strict: bool) -> Result<()> {
    // Several may be at it: the specs start their gates at once.
    let guard = tools::target_dir().join("pkg.lock");
    fs::create_dir_all(tools::target_dir())?;
    let guard = fs::File::create(guard)?;
    guard.lock()?;
    // The worker serves the page's module, so that one is made first: while the next is compiled.
    let mut packages = packages()?;
    packages.sort_by_key(|p| p.target == Target::Module);
    // What is served has no command line.
    packages.retain(|p| strict || p.target != Target::Node);
    tools::rust_target("wasm32-unknown-unknown")?;
    let made: Vec<Built> = thread::scope(|scope| {
        // What npm has is needed later.
        let npm = scope.spawn(tools::npm);
        let mut finished: Vec<Built> = Vec::new();
        let mut under_way: Option<thread::ScopedJoinHandle<Result<Built>>> = None;
        for package in &packages {
            let compiled = compile(package)?;
            finished.extend(under_way.take().map(joined).transpose()?);
            under_way = Some(scope.spawn(move || finish(package, &compiled)));
        }
        finished.extend(under_way.map(joined).transpose()?);
        joined(npm)?;
        anyhow::Ok(finished)
    })?;
    let mut over = Vec::new();
    for (package, built) in packages.iter().zip(&made) {
        let verdict = if built.gzip > package.budget { "OVER" } else { "of" };
        println!(
            "{:<16} {:>7} B gzip {verdict} {:>7} B   ({} B wasm, {} B script, raw; {})",
            package.name,
            built.gzip,
            package.budget,
            built.wasm,
            built.script,
            built.dir.strip_prefix(tools::root()).unwrap_or(&built.dir).display(),
        );
        if built.gzip > package.budget {
            over.push(package.name.as_str());
        }
    }
    if strict && !over.is_empty() {
        bail!("over budget: {}", over.join(", "));
    }
    Ok(())
}

/// Compiles the worker once more, with the faults that tests can ask for.
pub fn build_faulty() -> Result<()> {
    for mut package in packages()?.into_iter().filter(|package| package.target == Target::Module) {
        package.name.push_str("-faults");
        package.features.push("faults".to_owned());
        build(&package)?;
    }
    Ok(())
}

/// What a thread came to.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| bail!("a step of the build panicked"))
}

/// Compiles one package into `target/pkg/NAME`.
pub fn build(package: &Package) -> Result<Built> {
    tools::rust_target("wasm32-unknown-unknown")?;
    finish(package, &compile(package)?)
}

/// What cargo makes of a package.
fn compile(package: &Package) -> Result<PathBuf> {
    tools::step(&format!("cargo rustc {} (wasm32)", package.krate));
    let mut cargo = tools::command("cargo");
    cargo
        .args(["rustc", "--quiet", "--release", "--target", "wasm32-unknown-unknown", "-p"])
        .arg(&package.krate)
        .env("RUSTFLAGS", remapped())
        .env("WASM_BINDGEN_USE_JS_SYS", "1");
    if !package.features.is_empty() {
        cargo.arg("--features").arg(package.features.join(","));
    }
    // For this crate alone, so that the packages have their dependencies in common.
    cargo.args(["--crate-type", "cdylib", "--"]).args(package.target.flags());
    tools::run(&mut cargo)?;
    let name = format!("{}.wasm", package.krate.replace('-', "_"));
    Ok(tools::target_dir().join("wasm32-unknown-unknown/release").join(name))
}

/// Binds, optimises and measures what cargo made.
fn finish(package: &Package, compiled: &Path) -> Result<Built> {
    let modules = tools::npm()?;
    let dir = tools::target_dir().join("pkg").join(&package.name);
    let stage = tools::target_dir().join("stage").join(package.name.replace('/', "-"));
    let wasm = bind(package, compiled, &stage, &modules)?;
    fs::create_dir_all(&dir)?;
    match package.target {
        Target::Module => worker::assemble(&stage, &wasm, &tools::target_dir().join("pkg/oncekey/oncekey.js"), &dir),
        Target::Web => page::assemble(&package.krate, &stage, &wasm, &dir),
        Target::Node => node::assemble(&package.krate, &stage, &wasm, &dir),
    }
}

/// Panics name their place: by short paths, the same on every machine.
fn remapped() -> String {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registry = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok()?.next()?.ok());
    let mut flags = format!("--remap-path-prefix={}=", tools::root().display());
    if let Some(registry) = registry {
        flags.push_str(&format!(" --remap-path-prefix={}=", registry.path().display()));
    }
    flags
}

/// wasm-bindgen, then wasm-opt; both are skipped where the compiled file has not changed.
fn bind(package: &Package, compiled: &Path, stage: &Path, modules: &Path) -> Result<Vec<u8>> {
    let optimised = stage.join("optimised.wasm");
    let seen = stage.join("compiled.wasm");
    let bytes = fs::read(compiled)?;
    let made_of = match package.target {
        Target::Module => [bytes.clone(), worker::written()?].concat(),
        Target::Web | Target::Node => bytes.clone(),
    };
    if fs::read(&seen).is_ok_and(|old| old == made_of) && optimised.is_file() {
        return Ok(fs::read(optimised)?);
    }
    tools::step(&format!("wasm-bindgen, wasm-opt {}", package.name));
    let _ = fs::remove_dir_all(stage);
    fs::create_dir_all(stage)?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_bytes("bound", panics::silence(&bytes, "tellTrapped", package.target != Target::Web)?)
        .out_name("bound")
        .typescript(false)
        // wasm-opt strips it; until then it tells what is large.
        .remove_name_section(false)
        .remove_producers_section(true);
    let mut level: &[&str] = &SMALLEST;
    let mut features = WASM_FEATURES.to_vec();
    match package.target {
        Target::Module => {
            bindgen.module(true)?.reset_state_function(true);
            level = &["-O3"];
        }
        Target::Node => {
            bindgen.nodejs_module(true)?;
        }
        Target::Web => {
            bindgen.web(true)?.omit_default_module_path(true).encode_into(EncodeInto::Always);
        }
    }
    features.push("--enable-exception-handling");
    bindgen.generate(stage)?;
    if package.target == Target::Module {
        worker::trim(stage)?;
    }
    tools::run_quiet(
        tools::command("node")
            .arg(modules.join("binaryen/bin/wasm-opt"))
            .arg(stage.join("bound_bg.wasm"))
            .arg("-o")
            .arg(&optimised)
            .args(level)
            .args(["--strip-debug", "--strip-producers", "--strip-target-features"])
            .args(features),
    )?;
    fs::write(seen, made_of)?;
    Ok(fs::read(optimised)?)
}
