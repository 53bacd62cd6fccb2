//! The command line's shell: the core's answers for `oncekey.mjs`, which reads the words and files and asks over the network.
//! It decides nothing.

use oncekey::{
    explain::{self, Explanation, PairOutcome, SentRequest},
    http::fields::Fields,
    policy::{
        Policy,
        describe::{schema, typescript},
    },
};
use wasm_bindgen::prelude::wasm_bindgen;

/// What is wrong with a policy, and where; nothing where it is right.
#[wasm_bindgen(js_name = faultOfPolicy)]
pub fn fault_of_policy(text: &str) -> Option<String> {
    text.parse::<Policy>().err().map(|fault| fault.to_string())
}

/// The JSON Schema of a policy.
#[wasm_bindgen(js_name = policySchema)]
pub fn policy_schema() -> String {
    schema()
}

/// The TypeScript types of a policy.
#[wasm_bindgen(js_name = policyTypes)]
pub fn policy_types() -> String {
    typescript()
}

/// What the gate makes of one request.
#[wasm_bindgen]
pub struct Explained(Explanation);

/// Explains a request; nothing where the policy is wrong. `head`: `name,value` for each field, parted by `\n`, names in small
/// letters, as [`Fields`] takes it.
#[wasm_bindgen(js_name = explainRequest)]
pub fn explain_request(policy: &str, method: &str, url: &str, head: String, content: &[u8]) -> Option<Explained> {
    let fields = Fields::new(head);
    let sent = SentRequest { method, url, fields: &fields, content };
    policy.parse::<Policy>().ok().map(|policy| Explained(explain::explain_request(&policy, &sent)))
}

#[wasm_bindgen]
impl Explained {
    /// A line for each finding.
    pub fn words(&self) -> String {
        self.0.to_string()
    }

    /// What a second request is to this one, and in which parts they differ.
    #[wasm_bindgen(js_name = compareWith)]
    pub fn compare_with(&self, second: &Explained) -> String {
        explain::compare_requests(&self.0, &second.0).to_string()
    }

    /// Whether a second request gets this one's answer.
    #[wasm_bindgen(js_name = isRepeatedBy)]
    pub fn is_repeated_by(&self, second: &Explained) -> bool {
        explain::compare_requests(&self.0, &second.0).outcome == PairOutcome::Same
    }
}
