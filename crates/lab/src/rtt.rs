//! Real Time Transfer: what a program leaves in ring buffers in RAM for a debug probe to fetch. The
//! control block is that of SEGGER's `SEGGER_RTT.h` (UM08001, "RTT"), which other implementations
//! share.

use firmware::Firmware;
use mcu::Mcu;

/// The control block's symbol, and what it begins with once the program has set it up.
const SYMBOL: &str = "_SEGGER_RTT";
const ID: &[u8; 16] = b"SEGGER RTT\0\0\0\0\0\0";
/// Bytes of the block before its buffers: ID and the numbers of up and down buffers.
const HEADER: u32 = 24;
/// A buffer's descriptor: name, start, size, write offset, read offset, flags; a word each.
const DESCRIPTOR: u32 = 24;
const READ_OFFSET: u32 = 16;
/// More up buffers, or larger ones, are none.
const MOST_BUFFERS: u32 = 16;
const MOST_BYTES: u32 = 1 << 20;

/// Cycles between two looks at the buffers: a program writes into them without waiting, so a look
/// must come before they are full.
pub const LOOK_EVERY: u64 = 10_000;

/// The buffers of a program.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    block: u32,
}

impl Rtt {
    /// Those of a firmware that has any.
    #[must_use]
    pub fn of(firmware: &Firmware) -> Option<Rtt> {
        firmware.symbols().get(SYMBOL).map(|symbol| Rtt { block: symbol.address })
    }

    /// Fetches what the program has left since the last time, a piece for each buffer by its
    /// number.
    pub fn fetch(&self, machine: &mut dyn Mcu) -> Vec<(u32, Vec<u8>)> {
        let mut id = [0; 16];
        let mut fetched = Vec::new();
        if !machine.peek(self.block, &mut id) || id != *ID {
            return fetched;
        }
        let buffers = word(machine, self.block.wrapping_add(16)).unwrap_or(0).min(MOST_BUFFERS);
        for number in 0..buffers {
            let descriptor = self.block.wrapping_add(HEADER + number * DESCRIPTOR);
            if let Some(bytes) = empty(machine, descriptor).filter(|bytes| !bytes.is_empty()) {
                fetched.push((number, bytes));
            }
        }
        fetched
    }
}

/// Remark on a program that logs by defmt, whose frames are no text. Its linker leaves a symbol
/// with the version of their encoding.
pub(crate) fn defmt_remark(firmware: &Firmware) -> Option<String> {
    let logs = firmware.symbols().keys().any(|name| name.starts_with("_defmt_version_"));
    let file = firmware.path().display();
    logs.then(|| {
        format!("the program logs by defmt, in frames that are no text: '--port RTT.0 | defmt-print -e {file}' behind this command reads them")
    })
}

/// Takes what is in the buffer of a descriptor; `None` where that makes no sense.
fn empty(machine: &mut dyn Mcu, descriptor: u32) -> Option<Vec<u8>> {
    let field = |index: u32| word(machine, descriptor.wrapping_add(4 * index));
    let (start, size, write, read) = (field(1)?, field(2)?, field(3)?, field(4)?);
    if size > MOST_BYTES || write >= size || read >= size {
        return None;
    }
    let mut ring = vec![0; size as usize];
    if !machine.peek(start, &mut ring) {
        return None;
    }
    let (write_at, read_at) = (write as usize, read as usize);
    let bytes = if read <= write {
        ring[read_at..write_at].to_vec()
    } else {
        [&ring[read_at..], &ring[..write_at]].concat()
    };
    machine.poke(descriptor.wrapping_add(READ_OFFSET), &write.to_le_bytes()).then_some(bytes)
}

fn word(machine: &dyn Mcu, address: u32) -> Option<u32> {
    let mut bytes = [0; 4];
    machine.peek(address, &mut bytes).then(|| u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::{ID, Rtt};
    use crate::workspace::Workspace;
    use mcu::{Mcu, new_machine};

    const BLOCK: u32 = 0x2000_0100;
    const RING: u32 = 0x2000_0200;

    /// A machine whose RAM has one buffer of eight bytes, `abcdefgh`, at these offsets.
    fn machine(size: u32, write: u32, read: u32) -> Box<dyn Mcu> {
        let workspace = Workspace::find().expect("a clone of the project");
        let target = workspace.target("stm32f051").expect("a target");
        let mut machine = new_machine(&target.part, 8_000_000).expect("a machine");
        machine.poke(BLOCK, ID);
        let words = [1, 0, 0, RING, size, write, read, 0];
        for (at, word) in (BLOCK + 16..).step_by(4).zip(words) {
            machine.poke(at, &u32::to_le_bytes(word));
        }
        machine.poke(RING, b"abcdefgh");
        machine
    }

    #[test]
    fn a_ring_is_emptied_once() {
        let rtt = Rtt { block: BLOCK };
        for (write, read, text) in [(3, 0, "abc"), (2, 6, "ghab"), (0, 5, "fgh")] {
            let mut machine = machine(8, write, read);
            assert_eq!(rtt.fetch(&mut *machine), [(0, text.into())]);
            assert_eq!(rtt.fetch(&mut *machine), [], "{text}: nothing is left");
        }
    }

    #[test]
    fn malformed_control_block_is_no_buffer() {
        let rtt = Rtt { block: BLOCK };
        for (size, write, read) in [(8, 8, 0), (8, 0, 8), (u32::MAX, 3, 0), (1 << 19, 3, 0), (0, 0, 0)] {
            assert_eq!(rtt.fetch(&mut *machine(size, write, read)), [], "{size} {write} {read}");
        }
        assert_eq!(Rtt { block: 0xffff_fff8 }.fetch(&mut *machine(8, 3, 0)), []);
        assert_eq!(Rtt { block: RING }.fetch(&mut *machine(8, 3, 0)), [], "not set up yet");
    }
}
