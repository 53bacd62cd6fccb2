//! Mutations of the core's decisions, and whether its random histories notice them.
//!
//! `cargo test -p xtask --test mutations -- --ignored --nocapture` makes each in a copy, one after the other, runs the
//! random tests alone, and prints which of them failed. It takes about ten minutes, so it is not part of every run; what
//! is, is that each mutation still has its place.
#![allow(clippy::pedantic, clippy::unwrap_used, reason = "a test stops where it fails")]
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The random tests of the core, as its one test crate names them.
const RANDOM_TESTS: [&str; 6] = ["caller::", "machine::", "model::", "outbox::effects", "promise::", "world::"];

#[derive(Deserialize)]
struct Mutation {
    what: String,
    /// Below the core's `src`.
    file: String,
    /// Stands there once.
    find: String,
    put: String,
    /// Why no history can notice it.
    survives_because: Option<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn mutations() -> Vec<Mutation> {
    serde_json::from_str(&fs::read_to_string(root().join("tests/mutations.json")).unwrap()).unwrap()
}

fn source(mutation: &Mutation) -> PathBuf {
    Path::new("crates/oncekey/src").join(&mutation.file)
}

#[test]
fn each_mutation_has_its_place() {
    for mutation in mutations() {
        let text = fs::read_to_string(root().join(source(&mutation))).unwrap();
        assert_eq!(text.matches(&mutation.find).count(), 1, "{}: {}", mutation.file, mutation.what);
    }
}

/// The tests that fail in a copy; nothing where it does not compile.
fn failing_tests(copy: &Path) -> Option<Vec<String>> {
    let run = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "-p", "oncekey", "--test", "it", "--"])
        .args(RANDOM_TESTS)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    if !said.contains("test result:") {
        return None;
    }
    let list = said.rsplit("\nfailures:\n").next().filter(|_| !run.status.success()).unwrap_or_default();
    Some(
        list.lines()
            .map(str::trim)
            .take_while(|line| !line.starts_with("test result"))
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

#[test]
#[ignore = "about ten minutes"]
fn random_histories_notice_each_mutation() {
    let copy = root().join("target/mutations");
    let _ = fs::remove_dir_all(copy.join("crates"));
    fs::create_dir_all(&copy).unwrap();
    for part in ["crates", "Cargo.toml", "Cargo.lock", "tests/vectors", "tests/golden", "README.md"] {
        fs::create_dir_all(copy.join(part).parent().unwrap()).unwrap();
        let copied =
            Command::new("cp").arg("-R").arg(root().join(part)).arg(copy.join(part).parent().unwrap()).status();
        assert!(copied.unwrap().success(), "{part}");
    }
    assert_eq!(failing_tests(&copy).as_deref(), Some(&[] as &[String]), "without any mutation");
    let mut unexpected = Vec::new();
    for mutation in mutations() {
        let place = copy.join(source(&mutation));
        let text = fs::read_to_string(&place).unwrap();
        fs::write(&place, text.replace(&mutation.find, &mutation.put)).unwrap();
        let failing = failing_tests(&copy);
        fs::write(&place, text).unwrap();
        let Some(failing) = failing else {
            println!("{} | {} | does not compile", mutation.file, mutation.what);
            unexpected.push(mutation.what);
            continue;
        };
        let noticed = if failing.is_empty() { "nothing".to_owned() } else { failing.join(", ") };
        println!("{} | {} | {noticed}", mutation.file, mutation.what);
        if failing.is_empty() != mutation.survives_because.is_some() {
            unexpected.push(mutation.what);
        }
    }
    assert!(unexpected.is_empty(), "not as listed: {unexpected:#?}");
}
