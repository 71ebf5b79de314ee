//! The registers and the bus of one microcontroller of the family.

use super::memory::{Memory, Place};
use super::program::Program;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, Flow, Observer, PeripheralBus};

/// Carry or borrow.
pub const C: u8 = 0x01;
/// Zero.
pub const Z: u8 = 0x02;
/// Negative.
pub const N: u8 = 0x04;
/// Interrupt mask.
pub const I: u8 = 0x08;
/// Half carry.
pub const H: u8 = 0x10;
/// Bits 6 and 5, always 1.
pub const ONES: u8 = 0x60;
/// Overflow.
pub const V: u8 = 0x80;

/// Whether the core executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// It does.
    Awake,
    /// `WAIT`: the core stands, the clocks run.
    Wait,
    /// `STOP`: the clocks stand, too.
    Stop,
}

/// Core, memories, peripherals.
pub struct State {
    /// Accumulator.
    pub a: u8,
    /// Index register, H in its high byte.
    pub hx: u16,
    /// Stack pointer: the next free byte.
    pub sp: u16,
    /// Program counter.
    pub pc: u16,
    /// Condition codes; [`ONES`] are set.
    pub ccr: u8,
    /// Bus cycles since reset, at the start of the instruction.
    pub cycles: u64,
    /// Instructions since reset.
    pub instructions: u64,
    /// The cycle from which an instruction boundary must be looked at more closely: limit, peripherals, sleep.
    pub horizon: u64,
    /// Whether the core sleeps.
    pub sleep: Sleep,
    /// How execution came to the next instruction, kept for observers.
    pub flow: Flow,
    /// The address of the register whose bit 1 enables `STOP`, where the part has it.
    pub config: Option<u16>,
    /// Memories.
    pub memory: Memory,
    /// Decoded instructions.
    pub program: Program,
    /// Peripherals.
    pub bus: PeripheralBus,
}

impl State {
    /// Reads the byte at `address`.
    #[inline(always)]
    pub fn read<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        let value = self.read_bus(observer, pc, address)?;
        if O::enabled() {
            self.tell(observer, pc, address, 1, AccessKind::Read, value.into());
        }
        Ok(value)
    }

    /// Reads the word at `address`, high byte first.
    pub fn read_word<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u16, Fault> {
        let high = self.read_bus(observer, pc, address)?;
        let low = self.read_bus(observer, pc, address.wrapping_add(1))?;
        let value = u16::from_be_bytes([high, low]);
        if O::enabled() {
            self.tell(observer, pc, address, 2, AccessKind::Read, value);
        }
        Ok(value)
    }

    /// Writes the byte at `address`.
    #[inline(always)]
    pub fn write<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        self.write_bus(observer, pc, address, value)?;
        if O::enabled() {
            self.tell(observer, pc, address, 1, AccessKind::Write, value.into());
        }
        Ok(())
    }

    /// Writes the word at `address`, high byte first.
    pub fn write_word<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u16,
    ) -> Result<(), Fault> {
        let [high, low] = value.to_be_bytes();
        self.write_bus(observer, pc, address, high)?;
        self.write_bus(observer, pc, address.wrapping_add(1), low)?;
        if O::enabled() {
            self.tell(observer, pc, address, 2, AccessKind::Write, value);
        }
        Ok(())
    }

    /// Pushes a byte.
    pub fn push<O: Observer>(&mut self, observer: &mut O, pc: u16, value: u8) -> Result<(), Fault> {
        self.write(observer, pc, self.sp, value)?;
        self.sp = self.sp.wrapping_sub(1);
        Ok(())
    }

    /// Pushes a word, low byte first, so that it stands in memory high byte first.
    pub fn push_word<O: Observer>(&mut self, observer: &mut O, pc: u16, value: u16) -> Result<(), Fault> {
        self.write_word(observer, pc, self.sp.wrapping_sub(1), value)?;
        self.sp = self.sp.wrapping_sub(2);
        Ok(())
    }

    /// Pulls a byte.
    pub fn pull<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<u8, Fault> {
        let value = self.read(observer, pc, self.sp.wrapping_add(1))?;
        self.sp = self.sp.wrapping_add(1);
        Ok(value)
    }

    /// Pulls a word.
    pub fn pull_word<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<u16, Fault> {
        let value = self.read_word(observer, pc, self.sp.wrapping_add(1))?;
        self.sp = self.sp.wrapping_add(2);
        Ok(value)
    }

    fn tell<O: Observer>(
        &self,
        observer: &mut O,
        pc: u16,
        address: u16,
        size: u8,
        kind: AccessKind,
        value: u16,
    ) {
        if let Some(observer) = dynamic(observer) {
            observer.access(&Access {
                pc: pc.into(),
                address: address.into(),
                size,
                kind,
                value: value.into(),
                cycles: self.cycles,
            });
        }
    }

    #[inline(always)]
    fn read_bus<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        if self.memory.place(address) == Place::Other {
            return self.read_peripheral(observer, pc, address);
        }
        Ok(self.memory.byte(address))
    }

    #[inline(always)]
    fn write_bus<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        if self.memory.place(address) != Place::Ram {
            return self.write_elsewhere(observer, pc, address, value);
        }
        self.program.written(address);
        self.memory.set_byte(address, value);
        Ok(())
    }

    #[inline(never)]
    fn read_peripheral<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        self.horizon = 0;
        Ok(self.bus.read(address.into(), 1, self.cycles, pc.into(), dynamic(observer))? as u8)
    }

    #[inline(never)]
    fn write_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        if self.memory.place(address) == Place::Flash {
            let what = "a write to flash, whose controller is not modelled".into();
            return Err(Fault::Architecture { pc: pc.into(), address: address.into(), what });
        }
        self.horizon = 0;
        self.bus.write(address.into(), 1, value.into(), self.cycles, pc.into(), dynamic(observer))
    }
}
