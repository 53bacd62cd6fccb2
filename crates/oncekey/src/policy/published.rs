//! The policy as JSON for everyone to read.

use crate::{
    json::write::to_json,
    policy::{
        member::ObjectShape,
        typed::{show_policy_member, show_published},
        types::Policy,
    },
};

impl Policy {
    /// The policy as JSON with its defaults, for everyone to read (draft §2.5): without scope, identity, limits, queues and
    /// machines, which concern nobody outside.
    pub fn published(&self) -> String {
        let document = show_published(ObjectShape::Policy, &|name| show_policy_member(self, name));
        to_json(&document)
    }
}
