//! The images for the maker of a meter.

use super::RegistryError;
use super::file::{make_folder, write_secret};
use crate::network::{GlobalMeterId, NetworkId};
use ihex::Record;
use std::path::{Path, PathBuf};
use wire::meter::{EEPROM_BYTES, FLASH_BYTES, Provision};
use zeroize::Zeroizing;

/// The files for who makes a meter. They have its private key: delete them when it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// 176 bytes for the flash, at the symbol `ws_provision`.
    pub flash: PathBuf,
    /// 1024 bytes for the EEPROM.
    pub eeprom: PathBuf,
    /// The same as the EEPROM's in Intel hex, as avrdude takes it: `avrdude -p m328p -U
    /// eeprom:w:00258.eep:i`.
    pub eeprom_hex: PathBuf,
    /// The note for the maker: these are for one writing.
    pub note: PathBuf,
}

impl Images {
    /// Writes those of a meter of a network.
    pub(super) fn write(
        folder: &Path,
        network: NetworkId,
        provision: &Provision,
        epoch: u32,
    ) -> Result<Images, RegistryError> {
        let meter = network.meter(provision.setup().meter);
        let (flash, eeprom) = (provision.flash(), provision.eeprom());
        Images::put(folder, &file_name(meter), &flash, &eeprom, &note(meter, epoch))
    }

    /// Writes them into a folder, readable by the owner only. It is made where there is none. file:
    /// what their names begin with.
    pub(super) fn put(
        folder: &Path,
        file: &str,
        flash: &[u8; FLASH_BYTES],
        eeprom: &[u8; EEPROM_BYTES],
        note: &str,
    ) -> Result<Images, RegistryError> {
        make_folder(folder)?;
        let path = |ending: &str| folder.join(format!("{file}.{ending}"));
        let images = Images {
            flash: path("flash.bin"),
            eeprom: path("eeprom.bin"),
            eeprom_hex: path("eep"),
            note: path("txt"),
        };
        write_secret(&images.flash, flash)?;
        write_secret(&images.eeprom, &eeprom[..])?;
        let hex = intel_hex(&eeprom[..]).map_err(|problem| RegistryError::Bad {
            path: images.eeprom_hex.clone(),
            problem: format!("it cannot be written as Intel hex: {problem}"),
        })?;
        write_secret(&images.eeprom_hex, hex.as_bytes())?;
        write_secret(&images.note, note.as_bytes())?;
        Ok(images)
    }
}

/// `00258`, or `7-00258`.
fn file_name(meter: GlobalMeterId) -> String {
    let number = format!("{:05}", meter.meter);
    meter.network.named().map_or(number.clone(), |network| format!("{network}-{number}"))
}

fn note(meter: GlobalMeterId, epoch: u32) -> String {
    let file = file_name(meter);
    format!(
        "Meter {meter}, provisioning {epoch}.\n\n\
         Write {file}.flash.bin and {file}.eep (or .eeprom.bin) ONCE, into one meter, then delete them: the meter's private key is in \
         them.\n\
         Written a second time, or into a second meter, the EEPROM image makes the meter use numbers twice, which gives away the key that \
         authenticates its readings. The collector raises the alert number-reused then. A meter that has to be written again needs new \
         images of both: wattseal meters rotate {meter}\n"
    )
}

/// Intel hex from address 0 on, 16 bytes a line. At most 64 kB.
fn intel_hex(bytes: &[u8]) -> Result<Zeroizing<String>, String> {
    let lines = bytes.chunks(16).zip((0u16..).step_by(16));
    let mut records: Vec<Record> =
        lines.map(|(line, offset)| Record::Data { offset, value: line.to_vec() }).collect();
    records.push(Record::EndOfFile);
    ihex::create_object_file_representation(&records).map(Zeroizing::new).map_err(|error| error.to_string())
}
