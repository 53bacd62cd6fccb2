//! What a fingerprint was made of: by it a request is known again under a policy that leaves out or counts something else.

use crate::{
    content::{Content, ignore::Ignore},
    digest::LengthPrefixedDigest,
    fingerprint::{write_headers, write_target},
    http::{fields::Fields, target::Target},
};

/// Letters of each digest: 96 bits.
const LETTERS: usize = 16;

/// Digests of what a [`fingerprint`](crate::fingerprint::fingerprint) of the same request is made of, 16 letters each:
/// what of the content counts, which headers count, the target with type and coding, the headers' lines, the content as
/// sent.
pub fn basis_digests(
    target: &Target,
    content_type: Option<&str>,
    content_encoding: Option<&str>,
    content: &Content,
    field: &str,
    ignore: &[Ignore],
    headers: (&[String], &Fields),
) -> String {
    let mut letters = String::new();
    let mut add = |write: &dyn Fn(&mut LengthPrefixedDigest)| {
        let mut digest = LengthPrefixedDigest::new("oncekey basis 1");
        write(&mut digest);
        letters.extend(digest.finish().chars().take(LETTERS));
    };
    add(&|digest| {
        digest.add_part(field.as_bytes());
        for ignore in ignore {
            let (is_pointer, tokens) = match ignore {
                Ignore::Name(name) => (0, std::slice::from_ref(name)),
                Ignore::Pointer(tokens) => (1, tokens.as_slice()),
            };
            digest.add_raw(&[is_pointer]);
            add_texts(tokens, digest);
        }
    });
    add(&|digest| add_texts(headers.0, digest));
    add(&|digest| write_target(target, content_type, content_encoding, digest));
    add(&|digest| write_headers(headers, digest));
    add(&|digest| content.write_sent(&mut |bytes| digest.add_raw(bytes)));
    letters
}

fn add_texts(texts: &[String], digest: &mut LengthPrefixedDigest) {
    for text in texts {
        digest.add_part(text.as_bytes());
    }
}

/// Whether the same of the content counts, the same headers do, and there the same target, the same lines, and the same
/// content.
pub(crate) fn compare_basis(one: &[u8], other: &[u8]) -> [bool; 5] {
    let mut pairs = one.chunks(LETTERS).zip(other.chunks(LETTERS));
    [(); 5].map(|()| pairs.next().is_some_and(|(one, other)| one == other))
}
