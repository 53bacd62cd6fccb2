//! Where the tools come from: rustup, npm and the system's packages, installed when missing.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
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

/// Says one step of the work on one line.
pub fn step(line: &str) {
    println!("· {line}");
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
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// Like [`run`], silent unless it fails.
pub fn run_quiet(command: &mut Command) -> Result<()> {
    let name = format!("{command:?}");
    let out = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {name}"))?;
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

/// The npm packages that building and testing need.
pub fn npm() -> Result<PathBuf> {
    npm_in("tests", "workerd, wasm-opt, esbuild, playwright-core, puppeteer-core, htmx")
}

/// The npm packages that a folder's lock file names, installed once a lock file.
pub fn npm_in(folder: &str, what: &str) -> Result<PathBuf> {
    let dir = root().join(folder);
    let modules = dir.join("node_modules");
    let lock = fs::read(dir.join("package-lock.json")).with_context(|| format!("{folder}/package-lock.json"))?;
    let stamp = modules.join(".oncekey-lock");
    if fs::read(&stamp).is_ok_and(|seen| seen == lock) {
        return Ok(modules);
    }
    step(&format!("npm ci in {folder}: {what}"));
    run_quiet(command("npm").current_dir(&dir).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    fs::write(stamp, lock)?;
    Ok(modules)
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

/// A program: what `variable` says, else a program of one of `names`, else Debian's `package`.
fn browser(variable: &str, names: &[&str], package: &str) -> Result<PathBuf> {
    if let Some(path) = env::var_os(variable) {
        return Ok(PathBuf::from(path));
    }
    let find = || {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).flat_map(|dir| names.iter().map(move |name| dir.join(name))).find(|path| path.is_file())
    };
    if let Some(path) = find() {
        return Ok(path);
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
