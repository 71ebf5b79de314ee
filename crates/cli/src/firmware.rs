//! A user's own firmware and its machine, as the commands that run it are told of them.

use clap::Args;
use lab::units;
use lab::user_firmware::{FuseByte, Loading, Setup};
use std::path::PathBuf;

/// Firmware on its machine.
#[derive(Args)]
pub(crate) struct FirmwareArgs {
    /// The ELF file; or Intel HEX, S-records, UF2 or a raw binary, which have no names
    #[arg(value_name = "FIRMWARE.elf")]
    elf: PathBuf,
    /// The target it is built for, a sister part of one such as stm32f103rb, or a target file of
    /// your own such as ./part.toml
    #[arg(long, value_name = "TARGET")]
    target: String,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Address and names of an image that does not say them.
#[derive(Args)]
pub(crate) struct LoadingArgs {
    /// Address of a raw binary's first byte, such as 0x8000000. ELF files, Intel HEX, S-records and
    /// UF2 say theirs themselves
    #[arg(long, value_name = "ADDRESS", value_parser = units::address)]
    base: Option<u32>,
    /// Names of a program that has none itself: the map of GNU ld (-Wl,-Map=FILE)
    #[arg(long, value_name = "FILE.map")]
    map: Option<PathBuf>,
}

impl LoadingArgs {
    pub(crate) fn loading(&self) -> Loading {
        Loading { base: self.base, map: self.map.clone() }
    }
}

#[derive(Args)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    loading: LoadingArgs,
    /// Load the bytes of this file at this address, too: an image that a bootloader starts,
    /// provisioned data; may be repeated
    #[arg(long, value_name = "FILE@ADDRESS", value_parser = bytes_at)]
    load: Vec<(PathBuf, u32)>,
    /// Continue past program errors whose effect on the part is known (a word at an odd address on
    /// the MSP430, a write to a protected register on the R8C, to CLKPR out of time on the AVR).
    /// Each kind is counted and reported at the end [default: stop]
    #[arg(long)]
    lenient: bool,
    /// Stop where the part faults, such as at an undefined instruction or a division by zero that
    /// it traps; otherwise the fault enters its handler, as on the part (Cortex-M), and the end
    /// says so [default: false for run, true for all else]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    stop_on_fault: Option<bool>,
    /// Back this peripheral with plain storage so that the program can continue: a name in the
    /// target's file, or addresses such as 0x50050000-0x500503ff; may be repeated. Each use is
    /// counted and reported at the end, and the figures are then estimates [default: an access
    /// without a model stops the run]
    #[arg(long, value_name = "NAME")]
    stub: Vec<String>,
    /// A fuse byte of an AVR as it was programmed, such as high=0xD8 for a program that a reset
    /// starts in the boot section; low, high or extended, and may be repeated [default: the image's
    /// own, or unprogrammed]
    #[arg(long, value_name = "BYTE=VALUE")]
    fuse: Vec<FuseByte>,
    /// Signals at the part's pins and converter: edges, waves, buttons, voltages, recordings (CSV,
    /// VCD); its page is docs/how-to/signals.md [default: open pins, 0 V]
    #[arg(long = "signal", value_name = "FILE.toml")]
    signals: Option<PathBuf>,
    /// The crystal's or external clock's frequency, such as 25MHz, from which the program makes its
    /// clock [default: the target's]
    #[arg(long, value_name = "HZ", value_parser = units::frequency)]
    crystal: Option<u64>,
    /// Run at this core clock, such as 16MHz, whatever the program sets [default: time and energy
    /// follow the clock that the program sets, from the first instruction on and wherever it
    /// changes]
    #[arg(long, value_name = "HZ", value_parser = units::frequency)]
    pub(crate) clock: Option<u64>,
    /// Supply, such as 3.3V [default: the target's]
    #[arg(long, value_name = "V", value_parser = units::volts)]
    pub(crate) supply: Option<f64>,
}

impl FirmwareArgs {
    /// This firmware on its machine.
    pub(crate) fn into_setup(self) -> Setup {
        self.machine.setup(self.elf, self.target)
    }

    /// This firmware on its machine, to be run as on the part.
    pub(crate) fn into_run_setup(self) -> Setup {
        let stop_on_fault = self.machine.stop_on_fault.unwrap_or(false);
        Setup { stop_on_fault, ..self.machine.setup(self.elf, self.target) }
    }
}

impl MachineArgs {
    /// This firmware on the machine.
    pub(crate) fn setup(&self, elf: PathBuf, target: String) -> Setup {
        Setup {
            elf,
            loading: self.loading.loading(),
            beside: self.load.clone(),
            target,
            clock_hz: self.clock,
            crystal_hz: self.crystal,
            supply_v: self.supply,
            lenient: self.lenient,
            stop_on_fault: self.stop_on_fault.unwrap_or(true),
            stubs: self.stub.clone(),
            fuses: self.fuse.clone(),
            signals: self.signals.clone(),
        }
    }
}

/// A file and an address: `image.bin@0x8020000`.
fn bytes_at(text: &str) -> Result<(PathBuf, u32), String> {
    let (path, address) =
        text.rsplit_once('@').ok_or_else(|| format!("'{text}' has no address: write FILE@ADDRESS"))?;
    Ok((path.into(), units::address(address)?))
}
