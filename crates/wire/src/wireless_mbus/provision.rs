//! The bytes that are written into a meter of ours whose telegrams others read, when it is made:
//! `device/oms/oms.h`.

use super::{FrameFormat, MeterAddress};
use crate::meter::{EEPROM_BYTES, FLASH_BYTES, put_first_numbers};
use zeroize::Zeroizing;

/// The format of what is provisioned, beside that of [`crate::meter::Provision`].
const FORMAT: u16 = 2;

/// A security profile of OMS that such a meter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityProfile {
    /// Mode 5: encrypted by AES-CBC, and authenticated by nothing.
    A,
    /// Mode 7: AES-CBC and a CMAC.
    B,
    /// Mode 10: AES-CCM.
    D,
}

impl SecurityProfile {
    /// Returns the number of its mode.
    #[must_use]
    pub fn mode(self) -> u8 {
        match self {
            SecurityProfile::A => 5,
            SecurityProfile::B => 7,
            SecurityProfile::D => 10,
        }
    }
}

/// The settings of a new meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterSetup {
    /// The address that its telegrams have.
    pub address: MeterAddress,
    /// Its security profile.
    pub profile: SecurityProfile,
    /// Its frames' format: A or B.
    pub format: FrameFormat,
    /// RFM12B: group; CC2500: CHANNR.
    pub channel: u8,
    /// Output power as the radio has it.
    pub power: u8,
    /// Seconds between telegrams, at least 1.
    pub interval_s: u16,
    /// Voltage of a step of the converter, in microvolts, as [`crate::meter::Setup`] has it.
    pub voltage_uv: u32,
    /// Current of a step, in microamperes, as there.
    pub current_ua: u32,
    /// By how much later the voltage is to be taken, as there.
    pub phase: i16,
}

impl MeterSetup {
    /// Returns the bytes for [`crate::meter::PROVISION_SYMBOL`]. key: the meter's.
    #[must_use]
    pub fn flash(&self, key: &[u8; 16]) -> Zeroizing<[u8; FLASH_BYTES]> {
        let mut flash = Zeroizing::new([0; FLASH_BYTES]);
        flash[..2].copy_from_slice(&FORMAT.to_be_bytes());
        flash[6..8].copy_from_slice(&[self.channel, self.power]);
        flash[8..10].copy_from_slice(&self.interval_s.to_be_bytes());
        flash[10..12].copy_from_slice(&[self.profile.mode(), (self.format == FrameFormat::B).into()]);
        flash[12..16].copy_from_slice(&self.voltage_uv.to_be_bytes());
        flash[16..20].copy_from_slice(&self.current_ua.to_be_bytes());
        flash[20..22].copy_from_slice(&self.phase.to_be_bytes());
        flash[22..30].copy_from_slice(&self.address.to_link());
        flash[32..48].copy_from_slice(key);
        flash
    }

    /// Returns the first contents of the non-volatile memory, which has no secret.
    #[must_use]
    pub fn eeprom() -> [u8; EEPROM_BYTES] {
        let mut image = [0xff; EEPROM_BYTES];
        put_first_numbers(&mut image);
        image
    }
}
