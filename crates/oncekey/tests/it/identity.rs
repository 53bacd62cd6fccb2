//! Tokens: what is taken of them and what is refused, who they say that the caller is, and when keys are fetched.
use oncekey::{
    http::{fields::Fields, target::split_url},
    identity::{
        Identity, InvalidToken, JudgedToken, KeySet,
        held::{HeldKeys, KeysStep},
    },
    key::{Key, caller::InvalidCaller, scope::Scope, scoped::ScopedKey, scopes::CallerScopes},
    policy::{CallerParts, Policy},
};
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, any, proptest},
};
use serde_json::{Value, json};

const NOW: u64 = 1_767_225_600_000;
const SECONDS: u64 = NOW / 1000;
const UUID: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        (0..=three.len()).for_each(|at| text.push(char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize])));
    }
    text
}

fn identity(more: Value) -> Identity {
    let mut described = json!({ "jwks": "https://id.test/keys", "issuer": "https://id.test/", "audience": "shop" });
    described.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let described = described.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null());
    let policy = json!({ "identity": { "main": described.collect::<serde_json::Map<_, _>>() } });
    policy.to_string().parse::<Policy>().unwrap().identity.remove(0)
}

fn claims(more: Value) -> Value {
    let mut claims = json!({ "iss": "https://id.test/", "aud": "shop", "sub": "ann", "exp": SECONDS + 300 });
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claims.as_object_mut().unwrap().retain(|_, value| *value != json!("-"));
    claims
}

fn written(header: &str, claims: &str) -> String {
    [base64url(header.as_bytes()), base64url(claims.as_bytes()), base64url(b"signature")].join(".")
}

fn token(header: Value, more: Value) -> String {
    written(&header.to_string(), &claims(more).to_string())
}

fn judge(identity: &Identity, token: &str) -> Result<JudgedToken, InvalidToken> {
    identity.judge(token, NOW)
}

#[test]
fn what_is_judged_without_a_key() {
    let ours = identity(json!({}));
    let check = |header: Value, more: Value, expect: Option<InvalidToken>| {
        let told = format!("{header} {more}");
        assert_eq!(judge(&ours, &token(header, more)).err(), expect, "{told}");
    };
    let rs = || json!({ "alg": "RS256", "kid": "a", "typ": "JWT" });
    let claim = |more: Value, expect: Option<InvalidToken>| check(rs(), more, expect);
    claim(json!({}), None);
    // Whose it is, and for whom.
    claim(json!({ "iss": "-" }), Some(InvalidToken::Issuer));
    claim(json!({ "iss": "https://id.test" }), Some(InvalidToken::Issuer));
    claim(json!({ "iss": ["https://id.test/"] }), Some(InvalidToken::Malformed));
    claim(json!({ "aud": "-" }), Some(InvalidToken::Audience));
    claim(json!({ "aud": "Shop" }), Some(InvalidToken::Audience));
    claim(json!({ "aud": [] }), Some(InvalidToken::Audience));
    claim(json!({ "aud": { "shop": "shop" } }), Some(InvalidToken::Audience));
    claim(json!({ "aud": ["other", "shop"] }), None);
    claim(json!({ "aud": [1, null, "shop"] }), None);
    // When.
    claim(json!({ "exp": "-" }), Some(InvalidToken::Expired));
    claim(json!({ "exp": null }), Some(InvalidToken::Malformed));
    claim(json!({ "exp": (SECONDS + 300).to_string() }), Some(InvalidToken::Malformed));
    claim(json!({ "exp": SECONDS - 60 }), Some(InvalidToken::Expired));
    claim(json!({ "exp": SECONDS - 59 }), None);
    claim(json!({ "exp": SECONDS as f64 - 59.5 }), None);
    claim(json!({ "exp": -1 }), Some(InvalidToken::Expired));
    claim(json!({ "nbf": SECONDS + 60 }), None);
    claim(json!({ "nbf": SECONDS + 61 }), Some(InvalidToken::Early));
    claim(json!({ "nbf": SECONDS as f64 + 60.5 }), Some(InvalidToken::Early));
    claim(json!({ "nbf": "now" }), Some(InvalidToken::Malformed));
    claim(json!({ "iat": SECONDS + 3600 }), None);
    // How it is signed.
    let head = |header: Value, expect: Option<InvalidToken>| check(header, json!({}), expect);
    head(json!({ "alg": "ES256" }), None);
    head(json!({ "alg": "EdDSA", "typ": "at+jwt" }), None);
    head(json!({ "alg": "Ed25519" }), None);
    for alg in ["none", "None", "HS256", "HS384", "PS256", "ES384", "RS512", "rs256", ""] {
        head(json!({ "alg": alg }), Some(InvalidToken::Algorithm));
    }
    head(json!({}), Some(InvalidToken::Algorithm));
    head(json!({ "alg": ["RS256"] }), Some(InvalidToken::Malformed));
    head(json!({ "alg": "RS256", "kid": 7 }), Some(InvalidToken::Malformed));
    head(json!({ "alg": "RS256", "crit": ["b64"], "b64": false }), Some(InvalidToken::Critical));
    head(json!({ "alg": "RS256", "crit": [] }), Some(InvalidToken::Critical));
    head(json!({ "alg": "RS256", "b64": false }), Some(InvalidToken::Critical));
}

#[test]
fn algorithms_are_those_that_are_listed() {
    let listed = identity(json!({ "algorithms": ["PS256", "ES384"] }));
    for (alg, expect) in [("PS256", true), ("ES384", true), ("RS256", false), ("ES256", false), ("HS256", false)] {
        assert_eq!(judge(&listed, &token(json!({ "alg": alg }), json!({}))).is_ok(), expect, "{alg}");
    }
    let secret = identity(json!({ "jwks": null, "secret": "TOKENS" }));
    for (alg, expect) in [("HS256", true), ("RS256", false), ("none", false)] {
        assert_eq!(judge(&secret, &token(json!({ "alg": alg }), json!({}))).is_ok(), expect, "{alg}");
    }
}

#[test]
fn what_is_no_signed_token() {
    let ours = identity(json!({}));
    let (header, good) = (r#"{"alg":"RS256"}"#, claims(json!({})).to_string());
    assert!(judge(&ours, &written(header, &good)).is_ok());
    let part = base64url(good.as_bytes());
    for claims in [
        "",
        "[]",
        "null",
        "{",
        "{} {}",
        "\"a\"",
        "\u{feff}{}",
        r#"{"sub":"\ud800"}x"#,
        &good.replace('{', r#"{"sub":"bob","#),
        &good.replace('{', r#"{"s\u0075b":"bob","#),
        &good.replace('{', r#"{"x":1,"x":2,"#),
        &good.replace('{', r#"{"\ud800":1,"#),
        &good.replace('{', &format!("{{\"x\":{}{},", "[".repeat(40), "]".repeat(40))),
    ] {
        assert_eq!(judge(&ours, &written(header, claims)).err(), Some(InvalidToken::Malformed), "{claims}");
    }
    for header in ["", "[\"RS256\"]", r#"{"alg":"RS256","alg":"none"}"#, r#"{"alg":"RS256","\u0061lg":"none"}"#] {
        assert_eq!(judge(&ours, &written(header, &good)).err(), Some(InvalidToken::Malformed), "{header}");
    }
    let head = base64url(header.as_bytes());
    for text in [
        format!("{head}=.{part}.AA"),
        format!("{head}.{part}=.AA"),
        format!("{head}.{part}.A"),
        format!("{head}.{part}.AB"),
        format!("{head}.{part}.A+A"),
        format!("{head} .{part}.AA"),
        format!("{head}.{part}.AA\n"),
        format!("{head}.{}.AA", base64url(b"\xff{}")),
        "..".to_owned(),
        format!("{head}..AA"),
    ] {
        assert_eq!(judge(&ours, &text).err(), Some(InvalidToken::Malformed), "{text}");
    }
}

#[test]
fn tokens_are_found_in_their_places() {
    let check = |from: &str, head: &str, expect: Option<&str>| {
        let found = identity(json!({ "from": from }));
        let fields = Fields::new(head.to_owned());
        assert_eq!(found.token(&fields).as_deref(), expect, "{from}: {head}");
    };
    check("bearer", "authorization,Bearer a.b.c", Some("a.b.c"));
    check("bearer", "authorization,bEARER   a.b.c ", Some("a.b.c"));
    check("bearer", "authorization,Bearer a.b.c, Bearer d.e.f", None);
    for other in [
        "authorization,Basic a.b.c",
        "authorization,a.b.c",
        "authorization,Bearer a.b",
        "authorization,Bearer a.b.c.d.e",
        "x,Bearer a.b.c",
    ] {
        check("bearer", other, None);
    }
    check("header:X-Token", "x-token, a.b.c ", Some("a.b.c"));
    check("header:X-Token", "authorization,Bearer a.b.c", None);
    check("cookie:token", "cookie,theme=x; token=a.b.c; Token=d.e.f", Some("a.b.c"));
    check("cookie:token", "cookie,token=a.b.c; token=d.e.f", None);
    let access = identity(json!({ "jwks": null, "issuer": null, "access": "team" }));
    assert_eq!(access.token(&Fields::new("cf-access-jwt-assertion,a.b.c".to_owned())).as_deref(), Some("a.b.c"));
    assert_eq!(access.key_set(), Some("https://team.cloudflareaccess.com/cdn-cgi/access/certs"));
    assert_eq!(access.issuer.as_deref(), Some("https://team.cloudflareaccess.com"));
}

const SCOPE: &str = r#"["jwt:main:sub"]"#;

/// The scopes of a request, its tokens judged and taken for verified.
fn scopes(scope: &str, more: &str, head: &str, certificate: Option<&str>) -> Result<CallerScopes, InvalidCaller> {
    let policy = format!(
        r#"{{"scope":{scope},"identity":{{"main":{{"jwks":"https://id.test/keys","issuer":"https://id.test/","audience":"shop"}},"raw":{{"unverified":true,"from":"header:x-raw"}},"app":{{"from":"cookie:app","jwks":"https://id.test/keys","issuer":"https://id.test/","audience":"shop"}}}}{more}}}"#
    );
    let policy = policy.parse::<Policy>().unwrap();
    let fields = Fields::new(head.to_owned());
    let parts = CallerParts { url: &split_url("https://shop.test/"), fields: &fields, certificate };
    let mut tokens = Vec::new();
    for (identity, _) in policy.identities_of(parts) {
        tokens.push((identity.name.as_str(), identity.judge(&identity.token(&fields).unwrap(), NOW)?));
    }
    policy.caller_scopes(parts, &tokens)
}

fn scope(scope: &str, head: &str) -> Result<Scope, InvalidCaller> {
    scopes(scope, "", head, None).map(|scopes| scopes.now)
}

fn bearer(more: Value) -> String {
    format!("authorization,Bearer {}", token(json!({ "alg": "RS256" }), more))
}

#[test]
fn the_caller_is_issuer_and_claim() {
    let of = |more: Value| scope(SCOPE, &bearer(more));
    let ann = of(json!({})).unwrap();
    assert_eq!(of(json!({ "jti": "2", "exp": SECONDS + 900, "aud": ["shop", "x"] })), Ok(ann.clone()));
    assert_eq!(of(json!({ "sub": "a\u{6e}n" })), Ok(ann.clone()));
    assert_ne!(of(json!({ "sub": "bob" })).unwrap(), ann);
    // Wherever the token is.
    let app = format!("cookie,app={}", token(json!({ "alg": "ES256" }), json!({})));
    assert_eq!(scope(r#"["jwt:app:/sub"]"#, &app), Ok(ann.clone()));
    let differ: Vec<Scope> =
        [json!(7), json!("7"), json!(-7), json!(7.5), json!("7.5"), json!(" 7"), json!("ann\" \"x")]
            .into_iter()
            .map(|sub| of(json!({ "sub": sub })).unwrap())
            .collect();
    for (at, one) in differ.iter().enumerate() {
        assert!(!differ[..at].contains(one) && *one != ann, "{one:?}");
    }
    let seven = |number: &str| {
        scope(
            SCOPE,
            &format!(
                "authorization,Bearer {}",
                written(r#"{"alg":"RS256"}"#, &claims(json!({})).to_string().replace("\"ann\"", number))
            ),
        )
    };
    assert_eq!(seven("7.0"), seven("7"));
    assert_eq!(seven("70e-1"), seven("7"));
    assert_ne!(seven("9007199254740993"), seven("9007199254740992"));
    for number in ["123456789012345678901", "1.234567890123456789"] {
        assert_eq!(seven(number), Err(InvalidCaller::Token(InvalidToken::Claim)), "{number}");
    }
    for sub in [json!("-"), json!(null), json!(""), json!({ "id": "ann" }), json!(["ann"]), json!(true)] {
        let told = sub.to_string();
        assert_eq!(of(json!({ "sub": sub })), Err(InvalidCaller::Token(InvalidToken::Claim)), "{told}");
    }
    let deep = bearer(json!({ "realm": { "a/b": ["x", "ann"] }, "https://id.test/org": "o" }));
    assert!(scope(r#"["jwt:main:/realm/a~1b/1"]"#, &deep).is_ok());
    assert!(scope(r#"["jwt:main:https://id.test/org"]"#, &deep).is_ok());
    assert!(scope(r#"["jwt:main:/realm/a~1b/2"]"#, &deep).is_err());
    assert!(scope(r#"["jwt:main:realm"]"#, &deep).is_err());
}

#[test]
fn of_a_list_the_first_that_is_there_counts() {
    let listed = r#"[["jwt:main:sub","header:authorization"],"cookie:session"]"#;
    let ann = scope(listed, &bearer(json!({}))).unwrap();
    assert_eq!(
        scope(listed, &bearer(json!({ "jti": "2" }))),
        Ok(ann.clone()),
        "the raw header does not count beside it"
    );
    assert_ne!(scope(listed, &format!("{}\ncookie,session=s", bearer(json!({})))).unwrap(), ann);
    let opaque = scope(listed, "authorization,Bearer opaque").unwrap();
    let mut expect = Scope::new("shop.test");
    expect.add("header:authorization", "Bearer opaque");
    assert_eq!(opaque, expect);
    assert_eq!(
        scope(listed, &bearer(json!({ "iss": "x" }))),
        Err(InvalidCaller::Token(InvalidToken::Issuer)),
        "no fall back"
    );
    assert!(scope(listed, "x,y").unwrap().is_anonymous());
    // What comes first is not verified in vain.
    let other = r#"[["cookie:session","jwt:main:sub"]]"#;
    assert!(scope(other, &format!("cookie,session=s\n{}", bearer(json!({ "iss": "x" })))).is_ok());
    // A value that identifies nobody is not there.
    let digest = r#"[["header:authorization","cookie:session"]]"#;
    assert_eq!(scope(digest, "authorization,Digest realm=\"r\"\ncookie,session=s"), scope(digest, "cookie,session=s"));
}

#[test]
fn what_nobody_verifies_proves_nothing() {
    let raw = |more: Value| scope(r#"["jwt:raw:sub"]"#, &format!("x-raw,{}", token(json!({ "alg": "none" }), more)));
    let (ann, natural, random) =
        (raw(json!({})).unwrap(), Key::from_content("k").unwrap(), Key::from_content(UUID).unwrap());
    assert!(ScopedKey::derive(&ann, &natural).is_err());
    assert!(ScopedKey::derive(&ann, &random).is_ok());
    assert_eq!(raw(json!({ "exp": 1, "iss": "https://id.test/" })).unwrap(), ann, "it is taken as it stands");
    assert_ne!(raw(json!({ "iss": "x" })).unwrap(), ann);
    let verified = scope(SCOPE, &bearer(json!({}))).unwrap();
    assert!(ScopedKey::derive(&verified, &natural).is_ok());
    assert_ne!(verified.callers(&random), ann.callers(&random), "what is verified is nothing that anybody can write");
    let ours = identity(json!({ "jwks": null, "unverified": true }));
    assert_eq!(judge(&ours, &token(json!({}), json!({ "iss": "x" }))).err(), Some(InvalidToken::Issuer));
    assert_eq!(judge(&ours, &token(json!({}), json!({ "aud": "x" }))).err(), Some(InvalidToken::Audience));
}

#[test]
fn certificates() {
    let of = |certificate: Option<&str>| scopes(r#"["mtls"]"#, "", "", certificate).unwrap().now;
    assert!(of(None).is_anonymous());
    assert_ne!(of(Some("0a")), of(Some("0b")));
    assert!(ScopedKey::derive(&of(Some("0a")), &Key::from_content("k").unwrap()).is_ok());
}

#[test]
fn the_scope_of_before() {
    let before = r#","scope_before":["header:authorization"]"#;
    let both = |head: &str| scopes(SCOPE, before, head, None).unwrap();
    let (natural, random) = (Key::from_content("k").unwrap(), Key::from_content(UUID).unwrap());
    let head = bearer(json!({}));
    let mut old = Scope::new("shop.test");
    old.add("header:authorization", head.split_once(',').unwrap().1);
    let found = both(&head);
    assert_eq!(found.name_before(&natural), ScopedKey::derive(&old, &natural).ok());
    assert_eq!(found.name_before(&random), None, "one name for everybody");
    let callers = found.callers(&random).unwrap();
    assert_eq!(callers, [found.now.callers(&random).unwrap(), old.callers(&random).unwrap()].concat());
    assert_eq!(both("x,y").name_before(&natural), None, "who was nobody before has left nothing");
    assert_eq!(scopes(SCOPE, "", &head, None).unwrap().before, None);
    let apart = scopes(SCOPE, r#","scope_before":["header:authorization"],"bind":"apart""#, &head, None).unwrap();
    assert_eq!(apart.name_before(&random), ScopedKey::derive(&old.apart(), &random).ok());
    // A token that only the scope of before knows is refused for nobody.
    let turned = r#","scope_before":["jwt:main:sub"]"#;
    let policy = format!(
        r#"{{"scope":["cookie:session"],"identity":{{"main":{{"jwks":"https://id.test/keys","issuer":"i","audience":"a"}}}}{turned}}}"#
    );
    let policy = policy.parse::<Policy>().unwrap();
    let fields = Fields::new(format!("cookie,session=s\n{head}"));
    let parts = CallerParts { url: &split_url("https://shop.test/"), fields: &fields, certificate: None };
    assert_eq!(policy.identities_of(parts).iter().map(|(_, is_needed)| *is_needed).collect::<Vec<_>>(), [false]);
    let scopes = policy.caller_scopes(parts, &[]).unwrap();
    assert_eq!((scopes.before, scopes.now.is_anonymous()), (None, false));
}

/// A set with these keys: `kid` and type of each.
fn key_set(keys: &[(&str, &str)]) -> Vec<u8> {
    let keys: Vec<Value> = keys
        .iter()
        .map(|(kid, kind)| match *kind {
            "RSA" => json!({ "kid": kid, "kty": "RSA", "n": "A".repeat(342), "e": "AQAB" }),
            "short" => json!({ "kid": kid, "kty": "RSA", "n": "A".repeat(171), "e": "AQAB" }),
            "enc" => json!({ "kid": kid, "kty": "RSA", "n": "A".repeat(342), "e": "AQAB", "use": "enc" }),
            "sign" => json!({ "kid": kid, "kty": "RSA", "n": "A".repeat(342), "e": "AQAB", "key_ops": ["sign"] }),
            "PS" => json!({ "kid": kid, "kty": "RSA", "n": "A".repeat(342), "e": "AQAB", "alg": "PS256", "use": "sig", "key_ops": ["verify"] }),
            "oct" => json!({ "kid": kid, "kty": "oct", "k": "AAAA" }),
            "Ed25519" => json!({ "kid": kid, "kty": "OKP", "crv": "Ed25519", "x": "AAAA", "d": "secret" }),
            curve => json!({ "kid": kid, "kty": "EC", "crv": curve, "x": "AAAA", "y": "AAAA" }),
        })
        .collect();
    json!({ "keys": keys }).to_string().into_bytes()
}

#[test]
fn keys_that_fit() {
    let set = KeySet::read(&key_set(&[
        ("r", "RSA"),
        ("e", "P-256"),
        ("d", "Ed25519"),
        ("two", "RSA"),
        ("two", "RSA"),
        ("two", "P-256"),
        ("p", "PS"),
        ("e3", "P-384"),
    ]))
    .unwrap();
    let all = identity(json!({ "algorithms": ["RS256", "PS256", "ES256", "ES384", "EdDSA"] }));
    let check = |alg: &str, kid: Option<&str>, expect: usize| {
        let header = kid.map_or(json!({ "alg": alg }), |kid| json!({ "alg": alg, "kid": kid }));
        let checks = judge(&all, &token(header, json!({}))).unwrap().checks_by_keys(&set);
        assert_eq!(checks.len(), expect, "{alg} {kid:?}");
        assert!(checks.iter().all(|check| !check.jwk.contains("secret") && !check.jwk.contains("kid")), "{checks:?}");
    };
    check("RS256", Some("r"), 1);
    check("RS256", Some("e"), 0);
    check("RS256", Some("d"), 0);
    check("RS256", Some("R"), 0);
    check("RS256", Some("two"), 2);
    check("ES256", Some("two"), 1);
    check("ES256", Some("e3"), 0);
    check("ES384", Some("e3"), 1);
    check("EdDSA", Some("d"), 1);
    check("PS256", Some("p"), 1);
    check("RS256", Some("p"), 0);
    check("EdDSA", None, 1);
    check("RS256", None, 3);
    check("PS256", None, 4);
    for useless in ["short", "enc", "sign", "oct", "X25519"] {
        assert_eq!(KeySet::read(&key_set(&[("a", useless)])), None, "{useless}");
    }
    for text in ["", "{}", "[]", r#"{"keys":{}}"#, r#"{"keys":[1,{}]}"#, r#"{"keys":[]"#] {
        assert_eq!(KeySet::read(text.as_bytes()), None, "{text}");
    }
    let secret = identity(json!({ "jwks": null, "secret": "TOKENS" }));
    let judged = judge(&secret, &token(json!({ "alg": "HS256" }), json!({}))).unwrap();
    assert_eq!(judged.check_by_secret("abc").unwrap().jwk, r#"{"kty":"oct","k":"YWJj"}"#);
    assert!(judged.checks_by_keys(&set).is_empty(), "no secret under a public key");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Use,
    Fetch,
    Wait,
    Unknown,
    Unavailable,
}

/// What is held of one issuer, asked by tokens of one key or another.
#[derive(Default)]
struct Held(HeldKeys);

impl Held {
    fn ask(&mut self, kid: &str, began: u64, now: u64) -> Step {
        let judged = judge(&identity(json!({})), &token(json!({ "alg": "RS256", "kid": kid }), json!({}))).unwrap();
        match self.0.next_step(&judged, NOW + began, NOW + now) {
            KeysStep::Use(_) => Step::Use,
            KeysStep::Fetch => Step::Fetch,
            KeysStep::Wait => Step::Wait,
            KeysStep::Unknown => Step::Unknown,
            KeysStep::Unavailable => Step::Unavailable,
        }
    }

    fn come(&mut self, kid: &str, now: u64) {
        self.0.end_fetch(KeySet::read(&key_set(&[(kid, "RSA")])), NOW + now);
    }

    fn fail(&mut self, now: u64) {
        self.0.end_fetch(None, NOW + now);
    }

    /// One that has keys of `a` since 0.
    fn warm() -> Held {
        let mut held = Held::default();
        assert_eq!(held.ask("a", 0, 0), Step::Fetch);
        held.come("a", 0);
        held
    }
}

#[test]
fn keys_are_fetched_once_and_are_fresh_for_ten_minutes() {
    let mut held = Held::default();
    assert_eq!(held.ask("a", 0, 0), Step::Fetch);
    for at in 0..100 {
        assert_eq!(held.ask("a", at, at), Step::Wait);
    }
    held.come("a", 100);
    assert_eq!(held.ask("a", 0, 100), Step::Use);
    assert_eq!(held.ask("a", 600_099, 600_099), Step::Use);
    assert_eq!(held.ask("a", 600_100, 600_100), Step::Fetch);
    assert_eq!(held.ask("a", 600_101, 600_101), Step::Wait);
}

#[test]
fn a_fetch_whose_request_has_gone_is_made_again() {
    let mut held = Held::default();
    assert_eq!(held.ask("a", 0, 0), Step::Fetch);
    held.0.abandon_fetch();
    assert_eq!(held.ask("a", 1, 1), Step::Fetch);
    assert_eq!(held.ask("a", 2, 4_000), Step::Wait);
    assert_eq!(held.ask("a", 2, 4_001), Step::Fetch, "nobody has told of its end");
}

#[test]
fn keys_that_cannot_be_had_cold() {
    let mut held = Held::default();
    assert_eq!(held.ask("a", 0, 0), Step::Fetch);
    assert_eq!(held.ask("a", 5, 5), Step::Wait);
    held.fail(10);
    assert_eq!(held.ask("a", 5, 30), Step::Unavailable, "one fetch for all that wait");
    assert_eq!(held.ask("a", 5, 5_000), Step::Unavailable);
    assert_eq!(held.ask("a", 2_009, 2_009), Step::Unavailable);
    assert_eq!(held.ask("a", 2_010, 2_010), Step::Fetch);
    held.come("a", 2_020);
    assert_eq!(held.ask("a", 2_010, 2_020), Step::Use);
}

#[test]
fn keys_that_cannot_be_had_warm_are_used_for_a_day() {
    let mut held = Held::warm();
    assert_eq!(held.ask("a", 600_000, 600_000), Step::Fetch);
    held.fail(600_500);
    assert_eq!(held.ask("a", 600_000, 600_500), Step::Use);
    assert_eq!(held.ask("a", 630_499, 630_499), Step::Use);
    assert_eq!(held.ask("a", 630_500, 630_500), Step::Fetch);
    assert_eq!(held.ask("a", 630_550, 630_550), Step::Use, "nobody waits for what failed before");
    assert_eq!(held.ask("b", 630_550, 630_550), Step::Wait);
    held.fail(630_600);
    assert_eq!(held.ask("a", 86_399_999, 86_399_999), Step::Fetch);
    held.fail(86_399_999);
    assert_eq!(held.ask("a", 86_399_999, 86_399_999), Step::Use);
    assert_eq!(held.ask("a", 86_400_000, 86_400_000), Step::Unavailable);
    assert_eq!(held.ask("a", 86_402_000, 86_402_000), Step::Fetch);
}

#[test]
fn an_unknown_key_is_asked_for_once_in_thirty_seconds() {
    let mut held = Held::default();
    assert_eq!(held.ask("b", 0, 0), Step::Fetch);
    held.come("a", 10);
    assert_eq!(held.ask("b", 0, 10), Step::Unknown, "the keys that came for it are the newest");
    assert_eq!(held.ask("b", 11, 11), Step::Fetch, "rotated since");
    assert_eq!(held.ask("a", 12, 12), Step::Use, "the others go on");
    assert_eq!(held.ask("c", 12, 12), Step::Wait);
    held.come("b", 20);
    assert_eq!(held.ask("b", 11, 20), Step::Use);
    assert_eq!(held.ask("c", 12, 20), Step::Unknown);
    for at in 21..100 {
        assert_eq!(held.ask("c", at, at), Step::Unknown);
    }
    assert_eq!(held.ask("c", 30_010, 30_010), Step::Unknown);
    assert_eq!(held.ask("c", 30_011, 30_011), Step::Fetch);
    held.fail(30_020);
    assert_eq!(held.ask("c", 30_011, 30_020), Step::Unavailable, "it may be there");
    assert_eq!(held.ask("c", 40_000, 40_000), Step::Unavailable);
    assert_eq!(held.ask("b", 40_000, 40_000), Step::Use);
    assert_eq!(held.ask("c", 60_011, 60_011), Step::Fetch);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_token_is_judged_and_any_set_is_read(
        header in any::<String>(), claims in any::<Vec<u8>>(), text in any::<String>(), name in "[a-z]{0,3}", value in any::<f64>(),
    ) {
        let ours = identity(json!({}));
        let parts = [base64url(header.as_bytes()), base64url(&claims), base64url(b"s")].join(".");
        for token in [&parts, &text, &written(r#"{"alg":"RS256"}"#, &format!("{{\"exp\":{value},\"{name}\":{text:?}}}"))] {
            let _ = judge(&ours, token);
        }
        let _ = KeySet::read(&claims);
        let _ = KeySet::read(format!("{{\"keys\":[{{\"kty\":{text:?}}}]}}").as_bytes());
    }

    /// A random walk: of all that ask, one fetches at a time; keys are used only while they are usable; what is unknown is
    /// not asked for more often than each thirty seconds.
    #[test]
    fn one_fetches_at_a_time(walk in vec((0..5_u8, 0..40_000_u64), 1..60)) {
        let (mut held, mut now, mut fetching, mut came, mut sought) = (Held::default(), 0, None::<u64>, None::<u64>, None::<u64>);
        for (what, later) in walk {
            now += later;
            match what {
                0 if fetching.take().is_some() => {
                    held.come("a", now);
                    came = Some(now);
                }
                1 if fetching.take().is_some() => held.fail(now),
                what => {
                    let kid = if what == 2 { "b" } else { "a" };
                    match held.ask(kid, now, now) {
                        Step::Fetch => {
                            assert!(fetching.is_none_or(|since| now - since >= 4_000));
                            if came.is_some_and(|came| kid == "b" && now - came < 86_400_000) {
                                assert!(sought.is_none_or(|sought| now - sought >= 30_000));
                                sought = Some(now);
                            }
                            assert!(kid == "b" || came.is_none_or(|came| now - came >= 600_000));
                            fetching = Some(now);
                        }
                        Step::Use => assert!(kid == "a" && came.is_some_and(|came| now - came < 86_400_000)),
                        Step::Wait => assert!(fetching.is_some()),
                        Step::Unknown => assert!(kid == "b" && came.is_some()),
                        Step::Unavailable => assert!(kid == "b" || came.is_none_or(|came| now - came >= 86_400_000)),
                    }
                }
            }
        }
    }
}

#[test]
fn what_a_wrong_token_is_told_repeats_nothing_of_it() {
    let told = judge(&identity(json!({})), &token(json!({ "alg": "<b>" }), json!({}))).unwrap_err().to_string();
    assert!(told.ends_with('.') && !told.contains('<'), "{told}");
}
