//! Flash and RAM at their addresses.

use crate::{MemoryKind, Part};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// One appearance of a memory in the address space: a memory and each of its aliases has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Index of its first byte in [`Memory::bytes`].
    pub offset: usize,
    /// True if stores may go there.
    pub writable: bool,
}

impl View {
    /// Offset of an access of `size` bytes into [`Memory::bytes`], if all of it lies here.
    #[inline(always)]
    pub fn locate(&self, address: u32, size: u32) -> Option<usize> {
        let inside = address.wrapping_sub(self.start);
        // No view is smaller than eight bytes: `Memory::new` sees to it.
        (inside <= self.size - size).then_some(self.offset + inside as usize)
    }
}

/// The first view of RAM, or of flash.
fn first_view(views: &[View], writable: bool) -> Option<View> {
    views.iter().copied().find(|view| view.writable == writable)
}

/// A bank of the flash that is being written: where it lies among the memory's bytes, and the cycle
/// at which it is done.
#[derive(Clone)]
pub(super) struct Occupied {
    pub offsets: Range<usize>,
    pub until: u64,
}

/// All memories of a part.
#[derive(Clone)]
pub(super) struct Memory {
    /// The bytes of all memories, one after the other.
    bytes: Vec<u8>,
    /// Number of the contents of all that is no RAM: copies have the same, and each change has
    /// another one.
    contents: u64,
    /// The first RAM, where the stack usually is; no bytes while accesses are watched.
    pub ram: View,
    /// The first flash; no bytes while accesses are watched.
    pub flash: View,
    /// All views, these two among them.
    pub views: Vec<View>,
    /// The view at address 0 as it was, while RAM appears there in its place.
    replaced: Option<View>,
}

/// A number that no contents have had.
fn next_contents() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A view of what no access lies in.
const NOWHERE: View = View { start: u32::MAX, size: 8, offset: 0, writable: false };

impl Memory {
    pub fn new(part: &Part) -> Result<Memory, String> {
        let mut bytes = Vec::new();
        let mut views = Vec::new();
        for memory in &part.memories {
            if memory.size < 16 || memory.size % 4 != 0 || memory.start % 4 != 0 {
                return Err(format!("{}: memory {} must be whole words", part.name, memory.name));
            }
            let offset = bytes.len();
            let writable = matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm);
            bytes.resize(offset + memory.size as usize, if writable { 0 } else { 0xff });
            for (start, size, inside) in memory.appearances() {
                views.push(View { start, size, offset: offset + inside as usize, writable });
            }
        }
        let first = |writable: bool, what: &str| {
            first_view(&views, writable).ok_or_else(|| format!("{}: no {what} among its memories", part.name))
        };
        let (ram, flash) = (first(true, "RAM")?, first(false, "flash")?);
        Ok(Memory { bytes, contents: next_contents(), ram, flash, views, replaced: None })
    }

    /// Becomes what `from` is, a memory of the same part. Returns true if only RAM may have
    /// differed.
    pub fn restore(&mut self, from: &Memory) -> bool {
        if (self.contents, &self.views) != (from.contents, &from.views) {
            self.clone_from(from);
            return false;
        }
        for view in from.views.iter().filter(|view| view.writable) {
            let range = view.offset..view.offset + view.size as usize;
            self.bytes[range.clone()].copy_from_slice(&from.bytes[range]);
        }
        (self.ram, self.flash, self.replaced) = (from.ram, from.flash, from.replaced);
        true
    }

    /// From now on every access is looked for among all views, where it is asked whether it may be
    /// made; or no longer.
    pub fn set_watched(&mut self, watched: bool) {
        let first = |writable| first_view(&self.views, writable).filter(|_| !watched).unwrap_or(NOWHERE);
        (self.ram, self.flash) = (first(true), first(false));
    }

    /// From now on RAM appears at address 0 in place of the flash, or no longer (STM32: SYSCFG's
    /// MEM_MODE).
    pub fn show_ram_at_zero(&mut self, on: bool) {
        if on == self.replaced.is_some() {
            return;
        }
        let ram = first_view(&self.views, true);
        let Some(zero) = self.views.iter_mut().find(|view| view.start == 0) else { return };
        match self.replaced.take() {
            Some(before) => *zero = before,
            None => {
                self.replaced = Some(*zero);
                *zero = ram.map_or(*zero, |ram| View { start: 0, ..ram });
            }
        }
    }

    /// Address at which reset finds the vector table: the flash at 0 where the part maps it there,
    /// else the flash's alias for booting (STM32F7: the ITCM view, BOOT_ADD0's factory value), else
    /// the flash.
    pub fn boot_address(&self) -> u32 {
        let flash = self.views.iter().filter(|view| view.offset == self.flash.offset && !view.writable);
        let starts: Vec<u32> = flash.map(|view| view.start).collect();
        if starts.contains(&0) { 0 } else { starts.get(1).copied().unwrap_or(self.flash.start) }
    }

    /// Finds the view that holds `size` bytes from `address`, and their offset in the memory.
    #[inline]
    pub fn find(&self, address: u32, size: u32) -> Option<(&View, usize)> {
        self.views.iter().find_map(|view| Some((view, view.locate(address, size)?)))
    }

    /// Four bytes at an offset that [`View::locate`] gave for four.
    #[inline(always)]
    pub fn word(&self, offset: usize) -> u32 {
        debug_assert!(offset + 4 <= self.bytes.len());
        // SAFETY: `locate` gives offsets of accesses that lie wholly in a view, and views lie
        // wholly in `bytes`.
        unsafe { u32::from_le(self.bytes.as_ptr().add(offset).cast::<u32>().read_unaligned()) }
    }

    /// Two bytes, as [`Memory::word`].
    #[inline(always)]
    pub fn half(&self, offset: usize) -> u16 {
        debug_assert!(offset + 2 <= self.bytes.len());
        // SAFETY: as in `word`.
        unsafe { u16::from_le(self.bytes.as_ptr().add(offset).cast::<u16>().read_unaligned()) }
    }

    /// One byte, as [`Memory::word`].
    #[inline(always)]
    pub fn byte(&self, offset: usize) -> u8 {
        debug_assert!(offset < self.bytes.len());
        // SAFETY: as in `word`.
        unsafe { *self.bytes.get_unchecked(offset) }
    }

    /// Writes four bytes, as [`Memory::word`].
    #[inline(always)]
    pub fn set_word(&mut self, offset: usize, value: u32) {
        debug_assert!(offset + 4 <= self.bytes.len());
        // SAFETY: as in `word`.
        unsafe { self.bytes.as_mut_ptr().add(offset).cast::<u32>().write_unaligned(value.to_le()) }
    }

    /// Writes two bytes, as [`Memory::word`].
    #[inline(always)]
    pub fn set_half(&mut self, offset: usize, value: u16) {
        debug_assert!(offset + 2 <= self.bytes.len());
        // SAFETY: as in `word`.
        unsafe { self.bytes.as_mut_ptr().add(offset).cast::<u16>().write_unaligned(value.to_le()) }
    }

    /// Writes a byte, as [`Memory::word`].
    #[inline(always)]
    pub fn set_byte(&mut self, offset: usize, value: u8) {
        debug_assert!(offset < self.bytes.len());
        // SAFETY: as in `word`.
        unsafe { *self.bytes.get_unchecked_mut(offset) = value }
    }

    /// Zero, as after power-up.
    pub fn clear_ram(&mut self) {
        for view in &self.views {
            if view.writable {
                self.bytes[view.offset..view.offset + view.size as usize].fill(0);
            }
        }
    }

    /// Two words, as a debugger reads them; zero where there is no memory.
    pub fn words(&self, address: u32) -> [u32; 2] {
        let mut bytes = [0; 8];
        self.peek(address, &mut bytes);
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        [word(0), word(4)]
    }

    pub fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        let Some(found) = self.range(address, bytes.len()) else { return false };
        bytes.copy_from_slice(&self.bytes[found]);
        true
    }

    pub fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        let Some(found) = self.range(address, bytes.len()) else { return false };
        let is_ram = self.find(address, 1).is_some_and(|(view, _)| view.writable);
        if !is_ram && self.bytes[found.clone()] != *bytes {
            self.contents = next_contents();
        }
        self.bytes[found].copy_from_slice(bytes);
        true
    }

    fn range(&self, address: u32, length: usize) -> Option<std::ops::Range<usize>> {
        self.views.iter().find_map(|view| {
            let inside = address.wrapping_sub(view.start) as usize;
            let end = inside.checked_add(length)?;
            (end <= view.size as usize).then(|| view.offset + inside..view.offset + end)
        })
    }
}
