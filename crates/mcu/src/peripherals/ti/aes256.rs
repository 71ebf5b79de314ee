//! The AES256 accelerator of the MSP430FR5xx: encryption of a block with a key of 128, 192 or 256
//! bits.
//!
//! Source: SLAU367, chapter "AES256 Accelerator"; registers and bits compared with TI's header
//! msp430fr5994.h, the cycles of an encryption with SLAU367P, table 21-1, as drivers quote it. An
//! encryption starts once key and data are written, and counts from the last write. Refused are
//! decryption and round keys, whose cycles could not be compared, the cipher modes (AESCMEN) with
//! their DMA triggers, the interrupt (AESRDYIE), AESTRIG, the XORed data registers, flags that
//! software sets in AESASTAT, and bytes. A key that is written while the module is busy sets
//! AESERRFG and resets the module.

use super::word::part_of;
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};
use aes::cipher::{BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256 as Aes256Cipher, Block};

const AESACTL0: u32 = 0x00;
const AESASTAT: u32 = 0x04;
const AESAKEY: u32 = 0x06;
const AESADIN: u32 = 0x08;
const AESADOUT: u32 = 0x0a;
const END: u32 = 0x10;

/// AESACTL0.
const AESOP: u32 = 3;
const AESKL: u32 = 3 << 2;
const AESSWRST: u32 = 1 << 7;
const AESRDYIFG: u32 = 1 << 8;
const AESERRFG: u32 = 1 << 11;
/// AESTRIG, AESCMx, AESRDYIE and AESCMEN.
const REFUSED: u32 = 1 << 4 | 3 << 5 | 1 << 12 | 1 << 15;

/// AESASTAT.
const AESBUSY: u32 = 1 << 0;
const AESKEYWR: u32 = 1 << 1;
const AESDINWR: u32 = 1 << 2;
const AESDOUTRD: u32 = 1 << 3;
const AESKEYCNT: u32 = 4;
const AESDINCNT: u32 = 8;
const AESDOUTCNT: u32 = 12;

const BLOCK: usize = 16;
/// MCLK cycles of an encryption, by AESKLx.
const ENCRYPTION: [u64; 3] = [168, 204, 234];
/// Bytes of a key, by AESKLx.
const KEY_BYTES: [usize; 3] = [16, 24, 32];

/// The registers.
#[derive(Clone)]
pub struct Aes256 {
    name: String,
    base: u32,
    /// AESOPx, AESKLx and the two flags.
    control: u32,
    key: Vec<u8>,
    data: Vec<u8>,
    output: [u8; BLOCK],
    /// Bytes of the output that were read.
    read_bytes: usize,
    /// The cycle at which the output is there, while it works.
    ready_at: Option<u64>,
}

impl Aes256 {
    /// The accelerator with its registers from `spec.base` on.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Aes256 {
        Aes256 {
            name: spec.name.clone(),
            base: spec.base,
            control: 0,
            key: Vec::new(),
            data: Vec::new(),
            output: [0; BLOCK],
            read_bytes: 0,
            ready_at: None,
        }
    }

    fn key_length(&self) -> usize {
        (self.control & AESKL) as usize >> 2
    }

    fn is_key_written(&self) -> bool {
        self.key.len() == KEY_BYTES[self.key_length()]
    }

    fn is_busy(&self) -> bool {
        self.ready_at.is_some()
    }

    fn update_until(&mut self, now: u64) {
        if self.ready_at.is_some_and(|at| at <= now) {
            self.ready_at = None;
            self.control |= AESRDYIFG;
        }
    }

    /// Drops key, data and output, and ends an encryption under way.
    fn clear(&mut self) {
        self.key.clear();
        self.data.clear();
        self.output = [0; BLOCK];
        self.read_bytes = 0;
        self.ready_at = None;
    }

    /// Starts an encryption if key and data are there.
    fn start(&mut self, now: u64) {
        let Some(data) = self.data.first_chunk::<BLOCK>().filter(|_| self.is_key_written()) else { return };
        let mut block = Block::from(*data);
        match self.key_length() {
            0 => encrypt::<Aes128>(&self.key, &mut block),
            1 => encrypt::<Aes192>(&self.key, &mut block),
            _ => encrypt::<Aes256Cipher>(&self.key, &mut block),
        }
        self.output = block.into();
        self.data.clear();
        self.read_bytes = 0;
        self.ready_at = Some(now + ENCRYPTION[self.key_length()]);
    }

    fn status(&self) -> u32 {
        let flag = |bit: u32, is_set: bool| if is_set { bit } else { 0 };
        let key_unit = if self.key_length() == 0 { 1 } else { 2 };
        let key_count = if self.is_key_written() { 0 } else { self.key.len() / key_unit };
        flag(AESBUSY, self.is_busy())
            | flag(AESKEYWR, self.is_key_written())
            | flag(AESDINWR, self.data.len() == BLOCK)
            | flag(AESDOUTRD, self.read_bytes == BLOCK)
            | (key_count as u32 & 15) << AESKEYCNT
            | (self.data.len() as u32 & 15) << AESDINCNT
            | (self.read_bytes as u32 & 15) << AESDOUTCNT
    }

    fn write_control(&mut self, value: u32) -> Result<(), &'static str> {
        if value & AESSWRST != 0 {
            self.clear();
            self.control &= AESOP | AESKL;
        }
        match () {
            () if value & REFUSED != 0 => Err("cipher modes, AESTRIG and the interrupt are not modelled"),
            () if value & AESOP != 0 => Err("decryption and round keys are not modelled"),
            () if value & AESKL == AESKL => Err("AESKLx 3 is reserved"),
            () if self.is_busy() => Err("AESACTL0 must not be written while the module is busy"),
            () => {
                if (value ^ self.control) & AESKL != 0 {
                    self.clear();
                }
                self.control = value & (AESKL | AESRDYIFG | AESERRFG);
                Ok(())
            }
        }
    }

    /// Takes a word of a key or of data; false if the module is busy.
    fn take(&mut self, value: u32) -> bool {
        if self.is_busy() {
            self.clear();
            self.control |= AESERRFG;
            return false;
        }
        self.control &= !AESRDYIFG;
        value <= 0xffff
    }
}

fn encrypt<C: BlockEncrypt + KeyInit + aes::cipher::BlockSizeUser<BlockSize = aes::cipher::consts::U16>>(
    key: &[u8],
    block: &mut Block,
) {
    // Its length is that of AESKLx.
    if let Ok(cipher) = C::new_from_slice(key) {
        cipher.encrypt_block(block);
    }
}

impl Peripheral for Aes256 {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.update_until(context.now);
        let word = match (address - self.base) & !1 {
            AESACTL0 => self.control,
            AESASTAT => self.status(),
            AESADOUT if size < 2 => {
                return context.refuse(&self.name, address, "bytes of AESADOUT are not modelled");
            }
            AESADOUT if self.is_busy() => {
                return context.refuse(&self.name, address, "AESADOUT was read while the module is busy");
            }
            AESADOUT => {
                self.control &= !AESRDYIFG;
                let at = self.read_bytes % BLOCK;
                self.read_bytes = at + 2;
                u32::from(u16::from_le_bytes([self.output[at], self.output[at + 1]]))
            }
            // AESAKEY, AESADIN and the two below are written only, and read as zero.
            _ => 0,
        };
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.update_until(context.now);
        if size < 2 {
            return context.refuse(&self.name, address, "bytes are not modelled");
        }
        match address - self.base {
            AESACTL0 => {
                self.write_control(value).map_err(|what| context.fault(&self.name, address, what))?;
            }
            AESAKEY => {
                if self.take(value) {
                    if self.is_key_written() {
                        self.key.clear();
                    }
                    self.key.extend((value as u16).to_le_bytes());
                    self.start(context.now);
                }
            }
            AESADIN => {
                if self.take(value) {
                    if self.data.len() == BLOCK {
                        self.data.clear();
                    }
                    self.data.extend((value as u16).to_le_bytes());
                    self.start(context.now);
                }
            }
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.control = 0;
        self.clear();
    }
}
