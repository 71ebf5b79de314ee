//! The labels of memory's bytes.

use super::{Labels, all};
use crate::dataflow::Alias;
use std::ops::Range;

const PAGE_BITS: u32 = 12;
const PAGE: usize = 1 << PAGE_BITS;

/// A byte of labels for each byte of a 32-bit address space, in pages that are made when something
/// in them gets a label.
pub(super) struct Shadow {
    /// Of each page the index in `pages`, plus 1; 0 for one without labels.
    directory: Vec<u32>,
    pages: Vec<Box<[u8; PAGE]>>,
    aliases: Vec<Alias>,
    /// From the first to the last of their addresses.
    alias_span: Range<u32>,
    /// Ranges whose bytes never have a label.
    declassified: Vec<Range<u32>>,
    /// The labels of peripherals: what any of a device's registers was told comes out of all of
    /// them.
    devices: Vec<(Range<u32>, usize)>,
    /// From the first to the last of them.
    span: Range<u32>,
    device_labels: Vec<Labels>,
}

impl Shadow {
    pub fn new(aliases: Vec<Alias>, devices: Vec<(Range<u32>, usize)>) -> Shadow {
        let alias_span = aliases.iter().map(|alias| alias.range.start).min().unwrap_or(0)
            ..aliases.iter().map(|alias| alias.range.end).max().unwrap_or(0);
        let first = devices.first().map_or(0, |(range, _)| range.start);
        let end = devices.iter().map(|(range, _)| range.end).max().unwrap_or(0);
        let count = devices.iter().map(|(_, device)| device + 1).max().unwrap_or(0);
        Shadow {
            directory: vec![0; 1 << (32 - PAGE_BITS)],
            pages: Vec::new(),
            aliases,
            alias_span,
            declassified: Vec::new(),
            devices,
            span: first..end,
            device_labels: vec![0; count],
        }
    }

    /// No byte has a label any more.
    pub fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| page.fill(0));
        self.device_labels.fill(0);
    }

    /// From here on these bytes have no labels, whatever is written to them.
    pub fn declassify(&mut self, range: Range<u32>) {
        self.set_all(range.clone(), 0);
        self.declassified.push(range);
    }

    /// Sets the labels of these bytes.
    pub fn set_all(&mut self, range: Range<u32>, labels: Labels) {
        range.for_each(|address| self.set_byte(address, labels));
    }

    /// The labels of a byte.
    pub fn byte(&self, address: u32) -> Labels {
        let address = self.canonical(address);
        match self.directory[(address >> PAGE_BITS) as usize] {
            0 => 0,
            page => self.pages[page as usize - 1][address as usize & (PAGE - 1)],
        }
    }

    /// The bytes that have labels, those of peripherals left out.
    pub fn labelled(&self) -> impl Iterator<Item = (u32, Labels)> {
        let pages = self.directory.iter().enumerate().filter(|(_, page)| **page != 0);
        pages.flat_map(|(number, page)| {
            let bytes = self.pages[*page as usize - 1].iter().enumerate();
            let labelled = bytes.filter(|(_, labels)| **labels != 0);
            labelled.map(move |(at, labels)| ((number << PAGE_BITS) as u32 + at as u32, *labels))
        })
    }

    fn set_byte(&mut self, address: u32, labels: Labels) {
        let address = self.canonical(address);
        let page = &mut self.directory[(address >> PAGE_BITS) as usize];
        if *page == 0 {
            if labels == 0 {
                return;
            }
            self.pages.push(Box::new([0; PAGE]));
            *page = self.pages.len() as u32;
        }
        self.pages[*page as usize - 1][address as usize & (PAGE - 1)] = labels;
    }

    /// Address that holds a byte's labels: aliases share those of the memory behind them.
    #[inline]
    pub fn canonical(&self, address: u32) -> u32 {
        if !self.alias_span.contains(&address) {
            return address;
        }
        match self.aliases.iter().find(|alias| alias.range.contains(&address)) {
            Some(alias) => alias.of + ((address - alias.range.start) >> alias.shift),
            None => address,
        }
    }

    #[inline]
    fn device(&self, address: u32) -> Option<usize> {
        if !self.span.contains(&address) {
            return None;
        }
        let behind = self.devices.partition_point(|(range, _)| range.start <= address);
        let (range, device) = self.devices.get(behind.checked_sub(1)?)?;
        range.contains(&address).then_some(*device)
    }

    /// The labels of `size` bytes, up to 4, from `address` on, the first in the lowest byte.
    #[inline]
    pub fn read(&self, address: u32, size: u8) -> u32 {
        let inside = address as usize & (PAGE - 1);
        if let Some(device) = self.device(address) {
            return u32::from(self.device_labels[device]) * 0x0101_0101;
        }
        if inside > PAGE - 4 || self.alias_span.contains(&address) {
            return self.read_bytes(address, size);
        }
        match self.directory[(address >> PAGE_BITS) as usize] {
            0 => 0,
            page => {
                let page = &self.pages[page as usize - 1];
                let four = [page[inside], page[inside + 1], page[inside + 2], page[inside + 3]];
                u32::from_le_bytes(four) & (u32::MAX >> (32 - 8 * u32::from(size.clamp(1, 4))))
            }
        }
    }

    #[cold]
    fn read_bytes(&self, address: u32, size: u8) -> u32 {
        let byte = |index: u32| u32::from(self.byte(address.wrapping_add(index))) << (8 * (index & 3));
        (0..u32::from(size)).map(byte).fold(0, |all, one| all | one)
    }

    /// Sets the labels of `size` bytes, up to 4.
    #[inline]
    pub fn write(&mut self, address: u32, size: u8, labels: u32) {
        let inside = address as usize & (PAGE - 1);
        let page = self.directory[(address >> PAGE_BITS) as usize];
        if let Some(device) = self.device(address) {
            self.device_labels[device] |= all(labels);
            return;
        }
        let plain = inside <= PAGE - 4 && !self.alias_span.contains(&address) && self.declassified.is_empty();
        if !plain || (page == 0 && labels != 0) {
            self.write_bytes(address, size, labels);
        } else if page != 0 {
            let page = &mut self.pages[page as usize - 1];
            for (byte, labels) in page[inside..].iter_mut().zip(labels.to_le_bytes()).take(size.into()) {
                *byte = labels;
            }
        }
    }

    #[cold]
    fn write_bytes(&mut self, address: u32, size: u8, labels: u32) {
        for (index, mut labels) in (0..u32::from(size)).zip(labels.to_le_bytes()) {
            let at = address.wrapping_add(index);
            if self.declassified.iter().any(|range| range.contains(&at)) {
                labels = 0;
            }
            // A bit of several in a byte: the others keep theirs.
            if self.aliases.iter().any(|alias| alias.shift != 0 && alias.range.contains(&at)) {
                labels |= self.byte(at);
            }
            self.set_byte(at, labels);
        }
    }
}
