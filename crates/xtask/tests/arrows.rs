//! Arrows point down only: no circle of imports in any crate, between files or between rooms.
//!
//! A room is a top-level module, or a script beside it. An arrow leads from a file to the file that holds what it
//! imports: by `use`, by a path in the code, by `import`, or by `#[wasm_bindgen(module = …)]`. Unit tests and comments
//! have none. `cargo test -p xtask arrows -- --nocapture` prints the rooms, the lowest floor first.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// What code is made of, as far as paths need it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    /// `::`
    Into,
    Mark(char),
}

/// The tokens of a Rust text without comments, texts and numbers.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = text_length(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            if !first.is_ascii_digit() {
                found.push(Token::Name(rest[..length].to_owned()));
            }
            length
        } else if rest.starts_with("::") {
            found.push(Token::Into);
            2
        } else {
            if !first.is_whitespace() {
                found.push(Token::Mark(first));
            }
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    found
}

/// The length of a text or character that begins here.
fn text_length(rest: &str) -> Option<usize> {
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r')).filter(|length| *length <= 2)?;
    let (prefix, body) = rest.split_at(prefix);
    let hashes = body.find(|c| c != '#')?;
    if prefix.ends_with('r') && body[hashes..].starts_with('"') {
        let end = ["\"", &body[..hashes]].concat();
        return Some(prefix.len() + hashes + 1 + body[hashes + 1..].find(&end)? + end.len());
    }
    let quote = body.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut characters = body.char_indices().skip(1);
    if quote == '\'' && !body.starts_with("'\\") && body.char_indices().nth(2)?.1 != '\'' {
        // A lifetime.
        return Some(1);
    }
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(prefix.len() + at + 1);
        }
    }
    None
}

/// Without what is compiled for tests alone.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let test = self::tokens("#[cfg(test)]");
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if !tokens[at..].starts_with(&test) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        at += test.len();
        while at < tokens.len() {
            match &tokens[at] {
                Token::Mark('{' | '[') => depth += 1,
                Token::Mark('}') if depth == 1 => break,
                Token::Mark('}' | ']') => depth -= 1,
                Token::Mark(';') if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        at += 1;
    }
    kept
}

/// The paths that a file names: each as its segments, with the name that a `use` gives it.
fn paths(tokens: &[Token]) -> Vec<(Vec<String>, Option<String>)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        match &tokens[at] {
            Token::Name(word) if word == "use" => {
                at = tree(tokens, at + 1, &[], &mut found);
            }
            Token::Name(_) => {
                let (path, next) = path(tokens, at);
                if path.len() > 1 && tokens.get(at.wrapping_sub(1)) != Some(&Token::Into) {
                    found.push((path, None));
                }
                at = next;
            }
            _ => at += 1,
        }
    }
    found
}

/// The longest path that begins here, and what follows it.
fn path(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(Token::Name(name)) = tokens.get(at) {
        path.push(name.clone());
        at += 1;
        if tokens.get(at) != Some(&Token::Into) {
            break;
        }
        at += 1;
    }
    (path, at)
}

/// Reads a tree of `use`; says where it ends.
fn tree(tokens: &[Token], at: usize, before: &[String], found: &mut Vec<(Vec<String>, Option<String>)>) -> usize {
    let (mut path, mut at) = path(tokens, at);
    path.splice(0..0, before.iter().cloned());
    if tokens.get(at) == Some(&Token::Mark('{')) {
        at += 1;
        while let Some(token) = tokens.get(at).filter(|token| **token != Token::Mark('}')) {
            // What cannot be read, as `*`, is passed over.
            at = if *token == Token::Mark(',') { at + 1 } else { tree(tokens, at, &path, found).max(at + 1) };
        }
        return at + 1;
    }
    path.retain(|segment| segment != "self");
    let mut name = path.last().cloned();
    if let (Some(Token::Name(word)), Some(Token::Name(other))) = (tokens.get(at), tokens.get(at + 1))
        && word == "as"
    {
        name = Some(other.clone());
        at += 2;
    }
    found.push((path, name));
    at
}

/// The arrows of a crate whose files are given by their paths below `src`.
fn arrows(files: &BTreeMap<String, String>) -> Arrows {
    let modules: BTreeMap<Vec<String>, &String> = files.keys().filter_map(|file| Some((module(file)?, file))).collect();
    let holder = |path: &[String]| (0..=path.len()).rev().find_map(|length| modules.get(&path[..length]).copied());
    let mut arrows = Arrows::new();
    for (file, text) in files {
        let to = arrows.entry(file.clone()).or_default();
        let Some(own) = module(file) else {
            to.extend(imports(file, text).into_iter().filter(|other| files.contains_key(other)));
            continue;
        };
        let scripts = text.split("module = \"/src/").skip(1).filter_map(|rest| rest.split('"').next());
        to.extend(scripts.filter(|script| files.contains_key(*script)).map(str::to_owned));
        let paths = paths(&without_tests(&tokens(text)));
        let absolute = |path: &[String]| -> Option<Vec<String>> {
            let mut from = own.clone();
            let mut rest = path;
            match rest.first()?.as_str() {
                "crate" => from.clear(),
                "super" => {}
                child => {
                    from.push(child.to_owned());
                    modules.get(&from)?;
                    rest = &rest[1..];
                    from.extend(rest.iter().cloned());
                    return Some(from);
                }
            }
            while let Some(step) = rest.first().filter(|step| matches!(step.as_str(), "crate" | "super")) {
                if step == "super" {
                    from.pop();
                }
                rest = &rest[1..];
            }
            from.extend(rest.iter().cloned());
            Some(from)
        };
        let named: BTreeMap<&String, Vec<String>> =
            paths.iter().filter_map(|(path, name)| Some((name.as_ref()?, absolute(path)?))).collect();
        for (path, name) in &paths {
            let through = named.get(&path[..1].first().cloned().unwrap_or_default()).filter(|_| name.is_none());
            let path = match through {
                Some(import) => Some([import, &path[1..]].concat()),
                None => absolute(path),
            };
            to.extend(path.and_then(|path| holder(&path)).filter(|other| *other != file).cloned());
        }
    }
    arrows
}

/// The module that a Rust file is; `None` for a script.
fn module(file: &str) -> Option<Vec<String>> {
    let path = file.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    Some(if matches!(path, "lib" | "main") { Vec::new() } else { path.split('/').map(str::to_owned).collect() })
}

/// The files that a script imports.
fn imports(file: &str, text: &str) -> Vec<String> {
    let folder = Path::new(file).parent().unwrap();
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for mark in [" from \"", "import \"", "import(\""] {
            for rest in line.split(mark).skip(1) {
                let mut path = folder.to_path_buf();
                for step in rest.split('"').next().unwrap().split('/').filter(|step| *step != ".") {
                    if step == ".." {
                        path.pop();
                    } else {
                        path.push(step);
                    }
                }
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// The same between rooms.
fn between_rooms(arrows: &Arrows) -> Arrows {
    let room = |file: &String| file.split(['/', '.']).next().unwrap().to_owned();
    let mut rooms = Arrows::new();
    for (from, to) in arrows {
        let from = room(from);
        let others = to.iter().map(room).filter(|other| *other != from);
        rooms.entry(from.clone()).or_default().extend(others);
    }
    rooms
}

/// Floors from the lowest up, and what stands on none: it is part of a circle or above one.
fn floors(arrows: &Arrows) -> (Vec<Vec<String>>, Arrows) {
    let mut left = arrows.clone();
    let mut floors = Vec::new();
    loop {
        let stands = |to: &BTreeSet<String>| to.iter().all(|other| !left.contains_key(other));
        let floor: Vec<String> = left.iter().filter(|(_, to)| stands(to)).map(|(from, _)| from.clone()).collect();
        if floor.is_empty() {
            return (floors, left);
        }
        left.retain(|from, _| !floor.contains(from));
        floors.push(floor);
    }
}

/// The circles, each as its members: those that can be reached from each other.
fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let reach = |start: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(from) = open.pop() {
            open.extend(arrows.get(from).into_iter().flatten().filter(|to| seen.insert((*to).clone())));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = arrows.keys().map(|from| (from, reach(from))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (from, to) in reached.iter().filter(|(from, to)| to.contains(**from)) {
        let circle: Vec<String> =
            to.iter().filter(|other| reached.get(other).is_some_and(|back| back.contains(*from))).cloned().collect();
        if !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// The Rust files and scripts of a crate, by their paths below `src`.
fn sources(src: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![src.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(src).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if [".rs", ".mjs", ".js"].iter().any(|end| name.ends_with(end)) {
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    files
}

#[test]
fn arrows_point_down_only() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut wrong = Vec::new();
    let mut names: Vec<String> =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.contains(&"oncekey".to_owned()), "{names:?}");
    for name in names {
        let files = arrows(&sources(&crates.join(&name).join("src")));
        let rooms = between_rooms(&files);
        println!("{name}");
        let (floors, left) = floors(&rooms);
        for room in floors.iter().flatten().chain(left.keys()) {
            println!("  {room} → {}", rooms[room].iter().cloned().collect::<Vec<_>>().join(" "));
        }
        for (kind, circle) in circles(&files)
            .into_iter()
            .map(|circle| ("files", circle))
            .chain(circles(&rooms).into_iter().map(|circle| ("rooms", circle)))
        {
            wrong.push(format!("{name}, {kind}: {}", circle.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "circles:\n{}", wrong.join("\n"));
}

/// A made-up crate and its circles, each as its members.
fn check(files: &[(&str, &str)], of_files: &[&str], of_rooms: &[&str]) {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let arrows = arrows(&files);
    let join = |circles: Vec<Vec<String>>| circles.iter().map(|circle| circle.join(" ")).collect::<Vec<_>>();
    assert_eq!(join(circles(&arrows)), of_files, "{arrows:?}");
    assert_eq!(join(circles(&between_rooms(&arrows))), of_rooms, "{arrows:?}");
}

#[test]
fn a_circle_is_found() {
    check(
        &[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::{a::{self, A}, c};"), ("c.rs", "")],
        &["a.rs b.rs"],
        &["a b"],
    );
    check(&[("a.rs", "fn f() { crate::b::g() }"), ("b.rs", "use crate::a;")], &["a.rs b.rs"], &["a b"]);
    check(
        &[("a.rs", "use crate::b;\nfn f() { b::c::g() }"), ("b/mod.rs", ""), ("b/c.rs", "use super::super::a::A;")],
        &["a.rs b/c.rs"],
        &["a b"],
    );
    check(&[("a/mod.rs", "mod b;\npub use b::B;"), ("a/b.rs", "use super::A;")], &["a/b.rs a/mod.rs"], &[]);
    check(
        &[("a/x.rs", "use crate::b::y;"), ("a/z.rs", ""), ("b/y.rs", ""), ("b/w.rs", "use crate::a::z;")],
        &[],
        &["a b"],
    );
    check(&[("lib.rs", "mod a;\nfn f() { a::g() }"), ("a.rs", "use crate::f;")], &["a.rs lib.rs"], &["a lib"]);
    check(
        &[("a.mjs", "import { b } from \"./p/b.mjs\";"), ("p/b.mjs", "import \"../a.mjs\";")],
        &["a.mjs p/b.mjs"],
        &["a p"],
    );
    check(
        &[("a.rs", "#[wasm_bindgen(module = \"/src/p/b.mjs\")]"), ("p/b.mjs", ""), ("p/c.rs", "use crate::a;")],
        &[],
        &["a p"],
    );
}

#[test]
fn what_is_no_arrow() {
    let own = [
        "// crate::b::g()",
        "//! use crate::b;",
        "/* crate::b::g */",
        "const A: &str = \"crate::b::g\";",
        "const A: &str = r#\"\" crate::b::g\"#;",
        "const A: char = '\"'; // crate::b::g '\"'",
        "fn f<'a>(a: &'a str) {} // crate::b::g()",
        "#[cfg(test)]\nmod tests { use crate::b; mod c { use crate::b; } }",
        "#[cfg(test)]\nuse crate::b;",
        "use std::b::c;",
        "pub(crate) fn b() {}",
    ];
    for text in own {
        check(&[("a.rs", text), ("b.rs", "use crate::a;")], &[], &[]);
        let after = [text, "\nuse crate::b;"].concat();
        check(&[("a.rs", &after), ("b.rs", "use crate::a;")], &["a.rs b.rs"], &["a b"]);
    }
}
