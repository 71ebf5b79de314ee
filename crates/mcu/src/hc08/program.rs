//! The instructions decoded so far, by address.

use super::decode::{Kind, LONGEST, Op, decode};
use super::memory::{Memory, Place};
use crate::Fault;

const SIZE: usize = 0x1_0000;

/// Decoded instructions; filled as execution comes by, emptied where memory is written.
pub struct Program {
    ops: Box<[Op]>,
    /// Addresses to stop at; what stands there is never kept decoded, so that it is looked up here.
    stops: Vec<u16>,
    /// Whether an instruction in RAM was decoded, so that writes must look here.
    in_ram: bool,
    /// Whether anything was decoded.
    used: bool,
}

impl Program {
    /// Nothing decoded.
    pub fn new() -> Program {
        Program {
            ops: vec![Op::UNKNOWN; SIZE].into_boxed_slice(),
            stops: Vec::new(),
            in_ram: false,
            used: false,
        }
    }

    /// Sets the addresses to stop at.
    pub fn stop_at(&mut self, addresses: &[u32]) {
        self.stops = addresses.iter().filter_map(|address| u16::try_from(*address).ok()).collect();
        for address in &self.stops {
            self.ops[usize::from(*address)] = Op::UNKNOWN;
        }
    }

    /// The instruction at `pc`, [`Kind::Unknown`] where [`Program::find`] must be asked.
    #[inline(always)]
    pub fn known(&self, pc: u16) -> Op {
        self.ops[usize::from(pc)]
    }

    /// Decodes the instruction at `pc`; `None` where it is to be stopped at, unless `ignore_stop`.
    #[cold]
    pub fn find(&mut self, pc: u16, ignore_stop: bool, memory: &Memory) -> Result<Option<Op>, Fault> {
        let stop = self.stops.contains(&pc);
        if stop && !ignore_stop {
            return Ok(None);
        }
        let address = |offset: usize| pc.wrapping_add(offset as u16);
        let bytes: [u8; LONGEST] = std::array::from_fn(|offset| memory.byte(address(offset)));
        let op = decode(pc, bytes);
        let length = op.map_or(1, |op| usize::from(op.length));
        if let Some(missing) = (0..length).find(|offset| memory.place(address(*offset)) == Place::Other) {
            let address = address(missing).into();
            return Err(Fault::Unmapped { pc: pc.into(), address, size: 1, kind: "fetch" });
        }
        let Some(op) = op else {
            let length = if bytes[0] == 0x9e { 2 } else { 1 };
            return Err(Fault::Opcode { pc: pc.into(), bytes: bytes[..length].to_vec() });
        };
        self.in_ram |= (0..length).any(|offset| memory.place(address(offset)) == Place::Ram);
        if !stop {
            self.ops[usize::from(pc)] = op;
            self.used = true;
        }
        Ok(Some(op))
    }

    /// The byte at `address` in RAM was written: forgets the instructions that it may be part of.
    #[inline(always)]
    pub fn written(&mut self, address: u16) {
        if self.in_ram {
            self.changed(address);
        }
    }

    /// As [`Program::written`], in any memory: a debugger wrote.
    #[cold]
    pub fn changed(&mut self, address: u16) {
        for back in 0..LONGEST as u16 {
            self.ops[usize::from(address.wrapping_sub(back))].kind = Kind::Unknown;
        }
    }

    /// Forgets everything decoded.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.used) {
            self.ops.fill(Op::UNKNOWN);
            self.in_ram = false;
        }
    }
}
