//! The cell `page`: how long a page waits for the browser module, beside an empty one.

use anyhow::Result;

use crate::tools;

/// Its name on the command line.
pub const CELL: &str = "page";

/// Prints its table. A round is one fresh browser profile a subject; `rounds` is trebled, as one takes a tenth of a second.
pub fn bench(rounds: usize) -> Result<()> {
    tools::npm_for_tests()?;
    tools::run(
        tools::command("node")
            .args(["tests/bench/page.mjs", &(rounds * 3).to_string()])
            .env("CHROMIUM", tools::chromium()?)
            .env("ONCEKEY_NPM", tools::target_dir().join("pkg/oncekey")),
    )
}
