//! A policy from its text.

use std::str::FromStr;

use crate::policy::{
    check::{check_object, fill_object},
    cross_check::{check_effects, check_together},
    invalid::InvalidPolicy,
    located::LocatedValue,
    member::ObjectShape,
    typed::read_policy,
    types::Policy,
    value::read_value,
};

/// Reads and checks a policy; blank text is the default one.
impl FromStr for Policy {
    type Err = InvalidPolicy;

    fn from_str(json: &str) -> Result<Policy, InvalidPolicy> {
        if json.trim_ascii().is_empty() {
            return Ok(Policy::default());
        }
        let mut value = read_value(json)?;
        check_object(&LocatedValue::whole(&value), ObjectShape::Policy)?;
        check_effects(&LocatedValue::whole(&value))?;
        fill_object(&mut value, ObjectShape::Policy);
        check_together(&LocatedValue::whole(&value))?;
        Ok(read_policy(&value))
    }
}
