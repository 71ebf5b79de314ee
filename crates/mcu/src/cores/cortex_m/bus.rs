//! Data accesses that go elsewhere than to the first RAM and the first flash.

use super::core_state::CortexM;
use super::fault_status::Trap;
use super::mpu::Wanted;
use super::system::debug::STIMULUS;
use super::timing::Timing;
use crate::machine::{Core, Machine};
use crate::observe::dynamic;
use crate::{BridgeClock, BusAccess, ClockUpdate, CoreName, Fault, FlashStore, Memory, MemoryKind, Observer};

/// The private peripheral bus as far as it is Arm's; what the vendor has there lies behind.
const PRIVATE: std::ops::Range<u32> = 0xe000_0000..0xe004_2000;
/// From here on there is no memory, but registers (DDI 0403E, section B3.1).
const REGISTERS: u32 = 0x4000_0000;

/// The STM32F7's flash at the ITCM bus (RM0410, table 1).
const ITCM_FLASH: std::ops::Range<u32> = 0x0020_0000..0x0800_0000;

impl<T: Timing> Machine<CortexM<T>> {
    /// Keeps the fault for the loop to find.
    fn refuse<V>(&mut self, fault: Fault) -> Option<V> {
        self.fault = Some(fault);
        None
    }

    /// As [`Self::refuse`] of a fault that the core takes itself as this trap.
    fn refuse_as<V>(&mut self, trap: Trap, fault: Fault) -> Option<V> {
        self.core.traps.cause = Some(trap);
        self.refuse(fault)
    }

    fn misaligned(&self, address: u32, size: u32, strict: u32) -> Option<Fault> {
        (address & strict & (size - 1) != 0)
            .then(|| self.architecture(self.core.state.pc, address, "misaligned access"))
    }

    /// The bit that a bit-band alias stands for: byte address and bit (DDI 0403E, 3.7 of the
    /// Cortex-M4 TRM).
    fn bit_band(&self, address: u32) -> Option<(u32, u32)> {
        let base = match address >> 25 {
            0x11 if self.core.bit_band => 0x2000_0000,
            0x21 if self.core.bit_band => 0x4000_0000,
            _ => return None,
        };
        let offset = address & 0x01ff_ffff;
        Some((base + (offset >> 5), offset >> 2 & 7))
    }

    /// An access through a bit-band alias: the fault that kept it from the word behind names both
    /// addresses.
    fn aliased<V>(&mut self, alias: u32, done: Option<V>) -> Option<V> {
        if done.is_none() {
            self.fault = self.fault.take().map(|fault| Fault::BitBand { alias, fault: Box::new(fault) });
        }
        done
    }

    /// An access by a DMA controller. Flash cannot be written so; the STM32F4's CCM and what the
    /// STM32F7 has at its ITCM bus are the core's alone (RM0090, section 2.3.1; RM0410, section
    /// 2.1).
    pub(super) fn access_memory(&mut self, access: &BusAccess) -> Result<Option<u32>, Fault> {
        let &BusAccess { address, size, value, .. } = access;
        if address >= REGISTERS {
            return Err(Fault::Unmapped { pc: self.core.state.pc, address, size, kind: "DMA" });
        }
        if self.occupied_until(address).is_some() {
            let what = "an access by a DMA controller to the bank of the flash that is being written is not modelled";
            return Err(self.architecture(self.core.state.pc, address, what));
        }
        let ccm = |memory: &Memory| match self.part.core {
            CoreName::CortexM4 => memory.kind == MemoryKind::Tcm,
            CoreName::CortexM7 => memory.kind == MemoryKind::Tcm && memory.start == 0,
            _ => false,
        };
        let inside = |memory: &&Memory| address.wrapping_sub(memory.start) < memory.size;
        let out_of_reach = self.part.memories.iter().find(inside).is_some_and(ccm);
        let writable = self.core.memory.find(address, size.into()).is_some_and(|(view, _)| view.writable);
        let itcm_flash = self.part.core == CoreName::CortexM7 && ITCM_FLASH.contains(&address);
        if out_of_reach || itcm_flash || value.is_some() && !writable {
            return Ok(None);
        }
        let mut bytes = value.unwrap_or_default().to_le_bytes();
        let bytes = &mut bytes[..usize::from(size)];
        let done =
            if value.is_some() { self.core.poke(address, bytes) } else { self.core.peek(address, bytes) };
        Ok(done.then(|| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))))
    }

    /// Counts what a bridge to a peripheral bus makes the core wait.
    fn wait_on_bridge(&mut self, address: u32, store: bool) {
        let Some(bridge) = self.part.bridge_at(address) else { return };
        let divider = match bridge.clock {
            BridgeClock::Core => 1,
            BridgeClock::Apb1 => self.core.timing.bus_dividers().0,
            BridgeClock::Apb2 => self.core.timing.bus_dividers().1,
            BridgeClock::Apba => 1 << self.bus.events.bridge_shifts[0],
            BridgeClock::Apbb => 1 << self.bus.events.bridge_shifts[1],
            BridgeClock::Apbc => 1 << self.bus.events.bridge_shifts[2],
        };
        let from = self.cycles + u64::from(self.core.timing.bus_busy());
        let waits = bridge.waits(store, from, divider);
        self.cycles += u64::from(self.core.timing.wait_on_bus(waits, store));
    }

    /// A read of `size` bytes; `None` with the reason in `fault`. The state must have been
    /// published.
    #[cold]
    #[inline(never)]
    pub(super) fn read_slow<O: Observer>(
        &mut self,
        address: u32,
        size: u32,
        strict: u32,
        observer: &mut O,
    ) -> Option<u32> {
        if let Some(fault) = self.misaligned(address, size, strict) {
            return self.refuse_as(Trap::Unaligned, fault);
        }
        if let Some(fault) = self.protected(address, Wanted::Read) {
            return self.refuse_as(Trap::Forbidden(address), fault);
        }
        self.wait_for_bank(address);
        let pc = self.core.state.pc;
        if let Some((_, offset)) = self.core.memory.find(address, size) {
            return Some(match size {
                1 => u32::from(self.core.memory.byte(offset)),
                2 => u32::from(self.core.memory.half(offset)),
                _ => self.core.memory.word(offset),
            });
        }
        if let Some((byte, bit)) = self.bit_band(address) {
            let word = self.read_slow(byte & !3, 4, !0, observer);
            let bit = word.map(|word| word >> ((byte & 3) * 8 + bit) & 1);
            return self.aliased(address, bit);
        }
        if address & (size - 1) != 0 {
            let fault = self.architecture(pc, address, "misaligned access outside memory");
            return self.refuse_as(Trap::Unaligned, fault);
        }
        let size = size as u8;
        let result = if PRIVATE.contains(&address) {
            match self.system_read(address, size) {
                // What the core has no model of may be a stub.
                Err(_) if self.bus.claims(address) => {
                    self.core.traps.cause = None;
                    self.bus.read(address, size, self.cycles, pc, dynamic(observer))
                }
                read => read,
            }
        } else if self.core.timing.registers().contains(&address) {
            self.core.timing.read_register(address, size, pc)
        } else {
            let result = self.bus.read(address, size, self.cycles, pc, dynamic(observer));
            self.wait_on_bridge(address, false);
            self.cycles += std::mem::take(&mut self.bus.stall);
            self.deadline = 0;
            result
        };
        match result {
            Ok(value) => Some(value),
            Err(fault) => self.refuse(fault),
        }
    }

    /// A store into flash, which its controller may take.
    fn store_flash<O: Observer>(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        observer: &mut O,
    ) -> Option<()> {
        let pc = self.core.state.pc;
        let in_flash = |view: &super::memory::View| !view.writable;
        let from_flash = self.core.memory.find(pc, 2).is_some_and(|(view, _)| in_flash(view));
        let value = if size == 4 { value } else { value & ((1 << (size * 8)) - 1) };
        let store = FlashStore { pc, from_flash, address, size, value, before: self.held(address, size) };
        self.deadline = 0;
        match self.bus.flash_store(&store, self.cycles, dynamic(observer)) {
            Ok(change) => {
                self.change_flash(change);
                Some(())
            }
            Err(fault) => self.refuse(fault),
        }
    }

    /// A write of `size` bytes, as [`Cpu::read_slow`].
    #[cold]
    #[inline(never)]
    pub(super) fn write_slow<O: Observer>(
        &mut self,
        address: u32,
        size: u32,
        value: u32,
        strict: u32,
        observer: &mut O,
    ) -> Option<()> {
        if let Some(fault) = self.misaligned(address, size, strict) {
            return self.refuse_as(Trap::Unaligned, fault);
        }
        if let Some(fault) = self.protected(address, Wanted::Write) {
            return self.refuse_as(Trap::Forbidden(address), fault);
        }
        let pc = self.core.state.pc;
        if let Some((view, offset)) = self.core.memory.find(address, size) {
            if !view.writable {
                return self.store_flash(address, size as u8, value, observer);
            }
            match size {
                1 => self.core.memory.set_byte(offset, value as u8),
                2 => self.core.memory.set_half(offset, value as u16),
                _ => self.core.memory.set_word(offset, value),
            }
            if self.core.code.covers(offset) {
                self.core.code.changed(offset, size);
                self.deadline = 0;
            }
            return Some(());
        }
        if let Some((byte, bit)) = self.bit_band(address) {
            let word = self.read_slow(byte & !3, 4, !0, observer);
            let mask = 1 << ((byte & 3) * 8 + bit);
            self.core.timing.store_bit();
            let written = word.and_then(|word| {
                let word = if value & 1 != 0 { word | mask } else { word & !mask };
                self.write_slow(byte & !3, 4, word, !0, observer)
            });
            return self.aliased(address, written);
        }
        if address & (size - 1) != 0 {
            let fault = self.architecture(pc, address, "misaligned access outside memory");
            return self.refuse_as(Trap::Unaligned, fault);
        }
        let value = if size == 4 { value } else { value & ((1 << (size * 8)) - 1) };
        let size = size as u8;
        self.deadline = 0;
        let result = if PRIVATE.contains(&address) {
            if STIMULUS.contains(&address) {
                self.write_stimulus(address, size, value, observer);
                return Some(());
            }
            match self.system_write(address, size, value) {
                Err(_) if self.bus.claims(address) => {
                    self.core.traps.cause = None;
                    self.bus.write(address, size, value, self.cycles, pc, dynamic(observer))
                }
                written => written,
            }
        } else if self.core.timing.registers().contains(&address) {
            self.write_clock_register(address, size, value, observer)
        } else {
            let written = self.bus.write(address, size, value, self.cycles, pc, dynamic(observer));
            self.wait_on_bridge(address, true);
            self.core.timing.apply_flash(self.bus.events.flash);
            self.core.memory.show_ram_at_zero(self.bus.events.ram_at_zero);
            written
        };
        // Cache maintenance and a peripheral that is busy take their time within the store.
        self.cycles += u64::from(std::mem::take(&mut self.core.extra)) + std::mem::take(&mut self.bus.stall);
        match result {
            Ok(()) => Some(()),
            Err(fault) => self.refuse(fault),
        }
    }

    /// A write of the registers of flash interface and clocks, and the clocks that follow from it.
    fn write_clock_register<O: Observer>(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let pc = self.core.state.pc;
        let written = self.core.timing.write_register(address, size, value, pc);
        let (apb1, apb2) = self.core.timing.bus_dividers();
        self.bus.update_clocks(ClockUpdate::Buses { apb1, apb2 }, self.cycles);
        let (hclk_hz, usb_hz) = self.core.timing.usb_clock();
        self.bus.update_clocks(ClockUpdate::Usb { hclk_hz, usb_hz }, self.cycles);
        let (clock_hz, in_reset) = self.core.timing.rtc_clock();
        self.bus.update_clocks(ClockUpdate::Rtc { clock_hz, in_reset }, self.cycles);
        self.bus.set_module_clocks(self.core.timing.module_clocks(), self.cycles, pc);
        let timing = &self.core.timing;
        self.bus.follow_gates(|offset| timing.gate_register(offset), self.cycles, pc);
        if let Some(clock_hz) = self.core.timing.core_clock_hz() {
            self.bus.change_clock(clock_hz, self.cycles, dynamic(observer));
        }
        written
    }
}
