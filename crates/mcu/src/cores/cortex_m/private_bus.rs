//! Private peripheral bus: accesses of SysTick, NVIC, system control block, MPU, debug units.
//!
//! Sources: DDI 0403E, B3 and C1; DDI 0419E, B3.

use super::cache::CacheControl;
use super::core_state::CortexM;
use super::fault_status::Trap;
use super::mpu::{self, Wanted};
use super::nvic::{NMI, Nvic, PENDSV, SYSTICK};
use super::system::debug::STIMULUS;
use super::system::{NOT_MODELLED, System};
use super::timing::Timing;
use crate::machine::Machine;
use crate::{Fault, Observer, ResetCause};

/// CCR bits that can be written on ARMv7-M, and the cache enables of the Cortex-M7.
const CCR_WRITABLE: u32 = 0x031b;
const CCR_CACHES: u32 = 0x3_0000;

impl<T: Timing> Machine<CortexM<T>> {
    fn unmodelled<V>(&self, address: u32, what: &str) -> Result<V, Fault> {
        Err(Fault::Peripheral {
            pc: self.core.state.pc,
            address,
            device: crate::SYSTEM_CONTROL_SPACE.to_string(),
            what: what.to_string(),
        })
    }

    /// Checks that the registers there allow the access.
    fn check_system(&mut self, address: u32, size: u8) -> Result<(), Fault> {
        if !self.core.state.privileged() && address != 0xe000_ef00 {
            self.core.traps.cause = Some(Trap::Read(address));
            return self.unmodelled(address, "unprivileged access (a bus fault)");
        }
        // CFSR is three registers in one (DDI 0403E, B3.2.15).
        let by_byte = self.core.system.v7()
            && (matches!(address, 0xe000_e400..0xe000_e5f0 | 0xe000_ed18..0xe000_ed24 | 0xe000_ed28..0xe000_ed2c)
                || STIMULUS.contains(&address));
        if size == 4 || by_byte { Ok(()) } else { self.unmodelled(address, "only words can be accessed") }
    }

    /// Brings SysTick up to now where one of its registers, or ICSR, is about to be accessed:
    /// nothing else does while its exception is off.
    fn advance_systick(&mut self, address: u32) {
        let system = &mut self.core.system;
        let before = system.nvic.all_pending();
        if matches!(address, 0xe000_e010..=0xe000_e018 | 0xe000_ed04)
            && system.systick.update_until(self.cycles)
        {
            system.nvic.system_pending |= 1 << SYSTICK;
            self.core.state.event |= system.signals_pending(before);
            self.recheck();
        }
    }

    /// A read on the private peripheral bus.
    pub(super) fn system_read(&mut self, address: u32, size: u8) -> Result<u32, Fault> {
        self.check_system(address, size)?;
        self.advance_systick(address);
        let now = self.cycles;
        let active = self.core.state.ipsr;
        let system = &mut self.core.system;
        let (v7, m7) = (system.v7(), system.m7());
        let offset = (address & 0xfff) as usize;
        // Registers of 32 interrupts a word: of those that the part does not have all is zero (DDI
        // 0403E, B3.4).
        let lines = |set: u128, from: usize| Nvic::word(set, offset - from);
        Ok(match address {
            0xe000_e004 if v7 => system.nvic.groups(),
            0xe000_e008 if v7 => system.auxiliary,
            0xe000_e010 => system.systick.read_control(),
            0xe000_e014 => system.systick.reload(),
            0xe000_e018 => system.systick.value(),
            0xe000_e01c => system.systick.calibration(),
            0xe000_e100..0xe000_e140 => lines(system.nvic.enabled, 0x100),
            0xe000_e180..0xe000_e1c0 => lines(system.nvic.enabled, 0x180),
            0xe000_e200..0xe000_e240 => lines(system.nvic.pending, 0x200),
            0xe000_e280..0xe000_e2c0 => lines(system.nvic.pending, 0x280),
            0xe000_e300..0xe000_e340 if v7 => {
                let active = system.nvic.active.iter().filter(|&&exception| exception >= 16);
                lines(active.fold(0, |mask, &exception| mask | 1 << (exception - 16)), 0x300)
            }
            0xe000_e400..0xe000_e5f0 => system.nvic.priorities(offset - 0x400, size),
            0xe000_ed00 => system.options.cpuid,
            0xe000_ed04 => system.interrupt_state(active),
            0xe000_ed08 if system.has_vtor() => system.vtor,
            // The Cortex-M0 has no VTOR: RAZ.
            0xe000_ed08 => 0,
            0xe000_ed0c => 0xfa05_0000 | u32::from(system.nvic.group) << 8,
            0xe000_ed10 => system.sleep_control,
            0xe000_ed14 => system.ccr(),
            0xe000_ed18..0xe000_ed24 => {
                System::priorities(&system.nvic.system_priority, offset - 0xd18 + 4, size)
            }
            0xe000_ed24 => system.handlers(),
            0xe000_ed28..0xe000_ed2c if v7 => {
                let status = system.faults.configurable >> (8 * (address & 3));
                if size == 4 { status } else { status & ((1 << (8 * size)) - 1) }
            }
            0xe000_ed2c if v7 => system.faults.hard,
            0xe000_ed34 if v7 => system.faults.memory_address,
            0xe000_ed38 if v7 => system.faults.bus_address,
            // DFSR, of a debugger; AFSR.
            0xe000_ed30 | 0xe000_ed3c if v7 => 0,
            0xe000_ed40..0xe000_ed74 if v7 => system.identification((offset - 0xd40) / 4),
            // CLIDR, CTR, CCSIDR, CSSELR: L1 separate caches, lines of 32 bytes; 16 KB each on
            // STM32F76x, the data cache with four ways and the instruction cache with two (ARM DDI
            // 0489, 4.3; ST AN4667).
            0xe000_ed78 if m7 => 0x0900_0003,
            0xe000_ed7c if m7 => 0x8303_c003,
            0xe000_ed80 if m7 => {
                if system.cache_select & 1 == 0 {
                    0xf00f_e019
                } else {
                    0xf01f_e009
                }
            }
            0xe000_ed84 if m7 => system.cache_select,
            mpu::TYPE..mpu::END => system.mpu.read(address),
            // DHCSR: no debugger.
            0xe000_edf0 => 0,
            0xe000_edfc if v7 => system.debug.monitor,
            _ => match system.debug.read(address, now).or_else(|| self.core.fpu.read(address)) {
                Some(value) if v7 => value,
                _ => return self.unmodelled(address, "a register that is not modelled was read"),
            },
        })
    }

    /// A write on the private peripheral bus.
    pub(super) fn system_write(&mut self, address: u32, size: u8, value: u32) -> Result<(), Fault> {
        self.check_system(address, size)?;
        self.advance_systick(address);
        let now = self.cycles;
        let system = &mut self.core.system;
        let (v7, m7) = (system.v7(), system.m7());
        let offset = (address & 0xfff) as usize;
        let before = system.nvic.all_pending();
        let lines = |nvic: &Nvic, from: usize| nvic.lines(value, offset - from);
        let implemented = system.nvic.implemented;
        let mut cache = None;
        match address {
            0xe000_e008 if v7 => system.auxiliary = value,
            0xe000_e010 if system.systick.lacks_reference(value) => {
                return self.unmodelled(address, "SysTick's reference clock (CLKSOURCE 0) is not modelled");
            }
            0xe000_e010 => system.systick.write_control(value),
            0xe000_e014 => system.systick.write_reload(value),
            0xe000_e018 => system.systick.clear(),
            // Read only: the calibration, the number of interrupts, those that are active.
            0xe000_e01c => {}
            0xe000_e004 | 0xe000_e300..0xe000_e340 if v7 => {}
            0xe000_e100..0xe000_e140 => system.nvic.enabled |= lines(&system.nvic, 0x100),
            0xe000_e180..0xe000_e1c0 => system.nvic.enabled &= !lines(&system.nvic, 0x180),
            0xe000_e200..0xe000_e240 => system.nvic.pending |= lines(&system.nvic, 0x200),
            0xe000_e280..0xe000_e2c0 => system.nvic.pending &= !lines(&system.nvic, 0x280),
            0xe000_e400..0xe000_e5f0 => system.nvic.set_priorities(offset - 0x400, size, value),
            // CPUID.
            0xe000_ed00 => {}
            0xe000_ed04 => {
                let bit = |position: u32| value >> position & 1 != 0;
                let pending = &mut system.nvic.system_pending;
                *pending |=
                    u16::from(bit(31)) << NMI | u16::from(bit(28)) << PENDSV | u16::from(bit(26)) << SYSTICK;
                *pending &= !(u16::from(bit(27)) << PENDSV | u16::from(bit(25)) << SYSTICK);
            }
            0xe000_ed08 if system.has_vtor() => system.vtor = value & 0xffff_ff80,
            0xe000_ed08 => {}
            0xe000_ed0c => {
                // Without the key the write is ignored.
                if value >> 16 == 0x05fa {
                    if value & 1 != 0 {
                        return self.unmodelled(address, "a reset for debuggers (VECTRESET)");
                    }
                    // SYSRESETREQ.
                    if v7 {
                        system.nvic.group = (value >> 8 & 7) as u8;
                    }
                    if value & 4 != 0 {
                        self.bus.events.request_reset(ResetCause::Software);
                    }
                }
            }
            0xe000_ed10 => system.sleep_control = value & 0x16,
            0xe000_ed14 if v7 => {
                let writable = if m7 { CCR_WRITABLE | CCR_CACHES } else { CCR_WRITABLE };
                let before = system.configuration;
                system.configuration = value & writable;
                if m7 && (before ^ value) & CCR_CACHES != 0 {
                    cache = Some(CacheControl::Enable {
                        instruction: value >> 17 & 1 != 0,
                        data: value >> 16 & 1 != 0,
                    });
                }
            }
            0xe000_ed14 => {}
            0xe000_ed18..0xe000_ed24 => {
                let first = offset - 0xd18 + 4;
                System::set_priorities(&mut system.nvic.system_priority, first, size, value, implemented);
            }
            0xe000_ed24 => system.fault_enables = value & 0x7_0000,
            // Writing ones clears fault status.
            0xe000_ed28..0xe000_ed2c if v7 => {
                let written = if size == 4 { value } else { value & ((1 << (8 * size)) - 1) };
                system.faults.configurable &= !(written << (8 * (address & 3)));
            }
            0xe000_ed2c if v7 => system.faults.hard &= !value,
            0xe000_ed34 if v7 => system.faults.memory_address = value,
            0xe000_ed38 if v7 => system.faults.bus_address = value,
            0xe000_ed30 | 0xe000_ed3c if v7 => {}
            // Identification, and of the caches' all but the selection: read only.
            0xe000_ed40..0xe000_ed74 if v7 => {}
            0xe000_ed78..0xe000_ed84 if m7 => {}
            0xe000_ed84 if m7 => system.cache_select = value & 1,
            mpu::TYPE..mpu::END if self.core.boot_rom.is_some() && value != 0 => {
                return self.unmodelled(address, "the RP2040's MPU is not modelled");
            }
            mpu::TYPE..mpu::END => {
                system.mpu.write(address, value);
                self.protection_changed();
            }
            0xe000_edfc if v7 => system.debug.write_monitor(now, value),
            // DHCSR is a debugger's: without one the program's writes are ignored (DDI 0403E,
            // C1.6.2).
            0xe000_edf0 if v7 => {}
            0xe000_ef00 if v7 => system.nvic.pend(value & 0x1ff),
            0xe000_ef50 if m7 => cache = Some(CacheControl::InvalidateInstruction),
            0xe000_ef58 if m7 => cache = Some(CacheControl::InvalidateInstructionLine(value)),
            0xe000_ef5c if m7 => {
                cache = Some(CacheControl::DataLine { address: value, clean: false, invalidate: true });
            }
            0xe000_ef60 if m7 => {
                cache = Some(CacheControl::DataSetWay { value, clean: false, invalidate: true });
            }
            0xe000_ef64 | 0xe000_ef68 if m7 => {
                cache = Some(CacheControl::DataLine { address: value, clean: true, invalidate: false });
            }
            0xe000_ef6c if m7 => {
                cache = Some(CacheControl::DataSetWay { value, clean: true, invalidate: false });
            }
            0xe000_ef70 if m7 => {
                cache = Some(CacheControl::DataLine { address: value, clean: true, invalidate: true });
            }
            0xe000_ef74 if m7 => {
                cache = Some(CacheControl::DataSetWay { value, clean: true, invalidate: true });
            }
            0xe000_ef78 if m7 => cache = Some(CacheControl::InvalidateBranches),
            _ if v7 && self.core.fpu.write(address, value) => {}
            _ => {
                let written = if v7 { system.debug.write(address, value, now) } else { Err(NOT_MODELLED) };
                if let Err(what) = written {
                    return self.unmodelled(address, what);
                }
            }
        }
        let system = &self.core.system;
        self.core.state.event |= system.signals_pending(before);
        if let Some(control) = cache {
            self.core.extra += self.core.timing.cache(control);
        }
        self.alignment_changed();
        Ok(())
    }

    /// A write to a stimulus port of the ITM: its bytes leave by the trace port, where both are on.
    pub(super) fn write_stimulus<O: Observer>(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        observer: &mut O,
    ) {
        let port = (address - STIMULUS.start) / 4;
        if self.core.system.debug.port_enabled(port) {
            for byte in &value.to_le_bytes()[..usize::from(size)] {
                let name = format!("ITM.{port}");
                observer.uart(&name, *byte, self.cycles);
                self.bus.board.keep_sent(&name, *byte, self.cycles);
            }
        }
    }

    /// Fault of a data access that the MPU forbids. It forbids none on the private peripheral bus.
    pub(super) fn protected(&self, address: u32, wanted: Wanted) -> Option<Fault> {
        let state = &self.core.state;
        let negative = state.faultmask || matches!(state.ipsr, 2 | 3);
        let what = self.core.system.mpu.forbids(address, wanted, state.privileged(), negative)?;
        Some(Fault::Architecture { pc: state.pc, address, what })
    }

    /// The MPU was written: while it is on, no access goes past it.
    fn protection_changed(&mut self) {
        self.watch_accesses();
        let mpu = &self.core.system.mpu;
        self.core.code.bar(mpu.execute_never());
        self.core.timing.protect(mpu);
    }
}
