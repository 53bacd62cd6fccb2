//! DEFLATE (RFC 1951) undone within a bound of bytes and of work, in a quarter of the size of a library's decoder.

use crate::{content::order::MOST_PARTS, work::count_steps};

/// The most symbols that a code has: 286 of literals and lengths, and two that the fixed one has beside them (§3.2.6).
const SYMBOLS: usize = 288;

/// The longest code of a symbol, in bits (§3.2.7).
const LONGEST: usize = 15;

/// The order in which the lengths of the code of lengths stand (§3.2.7).
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// What is decoded, of one stream or of several after each other.
pub(super) struct Inflater {
    plain: Vec<u8>,
    /// Bytes that it may become.
    limit: usize,
    /// Blocks that may still come. Each may have codes of its own, so that many of them cost more than their bytes.
    blocks: usize,
    fixed: (Code, Code),
}

impl Inflater {
    /// Nothing is decoded yet.
    pub(super) fn new(limit: usize) -> Option<Self> {
        let mut lengths = [8; SYMBOLS];
        lengths.get_mut(144..256)?.fill(9);
        lengths.get_mut(256..280)?.fill(7);
        let fixed = (Code::new(&lengths)?.0, Code::new(&[5; 32])?.0);
        Some(Self { plain: Vec::new(), limit, blocks: MOST_PARTS, fixed })
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.plain.len()
    }

    /// All that was decoded.
    pub(super) fn into_plain(self) -> Vec<u8> {
        self.plain
    }

    /// Decodes one stream; says what follows it. `None` where it is none to its end, or there is more than the bounds.
    pub(super) fn decode<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let mut bits = Bits { rest: bytes, held: 0, count: 0 };
        // A distance reaches no further back than its own stream.
        let start = self.plain.len();
        loop {
            self.blocks = self.blocks.checked_sub(1)?;
            let is_last = bits.take(1)? == 1;
            match bits.take(2)? {
                0 => self.copy_stored(&mut bits)?,
                1 => {
                    let Self { plain, limit, fixed: (symbols, distances), .. } = self;
                    decode_block(&mut bits, symbols, distances, plain, start, *limit)?;
                }
                2 => {
                    let (symbols, distances) = read_codes(&mut bits)?;
                    decode_block(&mut bits, &symbols, &distances, &mut self.plain, start, self.limit)?;
                }
                _ => return None,
            }
            if is_last {
                return Some(bits.rest);
            }
        }
    }

    /// §3.2.4.
    fn copy_stored(&mut self, bits: &mut Bits<'_>) -> Option<()> {
        (bits.held, bits.count) = (0, 0);
        let ([low, high, not_low, not_high], rest) = bits.rest.split_first_chunk()?;
        if (low ^ not_low, high ^ not_high) != (0xff, 0xff) {
            return None;
        }
        let (stored, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?;
        if stored.len() > self.limit - self.plain.len() {
            return None;
        }
        self.plain.extend_from_slice(stored);
        bits.rest = rest;
        Some(())
    }
}

/// Bits, the lowest of each byte first (§3.1.1).
struct Bits<'b> {
    rest: &'b [u8],
    held: u32,
    /// Less than 8 between two reads, so that `rest` begins after the last byte that a bit was taken of.
    count: u32,
}

impl Bits<'_> {
    /// At most 16 bits.
    fn take(&mut self, wanted: u32) -> Option<u32> {
        count_steps(1);
        while self.count < wanted {
            let (byte, rest) = self.rest.split_first()?;
            self.held |= u32::from(*byte) << self.count;
            self.count += 8;
            self.rest = rest;
        }
        let taken = self.held & ((1 << wanted) - 1);
        self.held >>= wanted;
        self.count -= wanted;
        Some(taken)
    }
}

/// A Huffman code: how many symbols have codes of each length, and the symbols in the order of their codes (§3.2.2).
struct Code {
    counts: [u16; LONGEST + 1],
    symbols: [u16; SYMBOLS],
}

impl Code {
    /// The code of symbols with these lengths, and whether it is complete. `None` where it has more than there is room for.
    fn new(lengths: &[u8]) -> Option<(Code, bool)> {
        count_steps(lengths.len());
        let mut code = Code { counts: [0; LONGEST + 1], symbols: [0; SYMBOLS] };
        for length in lengths {
            *code.counts.get_mut(usize::from(*length))? += 1;
        }
        let mut left = 1_u32;
        let mut offsets = [0_u16; LONGEST + 2];
        let mut offset = 0;
        for (length, count) in code.counts.iter().enumerate().skip(1) {
            left = (left << 1).checked_sub(u32::from(*count))?;
            offset += count;
            *offsets.get_mut(length + 1)? = offset;
        }
        for (symbol, length) in (0..).zip(lengths).filter(|(_, length)| **length > 0) {
            let offset = offsets.get_mut(usize::from(*length))?;
            *code.symbols.get_mut(usize::from(*offset))? = symbol;
            *offset += 1;
        }
        Some((code, left == 0))
    }

    /// The next symbol.
    fn read(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (mut code, mut first, mut offset) = (0, 0, 0);
        for count in self.counts.iter().skip(1) {
            code |= bits.take(1)?;
            let count = u32::from(*count);
            if code < first + count {
                return self.symbols.get(usize::try_from(offset + code - first).ok()?).copied();
            }
            offset += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// The codes that stand at the begin of a block (§3.2.7).
fn read_codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let mut count = |size, least: usize| Some(usize::try_from(bits.take(size)?).ok()? + least);
    let (symbols, distances, lengths) = (count(5, 257)?, count(5, 1)?, count(4, 4)?);
    let mut of_lengths = [0; ORDER.len()];
    for symbol in ORDER.iter().take(lengths) {
        *of_lengths.get_mut(usize::from(*symbol))? = u8::try_from(bits.take(3)?).ok()?;
    }
    let (code, true) = Code::new(&of_lengths)? else {
        return None;
    };
    let mut lengths = [0; 286 + 30];
    let mut at = 0;
    while at < symbols + distances {
        let (length, times) = match code.read(bits)? {
            16 => (*lengths.get(at.checked_sub(1)?)?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        let end = at + usize::try_from(times).ok()?;
        lengths.get_mut(at..end)?.fill(length);
        at = end;
    }
    let (of_symbols, rest) =
        lengths.get(..symbols + distances).filter(|_| at == symbols + distances)?.split_at(symbols);
    // Without a code for the block's end there is none. A code of one symbol alone may have one bit of two.
    (symbols <= 286 && distances <= 30 && *of_symbols.get(256)? > 0).then_some(())?;
    let whole = |lengths: &[u8]| {
        let (code, is_complete) = Code::new(lengths)?;
        let is_one = lengths.iter().all(|length| *length < 2);
        (is_complete || is_one).then_some(code)
    };
    Some((whole(of_symbols)?, whole(rest)?))
}

/// The literals and repetitions of a block, to its end (§3.2.3).
fn decode_block(
    bits: &mut Bits<'_>,
    symbols: &Code,
    distances: &Code,
    plain: &mut Vec<u8>,
    start: usize,
    limit: usize,
) -> Option<()> {
    loop {
        let symbol = symbols.read(bits)?;
        if let Ok(literal) = u8::try_from(symbol) {
            if plain.len() == limit {
                return None;
            }
            plain.push(literal);
            continue;
        }
        // §3.2.5: the lengths and distances of the tables are what these sums give.
        let mut length = match u32::from(symbol) - 256 {
            0 => return Some(()),
            at @ 1..=8 => at + 2,
            at @ 9..=28 => {
                let extra = (at - 5) / 4;
                3 + ((4 + (at - 1) % 4) << extra) + bits.take(extra)?
            }
            29 => 258,
            _ => return None,
        };
        let distance = match u32::from(distances.read(bits)?) {
            at @ 0..=3 => at + 1,
            at @ 4..=29 => {
                let extra = at / 2 - 1;
                1 + ((2 + at % 2) << extra) + bits.take(extra)?
            }
            _ => return None,
        };
        let from = plain.len().checked_sub(usize::try_from(distance).ok()?).filter(|from| *from >= start)?;
        if usize::try_from(length).ok()? > limit - plain.len() {
            return None;
        }
        // What is repeated may be longer than what there is: each copy doubles it.
        while length > 0 {
            let there = u32::try_from(plain.len() - from).ok()?;
            let some = length.min(there);
            count_steps(1);
            plain.extend_from_within(from..from + usize::try_from(some).ok()?);
            length -= some;
        }
    }
}
