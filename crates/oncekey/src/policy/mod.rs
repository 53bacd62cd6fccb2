//! The policy: what is protected and how.
//!
//! It is described once, in `table`: which members an object has, what each may be, its bounds, its default, and one
//! sentence about it. From there come what `check` refuses, what `typed` finds where the policy says nothing, what
//! `published` shows, and the JSON Schema, the TypeScript types and README's tables of [`describe`].
//!
//! A new member is a row of the table, a typed field in `types`, and a line in `typed` for each direction.
//!
//! | floor | room | what |
//! |---|---|---|
//! | 0 | `types`, `attribute`, `path_pattern` | a policy as the gate uses it |
//! | 0 | `invalid` | what is wrong with a policy, and where |
//! | 1 | `caller` | whose key a request has |
//! | 1 | `limit` | how many new keys a caller may have |
//! | 1 | `syntax` | which texts a policy may hold |
//! | 1 | `value`, `located` | a policy as JSON, and a place in it |
//! | 2 | `member`, `table` | the description |
//! | 3 | `check`, `cross_check` | a value held against the table; what members say only together |
//! | 3 | `typed` | from a checked value to the types and back |
//! | 4 | `parse`, `published`, `describe` | from text and to text |

mod attribute;
mod caller;
mod check;
mod cross_check;
pub mod describe;
mod invalid;
mod limit;
mod located;
mod member;
mod parse;
mod path_pattern;
mod published;
mod syntax;
mod table;
mod typed;
mod types;
mod value;

pub use attribute::{Attribute, InvalidAttribute};
pub use caller::CallerParts;
pub use invalid::{InvalidPolicy, PolicyFault};
pub use limit::LimitQuestion;
pub use path_pattern::{InvalidPathPattern, PathPattern};
pub use table::{LARGEST, LONGEST_RETENTION, LONGEST_WAIT};
pub use types::{
    Anonymous, Bind, Keep, Keys, Limit, Limits, Machine, Mode, NoStore, OnUnknown, OriginKey, Policy, Queue, Route,
    ServerError, StoreFailure, Transition, Unanswered,
};
