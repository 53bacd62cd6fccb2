//! The command line: what each command takes, said by `--help`, and what none knows, refused before anything is built.

use std::{error::Error, fmt};

use anyhow::{Error as Failure, Result};
use lexopt::{Arg, Parser, ValueExt};

/// What the command line says and no command knows: exit status 2.
#[derive(Debug)]
pub struct Misuse(String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Misuse {}

/// An error of the command line's.
pub fn misuse(words: impl Into<String>) -> Failure {
    Failure::new(Misuse(words.into()))
}

/// One option of a command.
pub struct Flag {
    /// With its two dashes.
    pub name: &'static str,
    /// What stands for its value in the help; empty for one that takes none.
    pub value: &'static str,
    /// What it does, in one line.
    pub does: &'static str,
}

/// What one command takes.
pub struct Usage {
    /// Its name after `cargo xtask`.
    pub command: &'static str,
    /// What it does, in one line.
    pub does: &'static str,
    /// Its options.
    pub flags: &'static [Flag],
    /// What stands for its further words in the help; empty where there are none.
    pub words: &'static str,
    /// Lines below the options.
    pub more: &'static str,
}

/// What a command was told.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The options in their order, each with its value, which is empty where it takes none.
    pub flags: Vec<(&'static str, String)>,
    /// The words that are no options.
    pub words: Vec<String>,
}

impl Usage {
    /// Reads the words after the command; `None` where help was asked for, which is printed.
    pub fn read(&self, args: &[String]) -> Result<Option<Told>> {
        let told = self.parse(args).map_err(|error| error.context_of(self))?;
        if told.is_none() {
            print!("{}", self.help());
        }
        Ok(told)
    }

    fn parse(&self, args: &[String]) -> Result<Option<Told>, Wrong> {
        let mut told = Told::default();
        let mut parser = Parser::from_args(args);
        while let Some(arg) = parser.next()? {
            let name = match arg {
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                Arg::Value(word) if !self.words.is_empty() => {
                    told.words.push(word.string()?);
                    continue;
                }
                Arg::Long(name) => format!("--{name}"),
                Arg::Short(name) => format!("-{name}"),
                Arg::Value(word) => word.string()?,
            };
            let Some(flag) = self.flags.iter().find(|flag| flag.name == name) else {
                return Err(Wrong(format!("does not know {name}")));
            };
            let value = if flag.value.is_empty() { String::new() } else { parser.value()?.string()? };
            told.flags.push((flag.name, value));
        }
        Ok(Some(told))
    }

    /// The text of `--help`.
    pub fn help(&self) -> String {
        let mut text = format!("{}\n\n  cargo xtask {}", self.does, self.command);
        if !self.words.is_empty() {
            text.push_str(&format!(" {}", self.words));
        }
        let left = |flag: &Flag| format!("{} {}", flag.name, flag.value).trim_end().to_owned();
        text.push_str("\n\n");
        let width = self.flags.iter().map(|flag| left(flag).len()).max().unwrap_or(0).max("--help".len());
        for flag in self.flags {
            text.push_str(&format!("  {:width$}  {}\n", left(flag), flag.does));
        }
        text.push_str(&format!("  {:width$}  {}\n", "--help", "this text"));
        if !self.more.is_empty() {
            text.push_str(&format!("\n{}\n", self.more));
        }
        text
    }
}

/// What is wrong with the words after a command.
struct Wrong(String);

impl Wrong {
    /// Names the command, and how to learn what it takes.
    fn context_of(self, usage: &Usage) -> Failure {
        misuse(format!("{0} {1}; `cargo xtask {0} --help` says what it takes", usage.command, self.0))
    }
}

impl From<lexopt::Error> for Wrong {
    fn from(error: lexopt::Error) -> Self {
        Self(match error {
            lexopt::Error::MissingValue { option: Some(option) } => format!("needs a value for {option}"),
            lexopt::Error::UnexpectedValue { option, .. } => format!("takes no value for {option}"),
            other => format!("cannot be told that: {other}"),
        })
    }
}

/// The number that an option is given, from `least` to `most`.
pub fn number(flag: &str, value: &str, least: u32, most: u32) -> Result<u32> {
    match value.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(misuse(format!("{flag} takes a whole number from {least} to {most}, not {value}"))),
    }
}

/// The port that an option is given.
pub fn port(flag: &str, value: &str) -> Result<u16> {
    Ok(number(flag, value, 1, u32::from(u16::MAX))?.try_into()?)
}
