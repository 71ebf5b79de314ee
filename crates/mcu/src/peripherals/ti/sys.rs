//! The reset vector generator of the MSP430F5xx: why the part began anew.
//!
//! Source: SLAU208, chapter "System Resets, Interrupts, and Operating Modes", `SYSRSTIV`; the
//! numbers of the causes compared with public headers for the family. The first look after a reset
//! says its cause (brown-out at power-up, as on the part), later ones nothing. A software reset is
//! taken to be that of `PMMSWBOR`.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Protected, ResetCause, Spec};

/// `SYSRSTIV_BOR`, `SYSRSTIV_RSTNMI`, `SYSRSTIV_DOBOR`, `SYSRSTIV_SVSH`, `SYSRSTIV_WDTTO`.
const SYSRSTIV_BOR: u32 = 0x02;
const SYSRSTIV_RSTNMI: u32 = 0x04;
const SYSRSTIV_DOBOR: u32 = 0x06;
const SYSRSTIV_SVSH: u32 = 0x0e;
const SYSRSTIV_WDTTO: u32 = 0x16;

/// The numbers of writes without a password: `SYSRSTIV_WDTKEY`, `SYSRSTIV_KEYV`, `SYSRSTIV_PMMKEY`;
/// on the MSP430FR5xx `SYSRSTIV_WDTPW`, `SYSRSTIV_FRCTLPW`, `SYSRSTIV_PMMPW`, `SYSRSTIV_MPUPW`,
/// `SYSRSTIV_CSPW`.
fn password(protected: Protected) -> u32 {
    match protected {
        Protected::Watchdog => 0x18,
        Protected::Flash => 0x1a,
        Protected::Power => 0x20,
        Protected::Mpu => 0x22,
        Protected::Clocks => 0x24,
    }
}

/// `SYSRSTIV`.
#[derive(Clone)]
pub struct Sys {
    name: String,
    base: u32,
    cause: u32,
}

impl Sys {
    /// `SYSRSTIV` at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Sys {
        Sys { name: spec.name.clone(), base: spec.base, cause: SYSRSTIV_BOR }
    }
}

impl Peripheral for Sys {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 2)
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let cause = std::mem::take(&mut self.cause);
        Ok(if size == 2 { cause } else { cause >> (8 * (address & 1)) & 0xff })
    }

    fn write(&mut self, _: u32, _: u8, _: u32, _: &mut Context<'_, '_>) -> Result<(), Fault> {
        self.cause = 0;
        Ok(())
    }

    fn reset(&mut self) {
        self.cause = SYSRSTIV_BOR;
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        self.cause = match cause {
            ResetCause::PowerOn => SYSRSTIV_BOR,
            ResetCause::External => SYSRSTIV_RSTNMI,
            ResetCause::BrownOut => SYSRSTIV_SVSH,
            ResetCause::Watchdog | ResetCause::WindowWatchdog => SYSRSTIV_WDTTO,
            ResetCause::Software | ResetCause::OptionBytes => SYSRSTIV_DOBOR,
            ResetCause::Password(protected) => password(protected),
        };
    }
}
