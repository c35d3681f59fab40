//! What a program asked of the keyboard: the kitty protocol's stacks and modifyOtherKeys.

/// Deepest stack: kitty forgets the oldest entry as well.
const MAX_DEPTH: usize = 16;

/// Flags that exist.
const ALL_FLAGS: u32 = 31;

/// Keyboard protocols of one terminal. Main and alternate screen have a stack each.
#[derive(Debug, Default)]
pub(super) struct Keyboard {
    main: Vec<u8>,
    alt: Vec<u8>,
    /// modifyOtherKeys, 0 to 2.
    pub other_keys: u8,
}

impl Keyboard {
    /// Flags in force.
    pub(super) fn flags(&self, alt: bool) -> u8 {
        (if alt { &self.alt } else { &self.main }).last().copied().unwrap_or(0)
    }

    /// `CSI > flags u`.
    pub(super) fn push(&mut self, alt: bool, flags: u32) {
        let stack = self.stack(alt);
        if stack.len() == MAX_DEPTH {
            stack.remove(0);
        }
        stack.push(bits(flags));
    }

    /// `CSI < count u`.
    pub(super) fn pop(&mut self, alt: bool, count: u32) {
        let stack = self.stack(alt);
        let keep = stack.len().saturating_sub(count.max(1) as usize);
        stack.truncate(keep);
    }

    /// `CSI = flags ; how u`: 1 replace, 2 add, 3 remove.
    pub(super) fn set(&mut self, alt: bool, flags: u32, how: u32) {
        let (old, new) = (self.flags(alt), bits(flags));
        let flags = match how {
            1 => new,
            2 => old | new,
            3 => old & !new,
            _ => return,
        };
        let stack = self.stack(alt);
        match stack.last_mut() {
            Some(top) => *top = flags,
            None => stack.push(flags),
        }
    }

    /// `CSI > 4 ; level m`; without parameters everything of this kind is reset.
    pub(super) fn set_other_keys(&mut self, resource: Option<u32>, level: Option<u32>) {
        if matches!(resource, None | Some(4)) {
            self.other_keys = u8::try_from(level.unwrap_or(0).min(2)).unwrap_or(0);
        }
    }

    fn stack(&mut self, alt: bool) -> &mut Vec<u8> {
        if alt { &mut self.alt } else { &mut self.main }
    }
}

fn bits(flags: u32) -> u8 {
    u8::try_from(flags & ALL_FLAGS).unwrap_or(0)
}
