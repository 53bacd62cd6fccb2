//! The cell `cost`: what a million requests cost, by what is counted and the platform's prices.

use anyhow::{Context, Result};

use crate::{serve, tools};

/// Its name on the command line.
pub const CELL: &str = "cost";

/// Prints its tables.
pub fn bench() -> Result<()> {
    tools::npm()?;
    let program = std::env::current_exe().context("where is xtask?")?;
    tools::run(tools::command("node").arg("tests/bench/cost.mjs").env("ONCEKEY_SERVE", program).env(serve::BUILT, "1"))
}
