//! A CSI sequence, taken apart.

/// Most parameters looked at: the queries and modes that relight reads have fewer.
const MAX_PARAMETERS: usize = 32;

/// Parts of a CSI sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Csi {
    /// `?`, `>`, `<` or `=` in front; 0: none.
    pub private: u8,
    /// Parameters with their subparameters; an empty one is `None`.
    pub params: Vec<Vec<Option<u32>>>,
    /// Intermediate byte, 0: none.
    pub intermediate: u8,
    /// Final byte.
    pub last: u8,
}

impl Csi {
    /// Reads `ESC [ … final`; `None` when it has something that does not belong there.
    pub(super) fn parse(sequence: &[u8]) -> Option<Self> {
        let body = sequence.strip_prefix(b"\x1b[")?;
        let (&last, body) = body.split_last()?;
        let (private, mut body) = match body.split_first() {
            Some((&first @ b'<'..=b'?', rest)) => (first, rest),
            _ => (0, body),
        };
        let mut intermediate = 0;
        while let Some((&byte @ 0x20..=0x2f, rest)) = body.split_last() {
            intermediate = byte;
            body = rest;
        }
        let mut params = Vec::new();
        if !body.is_empty() {
            for param in body.split(|b| *b == b';').take(MAX_PARAMETERS) {
                let subs =
                    param.split(|b| *b == b':').take(MAX_PARAMETERS).map(number).collect::<Result<Vec<_>, _>>().ok()?;
                params.push(subs);
            }
        }
        Some(Self { private, params, intermediate, last })
    }

    /// Parameter `at`, or `default` when it is missing, empty or zero-length.
    pub(super) fn param(&self, at: usize, default: u32) -> u32 {
        self.sub(at, 0).unwrap_or(default)
    }

    /// Subparameter `sub` of parameter `at`.
    pub(super) fn sub(&self, at: usize, sub: usize) -> Option<u32> {
        self.params.get(at)?.get(sub).copied().flatten()
    }
}

/// Something else than digits.
struct NoNumber;

/// `None` for an empty text.
fn number(digits: &[u8]) -> Result<Option<u32>, NoNumber> {
    if digits.is_empty() {
        return Ok(None);
    }
    let mut value = 0_u32;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return Err(NoNumber);
        }
        value = value.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    }
    Ok(Some(value))
}
