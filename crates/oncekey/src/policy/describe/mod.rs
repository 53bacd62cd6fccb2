//! The policy's description for readers and editors: JSON Schema, TypeScript types, tables in Markdown.
//!
//! All of it comes from the table that the parser walks. The gate itself uses nothing of this.
//!
//! ```
//! use oncekey::policy::describe::{ObjectShape, markdown};
//!
//! let table = markdown(ObjectShape::Route);
//! assert!(table.contains("| `wait` | seconds a duplicate waits for the first before 409; 0 to 900 | `0` |"));
//! ```

mod markdown;
mod pattern;
mod schema;
mod sentence;
mod typescript;

pub use crate::policy::{
    member::{MemberRow, NumberUnit, ObjectShape, OnlyWith, Preset, ValueKind},
    syntax::TextSyntax,
};
pub use markdown::{fill_tables, markdown};
pub use schema::schema;
pub use typescript::typescript;
