//! AES electronic codebook mode encryption (ECB): a block with a key of 128 bits, out of RAM and
//! into it. PS, "ECB".

use super::block::Block;
use super::core_clock::CORE_HZ;
use crate::peripherals::register::Register;
use crate::{ClockUpdate, Context, Dma, Event, Fault, Peripheral, PeripheralSpec, Spec};
use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};

const STARTECB: u32 = 0x000;
const STOPECB: u32 = 0x004;
/// Events, by their bits.
const ENDECB: u32 = 1 << 0;
const ERRORECB: u32 = 1 << 1;
const ECBDATAPTR: u32 = 0x504;
/// The register that keeps what is written.
const MAP: &[Register] = &[Register::new(ECBDATAPTR, u32::MAX)];

/// At ECBDATAPTR: key, cleartext, ciphertext.
const BLOCK: usize = 16;
const CIPHERTEXT: u32 = 32;
/// tECB, largest: PS, ECB's electrical specification (from memory, not yet compared).
const BLOCK_NS: u64 = 7_200;

/// The registers.
#[derive(Clone)]
pub struct Ecb {
    block: Block,
    /// Address and bytes of the ciphertext, once the data has been read.
    result: Option<(u32, [u8; BLOCK])>,
    /// The cycle at which it is there, while it works.
    ready_at: Option<u64>,
    clock_hz: u64,
}

impl Ecb {
    /// ECB at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Ecb {
        Ecb {
            block: Block::new(spec, ENDECB | ERRORECB, MAP),
            result: None,
            ready_at: None,
            clock_hz: CORE_HZ,
        }
    }

    fn settle(&mut self, context: &mut Context<'_, '_>) {
        if self.ready_at.is_some_and(|at| at <= context.now)
            && let Some((address, bytes)) = self.result.take()
        {
            self.ready_at = None;
            context.events.request_dma(Dma::Store { address, bytes: bytes.to_vec() });
            self.block.raise(ENDECB);
        }
        self.block.signal(context);
    }

    fn start(&mut self, context: &mut Context<'_, '_>) {
        // A block under way is not disturbed.
        if self.ready_at.is_none() {
            self.ready_at = Some(context.now + (BLOCK_NS * self.clock_hz).div_ceil(1_000_000_000));
            let (device, address) = (self.block.base, self.block.registers[ECBDATAPTR]);
            context.events.request_dma(Dma::Fetch { device, address, size: CIPHERTEXT });
        }
    }

    fn stop(&mut self) {
        if self.ready_at.take().is_some() {
            self.result = None;
            self.block.raise(ERRORECB);
        }
    }
}

impl Peripheral for Ecb {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context);
        let own = match (address - self.block.base) & !3 {
            STARTECB | STOPECB => Some(0),
            _ => None,
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.settle(context);
        if self.block.write(address, size, value, context)? {
            return Ok(());
        }
        match address - self.block.base {
            STARTECB | STOPECB if value & 1 == 0 => {}
            STARTECB => self.start(context),
            STOPECB => self.stop(),
            _ => return context.refuse(&self.block.name, address, "register not modelled"),
        }
        self.block.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.ready_at.filter(|_| self.result.is_some())
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.settle(context);
            self.block.connect(context);
        }
        if let Event::MemoryFetched(bytes) = event {
            let (Some(key), Some(clear)) = (bytes.first_chunk::<BLOCK>(), bytes.last_chunk::<BLOCK>()) else {
                return;
            };
            let mut block = (*clear).into();
            Aes128::new(&(*key).into()).encrypt_block(&mut block);
            // Stopped meanwhile, it has no result.
            let pointer = self.block.registers[ECBDATAPTR];
            self.result = self.ready_at.map(|_| (pointer.wrapping_add(CIPHERTEXT), block.into()));
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.result = None;
        self.ready_at = None;
    }
}
