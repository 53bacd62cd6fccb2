//! The doors by which a person's submit reaches the module.

pub mod form;
pub mod htmx;
pub mod library;
pub mod send;
