//! What a member may be only beside others: what no row of the table says of one.

use crate::{
    http::percent::decode_unreserved,
    policy::{
        attribute::Attribute, invalid::InvalidPolicy, located::LocatedValue, path_pattern::PathPattern,
        value::PolicyValue,
    },
};

/// The first thing that is wrong between the members of a policy that was checked and filled.
pub(super) fn check_together(at: &LocatedValue) -> Result<(), InvalidPolicy> {
    let (header, scope, machines) = (at.member("header"), at.member("scope"), at.member("machines"));
    check_scope(&scope, header.value.text())?;
    let routes = at.member("routes");
    routes.elements().try_for_each(|route| check_key_age(&route))?;
    machines.members().try_for_each(|(_, machine)| check_machine(&machine))
}

/// Whoever finds nothing remembered comes at least a retention after the key's own time; a minute is left to clocks.
fn check_key_age(route: &LocatedValue) -> Result<(), InvalidPolicy> {
    let (age, retention) = (route.member("key_age"), route.value.at("retention").number());
    let is_less = matches!(age.value, PolicyValue::Null) || age.value.number().saturating_add(60) <= retention;
    age.refuse_unless(is_less, "at least 60 seconds less than retention")
}

/// An effect is on the terms of the first route that matches it, which has to say what the lack of an answer means. Of a
/// policy that was checked and not filled.
pub(super) fn check_effects(at: &LocatedValue) -> Result<(), InvalidPolicy> {
    let (routes, machines) = (at.value.at("routes").elements(), at.member("machines"));
    for (_, machine) in machines.members() {
        let transitions = machine.member("transitions");
        for (_, transition) in transitions.members() {
            let effect = transition.member("effect");
            if matches!(effect.value, PolicyValue::Text(_)) {
                let path = decode_unreserved(effect.value.text().split('?').next().unwrap_or_default());
                let route = routes.iter().find(|route| takes_post(route, &path));
                let is_said = route.is_some_and(|route| route.member("unanswered").is_some());
                effect.refuse_unless(
                    is_said,
                    "a path whose route says \"unanswered\": what the lack of an answer means has no default here",
                )?;
            }
        }
    }
    Ok(())
}

/// Whether a route matches a POST; its members may be left to their defaults.
fn takes_post(route: &PolicyValue, path: &str) -> bool {
    let is_post = |methods: &PolicyValue| methods.elements().iter().any(|method| method.text() == "POST");
    let is_path = |pattern: &PolicyValue| PathPattern::of_checked(pattern.text()).matches(path);
    route.member("methods").is_none_or(is_post) && route.member("path").is_none_or(is_path)
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
