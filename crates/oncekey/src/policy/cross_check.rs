//! What a member may be only beside others: what no row of the table says of one.

use crate::{
    http::percent::decode_unreserved,
    policy::{
        attribute::Attribute,
        invalid::{InvalidPolicy, PolicyFault},
        located::LocatedValue,
        path_pattern::PathPattern,
        value::PolicyValue,
    },
};

/// The first thing that is wrong between the members of a policy that was checked and filled.
pub(super) fn check_together(at: &LocatedValue) -> Result<(), InvalidPolicy> {
    let (header, machines) = (at.member("header"), at.member("machines"));
    let (scope, before, identities) = (at.member("scope"), at.member("scope_before"), at.member("identity"));
    identities.members().try_for_each(|(_, identity)| check_identity(&identity))?;
    [scope, before].iter().try_for_each(|scope| check_scope(scope, header.value.text(), identities.value))?;
    let target = at.member("on_unknown");
    if let PolicyValue::Object(members) = target.value {
        target.refuse_unless(members.len() == 1, "one of \"queue\" and \"post\"")?;
    }
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

/// No attribute is the key, none is listed twice, and each claim is one of an identity that there is.
fn check_scope(scope: &LocatedValue, header: &str, identities: &PolicyValue) -> Result<(), InvalidPolicy> {
    let mut listed: Vec<Attribute> = Vec::new();
    let mut check = |at: &LocatedValue| {
        if let Ok(attribute) = at.value.text().parse() {
            let is_key = matches!(&attribute, Attribute::Header(name) if name.eq_ignore_ascii_case(header));
            at.refuse_unless(!is_key, "an attribute other than the key itself")?;
            at.refuse_unless(!listed.contains(&attribute), "an attribute that is not listed yet")?;
            if let Attribute::Claim { identity, .. } = &attribute {
                at.refuse_unless(identities.member(identity).is_some(), "a claim of one of the policy's identities")?;
            }
            listed.push(attribute);
        }
        Ok(())
    };
    for at in scope.elements() {
        match at.value {
            PolicyValue::List(_) => at.elements().try_for_each(|at| check(&at))?,
            _ => check(&at)?,
        }
    }
    Ok(())
}

/// A token is verified in one way, by algorithms of that way's keys: a public key is no secret (RFC 8725 §2.1). Whoever
/// takes tokens of any issuer, or for anybody, takes those that were made for others (§3.8, §3.9).
fn check_identity(at: &LocatedValue) -> Result<(), InvalidPolicy> {
    let has = |name: &str| at.value.member(name).is_some();
    let (secret, unverified) = (has("secret"), at.value.at("unverified").is_true());
    let ways = [has("jwks"), secret, has("access"), unverified];
    let is_one = ways.iter().filter(|way| **way).count() == 1;
    at.refuse_unless(is_one, "one of \"jwks\", \"secret\", \"access\" and \"unverified\": true")?;
    for (name, is_needed) in [("issuer", !unverified && !has("access")), ("audience", !unverified)] {
        if is_needed && !has(name) {
            return at.member(name).refuse(PolicyFault::Missing);
        }
    }
    let algorithms = at.member("algorithms");
    algorithms.elements().try_for_each(|algorithm| {
        let is_of_secret = algorithm.value.text() == "HS256";
        let expected = if secret { "\"HS256\", which is what a secret is for" } else { "an algorithm of public keys" };
        algorithm.refuse_unless(is_of_secret == secret, expected)
    })
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
