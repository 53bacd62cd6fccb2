//! What a member may be only beside others: what no row of the table says of one.

use crate::policy::{attribute::Attribute, invalid::InvalidPolicy, located::LocatedValue};

/// The first thing that is wrong between the members of a policy that was checked and filled.
pub(super) fn check_together(at: &LocatedValue) -> Result<(), InvalidPolicy> {
    let (header, scope, machines) = (at.member("header"), at.member("scope"), at.member("machines"));
    check_scope(&scope, header.value.text())?;
    machines.members().try_for_each(|(_, machine)| check_machine(&machine))
}

/// No attribute is the key, and none is listed twice.
fn check_scope(scope: &LocatedValue, header: &str) -> Result<(), InvalidPolicy> {
    let mut listed: Vec<Attribute> = Vec::new();
    for at in scope.elements() {
        if let Ok(attribute) = at.value.text().parse() {
            let is_key = matches!(&attribute, Attribute::Header(name) if name.eq_ignore_ascii_case(header));
            at.refuse_unless(!is_key, "an attribute other than the key itself")?;
            at.refuse_unless(!listed.contains(&attribute), "an attribute that is not listed yet")?;
            listed.push(attribute);
        }
    }
    Ok(())
}

/// Every state that a transition starts in can be reached from the initial one.
fn check_machine(machine: &LocatedValue) -> Result<(), InvalidPolicy> {
    let mut reached = vec![machine.value.at("initial").text()];
    loop {
        let before = reached.len();
        for (_, transition) in machine.value.at("transitions").members() {
            let (from, to) = (transition.at("from").elements(), transition.at("to").text());
            if from.iter().any(|from| reached.contains(&from.text())) && !reached.contains(&to) {
                reached.push(to);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    let transitions = machine.member("transitions");
    for (_, transition) in transitions.members() {
        let from = transition.member("from");
        from.elements()
            .try_for_each(|at| at.refuse_unless(reached.contains(&at.value.text()), "a state that can be reached"))?;
    }
    Ok(())
}
