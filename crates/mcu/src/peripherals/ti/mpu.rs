//! Memory protection unit of the MSP430FR5xx.
//!
//! It protects three segments of the main memory, and the information memory, from writes.
//!
//! Source: SLAU367, chapter "Memory Protection Unit (MPU)"; addresses, bits and vector numbers
//! compared with TI's header msp430fr5994.h. A write into a segment without `MPUSEGxWE` is left out
//! and sets `MPUSEGxIFG`, with `MPUSEGIE` the system NMI, of which `SYSSNIV` tells. `MPULOCK` holds
//! until a brown-out reset. Not modelled and refused with a fault: segments that cannot be executed
//! or read, violations that reset the part (`MPUSEGxVS`), the encapsulation of intellectual
//! property.

use super::word::{Word, part_of};
use crate::{
    Context, Event, Fault, Peripheral, PeripheralSpec, Protected, ProtectedMemory, ResetCause, Spec,
};
use std::ops::Range;

const MPUCTL0: u32 = 0x00;
const MPUCTL1: u32 = 0x02;
const MPUSEGB2: u32 = 0x04;
const MPUSEGB1: u32 = 0x06;
const MPUSAM: u32 = 0x08;
const MPUIPC0: u32 = 0x0a;
const END: u32 = 0x10;
const PASSWORD_READ: u32 = 0x9600;
const PASSWORD_WRITE: u32 = 0xa5;
/// MPUCTL0.
const MPUENA: u32 = 1 << 0;
const MPULOCK: u32 = 1 << 1;
const MPUSEGIE: u32 = 1 << 4;
/// MPUSAM, four bits for each of segments 1 to 3 and the information memory: reads, writes,
/// execution, a reset by violations.
const RE: u32 = 1;
const WE: u32 = 2;
const XE: u32 = 4;
const VS: u32 = 8;
/// Borders end at 1 KB.
const BORDER: u32 = 0xffc0;
/// The system NMI, and its vector generator: segment 1 is 0x0c, the next two behind it, the
/// information memory 0x0a.
const SYSNMI: u8 = 62;
const SYSSNIV: Range<u32> = 0x19c..0x19e;
const NUMBERS: [u32; 4] = [0x0c, 0x0e, 0x10, 0x0a];
const INFORMATION: usize = 3;

/// The unit.
#[derive(Clone)]
pub struct Mpu {
    name: String,
    base: u32,
    /// The main memory, and the information memory.
    main: Range<u32>,
    information: Range<u32>,
    unlocked: bool,
    control: u32,
    /// MPUSEG1IFG to MPUSEG3IFG and MPUSEGIIFG.
    flags: u32,
    /// MPUSEGB1, MPUSEGB2.
    borders: [u32; 2],
    access: u32,
}

impl Mpu {
    /// The unit with its registers from `spec.base` on. Settings: `main_base`, `main_size`,
    /// `information_base`, `information_size`.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Mpu, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().and_then(|value| u32::try_from(value).ok());
            value.filter(|value| *value <= 0x10_0000).ok_or_else(|| format!("{} needs {key}", spec.name))
        };
        let range = |name: &str| -> Result<Range<u32>, String> {
            let base = setting(&format!("{name}_base"))?;
            Ok(base..base + setting(&format!("{name}_size"))?)
        };
        let mut mpu = Mpu {
            name: spec.name.clone(),
            base: spec.base,
            main: range("main")?,
            information: range("information")?,
            unlocked: false,
            control: 0,
            flags: 0,
            borders: [0; 2],
            access: 0,
        };
        mpu.reset();
        Ok(mpu)
    }

    /// The segments, the information memory last.
    fn segments(&self) -> [Range<u32>; 4] {
        let [first, second] = self.borders.map(|border| (border << 4).clamp(self.main.start, self.main.end));
        let second = second.max(first);
        [self.main.start..first, first..second, second..self.main.end, self.information.clone()]
    }

    /// Says what cannot be written.
    ///
    /// # Errors
    /// A segment that is protected otherwise, too.
    fn protect(&self, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let mut protected = Vec::new();
        for (index, range) in self.segments().into_iter().enumerate() {
            let access = self.access >> (4 * index);
            if self.control & MPUENA == 0 || range.is_empty() {
                continue;
            }
            if index != INFORMATION && access & XE == 0 || access & (RE | WE | XE) == 0 {
                return Err("a segment that cannot be executed (MPUSEGxXE) or read is not modelled");
            }
            if access & WE == 0 {
                protected.push(ProtectedMemory { range, segment: index as u8, resets: access & VS != 0 });
            }
        }
        context.events.protected = protected;
        Ok(())
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.control & MPUSEGIE != 0 && self.flags != 0 {
            context.request(SYSNMI);
        } else {
            context.withdraw(SYSNMI);
        }
    }

    /// Reads SYSSNIV, which clears the flag that it tells of.
    fn vector(&mut self) -> u32 {
        if self.flags == 0 || self.control & MPUSEGIE == 0 {
            return 0;
        }
        // The information memory's comes first.
        let first = if self.flags >> INFORMATION & 1 == 1 {
            INFORMATION
        } else {
            self.flags.trailing_zeros() as usize
        };
        self.flags &= !(1 << first);
        NUMBERS[first]
    }

    fn write_register(
        &mut self,
        offset: u32,
        write: &Word,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        if offset == MPUCTL0 && write.mask & 0xff00 != 0 {
            // Any other value in the upper byte alone locks the registers.
            self.unlocked = write.bits >> 8 == PASSWORD_WRITE;
            if write.mask == 0xffff && !self.unlocked {
                context.events.request_reset(ResetCause::Password(Protected::Mpu));
                return Ok(());
            }
        }
        if offset == MPUCTL1 {
            self.flags = write.onto(self.flags) & self.flags;
            self.update(context);
            return Ok(());
        }
        if offset == MPUCTL0 && write.mask & 0xff == 0 {
            return Ok(());
        }
        if !self.unlocked {
            return Err("the registers are locked: MPUCTL0_H must hold 0xa5");
        }
        if self.control & MPULOCK != 0 {
            return Err("the registers are locked until a brown-out reset (MPULOCK)");
        }
        match offset {
            MPUCTL0 => self.control = write.onto(self.control) & (MPUENA | MPULOCK | MPUSEGIE),
            MPUSEGB2 => self.borders[1] = write.onto(self.borders[1]) & BORDER,
            MPUSEGB1 => self.borders[0] = write.onto(self.borders[0]) & BORDER,
            MPUSAM => self.access = write.onto(self.access) & 0xffff,
            MPUIPC0.. if write.onto(0) != 0 => {
                return Err("the encapsulation of intellectual property is not modelled");
            }
            _ => {}
        }
        self.protect(context)?;
        self.update(context);
        Ok(())
    }
}

impl Peripheral for Mpu {
    fn spec(&self) -> Spec {
        Spec::with_ranges(&self.name, [SYSSNIV, self.base..self.base + END])
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match address & !1 {
            address if SYSSNIV.contains(&address) => self.vector(),
            address => match address - self.base {
                MPUCTL0 => PASSWORD_READ | self.control,
                MPUCTL1 => self.flags,
                MPUSEGB2 => self.borders[1],
                MPUSEGB1 => self.borders[0],
                MPUSAM => self.access,
                _ => 0,
            },
        };
        self.update(context);
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if SYSSNIV.contains(&address) {
            self.vector();
            self.update(context);
            return Ok(());
        }
        let write = Word::new(address, size, value);
        self.write_register((address - self.base) & !1, &write, context)
            .map_err(|what| context.fault(&self.name, address, what))
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged)
            && let Some(segment) = context.events.take_violation()
        {
            self.flags |= 1 << segment;
            self.update(context);
        }
    }

    fn reset(&mut self) {
        self.unlocked = false;
        (self.control, self.flags) = (0, 0);
        self.borders = [0; 2];
        self.access = 0x7777;
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        let flags = self.flags;
        self.reset();
        // "Reset by BOR": other resets leave the flags.
        if !matches!(cause, ResetCause::PowerOn | ResetCause::BrownOut) {
            self.flags = flags;
        }
    }
}
