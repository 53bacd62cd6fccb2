//! The platform's own words for a failure, as far as they may stand in a line.

/// The longest that is kept of them, in bytes.
const LONGEST: usize = 160;

/// What stands for words that are left out.
const GAP: &str = "…";

/// The words that may stand in a line: those of the platform's own messages for failed fetches and calls, as workerd's
/// and kj's sources write them. No name of a host, no part of an address, no header and no id is among them.
const KNOWN: &str = " a able abort aborted access after all allowed alarm already an and another api are as at attempted be \
    because been before being blocked body bound break broken but by call canceled cancelled cannot certificate class \
    client closed code complete connect connection could cpu data database deployed detected did disconnected disk dns \
    do does due durable end ended error exceeded exception exhausted expected expired failed fails failure fetch fetching for \
    from full gracefully had has have header headers host http hung id in incoming input instance internal invalid io is \
    isolate it its known length limit limits load lookup lost many matching memory message method name names network no \
    not nothing now object objects of on one only open operation or out output overloaded oversized parse peer peers \
    premature prematurely process promise protocol queue queued read reason received reference refused request \
    requested requests reset resolve resource response restrictpeers retry route runtime script sent server service \
    session shutting slow socket sqlite storage stopped stream subrequests system than that the then time timed timeout \
    tls to too transient trusted try type unable unexpected unknown unreachable updated upgrade uploading upstream url \
    used using was wasm websocket were while with without worker workers would write written wrong your ";

/// What a line says of a failure: those of the platform's words that are known, `…` where others stood, at most
/// 160 bytes. The platform's messages may hold an address with its query and credentials, or an id: what is not in the
/// list is left out whatever it looks like, so that nothing else can pass.
///
/// ```
/// use oncekey::answer::cause::known_words;
///
/// assert_eq!(known_words("Network connection lost."), "Network connection lost.");
/// let said = "Fetch API cannot load: https://ann:secret@shop.example/pay?card=4111 now";
/// assert_eq!(known_words(said), "Fetch API cannot load: … now");
/// assert_eq!(known_words("internal error; reference = h3kd8s"), "internal error; reference …");
/// ```
pub fn known_words(message: &str) -> String {
    let mut said = String::new();
    let mut is_gap = false;
    for word in message.split_ascii_whitespace() {
        let word = if is_known(word) { word } else { GAP };
        if is_gap && word == GAP {
            continue;
        }
        if said.len() + word.len() + GAP.len() + 2 > LONGEST {
            said.push_str(if is_gap { "" } else { " …" });
            break;
        }
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(word);
        is_gap = word == GAP;
    }
    said
}

fn is_known(word: &str) -> bool {
    let bare = word.trim_end_matches(['.', ',', ';', ':', '!']);
    // Nothing but letters can match: the list's own separator is not among them.
    let is_word = !bare.is_empty() && bare.len() < 16 && bare.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word && KNOWN.contains(&[" ", &bare.to_ascii_lowercase(), " "].concat())
}

#[cfg(test)]
mod tests {
    use super::{GAP, KNOWN, LONGEST, known_words};

    #[test]
    fn what_is_said_is_of_the_list_and_short() {
        let mut seed = 88_172_645_u32;
        let mut next = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            usize::try_from(seed).unwrap_or(0) % below
        };
        let known: Vec<&str> = KNOWN.split(' ').filter(|word| !word.is_empty()).collect();
        let strange: &[&str] =
            &["https://a:b@c/d?e=f", "s3cr3t", "localhost", "Bearer", "é", "[::1]", "a,b", "x=", ".", "\u{7f}"];
        for _ in 0..2_000 {
            let words: Vec<&str> = (0..next(60))
                .filter_map(|_| {
                    let from = if next(2) == 0 { &known } else { strange };
                    from.get(next(from.len())).copied()
                })
                .collect();
            let said = known_words(&words.join(" "));
            assert!(said.len() <= LONGEST, "{said}");
            for word in said.split(' ').filter(|word| !word.is_empty()) {
                assert!(word == GAP || known.contains(&word), "{word} of {words:?}");
            }
        }
    }
}
