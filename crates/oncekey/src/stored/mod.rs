//! What is stored for a scoped key or an entity, and its stored form.

pub mod attempt;
pub mod codec;
pub mod entity;
pub mod record;
pub mod request;
