//! The policy as JSON for everyone to read.

use super::{Keep, Mode, Policy, Route, ServerError, StoreFailure, Unanswered};
use crate::{
    content::ignore::Ignore,
    json::{pointer::pointer_text as pointer, write::quote},
};

/// Everything with its defaults, but scope, queues and machines.
pub(super) fn document(policy: &Policy) -> String {
    let mut json = Writer::default();
    json.text.push('{');
    json.member("header", &policy.header);
    json.member("field", &policy.field);
    json.number("max_content", policy.max_content);
    json.number("max_stored", policy.max_stored);
    json.member(
        "store_failure",
        match policy.store_failure {
            StoreFailure::Closed => "closed",
            StoreFailure::Open => "open",
        },
    );
    json.name("cors");
    json.list(&policy.cors);
    json.name("routes");
    json.text.push('[');
    for route in &policy.routes {
        json.comma();
        write(route, &mut json);
    }
    json.text.push(']');
    json.text.push('}');
    json.text
}

fn write(route: &Route, json: &mut Writer) {
    json.text.push('{');
    json.member("path", route.path.as_str());
    json.name("methods");
    json.list(&route.methods);
    json.name("require");
    json.text.push_str(if route.require { "true" } else { "false" });
    json.member(
        "keep",
        match route.keep {
            Keep::Success => "success",
            Keep::Definite => "definite",
        },
    );
    json.member(
        "server_error",
        match route.server_error {
            ServerError::Release => "release",
            ServerError::Hold => "hold",
            ServerError::Keep => "keep",
        },
    );
    match &route.unanswered {
        Unanswered::Hold => json.member("unanswered", "hold"),
        Unanswered::Rerun => json.member("unanswered", "rerun"),
        Unanswered::Probe(path) => {
            json.name("unanswered");
            json.text.push('{');
            json.member("probe", path);
            json.text.push('}');
        }
    }
    json.number("lease", route.lease.into());
    json.number("patience", route.patience.into());
    json.number("wait", route.wait.into());
    json.number("retention", route.retention.into());
    json.name("ignore");
    json.text.push('[');
    for ignore in &route.ignore {
        json.comma();
        match ignore {
            Ignore::Pointer(tokens) => quote(&pointer(tokens), &mut json.text),
            Ignore::Name(name) => quote(name, &mut json.text),
        }
    }
    json.text.push(']');
    match &route.mode {
        Mode::Proxy => json.member("mode", "proxy"),
        Mode::Accept => json.member("mode", "accept"),
        Mode::Batch { items, item_key, item_path } => {
            json.member("mode", "batch");
            json.member("items", &pointer(items));
            json.member("item_key", &pointer(item_key));
            json.member("item_path", item_path);
        }
    }
    json.text.push('}');
}

/// JSON as it is written.
#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    /// What stands before a member or element that is not the first.
    fn comma(&mut self) {
        if !self.text.ends_with(['{', '[']) {
            self.text.push(',');
        }
    }

    fn name(&mut self, name: &str) {
        self.comma();
        quote(name, &mut self.text);
        self.text.push(':');
    }

    fn member(&mut self, name: &str, value: &str) {
        self.name(name);
        quote(value, &mut self.text);
    }

    fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        self.text.push_str(&value.to_string());
    }

    fn list(&mut self, texts: &[String]) {
        self.text.push('[');
        for text in texts {
            self.comma();
            quote(text, &mut self.text);
        }
        self.text.push(']');
    }
}
