//! The members of the policy: the one place that names them, bounds them and says what they are.

mod identity;

use self::identity::IDENTITY;
use crate::policy::{
    member::{MemberRow, MemberRule, NumberUnit, ObjectShape, OnlyWith, Preset, ValueKind, rules_of},
    syntax::TextSyntax,
    types::{Anonymous, Bind, Keep, Keys, Mode, NoStore, OriginKey, ServerError, StoreFailure, Unanswered},
};

/// Seconds: the longest `lease`, `patience` and `wait`. The platform keeps an object alive no longer for its own I/O.
pub const LONGEST_WAIT: u32 = 900;

/// Seconds: the longest `retention`, ten years.
pub const LONGEST_RETENTION: u32 = 315_360_000;

/// Bytes: the most that `max_content` and `max_stored` may be. An isolate has 128 MB for all of its requests.
pub const LARGEST: u32 = 104_857_600;

/// Items: the most that `max_items` may be. Each is a call of its own, and the platform allows so many for one request.
const MOST_ITEMS: u32 = 10_000;

const ROW: MemberRow = MemberRow::BLANK;

const POLICY: &[MemberRow] = &[
    MemberRow {
        name: "$schema",
        kind: ValueKind::Text(TextSyntax::Anything),
        published: false,
        about: "where an editor finds the JSON Schema of this; the gate ignores it",
        ..ROW
    },
    MemberRow {
        name: "header",
        kind: ValueKind::Text(TextSyntax::KeyHeader),
        preset: Some(Preset::Text("Idempotency-Key")),
        about: "name of the header field that carries the key",
        ..ROW
    },
    MemberRow {
        name: "field",
        kind: ValueKind::Text(TextSyntax::FieldName),
        preset: Some(Preset::Text("idempotency_key")),
        about: "name of the form field or JSON member that carries it",
        ..ROW
    },
    MemberRow {
        name: "scope",
        kind: SCOPE,
        preset: Some(Preset::List(&[Preset::Text("header:authorization"), Preset::Text("cookie:session")])),
        published: false,
        about: "list of `\"header:NAME\"`, `\"cookie:NAME\"`, `\"jwt:ID:CLAIM\"` (a claim, by its name or JSON pointer, of a \
                token that `identity` verifies) and `\"mtls\"`: what tells callers apart. Of a list within it the first \
                that a request has counts",
        ..ROW
    },
    MemberRow {
        name: "scope_before",
        kind: SCOPE,
        published: false,
        about: "the `scope` of before, while it is changed: keys are looked for under it first. Leave it for one `retention`",
        ..ROW
    },
    MemberRow {
        name: "identity",
        kind: ValueKind::Named(ObjectShape::Identity),
        preset: Some(Preset::Object),
        published: false,
        about: "signed tokens by name: how each is found and verified",
        ..ROW
    },
    MemberRow {
        name: "max_content",
        kind: bytes(1, LARGEST),
        preset: Some(Preset::Number(10_485_760)),
        about: "of a request that are looked into",
        ..ROW
    },
    MemberRow {
        name: "max_stored",
        kind: bytes(1, LARGEST),
        preset: Some(Preset::Number(4_194_304)),
        about: "of an answer that are kept",
        ..ROW
    },
    MemberRow {
        name: "store_failure",
        kind: ValueKind::Word(StoreFailure::WORDS),
        preset: Some(Preset::Text(StoreFailure::Closed.word())),
        about: "the objects cannot be reached: `\"closed\"` (refused), `\"open\"` (passed on unprotected)",
        ..ROW
    },
    MemberRow {
        name: "cors",
        kind: list_of(&ValueKind::Text(TextSyntax::WebOrigin)),
        preset: Some(Preset::List(&[])),
        about: "list of web origins whose pages may read the gate's own answers",
        ..ROW
    },
    MemberRow {
        name: "bind",
        kind: ValueKind::Word(Bind::WORDS),
        preset: Some(Preset::Text(Bind::Inside.word())),
        about: "a UUID of version 4 or 7: `\"inside\"` (one key for everybody, kept for its first caller), `\"apart\"` \
                (each caller has a key of its own, as with any other key)",
        ..ROW
    },
    MemberRow {
        name: "anonymous",
        kind: ValueKind::Word(Anonymous::WORDS),
        preset: Some(Preset::Text(Anonymous::Uuid.word())),
        about: "a caller with nothing of the scope: `\"uuid\"` (a key has to be a UUID of version 4 or 7), `\"refuse\"` \
                (no key is taken)",
        ..ROW
    },
    MemberRow {
        name: "origin_key",
        kind: ValueKind::Word(OriginKey::WORDS),
        preset: Some(Preset::Text(OriginKey::Scoped.word())),
        about: "the key that the origin gets: `\"scoped\"`, `\"uuid\"` (made of the scoped key), `\"original\"` (the \
                client's, and the scoped one in `Oncekey-Scoped-Key`)",
        ..ROW
    },
    MemberRow {
        name: "log",
        kind: ValueKind::Share,
        preset: Some(Preset::Number(0)),
        about: "share of the ordinary attempts with a key that get a line in the log, from 0 to 1; what is out of the \
                ordinary always does",
        ..ROW
    },
    MemberRow {
        name: "server_timing",
        kind: ValueKind::Flag,
        preset: Some(Preset::Flag(false)),
        about: "whether answers to requests with a key say in `Server-Timing` what the gate did and how long it and the \
                origin took",
        ..ROW
    },
    MemberRow {
        name: "on_unknown",
        kind: ValueKind::Object(ObjectShape::OnUnknown),
        published: false,
        about: "who is told of each unknown fate and dead delivery, at least once",
        ..ROW
    },
    MemberRow {
        name: "limits",
        kind: ValueKind::Object(ObjectShape::Limits),
        preset: Some(Preset::Object),
        published: false,
        about: "how many new keys a caller may have",
        ..ROW
    },
    MemberRow {
        name: "seal",
        kind: ValueKind::Flag,
        preset: Some(Preset::Flag(false)),
        about: "whether heads and contents are stored encrypted, under the secret `ONCEKEY_SEAL`",
        ..ROW
    },
    MemberRow {
        name: "routes",
        kind: list_of(&ValueKind::Object(ObjectShape::Route)),
        preset: Some(Preset::List(&[Preset::Object])),
        about: "list of routes; the first that matches by method and path decides",
        ..ROW
    },
    MemberRow {
        name: "queues",
        kind: ValueKind::Named(ObjectShape::Queue),
        preset: Some(Preset::Object),
        published: false,
        about: "queues by name",
        ..ROW
    },
    MemberRow {
        name: "machines",
        kind: ValueKind::Named(ObjectShape::Machine),
        preset: Some(Preset::Object),
        published: false,
        about: "machines by name",
        ..ROW
    },
];

const ROUTE: &[MemberRow] = &[
    MemberRow {
        name: "path",
        kind: ValueKind::Text(TextSyntax::RoutePath),
        preset: Some(Preset::Text("/*")),
        about: "which paths: exact, or ending in `*`",
        ..ROW
    },
    MemberRow {
        name: "methods",
        kind: ValueKind::List { of: &ValueKind::Text(TextSyntax::Method), filled: Some("a list of methods") },
        preset: Some(Preset::List(&[Preset::Text("POST"), Preset::Text("PATCH")])),
        about: "list of methods; GET, HEAD, OPTIONS, TRACE and CONNECT are never deduplicated",
        ..ROW
    },
    MemberRow {
        name: "require",
        kind: ValueKind::Flag,
        preset: Some(Preset::Flag(false)),
        about: "whether a key is required",
        ..ROW
    },
    MemberRow {
        name: "keep",
        kind: ValueKind::Word(Keep::WORDS),
        preset: Some(Preset::Text(Keep::Success.word())),
        about: "`\"success\"`: a 4xx stores nothing, the key stays usable; `\"definite\"`: it is stored and replayed",
        ..ROW
    },
    MemberRow {
        name: "server_error",
        kind: ValueKind::Word(ServerError::WORDS),
        preset: Some(Preset::Text(ServerError::Release.word())),
        about: "a 5xx: `\"release\"` (the next attempt runs), `\"hold\"` (outcome unknown), `\"keep\"` (replayed)",
        ..ROW
    },
    MemberRow { needed_with: Some(OnlyWith { member: "mode", word: Mode::ACCEPT }), ..UNANSWERED },
    LEASE,
    MemberRow {
        name: "patience",
        kind: ValueKind::seconds(1, LONGEST_WAIT),
        preset: Some(Preset::Number(25)),
        about: "a caller is kept waiting before 409; the late answer is still stored",
        ..ROW
    },
    MemberRow {
        name: "wait",
        kind: ValueKind::seconds(0, LONGEST_WAIT),
        preset: Some(Preset::Number(0)),
        about: "a duplicate waits for the first before 409",
        ..ROW
    },
    RETENTION,
    MemberRow {
        name: "ignore",
        kind: list_of(&ValueKind::Text(TextSyntax::Ignored)),
        preset: Some(Preset::List(&[])),
        about: "list of JSON pointers and names of form fields that are left out of the fingerprint",
        ..ROW
    },
    MemberRow {
        name: "headers",
        kind: list_of(&ValueKind::Text(TextSyntax::HeaderName)),
        preset: Some(Preset::List(&[
            Preset::Text("content-range"),
            Preset::Text("if-match"),
            Preset::Text("soapaction"),
            Preset::Text("upload-offset"),
            Preset::Text("x-amz-target"),
            Preset::Text("x-http-method-override"),
        ])),
        about: "list of names of request header fields that are part of the fingerprint: they say what is to be done",
        ..ROW
    },
    MemberRow {
        name: "keys",
        kind: ValueKind::Word(Keys::WORDS),
        preset: Some(Preset::Text(Keys::Any.word())),
        about: "which keys are taken: `\"any\"`, `\"uuidv7\"` (a UUID of version 7, which tells its time)",
        ..ROW
    },
    MemberRow {
        name: "key_age",
        kind: ValueKind::seconds(1, LONGEST_RETENTION - 60),
        about: "a UUID of version 7 may be old of which nothing is remembered; an older one is 409 `key_expired`, one more \
                than 300 s ahead 400 `key_invalid`; at most `retention` − 60",
        ..ROW
    },
    MemberRow {
        name: "no_store",
        kind: ValueKind::Word(NoStore::WORDS),
        preset: Some(Preset::Text(NoStore::Keep.word())),
        about: "an answer with `Cache-Control: no-store`: `\"keep\"` (as any other), `\"forget\"` (its status alone is \
                stored: a duplicate is 409 `reply_unavailable`)",
        ..ROW
    },
    MemberRow {
        name: "redact",
        kind: list_of(&ValueKind::Text(TextSyntax::HeaderName)),
        preset: Some(Preset::List(&[])),
        about: "list of names of answer header fields that are not stored: the first answer has them, a replay does not",
        ..ROW
    },
    MemberRow {
        name: "mode",
        kind: ValueKind::Word(Mode::WORDS),
        preset: Some(Preset::Text(Mode::PROXY)),
        about: "`\"proxy\"`: the caller waits for the origin; `\"accept\"`: stored, answered and delivered later, a key \
                is required; `\"batch\"`: each element of a list is sent alone",
        ..ROW
    },
    MemberRow {
        name: "items",
        kind: ValueKind::Text(TextSyntax::PointerOrWhole),
        needed: true,
        only: BATCH,
        about: "JSON pointer to the list, `\"\"` for the content itself",
        ..ROW
    },
    MemberRow {
        name: "item_key",
        kind: ValueKind::Text(TextSyntax::Pointer),
        needed: true,
        only: BATCH,
        about: "JSON pointer to the key in an element",
        ..ROW
    },
    MemberRow {
        name: "item_path",
        kind: ValueKind::Text(TextSyntax::OriginPath),
        needed: true,
        only: BATCH,
        about: "path at the origin to which each element is sent by POST",
        ..ROW
    },
    MemberRow {
        name: "max_items",
        kind: ValueKind::Number { unit: NumberUnit::Items, least: 1, most: MOST_ITEMS },
        preset: Some(Preset::Number(1000)),
        only: BATCH,
        about: "that a batch may have; more are a 413",
        ..ROW
    },
];

const BATCH: Option<OnlyWith> = Some(OnlyWith { member: "mode", word: Mode::BATCH });

const PROBE: &[MemberRow] = &[MemberRow {
    name: "probe",
    kind: ValueKind::Text(TextSyntax::ProbePath),
    needed: true,
    about: "path at the origin that tells what became of a request, with `{key}` once for the scoped key",
    ..ROW
}];

const LIMITS: &[MemberRow] = &[
    MemberRow {
        name: "anonymous",
        kind: ValueKind::Object(ObjectShape::Limit),
        about: "what counts the keys of callers with nothing of the scope, by address, of IPv6 by its /64",
        ..ROW
    },
    MemberRow {
        name: "identified",
        kind: ValueKind::Object(ObjectShape::Limit),
        about: "what counts those of any other, by caller",
        ..ROW
    },
];

const LIMIT: &[MemberRow] = &[
    MemberRow {
        name: "binding",
        kind: ValueKind::Text(TextSyntax::Binding),
        needed: true,
        about: "name of a rate limit binding of the Worker",
        ..ROW
    },
    MemberRow {
        name: "period",
        kind: ValueKind::seconds(1, 3600),
        preset: Some(Preset::Number(60)),
        about: "over which it counts: what `Retry-After` says",
        ..ROW
    },
];

const ON_UNKNOWN: &[MemberRow] = &[
    MemberRow {
        name: "queue",
        kind: ValueKind::Text(TextSyntax::Binding),
        about: "name of a binding of the Worker to a queue, which gets a message",
        ..ROW
    },
    MemberRow {
        name: "post",
        kind: ValueKind::Text(TextSyntax::OriginPath),
        about: "in place of `queue`: path at the origin to which it is sent by POST; told is what gets a 2xx",
        ..ROW
    },
];

const QUEUE: &[MemberRow] = &[
    MemberRow {
        name: "path",
        kind: ValueKind::Text(TextSyntax::OriginPath),
        needed: true,
        about: "path at the origin to which each message is sent by POST",
        ..ROW
    },
    MemberRow {
        name: "key",
        kind: ValueKind::Text(TextSyntax::Pointer),
        about: "JSON pointer to the key in a message; where nothing stands there, the message's id is the key",
        ..ROW
    },
    LEASE,
    RETENTION,
    MemberRow { preset: None, needed: true, ..UNANSWERED },
];

const MACHINE: &[MemberRow] = &[
    MemberRow {
        name: "initial",
        kind: ValueKind::Text(TextSyntax::State),
        needed: true,
        about: "the state of an entity that nothing has been heard of",
        ..ROW
    },
    MemberRow {
        name: "transitions",
        kind: ValueKind::Named(ObjectShape::Transition),
        needed: true,
        about: "transitions by name",
        ..ROW
    },
];

const TRANSITION: &[MemberRow] = &[
    MemberRow {
        name: "from",
        kind: ValueKind::List { of: &ValueKind::Text(TextSyntax::State), filled: Some("a list of states") },
        needed: true,
        about: "list of states that it may start in; each can be reached",
        ..ROW
    },
    MemberRow {
        name: "to",
        kind: ValueKind::Text(TextSyntax::State),
        needed: true,
        about: "the state that it ends in",
        ..ROW
    },
    MemberRow {
        name: "effect",
        kind: ValueKind::Text(TextSyntax::OriginPath),
        about: "path at the origin to which the winner's effect is sent by POST, on the terms of the route that matches it, \
                which says `unanswered`",
        ..ROW
    },
];

const SCOPE: ValueKind = list_of(&ValueKind::TextOrTexts(TextSyntax::CallerAttribute));

const LEASE: MemberRow = MemberRow {
    name: "lease",
    kind: ValueKind::seconds(1, LONGEST_WAIT),
    preset: Some(Preset::Number(60)),
    about: "until the origin's answer must begin, then the longest silence within it",
    ..ROW
};

const RETENTION: MemberRow = MemberRow {
    name: "retention",
    kind: ValueKind::seconds(1, LONGEST_RETENTION),
    preset: Some(Preset::Number(86_400)),
    about: "a completed or unknown key is remembered",
    ..ROW
};

const UNANSWERED: MemberRow = MemberRow {
    name: "unanswered",
    kind: ValueKind::WordOr {
        words: Unanswered::WORDS,
        object: ObjectShape::Probe,
        example: "{\"probe\": \"/path/{key}\"}",
    },
    preset: Some(Preset::Text(Unanswered::HOLD)),
    about: "no answer: `\"hold\"` (outcome unknown), `\"rerun\"` (the next attempt runs), `{\"probe\": \"/lookup/{key}\"}` \
            (the origin is asked)",
    ..ROW
};

const fn bytes(least: u32, most: u32) -> ValueKind {
    ValueKind::Number { unit: NumberUnit::Bytes, least, most }
}

const fn list_of(of: &'static ValueKind) -> ValueKind {
    ValueKind::List { of, filled: None }
}

impl ObjectShape {
    /// Every object.
    pub const ALL: [ObjectShape; 10] = [
        ObjectShape::Policy,
        ObjectShape::Route,
        ObjectShape::Probe,
        ObjectShape::Limits,
        ObjectShape::Limit,
        ObjectShape::Queue,
        ObjectShape::Machine,
        ObjectShape::Transition,
        ObjectShape::Identity,
        ObjectShape::OnUnknown,
    ];

    /// What is known of its members, in the order in which they are checked and written.
    pub fn rows(self) -> &'static [MemberRow] {
        match self {
            ObjectShape::Policy => POLICY,
            ObjectShape::Route => ROUTE,
            ObjectShape::Probe => PROBE,
            ObjectShape::Limits => LIMITS,
            ObjectShape::Limit => LIMIT,
            ObjectShape::Queue => QUEUE,
            ObjectShape::Machine => MACHINE,
            ObjectShape::Transition => TRANSITION,
            ObjectShape::Identity => IDENTITY,
            ObjectShape::OnUnknown => ON_UNKNOWN,
        }
    }

    /// The same, without sentences.
    pub(super) fn rules(self) -> &'static [MemberRule] {
        static OF_POLICY: [MemberRule; POLICY.len()] = rules_of(POLICY);
        static OF_ROUTE: [MemberRule; ROUTE.len()] = rules_of(ROUTE);
        static OF_PROBE: [MemberRule; PROBE.len()] = rules_of(PROBE);
        static OF_LIMITS: [MemberRule; LIMITS.len()] = rules_of(LIMITS);
        static OF_LIMIT: [MemberRule; LIMIT.len()] = rules_of(LIMIT);
        static OF_QUEUE: [MemberRule; QUEUE.len()] = rules_of(QUEUE);
        static OF_MACHINE: [MemberRule; MACHINE.len()] = rules_of(MACHINE);
        static OF_TRANSITION: [MemberRule; TRANSITION.len()] = rules_of(TRANSITION);
        static OF_IDENTITY: [MemberRule; IDENTITY.len()] = rules_of(IDENTITY);
        static OF_ON_UNKNOWN: [MemberRule; ON_UNKNOWN.len()] = rules_of(ON_UNKNOWN);
        match self {
            ObjectShape::Policy => &OF_POLICY,
            ObjectShape::Route => &OF_ROUTE,
            ObjectShape::Probe => &OF_PROBE,
            ObjectShape::Limits => &OF_LIMITS,
            ObjectShape::Limit => &OF_LIMIT,
            ObjectShape::Queue => &OF_QUEUE,
            ObjectShape::Machine => &OF_MACHINE,
            ObjectShape::Transition => &OF_TRANSITION,
            ObjectShape::Identity => &OF_IDENTITY,
            ObjectShape::OnUnknown => &OF_ON_UNKNOWN,
        }
    }
}
