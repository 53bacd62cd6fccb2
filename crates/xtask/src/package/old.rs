//! The worker of another commit: for the specs in which two builds meet, and for the benchmark.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use super::worker::MODULES;
use crate::tools;

/// The last commit before version 2 of the stored forms.
const COMMIT: &str = "11d992fa435c1cfa4058bc54176a46519f4cec2b";

/// The folder of the worker of before version 2 of the stored forms.
pub fn worker() -> Result<PathBuf> {
    worker_of(COMMIT)
}

/// The full name of the commit that a revision names.
pub fn commit_of(revision: &str) -> Result<String> {
    let mut named = tools::command("git");
    named.args(["rev-parse", "--verify", "--quiet"]).arg(format!("{revision}^{{commit}}"));
    let found = named.output().context("git is needed")?;
    let commit = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if commit.is_empty() {
        bail!("{revision} names no commit of this clone");
    }
    Ok(commit)
}

/// The folder of a commit's worker below `target/`; built where it is not there yet, by what that commit builds with.
pub fn worker_of(commit: &str) -> Result<PathBuf> {
    let dir = tools::target_dir().join("old").join(commit);
    let built = dir.join("oncekey-worker");
    // It may serve fewer texts.
    if MODULES.iter().filter(|(_, kind)| *kind != "text").all(|(name, _)| built.join(name).is_file()) {
        return Ok(built);
    }
    tools::step(&format!("the worker of commit {commit:.7}, once"));
    let work = dir.join("work");
    let _ = fs::remove_dir_all(&work);
    let tree = work.join("tree");
    extract(commit, &tree)?;
    only_the_worker(&tree)?;
    // The page's module is no part of what two builds say to each other.
    let pkg = work.join("target/pkg");
    tools::write_if_changed(&pkg.join("oncekey/oncekey.js"), b"")?;
    let target = work.join("target");
    // Its build helper has our dependencies, which are compiled already; its wasm is compiled with flags of its own.
    tools::run_quiet(
        tools::command("cargo")
            .current_dir(&tree)
            .args(["build", "--package", "xtask"])
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_BUILD_BUILD_DIR", tools::target_dir()),
    )?;
    let mut xtask = tools::command(target.join("debug/xtask"));
    tools::run_quiet(xtask.current_dir(&tree).arg("build").env("CARGO_TARGET_DIR", &target))?;
    for (name, _) in MODULES {
        let made = pkg.join("oncekey-worker").join(name);
        // It served fewer scripts; its own entry asks for no more.
        let content = if made.is_file() { fs::read(made)? } else { Vec::new() };
        tools::write_if_changed(&built.join(name), &content)?;
    }
    fs::remove_dir_all(&work)?;
    Ok(built)
}

/// Writes the commit's files, and lends them the npm packages where they are the same.
fn extract(commit: &str, tree: &Path) -> Result<()> {
    let is_here = tools::command("git").args(["cat-file", "-e", &format!("{commit}^{{commit}}")]).output();
    if !is_here.context("git is needed")?.status.success() {
        bail!(
            "commit {commit:.7} is not in this clone, and the specs in which two builds meet need it; a shallow clone gets it by git fetch --unshallow"
        );
    }
    fs::create_dir_all(tree)?;
    let archive = tree.with_extension("tar");
    tools::run_quiet(tools::command("git").args(["archive", commit, "--output"]).arg(&archive))?;
    tools::run_quiet(tools::command("tar").arg("-xf").arg(&archive).arg("-C").arg(tree))?;
    let modules = tools::npm()?;
    let lock = "tests/package-lock.json";
    if fs::read(tree.join(lock))? == fs::read(tools::root().join(lock))? {
        std::os::unix::fs::symlink(modules, tree.join("tests/node_modules"))?;
    }
    Ok(())
}

/// Takes every other package out of its list.
fn only_the_worker(tree: &Path) -> Result<()> {
    let path = tree.join("wasm-pack.toml");
    let text = fs::read_to_string(&path)?;
    let mark = "[[package]]";
    let entries = text.split(mark).filter(|entry| entry.contains("\ntarget = \"module\""));
    fs::write(path, entries.flat_map(|entry| [mark, entry]).collect::<String>())?;
    Ok(())
}
