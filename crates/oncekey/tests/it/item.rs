//! A structured-field Item that is a String, read step by step as RFC 9651 §4.2 says: what the key's header is held
//! against.

/// The string of an Item whose parameters are read and ignored (§4.2.3); `None` for any other text, also for one with
/// white space around it.
pub fn string(text: &str) -> Option<String> {
    let mut reader = Reader(text.as_bytes());
    let string = reader.string()?;
    reader.parameters()?;
    reader.0.is_empty().then_some(string)
}

/// What is still to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Takes the next byte where it is this one.
    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        if is_next {
            self.take();
        }
        is_next
    }

    fn want(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    /// Takes bytes as long as they are of a kind, and says how many they were.
    fn while_of(&mut self, kind: fn(&u8) -> bool) -> usize {
        let before = self.0.len();
        while self.0.first().is_some_and(kind) {
            self.take();
        }
        before - self.0.len()
    }

    /// §4.2.5
    fn string(&mut self) -> Option<String> {
        self.want(b'"')?;
        let mut text = String::new();
        loop {
            text.push(char::from(match self.take()? {
                b'"' => return Some(text),
                b'\\' => self.take().filter(|byte| matches!(byte, b'"' | b'\\'))?,
                byte @ 0x20..=0x7e => byte,
                _ => return None,
            }));
        }
    }

    /// §4.2.3.2
    fn parameters(&mut self) -> Option<()> {
        while self.eat(b';') {
            self.while_of(|byte| *byte == b' ');
            self.take().filter(|byte| matches!(byte, b'a'..=b'z' | b'*'))?;
            self.while_of(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'));
            if self.eat(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// §4.2.3.1
    fn bare_item(&mut self) -> Option<()> {
        match *self.0.first()? {
            b'"' => drop(self.string()?),
            b'-' | b'0'..=b'9' => self.number(true)?,
            b'?' => {
                self.take();
                self.take().filter(|byte| matches!(byte, b'0' | b'1'))?;
            }
            b'@' => {
                self.take();
                self.number(false)?;
            }
            b':' => self.bytes()?,
            b'%' => self.display_string()?,
            b'*' | b'A'..=b'Z' | b'a'..=b'z' => {
                self.while_of(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(byte));
            }
            _ => return None,
        }
        Some(())
    }

    /// An Integer of up to 15 digits, or a Decimal of up to 12 and 3 (§4.2.4).
    fn number(&mut self, may_be_decimal: bool) -> Option<()> {
        self.eat(b'-');
        let whole = self.while_of(u8::is_ascii_digit);
        let fits = if may_be_decimal && self.eat(b'.') {
            whole <= 12 && matches!(self.while_of(u8::is_ascii_digit), 1..=3)
        } else {
            whole <= 15
        };
        (whole > 0 && fits).then_some(())
    }

    /// Base64, whose padding may be missing in whole or in part (§4.2.7).
    fn bytes(&mut self) -> Option<()> {
        self.want(b':')?;
        let letters = self.while_of(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
        let padding = self.while_of(|byte| *byte == b'=');
        let fits = match letters % 4 {
            0 => padding == 0,
            2 => padding <= 2,
            3 => padding <= 1,
            _ => false,
        };
        self.want(b':')?;
        fits.then_some(())
    }

    /// Text in UTF-8, its bytes outside ASCII as `%` and two small hexadecimal digits (§4.2.10).
    fn display_string(&mut self) -> Option<()> {
        self.want(b'%')?;
        self.want(b'"')?;
        let mut bytes = Vec::new();
        loop {
            bytes.push(match self.take()? {
                b'"' => return str::from_utf8(&bytes).is_ok().then_some(()),
                b'%' => self.digit()? << 4 | self.digit()?,
                byte @ 0x20..=0x7e => byte,
                _ => return None,
            });
        }
    }

    fn digit(&mut self) -> Option<u8> {
        match self.take()? {
            digit @ b'0'..=b'9' => Some(digit - b'0'),
            letter @ b'a'..=b'f' => Some(letter - b'a' + 10),
            _ => None,
        }
    }
}
