//! Codings: of requests those that are undone before they are compared, whole, within a bound, or not at all; of answers
//! their labels as they are sent.
use miniz_oxide::{
    deflate::{compress_to_vec, compress_to_vec_zlib},
    inflate::decompress_to_vec,
};
use oncekey::{
    answer::{head::ReplyHead, word::StatusWord},
    content::{MOST_PARTS, coding::undo_coding, may_hold_key},
    http::fields::Fields,
};
use proptest::{collection::vec, prelude::*};

const TEXT: &[u8] = b"The lamp is on its way, the desk is not. The lamp is on its way.";

/// A gzip member; the head as it is given.
fn gzip(head: &[u8], plain: &[u8], level: u8) -> Vec<u8> {
    let length = u32::try_from(plain.len()).unwrap().to_le_bytes();
    [head, &compress_to_vec(plain, level), &[1, 2, 3, 4], &length].concat()
}

const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 0, 255];

fn check(coding: &str, content: &[u8], expect: Option<&[u8]>) {
    assert_eq!(undo_coding(coding, content, 1_000_000).as_deref(), expect, "{coding} {content:02x?}");
}

#[test]
fn what_is_undone() {
    for level in [0, 1, 9] {
        check("gzip", &gzip(&HEAD, TEXT, level), Some(TEXT));
        check(" GZip", &gzip(&HEAD, TEXT, level), Some(TEXT));
        check("x-gzip", &gzip(&HEAD, TEXT, level), Some(TEXT));
        check("deflate", &compress_to_vec_zlib(TEXT, level), Some(TEXT));
        check("DEFLATE", &compress_to_vec(TEXT, level), Some(TEXT));
    }
    check("gzip", &gzip(&HEAD, b"", 6), Some(b""));
    check("gzip", &[gzip(&HEAD, b"one ", 6), gzip(&HEAD, b"two", 6)].concat(), Some(b"one two"));
    let full = [&[0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 3], &[2, 0, 9, 9][..], b"name\0", b"comment\0", &[7, 7]].concat();
    check("gzip", &gzip(&full, TEXT, 6), Some(TEXT));
    let long: Vec<u8> = (0..400_000_u32).map(|at| (at / 7).to_le_bytes()[0]).collect();
    check("gzip", &gzip(&HEAD, &long, 6), Some(&long));
}

#[test]
fn what_is_not() {
    let coded = gzip(&HEAD, TEXT, 9);
    for end in 0..coded.len() {
        check("gzip", &coded[..end], None);
    }
    for more in [&[0][..], b"\n", &HEAD] {
        check("gzip", &[&coded, more].concat(), None);
    }
    let zlib = compress_to_vec_zlib(TEXT, 9);
    for end in 0..zlib.len() {
        check("deflate", &zlib[..end], None);
    }
    check("deflate", &[&zlib[..], &[0]].concat(), None);
    check("gzip", b"hello", None);
    check("gzip", &zlib, None);
    for other in ["br", "zstd", "gzip, gzip", "identity", ""] {
        check(other, &coded, None);
    }
    let mut reserved = coded;
    reserved[3] = 0x20;
    check("gzip", &reserved, None);
}

#[test]
fn the_bound_holds() {
    let bomb = gzip(&HEAD, &vec![0; 5_000_000], 9);
    assert!(bomb.len() < 10_000);
    assert_eq!(undo_coding("gzip", &bomb, 4_999_999), None);
    assert!(undo_coding("gzip", &bomb, 5_000_000).is_some());
    let twice = [bomb.clone(), bomb].concat();
    assert_eq!(undo_coding("gzip", &twice, 9_999_999), None);
}

#[test]
fn the_bound_of_blocks_holds() {
    // Empty blocks of five bytes each.
    let blocks = |count: usize| [[0, 0, 0, 0xff, 0xff].repeat(count - 1), vec![1, 0, 0, 0xff, 0xff]].concat();
    assert_eq!(undo_coding("deflate", &blocks(MOST_PARTS), 1), Some(Vec::new()));
    assert_eq!(undo_coding("deflate", &blocks(MOST_PARTS + 1), 1), None);
    let empty = gzip(&HEAD, b"", 6);
    assert_eq!(undo_coding("gzip", &empty.repeat(MOST_PARTS), 1), Some(Vec::new()));
    assert_eq!(undo_coding("gzip", &empty.repeat(MOST_PARTS + 1), 1), None);
}

#[test]
fn where_a_key_is_searched() {
    let check = |coding, expect| assert_eq!(may_hold_key(Some("application/json"), coding), expect, "{coding:?}");
    for coding in [None, Some(""), Some("identity"), Some("gzip"), Some("Deflate"), Some("x-gzip")] {
        check(coding, true);
    }
    for coding in ["br", "zstd", "gzip, gzip", "compress"] {
        check(Some(coding), false);
    }
}

#[test]
fn labels_as_the_platform_knows_them() {
    let check = |status, label: &str, empty, expect: Option<&str>| {
        let head = ReplyHead::keep(status, &Fields::new(format!("content-encoding,{label}")));
        let lines = head.lines_to_send(StatusWord::Replayed, None, empty).into_pairs();
        let label_sent = lines.iter().find(|(name, _)| name == "content-encoding").map(|(_, value)| value.as_str());
        assert_eq!(label_sent, expect, "{status} {label}");
    };
    check(200, "GZIP", false, Some("gzip"));
    check(200, "Br", false, Some("br"));
    check(200, "x-Rot13", false, Some("x-Rot13"));
    check(200, "gzip, BR", false, Some("gzip, BR"));
    check(200, "gzip", true, None);
    check(304, "gzip", true, Some("gzip"));
}

/// Texts of which something repeats, near and far.
fn some_content() -> impl Strategy<Value = Vec<u8>> {
    vec((vec(any::<u8>(), 1..40), 1_usize..400), 0..30)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, times)| piece.repeat(times)).collect())
}

proptest! {
    #[test]
    fn what_a_library_codes_is_undone(content in some_content(), level in 0_u8..=10) {
        let coded = compress_to_vec(&content, level);
        assert_eq!(undo_coding("deflate", &coded, content.len() as u64), Some(content.clone()));
        if !content.is_empty() {
            assert_eq!(undo_coding("deflate", &coded, content.len() as u64 - 1), None);
        }
    }

    #[test]
    fn what_is_undone_a_library_undoes_alike(
        content in some_content(),
        level in 0_u8..=10,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut coded = compress_to_vec(&content, level);
        for (at, byte) in changes {
            *at.get_mut(&mut coded) = byte;
        }
        if let Some(plain) = undo_coding("deflate", &coded, 1_000_000) {
            let by_library = decompress_to_vec(&coded).or_else(|_| miniz_oxide::inflate::decompress_to_vec_zlib(&coded));
            assert_eq!(by_library.ok(), Some(plain));
        }
    }
}
