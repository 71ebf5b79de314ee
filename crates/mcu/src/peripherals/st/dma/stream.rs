//! A stream (STM32F4) or channel (STM32F0, F1) of a DMA controller: its registers, and the items
//! that it moves.

/// Layout of the registers, by series.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// RM0008 section 13.4, RM0041 section 9.4, RM0091 section 10.4.
    Channels,
    /// RM0090 section 10.5.
    Streams,
}

/// CCR and SxCR.
pub(super) const EN: u32 = 1;
const MEM2MEM: u32 = 1 << 14;
const DBM: u32 = 1 << 18;
const CT: u32 = 1 << 19;
/// PFCTRL, PINCOS.
const REFUSED: u32 = 1 << 5 | 1 << 15;
/// SxFCR: DMDIS; FS, which says that the FIFO is empty.
const DMDIS: u32 = 1 << 2;
pub(super) const FCR_RESET: u32 = 0x21;

/// The flags as the streams have them.
pub(super) const TEIF: u32 = 1 << 3;
pub(super) const HTIF: u32 = 1 << 4;
pub(super) const TCIF: u32 = 1 << 5;

/// The settings of a control register.
#[derive(Clone, Copy)]
pub(super) struct Setup {
    /// From the memory address to the peripheral address, or the other way.
    pub to_peripheral: bool,
    pub memory_to_memory: bool,
    circular: bool,
    /// Bytes of an item at the peripheral address and at the memory address, and whether these go
    /// on.
    sizes: [u8; 2],
    increments: [bool; 2],
    pub priority: u32,
    /// The flags that interrupt.
    pub interrupts: u32,
}

/// Index into the pairs of [`Setup`]: the peripheral address and the memory address.
const PERIPHERAL: usize = 0;
const MEMORY: usize = 1;

/// A stream or channel.
#[derive(Clone)]
pub(super) struct Stream {
    layout: Layout,
    /// Requests that a stream chooses among.
    selections: u32,
    pub control: u32,
    /// Items that are left, and with how many it was begun.
    pub count: u32,
    reload: u32,
    pub peripheral: u32,
    pub memory: [u32; 2],
    pub fifo_control: u32,
    pub flags: u32,
    /// The address at which the next item is read or written.
    next: [u32; 2],
    /// An item that has been read and not been written.
    pub held: Option<u32>,
}

impl Stream {
    pub fn new(layout: Layout, selections: u32) -> Stream {
        Stream {
            layout,
            selections,
            control: 0,
            count: 0,
            reload: 0,
            peripheral: 0,
            memory: [0; 2],
            fifo_control: FCR_RESET,
            flags: 0,
            next: [0; 2],
            held: None,
        }
    }

    pub fn reset(&mut self) {
        *self = Stream::new(self.layout, self.selections);
    }

    pub fn setup(&self) -> Setup {
        let control = self.control;
        let bit = |at: u32| control >> at & 1 == 1;
        let size = |at: u32| 1 << (control >> at & 3).min(2);
        match self.layout {
            Layout::Channels => Setup {
                to_peripheral: bit(4),
                memory_to_memory: control & MEM2MEM != 0,
                circular: bit(5),
                sizes: [size(8), size(10)],
                increments: [bit(6), bit(7)],
                priority: control >> 12 & 3,
                interrupts: (control >> 1 & 1) * TCIF | (control >> 2 & 1) * HTIF | (control >> 3 & 1) * TEIF,
            },
            Layout::Streams => Setup {
                to_peripheral: control >> 6 & 3 == 1,
                memory_to_memory: control >> 6 & 3 == 2,
                circular: bit(8) || control & DBM != 0,
                // The FIFO puts the bytes together as they lie in memory; without it MSIZE has no
                // meaning.
                sizes: [size(11), size(11)],
                increments: [bit(9), bit(10)],
                priority: control >> 16 & 3,
                // TEIE, HTIE, TCIE are one below their flags.
                interrupts: control << 1 & (TEIF | HTIF | TCIF),
            },
        }
    }

    pub fn on(&self) -> bool {
        self.control & EN != 0
    }

    /// The number of the request that it serves: CHSEL.
    pub fn selected(&self) -> u32 {
        if self.layout == Layout::Streams { self.control >> 25 & (self.selections - 1) } else { 0 }
    }

    /// It reads memory before it is asked for the item: a stream in direct mode (section 10.3.12,
    /// "FIFO").
    pub fn reads_ahead(&self) -> bool {
        self.layout == Layout::Streams && self.setup().to_peripheral
    }

    /// Why it cannot be switched on as it is set up.
    fn refused(&self) -> Option<&'static str> {
        let control = self.control;
        let streams = self.layout == Layout::Streams;
        let setup = self.setup();
        let by_fifo = streams && self.fifo_control & DMDIS != 0;
        if streams && control & REFUSED != 0 {
            Some("a peripheral as flow controller and PINCOS are not modelled")
        } else if streams && setup.memory_to_memory && !by_fifo {
            Some("memory to memory needs the FIFO (DMDIS)")
        } else if streams && setup.memory_to_memory && setup.circular {
            Some("memory to memory is not circular")
        } else if by_fifo && !setup.memory_to_memory {
            Some("of the FIFO mode (DMDIS) only memory to memory is modelled")
        } else if by_fifo && control >> 13 & 3 != control >> 11 & 3 && !setup.increments[MEMORY] {
            Some("items of two sizes at one address of memory are not modelled")
        } else {
            None
        }
    }

    /// The control register is written.
    pub fn write_control(&mut self, value: u32) -> Result<(), &'static str> {
        let was_on = self.on();
        if was_on && value & EN != 0 {
            // Only the interrupts can be changed.
            let free = if self.layout == Layout::Streams { 0x1e } else { 0x0e };
            self.control = self.control & !free | value & free;
            return Ok(());
        }
        if was_on && self.layout == Layout::Streams {
            // Section 10.3.15: the flag says that it has come to its end.
            self.flags |= TCIF;
        }
        self.held = None;
        let written = match self.layout {
            Layout::Streams => (self.selections << 25) - 1,
            Layout::Channels => 0x7fff,
        };
        self.control = value & written;
        if self.on() {
            if let Some(what) = self.refused() {
                self.control &= !EN;
                return Err(what);
            }
            // A stream that has come to its end begins with the same number again.
            if self.count == 0 && self.layout == Layout::Streams {
                self.count = self.reload;
            }
            self.reload = self.count;
            self.begin();
        }
        Ok(())
    }

    fn begin(&mut self) {
        let memory = self.memory[usize::from(self.control & (DBM | CT) == DBM | CT)];
        let memory = if self.control & DBM == 0 { self.memory[0] } else { memory };
        self.next = [self.peripheral, memory];
    }

    /// The next access: first byte and size.
    pub fn place(&self, write: bool) -> (u32, u8) {
        let setup = self.setup();
        let side = if write == setup.to_peripheral { PERIPHERAL } else { MEMORY };
        let size = setup.sizes[side];
        // The low bits are not looked at.
        (self.next[side] & !(u32::from(size) - 1), size)
    }

    /// An item was read.
    pub fn read(&mut self, value: u32) {
        let setup = self.setup();
        let (from, to) = if setup.to_peripheral { (MEMORY, PERIPHERAL) } else { (PERIPHERAL, MEMORY) };
        // RM0008, table 76: of a wider item the low part is written, a narrower one gets zeros.
        let mask = u32::MAX >> (32 - 8 * u32::from(setup.sizes[to]));
        self.held = Some(value & mask);
        self.advance(from, setup);
    }

    /// The item was written.
    pub fn written(&mut self) {
        let setup = self.setup();
        self.held = None;
        self.advance(if setup.to_peripheral { PERIPHERAL } else { MEMORY }, setup);
        self.count = self.count.saturating_sub(1);
        if self.count == self.reload / 2 {
            self.flags |= HTIF;
        }
        if self.count != 0 {
            return;
        }
        self.flags |= TCIF;
        if setup.circular {
            self.count = self.reload;
            self.control ^= if self.control & DBM != 0 { CT } else { 0 };
            self.begin();
        } else if self.layout == Layout::Streams {
            self.control &= !EN;
        }
    }

    fn advance(&mut self, side: usize, setup: Setup) {
        if setup.increments[side] {
            self.next[side] = self.next[side].wrapping_add(setup.sizes[side].into());
        }
    }

    /// Nothing answered: it is switched off.
    pub fn failed(&mut self) {
        self.flags |= TEIF;
        self.control &= !EN;
        self.held = None;
    }
}
