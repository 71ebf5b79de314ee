//! Decoded form of an instruction.
//!
//! Its sixteen bytes say what to do without the encoding.

/// Operation of an instruction. Where a name says nothing else, `d`, `n`, `m`, `a` of [`Op`] are
/// the registers of the
/// ARM Architecture Reference Manual's Rd/Rt, Rn, Rm, Ra/Rt2, and `imm` is the immediate, expanded.
///
/// Suffixes: `Imm` second operand `imm`; `Reg` second operand register `m`; `Shift` second operand
/// register `m` shifted by `imm` with the kind of shift in `a` (0 LSL, 1 LSR, 2 ASR, 3 ROR, 4 RRX).
/// A final `S` sets flags; logical `ImmS` have in `a` what happens to C (0 kept, 1 cleared, 2 set).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[rustfmt::skip]
#[allow(missing_docs)] // The names are the architecture's own; those that are ours are described.
pub enum Opcode {
    /// Nothing has been decoded here yet. Must be zero: fresh tables are zeroed memory.
    #[default]
    Undecoded = 0,
    /// A stop address of this run; the instruction proper is kept beside the table.
    Marked,
    /// Within an IT block: `inner`, if the condition in `it` holds.
    Conditional,
    /// Not an instruction of this core.
    Undefined,

    // Data processing.
    AndImm, AndImmS, AndReg, AndRegS, AndShift, AndShiftS,
    BicImm, BicImmS, BicReg, BicRegS, BicShift, BicShiftS,
    OrrImm, OrrImmS, OrrReg, OrrRegS, OrrShift, OrrShiftS,
    OrnImm, OrnImmS, OrnShift, OrnShiftS,
    EorImm, EorImmS, EorReg, EorRegS, EorShift, EorShiftS,
    AddImm, AddImmS, AddReg, AddRegS, AddShift, AddShiftS,
    AdcImm, AdcImmS, AdcReg, AdcRegS, AdcShift, AdcShiftS,
    SbcImm, SbcImmS, SbcReg, SbcRegS, SbcShift, SbcShiftS,
    SubImm, SubImmS, SubReg, SubRegS, SubShift, SubShiftS,
    RsbImm, RsbImmS, RsbReg, RsbRegS, RsbShift, RsbShiftS,
    TstImm, TstReg, TstShift, TeqImm, TeqShift,
    CmpImm, CmpReg, CmpShift, CmnImm, CmnReg, CmnShift,
    MovImm, MovImmS, MovReg, MovRegS, MvnImm, MvnImmS, MvnReg, MvnRegS, MvnShift, MvnShiftS,
    /// `imm` is the new upper half, already shifted up.
    Movt,
    /// MOV SP, Rm.
    MovSp,
    /// SP plus or minus `m` shifted left by `imm`; `a` 1 sets flags.
    AddSpShift, SubSpShift,
    /// Shifts of `m` by `imm` (LSR, ASR: 1 to 32).
    LslImm, LslImmS, LsrImm, LsrImmS, AsrImm, AsrImmS, RorImm, RorImmS, Rrx, RrxS,
    /// Shifts of `n` by the low byte of `m`.
    LslReg, LslRegS, LsrReg, LsrRegS, AsrReg, AsrRegS, RorReg, RorRegS,
    /// `imm`: least significant bit; `a`: width.
    Bfi, Bfc, Sbfx, Ubfx,
    Clz, Rbit, Rev, Rev16, Revsh,
    /// Extensions of `m` rotated right by `imm` bits.
    Sxtb, Sxth, Uxtb, Uxth, Sxtb16, Uxtb16,
    /// Extensions of `m` rotated right by `imm` bits, added to `n`.
    Sxtab, Sxtah, Uxtab, Uxtah, Sxtab16, Uxtab16,
    /// Saturation to `a` bits of `n` shifted by `imm`: 0 to 31 LSL, 32 + k ASR by k.
    Ssat, Usat,
    /// SSAT16, and USAT16 where `imm` is 1, to `a` bits.
    Sat16,
    Qadd, Qsub, Qdadd, Qdsub,
    /// SADD8 and its kin: `imm` 0 ADD8, 1 ADD16, 2 ASX, 4 SUB8, 5 SUB16, 6 SAX; `a` 0 S, 1 Q, 2 SH,
    /// 3 U, 4 UQ, 5 UH.
    Parallel,
    /// PKHBT, PKHTB: `m` shifted by `imm`.
    Pkhbt, Pkhtb,
    Sel, Usad8, Usada8,

    // Multiply and divide.
    /// `MulS` is the 16-bit encoding outside an IT block.
    Mul, MulS, Mla, Mls,
    /// Long multiplies: RdLo is `d`, RdHi is `a`.
    Umull, Smull, Umlal, Smlal, Umaal,
    /// `imm` bit 0: top half of `m`; bit 1: top half of `n`.
    Smulxy, Smlaxy, Smlalxy,
    /// `imm` bit 0: top half of `m`.
    Smulwy, Smlawy,
    /// `imm` bit 0: exchange the halves of `m`.
    Smuad, Smusd, Smlad, Smlsd, Smlald, Smlsld,
    /// `imm` bit 0: round.
    Smmul, Smmla, Smmls,
    Sdiv, Udiv,

    // Loads and stores. `Imm`: at `n` + `imm`. `Reg`: at `n` + (`m` << `imm`). `Pre`: at `n` +
    // `imm`, which becomes `n`. `Post`: at `n`, which becomes `n` + `imm`. `Lit`: at address `imm`.
    // `imm` wraps for negative offsets.
    LdrImm, LdrReg, LdrPre, LdrPost, LdrLit,
    LdrbImm, LdrbReg, LdrbPre, LdrbPost, LdrbLit,
    LdrhImm, LdrhReg, LdrhPre, LdrhPost, LdrhLit,
    LdrsbImm, LdrsbReg, LdrsbPre, LdrsbPost, LdrsbLit,
    LdrshImm, LdrshReg, LdrshPre, LdrshPost, LdrshLit,
    StrImm, StrReg, StrPre, StrPost,
    StrbImm, StrbReg, StrbPre, StrbPost,
    StrhImm, StrhReg, StrhPre, StrhPost,
    /// LDR to the stack pointer, to the program counter; `a`: 0 Imm, 1 Reg, 2 Pre, 3 Post, 4 Lit.
    LdrSp, LdrPc,
    /// First register `d`, second `a`; `m`: 0 Imm, 2 Pre, 3 Post, 4 Lit.
    Ldrd, Strd,
    /// Increment after (LDM, STM, POP) and decrement before (LDMDB, STMDB, PUSH): register mask in
    /// `imm`, base `n`, `a` 1 for writeback. `LdmPc` is either direction with the program counter
    /// in the mask, `m` 1 for decrement.
    Ldm, Ldmdb, LdmPc, Stm, Stmdb,
    Ldrex, Ldrexb, Ldrexh,
    /// Status to `d`, value in `a`.
    Strex, Strexb, Strexh,
    Clrex,

    // Branches; targets in `imm`.
    B,
    /// B to itself: the end of a program, unless an interrupt can come.
    Loop,
    Beq, Bne, Bcs, Bcc, Bmi, Bpl, Bvs, Bvc, Bhi, Bls, Bge, Blt, Bgt, Ble,
    Bl,
    /// To register `m`.
    Bx, Blx,
    Cbz, Cbnz,
    /// Base `n`, or `imm` where `n` is 15.
    Tbb, Tbh,
    /// MOV PC, Rm.
    MovPc,
    /// ADD PC, Rm; `imm` is the value of PC read.
    AddPc,

    // System.
    /// `imm`: condition and mask.
    It,
    Nop, Wfi, Wfe, Sev, Dmb, Dsb, Isb,
    /// `imm` bit 1 PRIMASK, bit 0 FAULTMASK; `a` the new value.
    Cps,
    /// `imm`: SYSm.
    Mrs,
    /// `imm`: SYSm; `a`: mask bits (2 flags, 1 GE).
    Msr,
    Svc, Bkpt,

    /// Floating point: [`super::fpu::decode::Operation`] in `a`, which has the rest, too.
    Float,
}

impl Opcode {
    /// Returns true for a branch whose target is `imm`.
    #[must_use]
    pub fn is_direct_branch(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            B | Loop
                | Beq
                | Bne
                | Bcs
                | Bcc
                | Bmi
                | Bpl
                | Bvs
                | Bvc
                | Bhi
                | Bls
                | Bge
                | Blt
                | Bgt
                | Ble
                | Bl
                | Cbz
                | Cbnz
        )
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Op {
    /// Operation of the dispatcher: `inner`, or [`Opcode::Conditional`] or [`Opcode::Marked`]
    /// before it.
    pub kind: Opcode,
    /// The instruction proper.
    pub inner: Opcode,
    /// ITSTATE while it executes (ARM DDI 0403, A7.3.2); 0 outside IT blocks.
    pub it: u8,
    /// Bytes of the encoding: 2 or 4.
    pub length: u8,
    /// Rd, Rt or RdLo.
    pub d: u8,
    /// Rn.
    pub n: u8,
    /// Rm.
    pub m: u8,
    /// Ra, Rt2, RdHi, or what [`Opcode`] says.
    pub a: u8,
    /// Immediate, or what [`Opcode`] says.
    pub imm: u32,
    /// Free for the timing model: the class it gave the instruction when it was decoded.
    pub class: u8,
    /// Free for the timing model: cycles that do not depend on the state.
    pub cycles: u8,
    /// Free for the timing model.
    pub extra: u16,
}

/// The registers and flags that an instruction reads and writes, a bit for each of r0 to r15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Registers read, base and index registers among them.
    pub reads: u16,
    /// Registers written, a written-back base among them.
    pub writes: u16,
    /// Registers read to form an address: they are needed a stage before the others.
    pub addresses: u16,
    /// True if it reads any of N, Z, C, V, GE.
    pub reads_flags: bool,
    /// True if it writes any of N, Z, C, V, GE.
    pub writes_flags: bool,
}
