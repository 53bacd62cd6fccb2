//! What is stored for a scoped key or an entity, and its stored form.
//!
//! | file | what | built on |
//! |---|---|---|
//! | [`storing`] | what of an answer is not stored | |
//! | [`attempt`] | an attempt and its terms | storing |
//! | [`request`] | a request that is kept to be sent later | |
//! | [`frame`] | what every form has in common, whatever its version | |
//! | [`outbox`] | effects on their way to their keys' objects, and what became of them | attempt, request |
//! | [`record`] | what is stored for a scoped key | attempt, frame |
//! | [`told`] | what of a key's fate was told, and to whom | record |
//! | [`seal`] | what is sealed, and what it belongs to | record |
//! | [`entity`] | what is stored of an entity, and what callers of its transitions were told | frame |
//! | `v1`, `v2` | the forms, version by version | all above |
//! | [`codec`] | which version is written, which are read | all above |

pub mod attempt;
pub mod basis;
pub mod codec;
pub mod entity;
pub mod frame;
pub mod outbox;
pub mod record;
pub mod request;
pub mod seal;
pub mod storing;
pub mod told;
mod v1;
mod v2;
