//! The wasm packages of `wasm-pack.toml`: compile, bind, optimise, measure.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

use self::built::Built;
use crate::tools;

mod built;
pub mod old;
mod page;
mod panics;
pub mod policy;
pub mod worker;

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
}

impl Target {
    /// The cargo profile it is compiled with.
    fn profile(self) -> &'static str {
        match self {
            Target::Module => "release",
            Target::Web => "page",
        }
    }

    /// What rustc is told besides. A page's calls are shallow, frames of some hundred bytes: 64 kB of stack are plenty, and
    /// what overflows them traps. Inlined is what is smaller then, after DEFLATE: five times what LLVM takes for it.
    fn flags(self) -> &'static str {
        match self {
            Target::Module => "",
            Target::Web => " -C link-arg=-zstack-size=65536 -C llvm-args=-inline-threshold=25",
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
    let mut over = Vec::new();
    // The worker serves the page's module, so that one is made first.
    let mut packages = packages()?;
    packages.sort_by_key(|p| p.target == Target::Module);
    for package in &packages {
        let built = build(package)?;
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

/// Compiles one package into `target/pkg/NAME`.
pub fn build(package: &Package) -> Result<Built> {
    tools::rust_target("wasm32-unknown-unknown")?;
    let modules = tools::npm()?;
    tools::step(&format!("cargo build {} (wasm32)", package.krate));
    let mut cargo = tools::command("cargo");
    cargo
        .args(["build", "--quiet", "--profile", package.target.profile()])
        .args(["--target", "wasm32-unknown-unknown", "-p"])
        .arg(&package.krate)
        .env("RUSTFLAGS", remapped() + package.target.flags())
        .env("WASM_BINDGEN_USE_JS_SYS", "1");
    if !package.features.is_empty() {
        cargo.arg("--features").arg(package.features.join(","));
    }
    tools::run(&mut cargo)?;
    let compiled = tools::target_dir()
        .join("wasm32-unknown-unknown")
        .join(package.target.profile())
        .join(format!("{}.wasm", package.krate.replace('-', "_")));

    let dir = tools::target_dir().join("pkg").join(&package.name);
    let stage = tools::target_dir().join("stage").join(&package.name);
    let wasm = bind(package, &compiled, &stage, &modules)?;
    fs::create_dir_all(&dir)?;
    match package.target {
        Target::Module => worker::assemble(&stage, &wasm, &tools::target_dir().join("pkg/oncekey/oncekey.js"), &dir),
        Target::Web => page::assemble(&package.krate, &stage, &wasm, &dir),
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
        Target::Web => bytes.clone(),
    };
    if fs::read(&seen).is_ok_and(|old| old == made_of) && optimised.is_file() {
        return Ok(fs::read(optimised)?);
    }
    tools::step(&format!("wasm-bindgen, wasm-opt {}", package.name));
    let _ = fs::remove_dir_all(stage);
    fs::create_dir_all(stage)?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_bytes("bound", panics::silence(&bytes, "tellTrapped", package.target == Target::Module)?)
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
