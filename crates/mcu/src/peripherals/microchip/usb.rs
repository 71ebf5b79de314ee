//! The USB controller and the PLL of an ATmega32U4 with nothing plugged in.
//!
//! ATmega32U4 data sheet 7766J, chapters 6 (PLL), 21 and 22. The PLL locks after the time that the
//! target file says. There is no VBUS; no reset, no frame and no suspend comes: flags stay clear.
//! An endpoint can be set up, but what would be sent or received through it is a fault. Not
//! modelled, and faults: the PLL as timer 4's clock.

use crate::clock::rescaled;
use crate::{ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, Spec};

/// PLLCSR.
const PINDIV: u8 = 0x10;
const PLLE: u8 = 0x02;
const PLOCK: u8 = 0x01;
/// PLLFRQ: PLLTM1 and PLLTM0, and PDIV after a reset.
const PLLTM: u8 = 0x30;
const PLLFRQ_RESET: u8 = 0x04;
/// USBSTA, UDCON.
const SPEED: u8 = 0x08;
const LSM: u8 = 0x04;
/// UECONX, UECFG1X, UESTA0X.
const EPEN: u8 = 0x01;
const ALLOC: u8 = 0x02;
const CFGOK: u8 = 0x80;

/// Registers from UHWCON on.
const UHWCON: u32 = 0;
const USBCON: u32 = 1;
const USBSTA: u32 = 2;
const USBINT: u32 = 3;
const UDCON: u32 = 9;
const UDINT: u32 = 10;
const UDIEN: u32 = 11;
const UDADDR: u32 = 12;
const UDFNUML: u32 = 13;
const UDMFN: u32 = 15;
const UEINTX: u32 = 17;
const UENUM: u32 = 18;
const UERST: u32 = 19;
const UECONX: u32 = 20;
const UECFG1X: u32 = 22;
const UESTA0X: u32 = 23;
const UESTA1X: u32 = 24;
const UEIENX: u32 = 25;
const UEINT: u32 = 29;
const LENGTH: u32 = 30;

/// Endpoints.
const ENDPOINTS: usize = 7;

/// The registers that keep what is written: which, their bits, their value after a reset.
const KEPT: [(u32, u8, u8); 7] = [
    (UHWCON, 0x01, 0),
    (USBCON, 0xB1, 0x20),
    (UDCON, 0x0F, 0x01),
    (UDIEN, 0x7D, 0),
    (UDADDR, 0xFF, 0),
    (UENUM, 0x07, 0),
    (UERST, 0x7F, 0),
];

/// UECONX, UECFG0X, UECFG1X and UEIENX of an endpoint.
type Endpoint = [u8; 4];

/// The controller with its PLL.
#[derive(Clone)]
pub struct Usb {
    name: String,
    base: u32,
    pllcsr: u32,
    pllfrq: u32,
    lock_us: u64,
    clock_hz: u64,
    pll: u8,
    frequency: u8,
    /// When the PLL is locked, while it is on and not locked yet.
    locked_at: Option<u64>,
    kept: [u8; KEPT.len()],
    endpoints: [Endpoint; ENDPOINTS],
}

impl Usb {
    /// UHWCON at `spec.base`. Settings: `pllcsr`, `pllfrq`, addresses; `lock_us`, the time that the
    /// PLL takes to lock.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Usb, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).copied();
            value.ok_or_else(|| format!("{}: {name} is missing", spec.name))
        };
        let mut usb = Usb {
            name: spec.name.clone(),
            base: spec.base,
            pllcsr: setting("pllcsr")? as u32,
            pllfrq: setting("pllfrq")? as u32,
            lock_us: setting("lock_us")? as u64,
            clock_hz: 1,
            pll: 0,
            frequency: 0,
            locked_at: None,
            kept: [0; KEPT.len()],
            endpoints: [[0; 4]; ENDPOINTS],
        };
        usb.reset();
        Ok(usb)
    }

    fn kept(&self, offset: u32) -> Option<u8> {
        KEPT.iter().position(|(register, ..)| *register == offset).map(|index| self.kept[index])
    }

    /// The endpoint that UENUM chooses.
    fn endpoint(&mut self) -> &mut Endpoint {
        let number = usize::from(self.kept(UENUM).unwrap_or(0)).min(ENDPOINTS - 1);
        &mut self.endpoints[number]
    }

    /// Index of an endpoint's register, by its offset.
    fn endpoint_register(offset: u32) -> Option<usize> {
        match offset {
            UECONX..=UECFG1X => Some((offset - UECONX) as usize),
            UEIENX => Some(3),
            _ => None,
        }
    }

    fn lock(&mut self, now: u64) {
        if self.locked_at.is_some_and(|at| at <= now) {
            self.locked_at = None;
            self.pll |= PLOCK;
        }
    }

    fn write_pll(&mut self, value: u8, now: u64) {
        if value & PLLE == 0 {
            self.locked_at = None;
            self.pll = value & PINDIV;
            return;
        }
        if self.pll & PLLE == 0 {
            self.locked_at = Some(now + (self.lock_us * self.clock_hz).div_ceil(1_000_000));
        }
        self.pll = value & (PINDIV | PLLE) | self.pll & PLOCK;
    }
}

impl Peripheral for Usb {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            [
                self.pllcsr..self.pllcsr + 1,
                self.pllfrq..self.pllfrq + 1,
                self.base..self.base + USBINT + 1,
                self.base + UDCON..self.base + LENGTH,
            ],
        )
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.lock(context.now);
        if address == self.pllcsr {
            return Ok(self.pll.into());
        }
        if address == self.pllfrq {
            return Ok(self.frequency.into());
        }
        let offset = address.wrapping_sub(self.base);
        if let Some(value) = self.kept(offset) {
            return Ok(value.into());
        }
        if let Some(register) = Usb::endpoint_register(offset) {
            return Ok(self.endpoint()[register].into());
        }
        let enabled = self.endpoint()[0] & EPEN != 0;
        Ok(match offset {
            USBSTA if self.kept(UDCON).is_some_and(|control| control & LSM == 0) => SPEED.into(),
            UESTA0X if self.endpoint()[2] & ALLOC != 0 => CFGOK.into(),
            USBSTA | USBINT | UDINT | UDFNUML..=UDMFN | UESTA0X | UESTA1X | UEINT => 0,
            _ if !enabled => 0,
            _ => {
                return context.refuse(&self.name, address, "transfers through an endpoint are not modelled");
            }
        })
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.lock(context.now);
        let value = value as u8;
        if address == self.pllcsr {
            self.write_pll(value, context.now);
            return Ok(());
        }
        if address == self.pllfrq {
            if value & PLLTM != 0 {
                return context.refuse(
                    &self.name,
                    address,
                    "the PLL as timer 4's clock (PLLTM) is not modelled",
                );
            }
            self.frequency = value;
            return Ok(());
        }
        let offset = address.wrapping_sub(self.base);
        if let Some(index) = KEPT.iter().position(|(register, ..)| *register == offset) {
            self.kept[index] = value & KEPT[index].1;
            return Ok(());
        }
        if let Some(register) = Usb::endpoint_register(offset) {
            self.endpoint()[register] = value;
            return Ok(());
        }
        match offset {
            // Flags are cleared by writing zeros, and none is set; the others are read-only.
            USBSTA | USBINT | UDINT | UDFNUML..=UDMFN | UEINTX | UESTA0X | UESTA1X | UEINT => Ok(()),
            _ => context.refuse(&self.name, address, "transfers through an endpoint are not modelled"),
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.locked_at = self.locked_at.map(|at| rescaled(at, now, self.clock_hz, clock_hz));
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.pll = 0;
        self.frequency = PLLFRQ_RESET;
        self.locked_at = None;
        self.kept = KEPT.map(|(_, _, after_reset)| after_reset);
        self.endpoints = [[0; 4]; ENDPOINTS];
    }
}
