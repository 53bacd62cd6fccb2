//! `cargo xtask serve|test|build|bench`: the project's own commands.

mod bench;
mod package;
mod serve;
mod test;
mod tools;
mod workerd;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "cargo xtask serve | test | build | bench";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let (command, rest) = args.split_first().map_or(("", args), |(c, r)| (c.as_str(), r));
    match command {
        "serve" => serve::serve(&serve::Options::parse(rest)?),
        "bench" => bench::bench(rest),
        "test" => test::test(rest),
        "build" => package::build_all(true),
        _ => bail!("{USAGE}"),
    }
}
