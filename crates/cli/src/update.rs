//! `wattseal firmware`: images that a bootloader takes.

use ::firmware::Firmware;
use ::update::UpdateError;
use ::update::image::{self, Header};
use ::update::key::{Height, PrivateKey, PublicKey};
use ::update::loader::Status;
use ::update::serial::Port;
use clap::{Args, Subcommand, ValueEnum};
use lab::LabError;
use lab::units;
use lab::workspace::Workspace;
use output::{Answer, Bar, Failure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Commands on a firmware image.
#[derive(Subcommand)]
pub(crate) enum FirmwareCommand {
    /// Make a key pair: LMS with SHA-256 (RFC 8554), a file for the private key and FILE.pub for
    /// the bootloader
    #[command(
        after_help = "Each image uses one leaf of the key's tree up, and the file says which is next: never restore an old copy of it, \
                            and never sign with two copies.\n\nExample: wattseal firmware keygen maker.key"
    )]
    Keygen(KeygenArgs),
    /// Make an image of a linked program and sign it
    #[command(
        after_help = "Link the program for the slot that does not run: make -C device TARGET=stm32f407 APP=update SLOT=a CLOCK=16000000\n\n\
                            Example: wattseal firmware sign update.elf --target stm32f407 --version 7 --key maker.key --output update-7.img"
    )]
    Sign(SignArgs),
    /// Verify an image's signature, and show its header
    #[command(after_help = "Example: wattseal firmware verify update-7.img --key maker.key.pub")]
    Verify(VerifyArgs),
    /// Show the firmware that a bootloader at a serial port runs and takes
    #[command(after_help = "Reset the part while this waits: a bootloader listens for 0.2 s.\n\n\
                            Example: wattseal firmware status --port /dev/ttyUSB0")]
    Status(PortArgs),
    /// Send an image to the bootloader at a serial port, which verifies it and runs it on trial
    #[command(
        after_help = "Reset the part while this waits: a bootloader listens for 0.2 s. A transfer that was interrupted goes on where it was.\n\n\
                            Example: wattseal firmware send update-7.img --port /dev/ttyUSB0"
    )]
    Send(SendArgs),
}

/// Height of a key's tree.
#[derive(Clone, Copy, ValueEnum)]
enum TreeHeight {
    /// 32 images
    #[value(name = "5")]
    H5,
    /// 1,024 images
    #[value(name = "10")]
    H10,
    /// 32,768 images; a minute or so for the key and for each signature
    #[value(name = "15")]
    H15,
}

#[derive(Args)]
pub(crate) struct KeygenArgs {
    /// The private key's file, which must not be there yet
    #[arg(value_name = "FILE")]
    key: PathBuf,
    /// Height of its tree, which is how many images it signs: 2 to that power
    #[arg(long, value_name = "N", value_enum, default_value_t = TreeHeight::H10)]
    height: TreeHeight,
}

#[derive(Args)]
pub(crate) struct SignArgs {
    /// The linked program
    #[arg(value_name = "FIRMWARE.elf")]
    elf: PathBuf,
    /// The target that it is built for
    #[arg(long, value_name = "TARGET")]
    target: String,
    /// A number that is higher than that of the image before it: no version goes back
    #[arg(long, value_name = "N", value_parser = units::whole::<u32>)]
    version: u32,
    /// The private key, of wattseal firmware keygen
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// File for the image
    #[arg(long, short, value_name = "FILE.img")]
    output: PathBuf,
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// The image
    #[arg(value_name = "FILE.img")]
    image: PathBuf,
    /// The public key
    #[arg(long, value_name = "FILE.pub")]
    key: PathBuf,
}

#[derive(Args)]
pub(crate) struct PortArgs {
    /// The serial port, such as /dev/ttyUSB0
    #[arg(long, value_name = "PORT")]
    port: PathBuf,
    /// Time to wait until the part is reset, in seconds
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    wait: u64,
}

#[derive(Args)]
pub(crate) struct SendArgs {
    /// The image
    #[arg(value_name = "FILE.img")]
    image: PathBuf,
    #[command(flatten)]
    port: PortArgs,
}

impl From<TreeHeight> for Height {
    fn from(height: TreeHeight) -> Height {
        match height {
            TreeHeight::H5 => Height::H5,
            TreeHeight::H10 => Height::H10,
            TreeHeight::H15 => Height::H15,
        }
    }
}

/// Does what was asked for. `project` is looked for where a target is named.
pub(crate) fn perform(
    command: FirmwareCommand,
    project: impl FnOnce() -> Result<Workspace, LabError>,
) -> Result<Answer, Failure> {
    let ended = match command {
        FirmwareCommand::Keygen(args) => keygen(&args),
        FirmwareCommand::Sign(args) => {
            let program = project().and_then(|workspace| program(&workspace, &args));
            let (start, program) = program.map_err(|error| Failure::new(&error, error.is_usage()))?;
            sign(&args, start, &program)
        }
        FirmwareCommand::Verify(args) => verify(&args),
        FirmwareCommand::Status(args) => status(&args),
        FirmwareCommand::Send(args) => send(&args),
    };
    ended.map_err(|error| Failure::new(&error, error.is_usage()))
}

fn answer(data: String, remark: String) -> Answer {
    Answer { data, remark, success: true }
}

fn read(path: &Path) -> Result<Vec<u8>, UpdateError> {
    fs::read(path).map_err(|error| UpdateError::File { path: path.into(), error })
}

fn keygen(args: &KeygenArgs) -> Result<Answer, UpdateError> {
    let height = Height::from(args.height);
    let (key, _) = PrivateKey::generate(&args.key, height)?;
    let remark = format!(
        "wattseal: {} signs {} images; build the bootloader with BOOT_KEY={}",
        args.key.display(),
        height.images(),
        key.public_path().display()
    );
    Ok(answer(String::new(), remark))
}

/// The program's first address and its bytes.
fn program(workspace: &Workspace, args: &SignArgs) -> Result<(u32, Vec<u8>), LabError> {
    let target = workspace.target(&args.target)?;
    let firmware = Firmware::read(&args.elf, target.part.core)?;
    let segments =
        firmware.image().segments.iter().map(|segment| (segment.address, segment.bytes.as_slice()));
    image::program(segments)
        .map_err(|error| LabError::BadFile { path: args.elf.clone(), problem: error.to_string() })
}

fn sign(args: &SignArgs, start: u32, program: &[u8]) -> Result<Answer, UpdateError> {
    let key = PrivateKey::at(&args.key);
    let mut image = image::pack(&args.target, args.version, start, program, key.signature_bytes()?)?;
    let (signature, left) = key.sign(&image)?;
    image.extend_from_slice(&signature);
    fs::write(&args.output, &image)
        .map_err(|error| UpdateError::File { path: args.output.clone(), error })?;
    let remark = format!(
        "wattseal: {}: version {}, {} bytes for {:#010x}; the key signs {left} more images",
        args.output.display(),
        args.version,
        image.len(),
        start - image::HEADER_BYTES
    );
    Ok(answer(String::new(), remark))
}

fn verify(args: &VerifyArgs) -> Result<Answer, UpdateError> {
    let Header { target, version, address, length, signature, .. } =
        image::verify(&read(&args.image)?, &PublicKey::read(&args.key)?)?;
    let said = format!(
        "target   {target}\nversion  {version}\naddress  {address:#010x}\nbytes    {}\n",
        length + signature
    );
    Ok(answer(said, "wattseal: the signature is good".into()))
}

fn status(args: &PortArgs) -> Result<Answer, UpdateError> {
    let Status { target, free, address, bytes, confirmed, trial, floor, received } =
        Port::open(&args.port)?.status(Duration::from_secs(args.wait))?;
    let name = |slot: u8| if slot == 0 { "A" } else { "B" };
    let runs = confirmed.map_or("nothing", name);
    let trial = trial.map_or("none".into(), |(slot, starts)| format!("{}, {starts} starts left", name(slot)));
    let said = format!(
        "target     {target}\nconfirmed  {runs}\ntrial      {trial}\nfloor      {floor}\ntakes      slot {}: {address:#010x}, {bytes} bytes\n\
         received   {} of {} bytes\n",
        name(free),
        received.0,
        received.1
    );
    Ok(answer(said, String::new()))
}

fn send(args: &SendArgs) -> Result<Answer, UpdateError> {
    let image = read(&args.image)?;
    if Header::read(&image).is_none() {
        return Err(UpdateError::BadFile {
            path: args.image.clone(),
            problem: "no signed image, or not all of one; make one with wattseal firmware sign".into(),
        });
    }
    let mut port = Port::open(&args.port.port)?;
    port.status(Duration::from_secs(args.port.wait))?;
    let bar = Bar::new();
    port.transfer(&image, |there, all| bar.report(there as u64, all as u64, "sent"))?;
    Ok(answer(
        String::new(),
        "wattseal: the image is there, verified, and runs on trial: it has three starts to report in".into(),
    ))
}
