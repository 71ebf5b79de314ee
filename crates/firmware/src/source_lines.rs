//! Source lines of a function's code.

use crate::Firmware;
use std::ops::Range;

/// Instructions in a row that are from one source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Their addresses.
    pub addresses: Range<u32>,
    /// The source file, as the compiler was given it.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

impl Firmware {
    /// Returns true if the file has source lines of any function.
    #[must_use]
    pub fn has_source_lines(&self) -> bool {
        (0..self.functions().len()).any(|function| !self.source_lines(function).is_empty())
    }

    /// The addresses of a function, by its index in [`Firmware::functions`]: to the next one's
    /// where its size is not known.
    #[must_use]
    pub fn extent(&self, function: usize) -> Range<u32> {
        let address = self.functions()[function].address;
        let end = match self.functions()[function].size {
            0 => self.functions().get(function + 1).map_or(address, |next| next.address),
            size => address.saturating_add(size),
        };
        address..end
    }

    /// The source lines of a function, in the order of its addresses; none where the file does not
    /// tell.
    #[must_use]
    pub fn source_lines(&self, function: usize) -> Vec<SourceLine> {
        let extent = self.extent(function);
        let Some(lines) = self.lines() else { return Vec::new() };
        let (low, high) = (u64::from(extent.start), u64::from(extent.end));
        let Ok(found) = lines.find_location_range(low, high) else { return Vec::new() };
        let mut rows: Vec<SourceLine> = Vec::new();
        for (address, size, location) in found {
            // Functions that the linker left out keep their lines, from address 0 on; those of this
            // one begin with it.
            if address <= low {
                rows.clear();
            }
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            let addresses = address.max(low) as u32..(address + size).min(high) as u32;
            rows.push(SourceLine { addresses, file: file.into(), line });
        }
        rows
    }
}
