//! The worker of an earlier commit, for the specs in which two builds meet.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use super::worker::MODULES;
use crate::tools;

/// The last commit before version 2 of the stored forms.
const COMMIT: &str = "11d992fa435c1cfa4058bc54176a46519f4cec2b";

/// Its worker's folder below `target/`; built where it is not there yet, by what that commit builds with.
pub fn worker() -> Result<PathBuf> {
    let dir = tools::target_dir().join("old").join(COMMIT);
    let built = dir.join("oncekey-worker");
    if MODULES.iter().all(|(name, _)| built.join(name).is_file()) {
        return Ok(built);
    }
    tools::step(&format!("the worker of commit {COMMIT:.7}, once"));
    let work = dir.join("work");
    let _ = fs::remove_dir_all(&work);
    let tree = work.join("tree");
    extract(&tree)?;
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
fn extract(tree: &Path) -> Result<()> {
    let is_here = tools::command("git").args(["cat-file", "-e", &format!("{COMMIT}^{{commit}}")]).output();
    if !is_here.context("git is needed")?.status.success() {
        bail!(
            "commit {COMMIT:.7} is not in this clone, and the specs in which two builds meet need it; a shallow clone gets it by git fetch --unshallow"
        );
    }
    fs::create_dir_all(tree)?;
    let archive = tree.with_extension("tar");
    tools::run_quiet(tools::command("git").args(["archive", COMMIT, "--output"]).arg(&archive))?;
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
