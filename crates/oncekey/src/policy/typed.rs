//! Each member's typed field: read from a value that was checked and filled, and shown as a value again.
//!
//! Reading cannot fail: whatever the check lets pass has its type here.

use crate::{
    content::ignore::Ignore,
    identity::{Algorithm, Identity, TokenPlace, Verifier},
    json::pointer::{pointer, pointer_text},
    policy::{
        attribute::Attribute,
        check::fill_object,
        member::ObjectShape,
        path_pattern::PathPattern,
        types::{
            Anonymous, Bind, Keep, Keys, Limit, Limits, Machine, Mode, NoStore, OnUnknown, OriginKey, Policy, Queue,
            Route, ServerError, StoreFailure, Transition, Unanswered,
        },
        value::PolicyValue,
    },
};

/// The policy of a value that was checked and filled.
pub(super) fn read_policy(policy: &PolicyValue) -> Policy {
    Policy {
        header: read_text(policy.at("header")),
        field: read_text(policy.at("field")),
        scope: read_scope(policy.at("scope")),
        scope_before: policy.member("scope_before").map(read_scope),
        identity: policy
            .at("identity")
            .members()
            .iter()
            .map(|(name, identity)| read_identity(name, identity))
            .collect(),
        max_content: policy.at("max_content").number(),
        max_stored: policy.at("max_stored").number(),
        store_failure: StoreFailure::of_word(policy.at("store_failure").text()),
        bind: Bind::of_word(policy.at("bind").text()),
        anonymous: Anonymous::of_word(policy.at("anonymous").text()),
        cors: read_texts(policy.at("cors")),
        origin_key: OriginKey::of_word(policy.at("origin_key").text()),
        log: read_share(policy.at("log")),
        server_timing: policy.at("server_timing").is_true(),
        on_unknown: policy.member("on_unknown").map(read_on_unknown),
        limits: Limits {
            anonymous: policy.at("limits").member("anonymous").map(read_limit),
            identified: policy.at("limits").member("identified").map(read_limit),
        },
        seal: policy.at("seal").is_true(),
        routes: policy.at("routes").elements().iter().map(read_route).collect(),
        queues: policy.at("queues").members().iter().map(|(name, queue)| read_queue(name, queue)).collect(),
        machines: policy.at("machines").members().iter().map(|(name, machine)| read_machine(name, machine)).collect(),
    }
}

/// A member of the policy that is published.
pub(super) fn show_policy_member(policy: &Policy, name: &str) -> Option<PolicyValue> {
    Some(match name {
        "header" => policy.header.as_str().into(),
        "field" => policy.field.as_str().into(),
        "max_content" => PolicyValue::Whole(policy.max_content),
        "max_stored" => PolicyValue::Whole(policy.max_stored),
        "store_failure" => policy.store_failure.word().into(),
        "bind" => policy.bind.word().into(),
        "anonymous" => policy.anonymous.word().into(),
        "cors" => show_texts(&policy.cors),
        "origin_key" => policy.origin_key.word().into(),
        "log" => show_share(policy.log),
        "server_timing" => PolicyValue::Flag(policy.server_timing),
        "seal" => PolicyValue::Flag(policy.seal),
        "routes" => PolicyValue::List(policy.routes.iter().map(show_route).collect()),
        _ => return None,
    })
}

/// Millionths of all.
const ALL: u32 = 1_000_000;

fn read_share(value: &PolicyValue) -> u32 {
    match value {
        PolicyValue::Share(millionths) => *millionths,
        PolicyValue::Whole(1) => ALL,
        _ => 0,
    }
}

fn show_share(millionths: u32) -> PolicyValue {
    match millionths {
        0 => PolicyValue::Whole(0),
        ALL => PolicyValue::Whole(1),
        millionths => PolicyValue::Share(millionths),
    }
}

fn read_route(route: &PolicyValue) -> Route {
    let mode = read_mode(route);
    Route {
        path: PathPattern::of_checked(route.at("path").text()),
        methods: read_texts(route.at("methods")),
        // What is answered before it runs can be told apart from a second one by its key alone.
        require: route.at("require").is_true() || mode == Mode::Accept,
        keep: Keep::of_word(route.at("keep").text()),
        server_error: ServerError::of_word(route.at("server_error").text()),
        unanswered: read_unanswered(route.at("unanswered")),
        lease: read_seconds(route.at("lease")),
        patience: read_seconds(route.at("patience")),
        wait: read_seconds(route.at("wait")),
        retention: read_seconds(route.at("retention")),
        ignore: route.at("ignore").elements().iter().filter_map(|text| Ignore::parse(text.text())).collect(),
        headers: read_texts(route.at("headers")),
        keys: Keys::of_word(route.at("keys").text()),
        key_age: route.member("key_age").map(read_seconds),
        no_store: NoStore::of_word(route.at("no_store").text()),
        redact: read_texts(route.at("redact")),
        mode,
    }
}

fn show_route(route: &Route) -> PolicyValue {
    show_published(ObjectShape::Route, &|name| show_route_member(route, name))
}

fn show_route_member(route: &Route, name: &str) -> Option<PolicyValue> {
    Some(match (name, &route.mode) {
        ("path", _) => route.path.as_str().into(),
        ("methods", _) => show_texts(&route.methods),
        ("require", _) => PolicyValue::Flag(route.require),
        ("keep", _) => route.keep.word().into(),
        ("server_error", _) => route.server_error.word().into(),
        ("unanswered", _) => show_unanswered(&route.unanswered),
        ("lease", _) => PolicyValue::Whole(route.lease.into()),
        ("patience", _) => PolicyValue::Whole(route.patience.into()),
        ("wait", _) => PolicyValue::Whole(route.wait.into()),
        ("retention", _) => PolicyValue::Whole(route.retention.into()),
        ("ignore", _) => PolicyValue::List(route.ignore.iter().map(show_ignored).collect()),
        ("headers", _) => show_texts(&route.headers),
        ("keys", _) => route.keys.word().into(),
        ("key_age", _) => PolicyValue::Whole(route.key_age?.into()),
        ("no_store", _) => route.no_store.word().into(),
        ("redact", _) => show_texts(&route.redact),
        ("mode", Mode::Proxy) => Mode::PROXY.into(),
        ("mode", Mode::Accept) => Mode::ACCEPT.into(),
        ("mode", Mode::Batch { .. }) => Mode::BATCH.into(),
        ("items", Mode::Batch { items, .. }) => pointer_text(items).as_str().into(),
        ("item_key", Mode::Batch { item_key, .. }) => pointer_text(item_key).as_str().into(),
        ("item_path", Mode::Batch { item_path, .. }) => item_path.as_str().into(),
        ("max_items", Mode::Batch { max_items, .. }) => PolicyValue::Whole(*max_items),
        _ => return None,
    })
}

fn read_mode(route: &PolicyValue) -> Mode {
    match route.at("mode").text() {
        Mode::BATCH => Mode::Batch {
            items: read_pointer(route.at("items")),
            item_key: read_pointer(route.at("item_key")),
            item_path: read_text(route.at("item_path")),
            max_items: route.at("max_items").number(),
        },
        Mode::ACCEPT => Mode::Accept,
        _ => Mode::Proxy,
    }
}

fn read_unanswered(unanswered: &PolicyValue) -> Unanswered {
    match unanswered {
        PolicyValue::Object(_) => Unanswered::Probe(read_text(unanswered.at("probe"))),
        _ if unanswered.text() == Unanswered::RERUN => Unanswered::Rerun,
        _ => Unanswered::Hold,
    }
}

fn show_unanswered(unanswered: &Unanswered) -> PolicyValue {
    match unanswered {
        Unanswered::Hold => Unanswered::HOLD.into(),
        Unanswered::Rerun => Unanswered::RERUN.into(),
        Unanswered::Probe(path) => {
            show_published(ObjectShape::Probe, &|name| (name == "probe").then(|| path.as_str().into()))
        }
    }
}

fn read_queue(name: &str, queue: &PolicyValue) -> Queue {
    Queue {
        name: name.to_owned(),
        path: read_text(queue.at("path")),
        key: queue.member("key").map(read_pointer),
        lease: read_seconds(queue.at("lease")),
        retention: read_seconds(queue.at("retention")),
        unanswered: read_unanswered(queue.at("unanswered")),
    }
}

fn read_on_unknown(target: &PolicyValue) -> OnUnknown {
    match target.member("queue") {
        Some(binding) => OnUnknown::Queue(read_text(binding)),
        None => OnUnknown::Post(read_text(target.at("post"))),
    }
}

fn read_limit(limit: &PolicyValue) -> Limit {
    Limit { binding: read_text(limit.at("binding")), period: read_seconds(limit.at("period")) }
}

fn read_machine(name: &str, machine: &PolicyValue) -> Machine {
    let transitions = machine.at("transitions").members().iter();
    Machine {
        name: name.to_owned(),
        initial: read_text(machine.at("initial")),
        transitions: transitions.map(|(name, transition)| read_transition(name, transition)).collect(),
    }
}

fn read_transition(name: &str, transition: &PolicyValue) -> Transition {
    Transition {
        name: name.to_owned(),
        from: read_texts(transition.at("from")),
        to: read_text(transition.at("to")),
        effect: transition.member("effect").map(read_text),
    }
}

/// Of each place the attributes of which the first counts.
fn read_scope(scope: &PolicyValue) -> Vec<Vec<Attribute>> {
    let read = |place: &PolicyValue| texts(place).filter_map(|text| text.text().parse().ok()).collect();
    scope.elements().iter().map(read).collect()
}

/// Where Cloudflare Access puts its token.
const ACCESS_TOKEN: &str = "cf-access-jwt-assertion";

fn read_identity(name: &str, identity: &PolicyValue) -> Identity {
    let team = identity.member("access").map(|team| ["https://", team.text(), ".cloudflareaccess.com"].concat());
    let verifier = match (&team, identity.member("jwks"), identity.member("secret")) {
        (Some(team), _, _) => Verifier::KeySet([team, "/cdn-cgi/access/certs"].concat()),
        (None, Some(url), _) => Verifier::KeySet(read_text(url)),
        (None, None, Some(secret)) => Verifier::Secret(read_text(secret)),
        (None, None, None) => Verifier::Nobody,
    };
    let usual = match &verifier {
        Verifier::Secret(_) => vec![Algorithm::Hs256],
        Verifier::KeySet(_) | Verifier::Nobody => Algorithm::USUAL.to_vec(),
    };
    let from = match &team {
        Some(_) => TokenPlace::Header(ACCESS_TOKEN.to_owned()),
        None => TokenPlace::Bearer,
    };
    let listed =
        |list: &PolicyValue| list.elements().iter().filter_map(|word| Algorithm::of_word(word.text())).collect();
    Identity {
        name: name.to_owned(),
        from: identity.member("from").and_then(|from| from.text().parse().ok()).unwrap_or(from),
        verifier,
        issuer: identity.member("issuer").map(read_text).or(team),
        audience: texts(identity.at("audience")).map(read_text).collect(),
        algorithms: identity.member("algorithms").map_or(usual, listed),
        leeway: read_seconds(identity.at("leeway")),
    }
}

/// The texts of a list, or the one in its place.
fn texts(value: &PolicyValue) -> impl Iterator<Item = &PolicyValue> {
    let one = matches!(value, PolicyValue::Text(_)).then_some(value);
    one.into_iter().chain(value.elements())
}

fn read_text(text: &PolicyValue) -> String {
    text.text().to_owned()
}

fn read_texts(list: &PolicyValue) -> Vec<String> {
    list.elements().iter().map(read_text).collect()
}

fn show_texts(texts: &[String]) -> PolicyValue {
    PolicyValue::List(texts.iter().map(|text| text.as_str().into()).collect())
}

fn read_seconds(seconds: &PolicyValue) -> u32 {
    u32::try_from(seconds.number()).unwrap_or(u32::MAX)
}

fn read_pointer(text: &PolicyValue) -> Vec<String> {
    pointer(text.text()).unwrap_or_default()
}

fn show_ignored(ignored: &Ignore) -> PolicyValue {
    match ignored {
        Ignore::Pointer(tokens) => pointer_text(tokens).as_str().into(),
        Ignore::Name(name) => name.as_str().into(),
    }
}

/// An object's published members that have a value, in the table's order.
pub(super) fn show_published(shape: ObjectShape, show: &dyn Fn(&str) -> Option<PolicyValue>) -> PolicyValue {
    let published = shape.rules().iter().filter(|rule| rule.published);
    PolicyValue::Object(published.filter_map(|rule| Some((rule.name.to_owned(), show(rule.name)?))).collect())
}

/// The value of an object without members: all of its defaults.
fn defaults(shape: ObjectShape) -> PolicyValue {
    let mut object = PolicyValue::Object(Vec::new());
    fill_object(&mut object, shape);
    object
}

impl Default for Policy {
    fn default() -> Policy {
        read_policy(&defaults(ObjectShape::Policy))
    }
}

impl Default for Route {
    fn default() -> Route {
        read_route(&defaults(ObjectShape::Route))
    }
}
