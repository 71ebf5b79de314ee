//! A channel: what its registers say, and how far it is.

/// DMAxCTL.
pub const DMAREQ: u32 = 1 << 0;
pub const DMAABORT: u32 = 1 << 1;
pub const DMAIE: u32 = 1 << 2;
pub const DMAIFG: u32 = 1 << 3;
pub const DMAEN: u32 = 1 << 4;
pub const DMALEVEL: u32 = 1 << 5;
const DMASRCBYTE: u32 = 1 << 6;
const DMADSTBYTE: u32 = 1 << 7;
/// DMASRCINCRx, DMADSTINCRx, DMADTx.
const DMASRCINCR: u32 = 8;
const DMADSTINCR: u32 = 10;
const DMADT: u32 = 12;
const CONTROL: u32 = 0x7fff;
/// Transfers of a burst, after which the core has the bus for two cycles.
pub const BURST: u32 = 4;

/// Transfers after a trigger: DMADTx without its highest bit, which repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One byte or word.
    Single,
    /// All of them, and the core stands still.
    Block,
    /// All of them, and the core goes on in between.
    BurstBlock,
}

/// A channel.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    pub control: u32,
    /// DMAxSA, DMAxDA, DMAxSZ.
    pub source: u32,
    pub destination: u32,
    pub size: u32,
    /// "T_SourceAdd", "T_DestAdd", "T_Size".
    working_source: u32,
    working_destination: u32,
    initial_size: u32,
    /// It was triggered, and has not begun.
    pub triggered: bool,
    /// A block has begun and not ended.
    pub running: bool,
    /// Transfers since a burst began.
    pub burst: u32,
}

/// Address after an access of `size` bytes, by DMASRCINCRx or DMADSTINCRx.
fn moved(address: u32, increment: u32, size: u8) -> u32 {
    match increment & 3 {
        2 => address.wrapping_sub(size.into()) & 0xf_ffff,
        3 => (address + u32::from(size)) & 0xf_ffff,
        _ => address,
    }
}

impl Channel {
    pub fn on(&self) -> bool {
        self.control & DMAEN != 0
    }

    pub fn mode(&self) -> Mode {
        match self.control >> DMADT & 3 {
            0 => Mode::Single,
            1 => Mode::Block,
            _ => Mode::BurstBlock,
        }
    }

    fn repeats(&self) -> bool {
        self.control >> (DMADT + 2) & 1 == 1
    }

    /// Writes DMAxCTL.
    pub fn write_control(&mut self, value: u32) {
        let began = value & DMAEN & !self.control != 0;
        self.control = value & CONTROL & !DMAREQ;
        if began {
            self.working_source = self.source;
            self.working_destination = self.destination;
            self.initial_size = self.size;
        }
        if !self.on() || began {
            self.triggered = false;
            self.running = false;
            self.burst = 0;
        }
    }

    /// Writes DMAxSZ; while the channel is on, what is left is that, too.
    pub fn write_size(&mut self, size: u32) {
        self.size = size;
        if !self.on() || self.initial_size == 0 {
            self.initial_size = size;
        }
    }

    /// Address and size of the next byte or word to be read.
    pub fn reads(&self) -> (u32, u8) {
        let size = if self.control & DMASRCBYTE != 0 { 1 } else { 2 };
        (self.working_source & !u32::from(size == 2), size)
    }

    /// Address and size of the next byte or word to be written.
    pub fn writes(&self) -> (u32, u8) {
        let size = if self.control & DMADSTBYTE != 0 { 1 } else { 2 };
        (self.working_destination & !u32::from(size == 2), size)
    }

    /// A byte or word was written; says whether it was the last one.
    pub fn transferred(&mut self) -> bool {
        self.working_source = moved(self.working_source, self.control >> DMASRCINCR, self.reads().1);
        self.working_destination =
            moved(self.working_destination, self.control >> DMADSTINCR, self.writes().1);
        self.burst += 1;
        self.size = self.size.wrapping_sub(1) & 0xffff;
        if self.size != 0 {
            return false;
        }
        self.size = self.initial_size;
        self.working_source = self.source;
        self.working_destination = self.destination;
        self.control |= DMAIFG;
        if !self.repeats() {
            self.control &= !DMAEN;
        }
        // "Repeated burst-block: a further block begins by itself."
        self.running = self.repeats() && self.mode() == Mode::BurstBlock;
        true
    }
}
