//! Tests of [`Taint`]'s bookkeeping, with instructions made up for them.

use super::*;
use crate::dataflow::Dataflow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An instruction at `pc` that writes to `address`.
fn execute(taint: &mut Taint, pc: u32, address: u32) {
    taint.step(&Step { pc, sp: 0, cycles: 0, flow: Flow::Next });
    taint.access(&Access { pc, address, size: 4, kind: AccessKind::Write, value: 0, cycles: 0 });
}

#[test]
fn a_labelled_byte_counts_as_read_while_it_has_its_label() {
    let describe = |pc| {
        let read = Effect::Read { to: Locations::one(1), shape: Propagation::Bytes };
        let effect = if pc == 0x100 { read } else { Effect::Write(Locations::NONE) };
        vec![(pc, Dataflow { effects: vec![effect], ..Dataflow::default() })]
    };
    let mut taint = Taint::new(CoreDataflow::new(Box::new(describe), |_, _, _| Locations::NONE), Vec::new());
    let access = |taint: &mut Taint, pc, address, kind| {
        taint.step(&Step { pc, sp: 0, cycles: 0, flow: Flow::Next });
        taint.access(&Access { pc, address, size: 2, kind, value: 0, cycles: 0 });
    };
    taint.label(0x2000..0x2008, 1);
    taint.label(0x3000..0x3004, 2);
    taint.label(0x2006..0x2008, 0);
    taint.watch();
    // A read past the end, one of bytes written over, and one of another secret's neighbour.
    access(&mut taint, 0x200, 0x2000, AccessKind::Write);
    for address in [0x2000, 0x2005, 0x2ffe] {
        access(&mut taint, 0x100, address, AccessKind::Read);
    }
    taint.finish();
    assert_eq!(taint.reads_of(1), SecretReads { labelled: 6, read: 1 });
    assert_eq!(taint.reads_of(2), SecretReads { labelled: 4, read: 0 });
    assert_eq!(taint.readers().len(), 1);
    access(&mut taint, 0x100, 0x2fff, AccessKind::Read);
    assert_eq!(taint.reads_of(2 | 1), SecretReads { labelled: 10, read: 2 });
}

#[test]
fn writes_beside_an_instruction_do_not_look_it_up_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let describe = move |pc| {
        counted.fetch_add(1, Ordering::Relaxed);
        vec![(pc, Dataflow { effects: vec![Effect::Write(Locations::NONE)], ..Dataflow::default() })]
    };
    let mut taint = Taint::new(CoreDataflow::new(Box::new(describe), |_, _, _| Locations::NONE), Vec::new());
    for address in (0x5b00..0x5bfc).cycle().take(10_000) {
        execute(&mut taint, 0x5c00, address);
        execute(&mut taint, 0x5c10, address);
    }
    assert_eq!((count.load(Ordering::Relaxed), taint.pages.len()), (2, 1));
    assert_eq!(taint.unknown_instruction(), None);
    // The last byte lies where the second one does.
    execute(&mut taint, 0x5c00, 0x5c0d);
    execute(&mut taint, 0x5c10, 0x5b00);
    assert_eq!((count.load(Ordering::Relaxed), taint.unknown_instruction()), (3, Some(0x5c10)));
}
