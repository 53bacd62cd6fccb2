//! The JavaScript boundary: the only `JsValue`s.

pub mod bindings;
pub mod cipher;
pub mod clock;
pub mod failure;
pub mod head;
pub mod identity;
pub mod init;
pub mod message;
pub mod origin;
pub mod promised;
pub mod stream;
pub mod task;
