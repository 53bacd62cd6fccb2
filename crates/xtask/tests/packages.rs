//! The packages' own rules: one version, templates that ask for what they are tried with, secrets that stay at home.
#![allow(clippy::pedantic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops where it fails")]
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| format!("{path}: {why}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_default()
}

/// The folders of the templates.
fn templates() -> Vec<String> {
    let entries = fs::read_dir(root().join("www/templates")).unwrap().map(|entry| entry.unwrap());
    let folders: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| format!("www/templates/{}", entry.file_name().to_str().unwrap()))
        .collect();
    assert!(folders.len() >= 4, "{folders:?}");
    folders
}

#[test]
fn one_version() {
    let version = env!("CARGO_PKG_VERSION");
    for package in ["crates/oncekey-web/npm", "crates/oncekey-worker/npm"] {
        assert_eq!(json(&format!("{package}/package.json"))["version"], version, "{package}");
    }
    assert!(text("crates/oncekey/CHANGELOG.md").contains(&format!("## {version}")), "CHANGELOG.md tells no {version}");
}

/// Where a manifest names what it needs.
const KINDS: [&str; 2] = ["dependencies", "devDependencies"];

/// A template asks for the very version of each tool and library that it is tried with, or a later one that is compatible.
#[test]
fn templates_ask_for_what_they_are_tried_with() {
    let tried = ["tests/packages", "tests/bundlers", "tests"].map(|folder| json(&format!("{folder}/package.json")));
    for template in templates() {
        let manifest = json(&format!("{template}/package.json"));
        assert_eq!(manifest["private"], true, "{template}");
        let wanted = KINDS.into_iter().filter_map(|kind| manifest[kind].as_object());
        for (name, range) in wanted.flatten() {
            let own = ["oncekey", "oncekey-worker"].contains(&name.as_str()).then_some(env!("CARGO_PKG_VERSION"));
            let pinned =
                || tried.iter().find_map(|tools| KINDS.into_iter().find_map(|kind| tools[kind][name].as_str()));
            let version = own.or_else(pinned).unwrap_or("nothing");
            assert_eq!(range, &Value::from(format!("^{version}")), "{template}: {name}");
        }
    }
}

#[test]
fn local_secrets_are_neither_committed_nor_packed() {
    let ignores = |path: &str| text(path).lines().any(|line| line == ".dev.vars*");
    assert!(ignores(".gitignore"));
    for template in templates() {
        assert!(ignores(&format!("{template}/.gitignore")), "{template}");
    }
    assert!(text("crates/oncekey-worker/Cargo.toml").contains("exclude = [\".dev.vars*\""));
}
