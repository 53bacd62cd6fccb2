//! A value and where it is, so that what is wrong with it can be told by a JSON pointer.

use crate::{
    json::pointer::step,
    policy::{
        invalid::{InvalidPolicy, PolicyFault},
        value::PolicyValue,
    },
};

/// A value and where it is.
#[derive(Clone, Copy)]
pub(super) struct LocatedValue<'v> {
    pub(super) value: &'v PolicyValue,
    /// What it is a part of, and by which token; `None` for the whole.
    outer: Option<(&'v LocatedValue<'v>, PointerToken<'v>)>,
}

/// A reference token of a JSON pointer (RFC 6901 §3).
#[derive(Clone, Copy)]
enum PointerToken<'v> {
    Name(&'v str),
    Index(usize),
}

impl<'v> LocatedValue<'v> {
    pub(super) fn whole(value: &'v PolicyValue) -> LocatedValue<'v> {
        LocatedValue { value, outer: None }
    }

    /// The elements of a list.
    pub(super) fn elements(&'v self) -> impl Iterator<Item = LocatedValue<'v>> {
        let elements = self.value.elements().iter().enumerate();
        elements.map(|(index, value)| self.part(PointerToken::Index(index), value))
    }

    /// The members of an object, by name.
    pub(super) fn members(&'v self) -> impl Iterator<Item = (&'v str, LocatedValue<'v>)> {
        let members = self.value.members().iter();
        members.map(|(name, value)| (name.as_str(), self.part(PointerToken::Name(name), value)))
    }

    /// The member of that name; null where there is none.
    pub(super) fn member(&'v self, name: &'v str) -> LocatedValue<'v> {
        self.part(PointerToken::Name(name), self.value.member(name).unwrap_or(&PolicyValue::Null))
    }

    pub(super) fn refuse(&self, fault: PolicyFault) -> Result<(), InvalidPolicy> {
        Err(InvalidPolicy { pointer: self.pointer(), fault })
    }

    pub(super) fn refuse_unless(&self, holds: bool, expected: &'static str) -> Result<(), InvalidPolicy> {
        if holds { Ok(()) } else { self.refuse(PolicyFault::Expected(expected)) }
    }

    fn part(&'v self, token: PointerToken<'v>, value: &'v PolicyValue) -> LocatedValue<'v> {
        LocatedValue { value, outer: Some((self, token)) }
    }

    /// The JSON pointer that leads here.
    fn pointer(&self) -> String {
        let Some((outer, token)) = self.outer else {
            return String::new();
        };
        let mut pointer = outer.pointer();
        match token {
            PointerToken::Name(name) => step(&mut pointer, name),
            PointerToken::Index(index) => step(&mut pointer, &index.to_string()),
        }
        pointer
    }
}
