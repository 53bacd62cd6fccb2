//! Where the tools come from: rustup, npm and the system's packages, installed when missing.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, OnceLock},
    time::Instant,
};

use anyhow::{Context, Result, bail};

/// The project's root folder.
pub fn root() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).unwrap_or(crate_dir).to_path_buf()
}

/// Cargo's output folder, `target/` unless the environment says otherwise.
pub fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Says one step of the work on one line, with the time since the first one.
pub fn step(line: &str) {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    println!("· {:>5.1} s  {line}", FIRST.get_or_init(Instant::now).elapsed().as_secs_f32());
}

/// Why a program did not start: what to install where it is missing.
fn unstarted(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    match &*name {
        "node" | "npm" => format!("{name} is needed: it comes with Node 20 or later, https://nodejs.org"),
        "cargo" | "rustc" | "rustup" => format!("{name} is needed: it comes with rustup, https://rustup.rs"),
        "git" | "tar" | "kill" | "sh" => format!("{name} is needed: install the system's package"),
        _ => format!("cannot start {}", program.display()),
    }
}

/// A command in the project's root.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Runs a command to its end; a non-zero exit is an error that shows what it printed, if that was captured.
pub fn run(command: &mut Command) -> Result<()> {
    let name = format!("{command:?}");
    let status = command.status();
    let status = status.with_context(|| unstarted(command))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// Like [`run`], silent unless it fails.
pub fn run_quiet(command: &mut Command) -> Result<()> {
    let name = format!("{command:?}");
    let out = command.stdin(Stdio::null()).output();
    let out = out.with_context(|| unstarted(command))?;
    if !out.status.success() {
        bail!(
            "{name} ended with {}\n{}{}",
            out.status,
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
    }
    Ok(())
}

/// Adds a compilation target to the toolchain in use, once.
pub fn rust_target(triple: &str) -> Result<()> {
    let out = command("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .output()
        .context("rustc is needed: https://rustup.rs")?;
    let libdir = PathBuf::from(String::from_utf8_lossy(&out.stdout).trim());
    if out.status.success() && libdir.is_dir() {
        return Ok(());
    }
    step(&format!("rustup target add {triple}"));
    run_quiet(command("rustup").args(["target", "add", triple]))
}

/// Which of a folder's npm packages are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// What building and serving needs.
    ToServe,
    /// What the tests need besides.
    All,
}

/// The npm packages that building and serving need.
pub fn npm() -> Result<PathBuf> {
    npm_of("tests", Wanted::ToServe, "workerd, wasm-opt, esbuild, htmx, React")
}

/// Those and the tests' own.
pub fn npm_for_tests() -> Result<PathBuf> {
    npm_of("tests", Wanted::All, "workerd, wasm-opt, esbuild, TypeScript, playwright-core, puppeteer-core, each htmx")
}

/// The npm packages that a folder's lock file names, installed once a lock file.
pub fn npm_in(folder: &str, what: &str) -> Result<PathBuf> {
    npm_of(folder, Wanted::All, what)
}

fn npm_of(folder: &str, wanted: Wanted, what: &str) -> Result<PathBuf> {
    // Two at once would install into one folder.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let dir = root().join(folder);
    let modules = dir.join("node_modules");
    let lock = fs::read(dir.join("package-lock.json")).with_context(|| format!("{folder}/package-lock.json"))?;
    let (all, to_serve) = (modules.join(".oncekey-lock"), modules.join(".oncekey-lock-to-serve"));
    let installed = |stamp: &Path| fs::read(stamp).is_ok_and(|seen| seen == lock);
    if installed(&all) || (wanted == Wanted::ToServe && installed(&to_serve)) {
        return Ok(modules);
    }
    step(&format!("npm ci in {folder}: {what}"));
    check_node()?;
    let mut npm = command("npm");
    npm.current_dir(&dir).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    if wanted == Wanted::ToServe {
        npm.arg("--omit=dev");
    }
    run_quiet(&mut npm)?;
    fs::write(if wanted == Wanted::All { all } else { to_serve }, lock)?;
    Ok(modules)
}

/// The oldest major version of Node that the tools run on.
const NODE: u32 = 20;

/// An error that says what to install where there is no Node, or an old one.
fn check_node() -> Result<()> {
    let mut node = command("node");
    let out = node.arg("--version").output().with_context(|| unstarted(&command("node")))?;
    let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    let major = said.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < NODE) {
        bail!("Node {NODE} or later is needed, and node is {said}: https://nodejs.org");
    }
    Ok(())
}

/// What makes a script and all that it imports one small module; no tsconfig.json around the project has a say.
pub fn bundle(entry: &Path, out: &Path) -> Result<Command> {
    let mut bundle = command("node");
    bundle
        .arg(npm()?.join("esbuild/bin/esbuild"))
        .arg(entry)
        .args(["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning", "--tsconfig-raw={}"])
        .arg(format!("--outfile={}", out.display()));
    Ok(bundle)
}

/// The workerd binary that npm installed for this machine.
pub fn workerd() -> Result<PathBuf> {
    let scope = npm()?.join("@cloudflare");
    let found = fs::read_dir(&scope)
        .with_context(|| format!("{}", scope.display()))?
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("bin/workerd"))
        .find(|path| path.is_file());
    found.context("npm installed no workerd for this machine")
}

/// The path of a Chromium; Debian's package is installed where none is found.
pub fn chromium() -> Result<PathBuf> {
    browser("CHROMIUM", &["chromium", "chromium-browser", "google-chrome"], "chromium")
}

/// The path of a Firefox; Debian's package is installed where none is found.
pub fn firefox() -> Result<PathBuf> {
    browser("FIREFOX", &["firefox-esr", "firefox"], "firefox-esr")
}

/// The paths of `WebKit`'s driver and of an X server for it; Debian's packages are installed where none is found.
pub fn webkit() -> Result<(PathBuf, PathBuf)> {
    let driver = browser("WEBKIT", &["WebKitWebDriver"], "--no-install-recommends webkit2gtk-driver")?;
    Ok((driver, browser("XVFB", &["Xvfb"], "--no-install-recommends xvfb")?))
}

/// The first program of these names on the path.
fn program_of(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).flat_map(|dir| names.iter().map(move |name| dir.join(name))).find(|path| path.is_file())
}

/// A program: what `variable` says, else a program of one of `names`, else Debian's `package`.
fn browser(variable: &str, names: &[&str], package: &str) -> Result<PathBuf> {
    if let Some(path) = env::var_os(variable) {
        return Ok(PathBuf::from(path));
    }
    let find = || program_of(names);
    if let Some(path) = find() {
        return Ok(path);
    }
    if program_of(&["apt-get"]).is_none() {
        bail!("no {} here: install one, or name it in {variable}", names.join(" or "));
    }
    step(&format!("apt-get install {package}"));
    let sudo = if command("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n") { "" } else { "sudo " };
    run_quiet(command("sh").arg("-c").arg(format!(
        "{sudo}apt-get update -qq && {sudo}env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq {package}"
    )))?;
    find().with_context(|| format!("no {}: install one, or name it in {variable}", names.join(" or ")))
}

/// Writes a file unless it holds the same already, so that what looks at its time sees no change.
pub fn write_if_changed(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    fs::write(path, content).with_context(|| format!("{}", path.display()))
}
