//! The tree's own rules: what stands where, what the core depends on, what no shell may do.
#![allow(clippy::pedantic, clippy::unwrap_used, reason = "a test stops where it fails")]
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oncekey::policy::Policy;

/// The longest source file, in lines.
const LONGEST_FILE: usize = 600;

/// What may stand at the top beside licences and dotfiles.
const TOP: [&str; 8] = ["Cargo.lock", "Cargo.toml", "README.md", "crates", "target", "tests", "wasm-pack.toml", "www"];

/// The longest that README may be, in lines: the packages' READMEs go deeper.
const LONGEST_README: usize = 220;

/// Where whoever reads begins, then where it leads.
const READMES: [&str; 4] =
    ["README.md", "crates/oncekey-worker/README.md", "crates/oncekey-web/README.md", "tests/bench/README.md"];

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

/// The features with which a crate stands in what `cargo tree` says as `{p} {f}`.
fn features_of(tree: &str, name: &str) -> Vec<String> {
    let line = tree.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
    let features = line.split_whitespace().skip(2).flat_map(|features| features.split(','));
    features.filter(|feature| !feature.is_empty() && *feature != "(*)").map(str::to_owned).collect()
}

#[test]
fn features_are_read() {
    assert_eq!(features_of("a v1\nuuid v1.2.3 rng,std,v4\n", "uuid"), ["rng", "std", "v4"]);
    assert!(features_of("uuid v1.2.3 \n", "uuid").is_empty());
}

#[test]
fn one_word_has_one_meaning() {
    let mut twice = Vec::new();
    for krate in ["oncekey", "oncekey-worker", "oncekey-web"] {
        let mut seen: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
        let own =
            shipped().into_iter().filter(|(path, _)| path.starts_with(root().join("crates").join(krate).join("src")));
        for (path, text) in own {
            for line in text.lines() {
                let line = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
                let line = line.trim_start_matches("pub ");
                let kinds = ["struct ", "enum ", "trait "];
                if let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) {
                    let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned();
                    seen.entry(name).or_default().push(path.display().to_string());
                }
            }
        }
        assert!(!seen.is_empty(), "{krate}");
        for (name, places) in seen.into_iter().filter(|(_, places)| places.len() > 1) {
            twice.push(format!("{krate}: {name}: {}", places.join(" ")));
        }
    }
    check("no type name twice in a crate", twice);
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
            "{p} {f}",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"sha2"), "no tree: {tree}");
    // What sees a platform, a clock or chance. A random feature of `uuid` would bring one of them in as well; `humantime`
    // and `httpdate` write the times that they are given.
    let shells = ["js-sys", "web-sys", "wasm-bindgen", "worker", "getrandom", "tokio", "chrono", "time", "rand"];
    check("no crate of a shell", names.into_iter().filter(|name| shells.contains(name)).map(str::to_owned).collect());
    check("uuid without its features", features_of(&tree, "uuid"));
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

/// A text's lines outside its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of a text's links (`[…](target)`).
fn links(text: &str) -> Vec<&str> {
    prose(text).flat_map(|line| line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))).collect()
}

/// A text's headings as links name them: in small letters, spaces as hyphens, without punctuation.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().chars();
        let kept = kept.filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    headings.map(anchor).collect()
}

/// What is wrong with a link: `None` for one to a file that exists and, where it names one, a heading in it.
fn broken(readme: &Path, link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let file = if path.is_empty() { readme.to_owned() } else { readme.parent().unwrap().join(path) };
    let is_there = file.is_file()
        && anchor.is_none_or(|anchor| anchors(&fs::read_to_string(&file).unwrap()).iter().any(|known| known == anchor));
    (!is_there).then(|| format!("{}: {link}", readme.display()))
}

#[test]
fn readme_is_short_and_leads_to_the_others() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!(lines <= LONGEST_README, "README.md: {lines} lines");
    for command in ["cargo xtask serve", "cargo xtask test"] {
        assert!(readme.contains(command), "README.md does not name {command}");
    }
    let named: Vec<&str> = links(&readme).iter().map(|link| link.split('#').next().unwrap()).collect();
    let forgotten = READMES.iter().skip(1).filter(|other| !named.contains(other));
    check("README.md links to each of the others", forgotten.map(|other| other.to_string()).collect());
}

#[test]
fn links_lead_to_files() {
    let mut dead = Vec::new();
    for name in READMES {
        let readme = root().join(name);
        let text = fs::read_to_string(&readme).unwrap();
        let relative = links(&text).into_iter().filter(|link| !link.contains("://"));
        dead.extend(relative.filter_map(|link| broken(&readme, link)));
    }
    check("each link leads to a file that exists, and to a heading in it", dead);
    let readme = root().join("README.md");
    for link in ["nothing.md", "LICENSE/", "README.md#nothing", "#nothing"] {
        assert!(broken(&readme, link).is_some(), "{link} counts as a link that leads somewhere");
    }
}

#[test]
fn the_page_package_readme_stands_alone() {
    let text = fs::read_to_string(root().join("crates/oncekey-web/README.md")).unwrap();
    let relative = links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with('#'));
    check("nothing in the npm package to link to", relative.map(str::to_owned).collect());
}

#[test]
fn policies_in_readmes_are_policies() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for name in READMES {
        let text = fs::read_to_string(root().join(name)).unwrap();
        for block in text.split("```json\n").skip(1) {
            count += 1;
            let (json, _) = block.split_once("```").unwrap();
            wrong.extend(json.parse::<Policy>().err().map(|error| format!("{name}: {error}")));
        }
    }
    assert!(count > 0, "no README shows a policy");
    check("a policy that is shown is accepted", wrong);
}
