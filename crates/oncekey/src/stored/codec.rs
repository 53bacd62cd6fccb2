//! Bytes of stored forms. Numbers are big-endian.

use crate::{fingerprint::Fingerprint, stored::record::Claim};

/// Writes a stored form.
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }
    pub(crate) fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }
    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }
    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }
    pub(crate) fn text(&mut self, text: &str) {
        // Header lines and fingerprints are far below 4 GiB; a longer text is cut at the length that is written.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.u32(length);
        self.0.extend(text.bytes().take(length as usize));
    }
    pub(crate) fn claim(&mut self, claim: &Claim) {
        self.u32(claim.generation);
        self.u64(claim.lease_until);
        self.u32(claim.retention);
        self.text(claim.fingerprint.as_str());
    }
}

/// Reads a stored form.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[b]| b)
    }
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }
    pub(crate) fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.u32()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
    pub(crate) fn claim(&mut self) -> Option<Claim> {
        Some(Claim {
            generation: self.u32()?,
            lease_until: self.u64()?,
            retention: self.u32()?,
            fingerprint: self.text()?.parse::<Fingerprint>().ok()?,
        })
    }
}
