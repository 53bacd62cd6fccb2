//! Whether a JSON number survives being a double, and its canonical text: only then has it one that loses nothing.
//!
//! A decimal value survives exactly if it is that of the shortest text of some double, so that no exact conversion is
//! needed: a near one gives two doubles to compare with. The standard library's brings eleven kilobytes of tables.
use ryu_js::Buffer;

/// Whether the value of `written` is that of the shortest text of its double (RFC 8785 §3.2.2.3).
///
/// `1.0`, `1e2`, `-0` and `0.1` survive; `9007199254740993`, `0.1000000000000000055`, `1e400` and `1e-400` do not.
pub(crate) fn survives(written: &str) -> bool {
    is_plain(written) || Decimal::read(without_sign(written)).is_some_and(Decimal::survives)
}

/// Whether the number is a whole one of up to fifteen digits: it survives, and is its own canonical text but for the sign
/// of minus nought.
fn is_plain(written: &str) -> bool {
    let digits = without_sign(written);
    digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text of a number that survives, as ECMAScript writes it (`Number::toString`, RFC 8785 §3.2.2.3).
pub(crate) struct NumberText {
    bytes: [u8; 32],
    length: usize,
}

impl NumberText {
    /// `None` where the number cannot survive.
    pub(crate) fn of(written: &str) -> Option<NumberText> {
        let mut text = NumberText { bytes: [b'0'; 32], length: 0 };
        if is_plain(written) && written != "-0" {
            for byte in written.bytes() {
                text.push(byte);
            }
            return Some(text);
        }
        let value = Decimal::read(without_sign(written))?;
        if value.significand == 0 {
            text.push(b'0');
            return Some(text);
        }
        if written.starts_with('-') {
            text.push(b'-');
        }
        let (digits, count) = value.digits();
        let digits = digits.get(20_usize.checked_sub(count)?..)?;
        // How many digits stand before the point.
        let point = value.power.saturating_add(i64::try_from(count).ok()?);
        let (exponent, before) = match point {
            1..=21 => (None, usize::try_from(point).ok()?),
            -5..=0 => (None, 0),
            _ => (Some(point - 1), 1),
        };
        if before == 0 {
            text.push(b'0');
            text.push(b'.');
            for _ in point..0 {
                text.push(b'0');
            }
        }
        for (at, digit) in digits.iter().enumerate() {
            if at > 0 && at == before {
                text.push(b'.');
            }
            text.push(*digit);
        }
        for _ in count..before {
            text.push(b'0');
        }
        if let Some(exponent) = exponent {
            text.push(b'e');
            text.push(if exponent < 0 { b'-' } else { b'+' });
            let power = Decimal { significand: exponent.unsigned_abs(), power: 0 };
            let (digits, count) = power.digits();
            for digit in digits.iter().skip(20_usize.saturating_sub(count)) {
                text.push(*digit);
            }
        }
        Some(text)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }
}

fn without_sign(written: &str) -> &str {
    written.strip_prefix('-').unwrap_or(written)
}

/// A decimal value without its sign: a significand that does not end in nought, and the power of ten it is times of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    significand: u64,
    power: i64,
}

/// The shortest text of a double has seventeen significant digits at most.
const MOST: u64 = 99_999_999_999_999_999;

impl Decimal {
    /// `None` where the value has more significant digits than any shortest text.
    fn read(text: &str) -> Option<Decimal> {
        let (digits, written) = match text.bytes().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (text.get(..at)?, text.get(at + 1..)?),
            None => (text, ""),
        };
        let (mut significand, mut power) = (0_u64, saturating(written));
        let mut noughts = 0_u32;
        let mut is_fraction = false;
        for byte in digits.bytes() {
            if byte == b'.' {
                is_fraction = true;
                continue;
            }
            power = power.saturating_sub(is_fraction.into());
            noughts = noughts.saturating_add(1);
            if byte == b'0' {
                if significand == 0 {
                    noughts = 0;
                }
                continue;
            }
            let digit = u64::from(byte.wrapping_sub(b'0'));
            significand = match significand {
                0 => digit,
                some => some.checked_mul(10_u64.checked_pow(noughts)?)?.checked_add(digit)?,
            };
            if significand > MOST {
                return None;
            }
            noughts = 0;
        }
        let power = if significand == 0 { 0 } else { power.saturating_add(noughts.into()) };
        Some(Decimal { significand, power })
    }

    fn survives(self) -> bool {
        // A double tells all values of fifteen digits apart, but the smallest: the shortest text of one's double is its own.
        let is_short = self.significand < 1_000_000_000_000_000;
        if self.significand == 0 || is_short && (-300..=290).contains(&self.power) {
            return true;
        }
        let Some(doubles) = self.doubles() else {
            return false;
        };
        doubles.into_iter().any(|bits| {
            let double = f64::from_bits(bits);
            double.is_finite() && Decimal::read(Buffer::new().format_finite(double)) == Some(self)
        })
    }

    /// The significand's digits, at the end of the twenty, and how many they are.
    fn digits(self) -> ([u8; 20], usize) {
        let mut digits = [b'0'; 20];
        let mut count = 0;
        let mut rest = self.significand;
        for place in digits.iter_mut().rev() {
            if rest == 0 {
                break;
            }
            *place = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
            count += 1;
        }
        (digits, count)
    }

    /// The bits of the two doubles between which the value lies, the nearer first; `None` where no double is near.
    fn doubles(self) -> Option<[u64; 2]> {
        let (tens, mut left) =
            if self.power < 0 { (TENTHS, self.power.unsigned_abs()) } else { (TENS, self.power.unsigned_abs()) };
        // The mantissa's highest bit is always set: nine roundings leave more than 58 of its bits right.
        let mut mantissa = self.significand << self.significand.leading_zeros();
        let mut exponent = -i64::from(self.significand.leading_zeros());
        for (ten, power) in tens {
            if left & 1 == 1 {
                let product = u128::from(mantissa) * u128::from(ten);
                let shift = 64 - product.leading_zeros();
                mantissa = u64::try_from(product >> shift).ok()?;
                exponent += power + i64::from(shift);
            }
            left >>= 1;
        }
        // The value is 1.… times two to the power of `exponent + 63`, and the bias of a double's exponent is 1023.
        let biased = exponent + 63 + 1023;
        if left > 0 || biased > 2046 {
            return None;
        }
        let kept = if biased > 0 {
            let implied = 1_u64 << 52;
            (u64::try_from(biased).ok()? << 53) + (mantissa >> 10) - (implied << 1)
        } else {
            // Below the least normal double the exponent stays, and the mantissa has fewer bits.
            let shift = u32::try_from(1 - biased).ok()?.checked_add(10)?;
            mantissa.checked_shr(shift).unwrap_or(0)
        };
        let (below, is_above) = (kept >> 1, kept & 1);
        Some([below + is_above, below + 1 - is_above])
    }
}

/// Ten to the powers 1, 2, 4 … 256, as 64 bits and the power of two they are times of.
const TENS: [(u64, i64); 9] = [
    (0xa000_0000_0000_0000, -60),
    (0xc800_0000_0000_0000, -57),
    (0x9c40_0000_0000_0000, -50),
    (0xbebc_2000_0000_0000, -37),
    (0x8e1b_c9bf_0400_0000, -10),
    (0x9dc5_ada8_2b70_b59e, 43),
    (0xc278_1f49_ffcf_a6d5, 149),
    (0x93ba_47c9_80e9_8ce0, 362),
    (0xaa7e_ebfb_9df9_de8e, 787),
];

/// A tenth to the same powers.
const TENTHS: [(u64, i64); 9] = [
    (0xcccc_cccc_cccc_cccd, -67),
    (0xa3d7_0a3d_70a3_d70a, -70),
    (0xd1b7_1758_e219_652c, -77),
    (0xabcc_7711_8461_cefd, -90),
    (0xe695_94be_c44d_e15b, -117),
    (0xcfb1_1ead_4539_94ba, -170),
    (0xa87f_ea27_a539_e9a5, -276),
    (0xddd0_467c_64bc_e4a1, -489),
    (0xc031_4325_637a_193a, -914),
];

/// A whole number of any length; what does not fit becomes the nearest that does.
fn saturating(text: &str) -> i64 {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut value = 0_i64;
    for digit in digits.bytes() {
        value = value.saturating_mul(10).saturating_add(i64::from(digit.saturating_sub(b'0')));
    }
    if is_negative { -value } else { value }
}
