//! The members of an identity: where a token is, and who vouches for it.

use crate::{
    identity::Algorithm,
    policy::{
        member::{MemberRow, Preset, ValueKind},
        syntax::TextSyntax,
    },
};

/// Seconds: the most that `leeway` may be.
const LONGEST_LEEWAY: u32 = 600;

pub(super) const IDENTITY: &[MemberRow] = &[
    MemberRow {
        name: "from",
        kind: ValueKind::Text(TextSyntax::TokenPlace),
        about: "where the token is: `\"bearer\"` (unless said; with `access` its own header), `\"header:NAME\"`, \
                `\"cookie:NAME\"`",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "jwks",
        kind: ValueKind::Text(TextSyntax::KeySetUrl),
        about: "URL of the issuer's public keys: https, or http on this machine",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "secret",
        kind: ValueKind::Text(TextSyntax::SecretName),
        about: "in place of `jwks`: the name of a secret of at least 32 bytes, for HS256",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "access",
        kind: ValueKind::Text(TextSyntax::HostLabel),
        about: "in place of `jwks`: the team's name of Cloudflare Access, whose keys and issuer they are",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "unverified",
        kind: ValueKind::Flag,
        about: "in place of `jwks`: whether the claim is taken as it stands. It proves nothing, so a key has to be a UUID of \
                version 4 or 7",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "issuer",
        kind: ValueKind::Text(TextSyntax::Filled),
        about: "the token's `iss`; needed with `jwks` and `secret`",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "audience",
        kind: ValueKind::TextOrTexts(TextSyntax::Filled),
        about: "the token's `aud`, or list of those of which one has to be there; needed unless `unverified`",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "algorithms",
        kind: ValueKind::List { of: &ValueKind::Word(Algorithm::WORDS), filled: Some("a list of algorithms") },
        about: "list of those by which it may be signed; `[\"RS256\",\"ES256\",\"EdDSA\"]` unless said, with `secret` HS256 \
                alone",
        ..MemberRow::BLANK
    },
    MemberRow {
        name: "leeway",
        kind: ValueKind::seconds(0, LONGEST_LEEWAY),
        preset: Some(Preset::Number(60)),
        about: "by which clocks may differ",
        ..MemberRow::BLANK
    },
];
