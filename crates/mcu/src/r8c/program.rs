//! The instructions decoded so far, by address.

use super::decode::decode;
use super::memory::{Memory, Page};
use super::operation::Op;
use super::timing;
use crate::Fault;

/// Marks an address to stop at, in [`Program::index`].
const STOP: u32 = 1 << 31;
const BYTES: usize = 0x10_0000;
/// The longest instruction: two opcode bytes, two operands of two bytes, an immediate of two; `LDCTX` has seven.
const LONGEST: u32 = 8;

/// What stands at an address.
pub enum Next {
    /// This instruction.
    Op(Op),
    /// An address to stop at.
    Stop,
}

/// Decoded instructions; filled as execution comes by, emptied where memory is written.
pub struct Program {
    /// By address: 0 for unknown, else one more than the index in `ops`; and [`STOP`].
    index: Vec<u32>,
    ops: Vec<Op>,
    /// Whether an instruction in RAM was decoded, so that writes must look here.
    in_ram: bool,
}

impl Program {
    /// Nothing decoded.
    pub fn new() -> Program {
        // Zeroed pages come from the system untouched: what is not executed costs nothing.
        Program { index: vec![0; BYTES], ops: Vec::new(), in_ram: false }
    }

    /// Marks or unmarks the addresses to stop at.
    pub fn mark(&mut self, addresses: &[u32], stop: bool) {
        for address in addresses {
            if let Some(entry) = self.index.get_mut(*address as usize) {
                *entry = *entry & !STOP | if stop { STOP } else { 0 };
            }
        }
    }

    /// The instruction at `pc` if it is decoded and not to be stopped at.
    #[inline(always)]
    pub fn known(&self, pc: u32) -> Option<Op> {
        let entry = self.index[pc as usize & (BYTES - 1)];
        // 0 wraps around and a marked entry is past the end.
        self.ops.get((entry as usize).wrapping_sub(1)).copied()
    }

    /// As [`Program::known`], decoding where it must; `ignore_stop` passes a marked address.
    #[cold]
    pub fn find(&mut self, pc: u32, ignore_stop: bool, memory: &Memory) -> Result<Next, Fault> {
        let entry = self.index[pc as usize & (BYTES - 1)];
        if entry & STOP != 0 && !ignore_stop {
            return Ok(Next::Stop);
        }
        let known = (entry & !STOP) as usize;
        if known != 0 {
            return Ok(Next::Op(self.ops[known - 1]));
        }
        let fetch = |address| (memory.page(address) != Page::Other).then(|| memory.byte(address) as u8);
        if fetch(pc).is_none() {
            return Err(Fault::Unmapped { pc, address: pc, size: 1, kind: "fetch" });
        }
        let Some(decoded) = decode(pc, fetch) else {
            let bytes = (0..4).map(|offset| memory.byte(pc + offset) as u8).collect();
            return Err(Fault::Opcode { pc, bytes });
        };
        let mut op = decoded.op;
        let Some(time) = timing::of(&decoded.form, &op) else {
            let what = format!("the cycles of {} are not known", decoded.form);
            return Err(Fault::Architecture { pc, address: pc, what });
        };
        (op.cycles, op.further, op.least) = (time.cycles, time.further, time.least);
        self.in_ram |= (0..u32::from(op.length)).any(|offset| memory.page(pc + offset) == Page::Ram);
        self.ops.push(op);
        self.index[pc as usize & (BYTES - 1)] = self.ops.len() as u32 | entry & STOP;
        Ok(Next::Op(op))
    }

    /// The byte at `address` in RAM was written: forgets the instructions that it may be part of.
    #[inline(always)]
    pub fn written(&mut self, address: u32) {
        if self.in_ram {
            self.forget(address);
        }
    }

    /// As [`Program::written`], in any memory: a debugger wrote.
    pub fn changed(&mut self, address: u32) {
        if !self.ops.is_empty() {
            self.forget(address);
        }
    }

    #[cold]
    fn forget(&mut self, address: u32) {
        for back in 0..LONGEST {
            self.index[address.wrapping_sub(back) as usize & (BYTES - 1)] &= STOP;
        }
        // A program that writes code over and over must not fill the host's memory.
        if self.ops.len() > 4 * BYTES {
            self.clear();
        }
    }

    /// Forgets everything decoded.
    pub fn clear(&mut self) {
        if self.ops.is_empty() {
            return;
        }
        for entry in &mut self.index {
            *entry &= STOP;
        }
        self.ops.clear();
        self.in_ram = false;
    }
}
