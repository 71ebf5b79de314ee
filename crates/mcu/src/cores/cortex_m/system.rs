//! State behind the private peripheral bus: SysTick, NVIC, system control block, MPU, debug units.
//!
//! Sources: DDI 0403E, B3 and C1; DDI 0419E, B3.

pub(super) mod debug;

use self::debug::Debug;
use super::fault_status::FaultStatus;
use super::mpu::Mpu;
use super::nvic::{BUS_FAULT, MEM_MANAGE, NMI, Nvic, PENDSV, Pending, SVCALL, SYSTICK, USAGE_FAULT};
use super::registers::State;
use super::systick::SysTick;
use crate::{CoreName, CoreOptions};

/// The registers of the system control space, as far as they are state.
#[derive(Clone, Debug)]
pub(super) struct System {
    core: CoreName,
    pub options: CoreOptions,
    boot: u32,
    pub nvic: Nvic,
    pub systick: SysTick,
    /// Base of the vector table.
    pub vtor: u32,
    /// SCR.
    pub sleep_control: u32,
    /// CCR, the bits that can be written.
    pub configuration: u32,
    /// ACTLR, SHCSR and CSSELR do nothing here and are kept for reading back.
    pub auxiliary: u32,
    pub fault_enables: u32,
    pub cache_select: u32,
    /// CFSR, HFSR, MMFAR and BFAR.
    pub faults: FaultStatus,
    pub debug: Debug,
    pub mpu: Mpu,
}

/// Refusal of a write to a register without a model.
pub(super) const NOT_MODELLED: &str = "a register that is not modelled was written";

/// CCR: UNALIGN_TRP, DIV_0_TRP, STKALIGN.
const UNALIGN_TRP: u32 = 1 << 3;
const DIV_0_TRP: u32 = 1 << 4;
const STKALIGN: u32 = 1 << 9;

impl System {
    pub fn new(core: CoreName, options: CoreOptions, boot: u32) -> System {
        System {
            core,
            boot,
            nvic: Nvic::new(options.interrupts, options.priority_bits),
            systick: SysTick::new(options.systick_calibration, options.systick_divider),
            vtor: boot,
            sleep_control: 0,
            configuration: STKALIGN,
            auxiliary: 0,
            fault_enables: 0,
            cache_select: 0,
            faults: FaultStatus::default(),
            debug: Debug::new(core == CoreName::CortexM7, &options),
            mpu: Mpu::new(options.mpu_regions),
            options,
        }
    }

    pub fn reset(&mut self) {
        *self = System::new(self.core, self.options.clone(), self.boot);
    }

    pub fn v7(&self) -> bool {
        !matches!(self.core, CoreName::CortexM0 | CoreName::CortexM0Plus)
    }

    /// Returns true if VTOR can be written.
    pub fn has_vtor(&self) -> bool {
        self.core != CoreName::CortexM0
    }

    pub fn m7(&self) -> bool {
        self.core == CoreName::CortexM7
    }

    /// SCR.SLEEPONEXIT.
    pub fn sleep_on_exit(&self) -> bool {
        self.sleep_control & 2 != 0
    }

    /// SCR.SLEEPDEEP: whether that is stop, standby or another mode is the part's power control's
    /// to say.
    pub fn sleep_deep(&self) -> bool {
        self.sleep_control & 4 != 0
    }

    /// SCR.SEVONPEND.
    pub fn sev_on_pend(&self) -> bool {
        self.sleep_control & 16 != 0
    }

    /// Returns true if an exception that has become pending since `before` is an event by
    /// SCR.SEVONPEND. It may be enabled or not, and come from a line, the program or the system
    /// timer (DDI 0403E, B1.5.18; DDI 0419E, B1.5.18).
    pub fn signals_pending(&self, before: Pending) -> bool {
        let (interrupts, system) = self.nvic.all_pending();
        self.sev_on_pend() && (interrupts & !before.0 != 0 || system & !before.1 != 0)
    }

    /// Returns true if a fault's own exception is taken: it is enabled in SHCSR and urgent enough.
    pub fn takes_fault(&self, exception: u16, state: &State) -> bool {
        let enabled = match exception {
            MEM_MANAGE..=USAGE_FAULT => self.fault_enables >> (16 + exception - MEM_MANAGE) & 1 != 0,
            _ => false,
        };
        enabled && self.nvic.takes(exception, state)
    }

    /// CCR.UNALIGN_TRP.
    pub fn unaligned_traps(&self) -> bool {
        self.configuration & UNALIGN_TRP != 0
    }

    /// CCR.DIV_0_TRP.
    pub fn divide_by_zero_traps(&self) -> bool {
        self.configuration & DIV_0_TRP != 0
    }

    /// CCR.STKALIGN.
    pub fn stack_aligned(&self) -> bool {
        self.configuration & STKALIGN != 0
    }

    pub fn ccr(&self) -> u32 {
        match self.core {
            // Fixed: STKALIGN and UNALIGN_TRP.
            CoreName::CortexM0 | CoreName::CortexM0Plus => STKALIGN | UNALIGN_TRP,
            // Branch prediction cannot be turned off.
            CoreName::CortexM7 => self.configuration | 1 << 18,
            _ => self.configuration,
        }
    }

    /// ID_PFR0 to ID_ISAR4, from their word `index` on: DDI 0337E, table 4-1 (Cortex-M3 r1p1); DDI
    /// 0439D, table 4-1 (Cortex-M4); DDI 0489D, table 3-2 (Cortex-M7).
    pub fn identification(&self, index: usize) -> u32 {
        const M3: [u32; 13] = [
            0x30,
            0x200,
            0x0010_0000,
            0,
            0x30,
            0,
            0,
            0,
            0x0114_1110,
            0x0211_1000,
            0x2111_2231,
            0x0111_1110,
            0x0131_0102,
        ];
        const M4: [u32; 13] = [
            0x30,
            0x200,
            0x0010_0000,
            0,
            0x30,
            0,
            0x0100_0000,
            0,
            0x0110_1110,
            0x0211_2000,
            0x2123_2231,
            0x0111_1131,
            0x0131_0132,
        ];
        const M7: [u32; 13] = [
            0x30,
            0x200,
            0x0010_0000,
            0,
            0x0010_0030,
            0,
            0x0100_0000,
            0,
            0x0110_1110,
            0x0211_2000,
            0x2023_2231,
            0x0111_1131,
            0x0131_0132,
        ];
        match self.core {
            CoreName::CortexM3 => M3[index],
            CoreName::CortexM7 => M7[index],
            _ => M4[index],
        }
    }

    /// ICSR.
    pub fn interrupt_state(&self, active: u16) -> u32 {
        let system = u32::from(self.nvic.system_pending);
        let pending = self.nvic.first_pending().unwrap_or(0);
        let base = self.nvic.active.len() <= 1;
        (system >> NMI & 1) << 31
            | (system >> PENDSV & 1) << 28
            | (system >> SYSTICK & 1) << 26
            | u32::from(self.nvic.pending != 0) << 22
            | u32::from(pending) << 12
            | u32::from(base && self.v7()) << 11
            | u32::from(active)
    }

    /// SHCSR: what is active and pending of the system exceptions that are modelled.
    pub fn handlers(&self) -> u32 {
        let active = |exception: u16| u32::from(self.nvic.active.contains(&exception));
        let pending = u32::from(self.nvic.system_pending);
        self.fault_enables
            | active(MEM_MANAGE)
            | active(BUS_FAULT) << 1
            | active(USAGE_FAULT) << 3
            | active(SVCALL) << 7
            | active(PENDSV) << 10
            | active(SYSTICK) << 11
            | (pending >> SVCALL & 1) << 15
    }

    /// Four priorities from `first` on, as NVIC_IPR and SHPR have them.
    pub fn priorities(bytes: &[u8], first: usize, size: u8) -> u32 {
        (0..usize::from(size)).fold(0, |word, at| word | u32::from(bytes[first + at]) << (8 * at))
    }

    pub fn set_priorities(bytes: &mut [u8], first: usize, size: u8, value: u32, implemented: u8) {
        for at in 0..usize::from(size) {
            bytes[first + at] = (value >> (8 * at)) as u8 & implemented;
        }
    }
}
