//! What one build made, and how sizes are measured.

use std::{io::Write, path::PathBuf};

use anyhow::Result;
use flate2::{Compression, write::GzEncoder};

/// What one build made.
pub struct Built {
    /// The folder that holds it.
    pub dir: PathBuf,
    /// gzip size of all that is deployed or loaded, in bytes.
    pub gzip: usize,
    /// Raw size of the wasm, in bytes.
    pub wasm: usize,
    /// Raw size of the script, in bytes.
    pub script: usize,
}

/// The size after `gzip -9`, in bytes.
pub fn gzip_size(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
