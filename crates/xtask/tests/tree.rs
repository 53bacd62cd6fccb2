//! The tree's own rules: what stands where, what the core depends on, what no shell may do.
#![allow(clippy::pedantic, clippy::unwrap_used, reason = "a test stops where it fails")]
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest source file, in lines.
const LONGEST_FILE: usize = 600;

/// What may stand at the top beside licences and dotfiles.
const TOP: [&str; 8] = ["Cargo.lock", "Cargo.toml", "README.md", "crates", "target", "tests", "wasm-pack.toml", "www"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Every Rust file below a directory, with its text.
fn sources(below: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(below)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "node_modules" && name != "target" {
                open.push(path);
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{below}");
    found
}

fn check(rule: &str, broken: Vec<String>) {
    assert!(broken.is_empty(), "{rule}:\n{}", broken.join("\n"));
}

/// The files of the shipped crates, without their unit tests, the build helper, and what traps on demand in a build
/// for tests alone.
fn shipped() -> Vec<(PathBuf, String)> {
    let mut sources = sources("crates");
    sources.retain(|(path, _)| {
        !path.starts_with(root().join("crates/xtask"))
            && !path.starts_with(root().join("crates/oncekey/tests"))
            && !path.ends_with("oncekey-worker/src/fault.rs")
    });
    for (_, text) in &mut sources {
        text.truncate(text.find("#[cfg(test)]").unwrap_or(text.len()));
    }
    sources
}

/// Lines of code that hold one of these, as `file:line: text`.
fn lines_with(sources: &[(PathBuf, String)], forbidden: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        for (line, text) in text.lines().enumerate() {
            let code = text.trim_start();
            if !code.starts_with("//") && forbidden.iter().any(|word| code.contains(word)) {
                found.push(format!("{}:{}: {code}", path.display(), line + 1));
            }
        }
    }
    found
}

#[test]
fn every_file_says_what_lives_there() {
    let files = sources("crates").into_iter();
    let silent = files.filter(|(_, text)| !text.starts_with("//! ")).map(|(path, _)| path.display().to_string());
    check("opens with one `//!` sentence", silent.collect());
}

#[test]
fn no_file_is_long() {
    let long = sources("crates").into_iter().filter(|(_, text)| text.lines().count() > LONGEST_FILE);
    check("at most 600 lines", long.map(|(path, _)| path.display().to_string()).collect());
}

#[test]
fn nothing_that_a_client_sends_can_panic() {
    check(
        "no unwrap and no expect",
        lines_with(&shipped(), &[".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!("]),
    );
}

#[test]
fn what_traps_on_demand_is_not_shipped() {
    let packages = fs::read_to_string(root().join("wasm-pack.toml")).unwrap();
    let manifest = fs::read_to_string(root().join("crates/oncekey-worker/Cargo.toml")).unwrap();
    assert!(!packages.contains("faults"), "a shipped package has the feature");
    assert!(manifest.contains("faults = []") && !manifest.contains("default = "), "the feature is on by default");
}

#[test]
fn imports_name_what_they_bring() {
    let wild = [
        "use worker::*",
        "use web_sys::*",
        "use js_sys::*",
        "use wasm_bindgen::prelude::*",
        "use super::*",
        "use crate::*",
    ];
    check("no wildcard imports", lines_with(&shipped(), &wild));
}

#[test]
fn the_core_cannot_observe_the_world() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "-p",
            "oncekey",
            "-e",
            "normal",
            "--target",
            "all",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"sha2"), "no tree: {tree}");
    let shells =
        ["js-sys", "web-sys", "wasm-bindgen", "worker", "getrandom", "tokio", "chrono", "time", "uuid", "rand"];
    check("no crate of a shell", names.into_iter().filter(|name| shells.contains(name)).map(str::to_owned).collect());
    let code: Vec<(PathBuf, String)> =
        shipped().into_iter().filter(|(path, _)| path.starts_with(root().join("crates/oncekey/src"))).collect();
    check(
        "no await, clock, chance or I/O",
        lines_with(&code, &[".await", "async fn", "SystemTime", "Instant::", "std::env", "std::fs", "std::thread"]),
    );
    let unsafe_is_forbidden =
        code.iter().any(|(path, text)| path.ends_with("lib.rs") && text.contains("#![forbid(unsafe_code)]"));
    assert!(unsafe_is_forbidden);
}

#[test]
fn the_top_holds_the_rooms_and_nothing_else() {
    let names = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strange =
        names.filter(|name| !TOP.contains(&name.as_str()) && !name.starts_with('.') && !name.starts_with("LICENSE"));
    check("the top level", strange.collect());
}
