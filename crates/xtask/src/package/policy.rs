//! What editors are given of the policy, beside the worker: its JSON Schema and its TypeScript types.

use std::path::Path;

use anyhow::Result;
use oncekey::policy::describe::{schema, typescript};

use crate::tools;

/// Writes both into a folder, as the core describes the policy.
pub fn describe(dir: &Path) -> Result<()> {
    tools::write_if_changed(&dir.join("policy.schema.json"), schema().as_bytes())?;
    tools::write_if_changed(&dir.join("policy.d.ts"), typescript().as_bytes())
}
