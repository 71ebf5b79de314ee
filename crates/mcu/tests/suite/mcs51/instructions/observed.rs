//! Calls, returns and accesses as observers see them.

use super::*;
use mcu::{Access, AccessKind, Flow, Step};

#[test]
fn observers_see_calls_returns_and_accesses() {
    #[derive(Default)]
    struct Seen(Vec<(u32, u32, u64, Flow)>, Vec<(u32, AccessKind, u64)>);
    impl Observer for Seen {
        fn step(&mut self, step: &Step) {
            self.0.push((step.pc, step.sp, step.cycles, step.flow));
        }
        fn access(&mut self, access: &Access) {
            assert_eq!(access.size, 1);
            self.1.push((access.address, access.kind, access.value));
        }
    }
    // 100H: LCALL 200H; SJMP $. 200H: MOV A,#5; MOVC A,@A+DPTR; MOVX @DPTR,A; JNZ to RET.
    let mut cpu = Cpu::at(0x100, &[0x12, 0x02, 0x00, 0x80, 0xfe])
        .put(0x200, &[0x74, 0x05, 0x93, 0xf0, 0x70, 0x01, 0x00, 0x22])
        .put(0x305, &[0xab])
        .set("dptr", 0x300);
    let mut seen = Seen::default();
    assert_eq!(cpu.0.run_observed(&Until::default(), &mut seen), Ok(Stop::Halted));
    let (shallow, deep) = (INTERNAL + 7, INTERNAL + 9);
    assert_eq!(
        seen.0,
        [
            (0x100, shallow, 0, Flow::Start),
            (0x200, deep, 2, Flow::Call { return_to: 0x103 }),
            (0x202, deep, 3, Flow::Next),
            (0x203, deep, 5, Flow::Next),
            (0x204, deep, 7, Flow::Next),
            (0x207, deep, 9, Flow::Jump),
        ]
    );
    assert_eq!(
        seen.1,
        [
            (INTERNAL + 8, AccessKind::Write, 0x03),
            (INTERNAL + 9, AccessKind::Write, 0x01),
            (0x305, AccessKind::Read, 0xab),
            (EXTERNAL + 0x300, AccessKind::Write, 0xab),
            (INTERNAL + 9, AccessKind::Read, 0x01),
            (INTERNAL + 8, AccessKind::Read, 0x03),
        ]
    );
    assert_eq!((cpu.get("pc"), cpu.0.cycles()), (0x103, 11));
    // The jump to itself comes after a return.
    let mut after = Seen::default();
    cpu.0.set_pc(0x207);
    let cpu = cpu.set("sp", 9).put(0x103, &[0x00, 0x80, 0xfe]);
    let mut machine = cpu.0;
    assert_eq!(machine.run_observed(&Until::default(), &mut after), Ok(Stop::Halted));
    assert_eq!(after.0.iter().map(|step| step.3).collect::<Vec<_>>(), [Flow::Start, Flow::Return]);
}
