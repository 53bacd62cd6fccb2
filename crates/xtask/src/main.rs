//! `cargo xtask serve|test|build|bench`: the project's own commands.

mod args;
mod bench;
mod package;
mod serve;
mod test;
mod tools;
mod workerd;

use std::process::ExitCode;

use anyhow::Result;
use args::{Misuse, Usage, misuse};

/// A command: what it takes, and what it does with it.
type Command = (&'static Usage, fn(args::Told) -> Result<()>);

const COMMANDS: [Command; 4] = [
    (&serve::USAGE, |told| serve::serve(&serve::Options::read(&told)?)),
    (&test::USAGE, |told| test::test(&told.words)),
    (&package::USAGE, |_| package::build_all(true)),
    (&bench::USAGE, |told| bench::bench(&bench::Options::read(&told)?)),
];

/// The status of a command line that no command knows.
const MISUSED: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            if error.is::<Misuse>() { MISUSED.into() } else { ExitCode::FAILURE }
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let (command, rest) = args.split_first().map_or(("", args), |(c, r)| (c.as_str(), r));
    if ["--help", "-h", "help"].contains(&command) {
        print!("{}", overview());
        return Ok(());
    }
    let known = COMMANDS.iter().find(|(usage, _)| usage.command == command);
    let (usage, act) = known.ok_or_else(|| {
        let what = if command.is_empty() { "no command".to_owned() } else { format!("no command is called {command}") };
        misuse(format!("{what}\n{}", overview().trim_end()))
    })?;
    usage.read(rest)?.map_or(Ok(()), act)
}

/// What there is, a line a command.
fn overview() -> String {
    let lines = COMMANDS.map(|(usage, _)| format!("  cargo xtask {:<6} {}\n", usage.command, usage.does));
    format!("{}\n`--help` after a command says what it takes.\n", lines.concat())
}
