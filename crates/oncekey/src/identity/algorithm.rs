//! Algorithms by which tokens are signed, and the type of key that each takes.

/// A signature algorithm (RFC 7518 §3.1, RFC 8037 §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// The same with SHA-384.
    Rs384,
    /// The same with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// The same with SHA-384.
    Ps384,
    /// The same with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// ECDSA on P-521 with SHA-512.
    Es512,
    /// Ed25519.
    EdDsa,
    /// HMAC with SHA-256: of a secret, and of no public key.
    Hs256,
}

/// The type of a key, with its curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyType {
    Rsa,
    P256,
    P384,
    P521,
    Ed25519,
    Secret,
}

impl Algorithm {
    /// All of them, as the policy and a token write them.
    pub(crate) const WORDS: &'static [&'static str] =
        &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256"];

    const ALL: [Algorithm; 11] = [
        Algorithm::Rs256,
        Algorithm::Rs384,
        Algorithm::Rs512,
        Algorithm::Ps256,
        Algorithm::Ps384,
        Algorithm::Ps512,
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::Es512,
        Algorithm::EdDsa,
        Algorithm::Hs256,
    ];

    /// Those of public keys that are taken where the policy lists none.
    pub(crate) const USUAL: [Algorithm; 3] = [Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];

    /// The algorithm of that name; names are case-sensitive. Ed25519 has two (RFC 9864 §2.2).
    pub fn of_word(word: &str) -> Option<Algorithm> {
        if word == "Ed25519" {
            return Some(Algorithm::EdDsa);
        }
        let at = Algorithm::WORDS.iter().position(|known| *known == word)?;
        Algorithm::ALL.get(at).copied()
    }

    /// The type of its keys.
    pub(super) fn key_type(self) -> KeyType {
        match self {
            Algorithm::Rs256
            | Algorithm::Rs384
            | Algorithm::Rs512
            | Algorithm::Ps256
            | Algorithm::Ps384
            | Algorithm::Ps512 => KeyType::Rsa,
            Algorithm::Es256 => KeyType::P256,
            Algorithm::Es384 => KeyType::P384,
            Algorithm::Es512 => KeyType::P521,
            Algorithm::EdDsa => KeyType::Ed25519,
            Algorithm::Hs256 => KeyType::Secret,
        }
    }

    /// What the platform is told of it, as JSON: to import a key, and to verify (Web Cryptography API §20 to §30).
    pub(super) fn parameters(self) -> &'static str {
        match self {
            Algorithm::Rs256 => r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-256"}"#,
            Algorithm::Rs384 => r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-384"}"#,
            Algorithm::Rs512 => r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-512"}"#,
            Algorithm::Ps256 => r#"{"name":"RSA-PSS","hash":"SHA-256","saltLength":32}"#,
            Algorithm::Ps384 => r#"{"name":"RSA-PSS","hash":"SHA-384","saltLength":48}"#,
            Algorithm::Ps512 => r#"{"name":"RSA-PSS","hash":"SHA-512","saltLength":64}"#,
            Algorithm::Es256 => r#"{"name":"ECDSA","namedCurve":"P-256","hash":"SHA-256"}"#,
            Algorithm::Es384 => r#"{"name":"ECDSA","namedCurve":"P-384","hash":"SHA-384"}"#,
            Algorithm::Es512 => r#"{"name":"ECDSA","namedCurve":"P-521","hash":"SHA-512"}"#,
            Algorithm::EdDsa => r#"{"name":"Ed25519"}"#,
            Algorithm::Hs256 => r#"{"name":"HMAC","hash":"SHA-256"}"#,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn each_has_its_word() {
        for (word, algorithm) in Algorithm::WORDS.iter().zip(Algorithm::ALL) {
            assert_eq!(Algorithm::of_word(word), Some(algorithm));
            assert_eq!(format!("{algorithm:?}").to_uppercase(), word.to_uppercase());
        }
        for word in ["none", "None", "rs256", "HS384", ""] {
            assert_eq!(Algorithm::of_word(word), None, "{word}");
        }
    }
}
