//! Images behind a bootloader.
//!
//! Most boards that are programmed by USB or radio have a bootloader. Nothing of the image then
//! lies where the part starts.

use crate::{CoreName, Image, MemoryKind, Part};

/// VTOR keeps these bits: DDI 0403E, B3.2.5.
const VECTORS_ALIGNED: u32 = 128;

/// Address of the vector table of a Cortex-M image that a bootloader must start; `None` for an
/// image that a reset starts. Such an image leaves the flash's first words empty, and its first
/// segment in the flash begins with a stack in RAM and an entry in the image itself. Bootloaders
/// check the same. On a Cortex-M0, which has no VTOR, the image copies its vectors to address 0,
/// where RAM can appear.
#[must_use]
pub fn vectors_behind_bootloader(part: &Part, image: &Image) -> Option<u32> {
    if !matches!(
        part.core,
        CoreName::CortexM0
            | CoreName::CortexM0Plus
            | CoreName::CortexM3
            | CoreName::CortexM4
            | CoreName::CortexM7
    ) {
        return None;
    }
    let flash = part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash)?;
    let inside = |address: u32| {
        let mut found = flash.appearances().filter_map(|(start, ..)| address.checked_sub(start));
        found.find(|offset| *offset < flash.size)
    };
    let segments = image.segments.iter().filter(|segment| !segment.bytes.is_empty());
    let in_flash = segments.filter_map(|segment| Some((inside(segment.address)?, segment)));
    let (offset, first) = in_flash.min_by_key(|(offset, _)| *offset)?;
    let &[a, b, c, d, e, f, g, h] = first.bytes.first_chunk()?;
    let (sp, entry) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    let stack = part.memory_at(sp.checked_sub(4)?)?.kind;
    let code = image.segments.iter().any(|segment| {
        (entry & !1)
            .checked_sub(segment.address)
            .is_some_and(|offset| (offset as usize) < segment.bytes.len())
    });
    let is_table = entry & 1 == 1 && code && matches!(stack, MemoryKind::Ram | MemoryKind::Tcm);
    (offset != 0 && offset % VECTORS_ALIGNED == 0 && is_table).then_some(first.address)
}
