//! What the commands say to `--help` and to what they do not know: at once, with nothing built.

use std::{net::TcpListener, process::Command};

/// Runs the command with these words; its status, and what it said on both streams.
fn run(words: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_xtask")).args(words).output();
    let Ok(out) = out else { return (None, "it does not start".to_owned()) };
    let said = [out.stdout, out.stderr].concat();
    (out.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[track_caller]
fn check(words: &[&str], status: i32, says: &[&str]) {
    let (ended, said) = run(words);
    assert_eq!(ended, Some(status), "{words:?} said {said}");
    for part in says {
        assert!(said.contains(part), "{words:?} does not say {part}: {said}");
    }
    assert!(!said.contains("· "), "{words:?} took a step: {said}");
}

#[test]
fn every_command_has_help() {
    for words in [&["--help"][..], &["-h"], &["help"]] {
        check(words, 0, &["cargo xtask serve", "cargo xtask test", "cargo xtask build", "cargo xtask bench"]);
    }
    check(
        &["serve", "--help"],
        0,
        &[
            "--port N",
            "--origin URL",
            "--config FILE",
            "--state DIR",
            "--memory",
            "--queue-port N",
            "--limits N",
            "ONCEKEY_ADMIN",
        ],
    );
    check(&["test", "--help"], 0, &["SUITE", "lint", "bundlers"]);
    check(&["build", "--help"], 0, &["target/pkg/"]);
    check(&["bench", "-h"], 0, &["--rounds N", "--against REV", "keyless"]);
    // Whatever stands before it.
    check(&["serve", "--port", "9", "--help"], 0, &["--port N"]);
}

#[test]
fn what_no_command_knows_is_refused() {
    check(&[], 2, &["no command"]);
    check(&["deploy"], 2, &["deploy", "cargo xtask serve"]);
    check(&["serve", "--prot", "1"], 2, &["--prot", "serve --help"]);
    check(&["serve", "demo"], 2, &["demo"]);
    check(&["serve", "--memory=yes"], 2, &["--memory"]);
    check(&["serve", "--port"], 2, &["--port"]);
    check(&["build", "--release"], 2, &["--release"]);
    check(&["bench", "frist"], 2, &["frist", "first"]);
    check(&["test", "nope"], 2, &["nope", "browser"]);
    check(&["test", "core", "edge/nope"], 2, &["tests/edge/nope.spec.mjs"]);
    check(&["test", "edge/../edge/once"], 2, &["edge/once"]);
    check(&["test", "lint/clippy"], 2, &["lint"]);
}

#[test]
fn an_options_value_is_checked_first() {
    for port in ["0", "-1", "65536", "http", "", "8787x"] {
        check(&["serve", &format!("--port={port}")], 2, &["--port", "65535"]);
    }
    check(&["serve", "--port", "9000", "--queue-port", "9000"], 2, &["--queue-port"]);
    check(&["serve", "--limits", "many"], 2, &["--limits"]);
    check(&["serve", "--memory", "--state", "x"], 2, &["--state"]);
    check(&["bench", "--rounds", "0"], 2, &["--rounds"]);
    check(&["bench", "--requests", "1"], 2, &["--requests"]);
    for origin in ["localhost:3000", "ftp://a", "http://", "http://a?b", "http://u@a", "https://shop.example"] {
        check(&["serve", "--origin", origin], 2, &["--origin", origin]);
    }
}

#[test]
fn what_this_machine_lacks_is_named_by_its_option() {
    let here = env!("CARGO_MANIFEST_DIR");
    let file = format!("{here}/Cargo.toml");
    let free = "http://127.0.0.1:9";
    check(&["serve", "--origin", free, "--config", "/none/policy.json"], 1, &["--config /none/policy.json"]);
    check(&["serve", "--origin", free, "--config", &file], 1, &["--config", "Cargo.toml"]);
    check(&["serve", "--origin", free, "--config", here], 1, &["--config"]);
    check(&["serve", "--origin", free, "--state", &file], 1, &["--state", "Cargo.toml"]);
    let held = TcpListener::bind("127.0.0.1:0");
    let Ok(port) = held.as_ref().map_or(Ok(0), |held| held.local_addr().map(|at| at.port())) else { return };
    assert_ne!(port, 0, "no port to hold");
    let port = port.to_string();
    check(&["serve", "--port", &port], 1, &[&format!("--port {port}"), "another program"]);
    check(&["serve", "--queue-port", &port], 1, &[&format!("--queue-port {port}"), "another program"]);
}
