//! `cargo xtask test`: every test there is, native, wasm32, on workerd, in Chromium and in Firefox.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::{
    args::{Usage, misuse},
    package, serve, tools,
};

/// What `test` takes.
pub const USAGE: Usage = Usage {
    command: "test",
    does: "Runs every test; fails if one does.",
    flags: &[],
    words: "[SUITE | SUITE/SPEC ...]",
    more: "Suites: lint, core, wasm, types, policy, deploy, edge, browser, bundlers, packages; all but packages without one.\nedge/crash is tests/edge/crash.spec.mjs alone; policy, edge, browser, bundlers and packages have such specs.",
};

/// A suite: its name, the folder of its specs where it has such, and what runs those that are named, or all.
type Suite = (&'static str, Option<&'static str>, fn(&[&str]) -> Result<()>);

const SUITES: [Suite; 10] = [
    ("lint", None, |_| lint()),
    ("core", None, |_| core()),
    ("wasm", None, |_| wasm()),
    ("types", None, |_| types()),
    ("policy", Some("tests/policy"), policy),
    ("deploy", None, |_| deploy()),
    ("edge", Some("tests/edge"), edge),
    ("browser", Some("tests/browser"), browser),
    ("bundlers", Some("tests/bundlers"), bundlers),
    ("packages", Some("tests/packages"), packages),
];

/// Runs the suites that `only` names, or all of them. `edge/crash` names one spec of a suite.
pub fn test(only: &[String]) -> Result<()> {
    check_names(only)?;
    keep_program()?;
    let mut failed = Vec::new();
    for (name, _, run) in SUITES {
        let named = only.iter().filter_map(|only| only.split_once('/').filter(|(suite, _)| *suite == name));
        let specs: Vec<&str> = named.map(|(_, spec)| spec).collect();
        // The packages are tried where they are asked for: wrangler takes its time to start, and now and then does not.
        if (only.is_empty() && name != "packages") || !specs.is_empty() || only.iter().any(|only| only == name) {
            tools::step(&format!("test: {name}"));
            if let Err(error) = run(&specs) {
                eprintln!("{error:#}");
                failed.push(name);
            }
        }
    }
    if failed.is_empty() {
        tools::step("all tests passed");
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}

/// Refuses a name that no suite or spec has, before any of them is run.
fn check_names(only: &[String]) -> Result<()> {
    for name in only {
        let (suite, spec) = name.split_once('/').map_or((name.as_str(), None), |(suite, spec)| (suite, Some(spec)));
        let Some((_, folder, _)) = SUITES.iter().find(|(known, ..)| *known == suite) else {
            return Err(misuse(format!("no suite is called {suite}\n{}", USAGE.more)));
        };
        let Some(spec) = spec else { continue };
        let Some(folder) = folder else { return Err(misuse(format!("{suite} has no specs of its own"))) };
        if !specs_of(folder)?.iter().any(|path| spec_name(path) == Some(spec)) {
            return Err(misuse(format!("there is no {folder}/{spec}.spec.mjs")));
        }
    }
    Ok(())
}

/// The specs of a folder, in the order of their names.
fn specs_of(folder: &str) -> Result<Vec<PathBuf>> {
    let mut specs: Vec<PathBuf> = fs::read_dir(tools::root().join(folder))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| spec_name(path).is_some())
        .collect();
    specs.sort();
    Ok(specs)
}

/// The name of a spec without what all of them end in.
fn spec_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(".spec.mjs")
}

/// This program as the specs start it. cargo puts another in its place where it tests this crate, and a program that is
/// gone starts nothing.
fn program() -> PathBuf {
    tools::target_dir().join("test/xtask")
}

/// Puts a copy of this program aside before anything is built.
fn keep_program() -> Result<()> {
    let (new, kept) = (program().with_extension("new"), program());
    fs::create_dir_all(tools::target_dir().join("test"))?;
    fs::copy(env::current_exe().context("where is xtask?")?, &new)?;
    // In one step: a spec that still runs keeps the file that it has.
    Ok(fs::rename(new, kept)?)
}

/// The lints of `[workspace.lints]`, on both targets, and those of the docs.
fn lint() -> Result<()> {
    tools::rust_target("wasm32-unknown-unknown")?;
    tools::run(tools::command("cargo").args(["fmt", "--all", "--check"]))?;
    let clippy = || {
        let mut cargo = tools::command("cargo");
        cargo.args(["clippy", "--quiet"]);
        cargo
    };
    tools::run(clippy().args(["--all-targets", "--", "-D", "warnings"]))?;
    tools::run(
        clippy()
            .args([
                "--target",
                "wasm32-unknown-unknown",
                "-p",
                "oncekey-worker",
                "-p",
                "oncekey-web",
                "-p",
                "oncekey-cli",
            ])
            .args(["--", "-D", "warnings"]),
    )?;
    tools::run(
        tools::command("cargo")
            .args(["doc", "--quiet", "--no-deps", "--document-private-items", "--workspace"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

fn core() -> Result<()> {
    tools::run(tools::command("cargo").args(["test", "-p", "oncekey", "-p", "xtask"]))
}

/// The same sources on wasm32, by Node's WASI.
fn wasm() -> Result<()> {
    tools::rust_target("wasm32-wasip1")?;
    // Fast calls into Node's WASI write to memory that has grown and moved: Node 20 ends by a fault.
    let flags = "--no-warnings --no-turbo-fast-api-calls";
    let runner = format!("node {flags} {}", tools::root().join("tests/wasi.mjs").display());
    tools::run(
        tools::command("cargo")
            .args(["test", "--target", "wasm32-wasip1", "-p", "oncekey"])
            .env("CARGO_TARGET_WASM32_WASIP1_RUNNER", runner),
    )
}

/// What little JavaScript is written by hand.
fn types() -> Result<()> {
    let tsc = tools::npm_for_tests()?.join("typescript/bin/tsc");
    tools::run(tools::command("node").arg(tsc).args(["--project", "tests/tsconfig.json"]))
}

/// What editors are given of the policy, against the vectors of the gate's own parser.
fn policy(specs: &[&str]) -> Result<()> {
    let dir = tools::target_dir().join("policy");
    package::policy::describe(&dir)?;
    node_test("tests/policy", specs, &[("ONCEKEY_POLICY", &dir)])
}

/// wrangler takes the worker as it is built; nothing leaves the machine.
fn deploy() -> Result<()> {
    package::build_all(true)?;
    let wrangler = tools::npm_in("tests/deploy", "wrangler")?.join("wrangler/bin/wrangler.js");
    tools::run_quiet(
        tools::command("node")
            .arg(wrangler)
            .args(["deploy", "--dry-run", "--config", "crates/oncekey-worker/wrangler.toml", "--outdir"])
            .arg(tools::target_dir().join("deploy"))
            .env("WRANGLER_SEND_METRICS", "false")
            .env("CI", "true"),
    )
}

fn edge(specs: &[&str]) -> Result<()> {
    package::build_faulty()?;
    package::build_all(true)?;
    let old = if specs.is_empty() || specs.contains(&"versions") { Some(package::old::worker()?) } else { None };
    let variables: Vec<_> = old.iter().map(|old| ("ONCEKEY_OLD", old.as_path())).collect();
    node_test("tests/edge", specs, &variables)
}

fn browser(specs: &[&str]) -> Result<()> {
    package::build_all(true)?;
    let module = tools::target_dir().join("pkg/oncekey/oncekey.js");
    let (chromium, firefox) = (tools::chromium()?, tools::firefox()?);
    let (webkit, xvfb) = tools::webkit()?;
    let demo = Demo::start()?;
    node_test(
        "tests/browser",
        specs,
        &[
            ("CHROMIUM", &chromium),
            ("FIREFOX", &firefox),
            ("WEBKIT", &webkit),
            ("XVFB", &xvfb),
            ("ONCEKEY_MODULE", &module),
            ("ONCEKEY_DEMO", Path::new(&demo.url)),
        ],
    )
}

/// The npm package in an app of each bundler and framework.
fn bundlers(specs: &[&str]) -> Result<()> {
    package::build_all(true)?;
    tools::npm_in("tests/bundlers", "vite, webpack, Next, SvelteKit")?;
    let npm = tools::target_dir().join("pkg/oncekey");
    let chromium = tools::chromium()?;
    node_test(
        "tests/bundlers",
        specs,
        &[("CHROMIUM", &chromium), ("ONCEKEY_NPM", &npm), ("ONCEKEY_MODULE", &npm.join("oncekey.js"))],
    )
}

/// Both npm packages as they are published, and each template as its users have it: without Rust.
fn packages(specs: &[&str]) -> Result<()> {
    package::build_all(true)?;
    if specs.is_empty() {
        tools::step("cargo package oncekey");
        tools::run(tools::command("cargo").args(["package", "--quiet", "--allow-dirty", "-p", "oncekey"]))?;
    }
    tools::npm_in("tests/packages", "wrangler for Node 20 and its newest with a Node, vitest, Hono, publint, attw")?;
    tools::npm_in("tests/bundlers", "vite, webpack, Next, SvelteKit")?;
    let packages = tools::target_dir().join("pkg");
    let module = packages.join("oncekey/oncekey.js");
    let chromium = tools::chromium()?;
    node_test(
        "tests/packages",
        specs,
        &[("CHROMIUM", &chromium), ("ONCEKEY_PACKAGES", &packages), ("ONCEKEY_MODULE", &module)],
    )
}

/// The demo as a visitor finds it, by `serve`; it ends with this value.
struct Demo {
    child: Child,
    url: String,
}

impl Demo {
    fn start() -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut child = tools::command(program())
            .args(["serve", "--memory", "--port", &port.to_string()])
            .env(serve::BUILT, "1")
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = child.stdout.take().map(|out| BufReader::new(out).lines());
        let ready = lines
            .into_iter()
            .flatten()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("ready ").map(str::to_owned));
        let demo = Self { child, url: ready.unwrap_or_default() };
        if demo.url.is_empty() {
            bail!("the demo did not start");
        }
        Ok(demo)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = tools::run_quiet(tools::command("kill").arg(self.child.id().to_string()));
        let _ = self.child.wait();
    }
}

/// Runs the specs below a folder, or those that `only` names; they start what they need by this very program.
fn node_test(dir: &str, only: &[&str], variables: &[(&str, &Path)]) -> Result<()> {
    tools::npm_for_tests()?;
    let mut specs = specs_of(dir)?;
    specs.retain(|path| only.is_empty() || spec_name(path).is_some_and(|name| only.contains(&name)));
    let mut node = tools::command("node");
    node.args(["--test", "--test-concurrency=2"]).args(specs);
    node.env("ONCEKEY_SERVE", program());
    node.env(serve::BUILT, "1");
    for (name, value) in variables {
        node.env(name, value);
    }
    tools::run(&mut node)
}
