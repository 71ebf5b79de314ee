//! Registers and flags that an instruction reads and writes, for timing models with interlocks.

use super::fpu::decode::{Operation, core_registers, operation};
use super::op::{Op, Opcode, Operands};

impl Op {
    /// The registers and flags of the instruction; with a condition, as if it holds, and the flags
    /// as read.
    #[must_use]
    pub fn operands(&self) -> Operands {
        use Opcode::*;
        let bit = |register: u8| if register < 16 { 1u16 << register } else { 0 };
        let (d, n, m, a) = (bit(self.d), bit(self.n), bit(self.m), bit(self.a));
        let list = self.imm as u16;
        let base_back = if self.a == 1 { n } else { 0 };
        let mut o = Operands::default();
        let mut set = |reads: u16, writes: u16, addresses: u16| {
            o.reads = reads | addresses;
            o.writes = writes;
            o.addresses = addresses;
        };
        match self.inner {
            Undecoded | Marked | Conditional | Undefined | It | Nop | Wfi | Wfe | Sev | Dmb | Dsb | Isb
            | Cps | Svc | Bkpt | Clrex | B | Loop | Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi
            | Bls | Bge | Blt | Bgt | Ble => {}
            AndImm | AndImmS | BicImm | BicImmS | OrrImm | OrrImmS | OrnImm | OrnImmS | EorImm | EorImmS
            | AddImm | AddImmS | AdcImm | AdcImmS | SbcImm | SbcImmS | SubImm | SubImmS | RsbImm
            | RsbImmS | Sbfx | Ubfx | Ssat | Usat | Sat16 => set(n, d, 0),
            AndReg | AndRegS | AndShift | AndShiftS | BicReg | BicRegS | BicShift | BicShiftS | OrrReg
            | OrrRegS | OrrShift | OrrShiftS | OrnShift | OrnShiftS | EorReg | EorRegS | EorShift
            | EorShiftS | AddReg | AddRegS | AddShift | AddShiftS | AdcReg | AdcRegS | AdcShift
            | AdcShiftS | SbcReg | SbcRegS | SbcShift | SbcShiftS | SubReg | SubRegS | SubShift
            | SubShiftS | RsbReg | RsbRegS | RsbShift | RsbShiftS | LslReg | LslRegS | LsrReg | LsrRegS
            | AsrReg | AsrRegS | RorReg | RorRegS | Sxtab | Sxtah | Uxtab | Uxtah | Sxtab16 | Uxtab16
            | Qadd | Qsub | Qdadd | Qdsub | Parallel | Pkhbt | Pkhtb | Sel | Usad8 | Mul | MulS | Smulxy
            | Smulwy | Smuad | Smusd | Smmul | Sdiv | Udiv | AddSpShift | SubSpShift => set(n | m, d, 0),
            TstImm | TeqImm | CmpImm | CmnImm | Cbz | Cbnz => set(n, 0, 0),
            TstReg | TstShift | TeqShift | CmpReg | CmpShift | CmnReg | CmnShift => set(n | m, 0, 0),
            MovImm | MovImmS | MvnImm | MvnImmS | Mrs => set(0, d, 0),
            MovReg | MovSp | MovRegS | MvnReg | MvnRegS | MvnShift | MvnShiftS | LslImm | LslImmS
            | LsrImm | LsrImmS | AsrImm | AsrImmS | RorImm | RorImmS | Rrx | RrxS | Clz | Rbit | Rev
            | Rev16 | Revsh | Sxtb | Sxth | Uxtb | Uxth | Sxtb16 | Uxtb16 => set(m, d, 0),
            Movt | Bfc => set(d, d, 0),
            Bfi => set(d | n, d, 0),
            Mla | Mls | Usada8 | Smlaxy | Smlawy | Smlad | Smlsd | Smmla | Smmls => set(n | m | a, d, 0),
            Umull | Smull => set(n | m, d | a, 0),
            Umlal | Smlal | Umaal | Smlalxy | Smlald | Smlsld => set(n | m | d | a, d | a, 0),
            LdrImm | LdrbImm | LdrhImm | LdrsbImm | LdrshImm | Ldrex | Ldrexb | Ldrexh => set(0, d, n),
            LdrReg | LdrbReg | LdrhReg | LdrsbReg | LdrshReg => set(0, d, n | m),
            LdrPre | LdrPost | LdrbPre | LdrbPost | LdrhPre | LdrhPost | LdrsbPre | LdrsbPost | LdrshPre
            | LdrshPost => set(0, d | n, n),
            LdrLit | LdrbLit | LdrhLit | LdrsbLit | LdrshLit => set(0, d, 0),
            StrImm | StrbImm | StrhImm => set(d, 0, n),
            StrReg | StrbReg | StrhReg => set(d, 0, n | m),
            StrPre | StrPost | StrbPre | StrbPost | StrhPre | StrhPost => set(d, n, n),
            LdrSp | LdrPc => match self.a {
                0 => set(0, d, n),
                1 => set(0, d, n | m),
                2 | 3 => set(0, d | n, n),
                _ => set(0, d, 0),
            },
            Ldrd => match self.m {
                0 => set(0, d | a, n),
                2 | 3 => set(0, d | a | n, n),
                _ => set(0, d | a, 0),
            },
            Strd => set(d | a, if self.m == 0 { 0 } else { n }, n),
            Ldm | Ldmdb | LdmPc => set(0, list | base_back, n),
            Stm | Stmdb => set(list, base_back, n),
            Strex | Strexb | Strexh => set(a, d, n),
            Bl => set(0, 1 << 14, 0),
            Bx | MovPc | AddPc => set(m, 1 << 15, 0),
            Blx => set(m, 1 << 14 | 1 << 15, 0),
            Tbb | Tbh => set(0, 1 << 15, if self.n == 15 { m } else { n | m }),
            Msr => set(n, 0, 0),
            Float => {
                let (reads, writes, addresses) = core_registers(self);
                set(reads, writes, addresses);
            }
        }
        o.reads_flags = self.it != 0
            || matches!(
                self.inner,
                AdcImm | AdcImmS | AdcReg | AdcRegS | AdcShift | AdcShiftS | SbcImm | SbcImmS | SbcReg
                    | SbcRegS | SbcShift | SbcShiftS | Rrx | RrxS | Sel | Mrs | Beq | Bne | Bcs | Bcc | Bmi
                    | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt | Bgt | Ble
            )
            // RRX as the shift of another instruction.
            || (self.a == 4 && self.is_shifted())
            || (self.inner == Float && operation(self) == Operation::Vsel);
        o.writes_flags = matches!(
            self.inner,
            AndImmS
                | AndRegS
                | AndShiftS
                | BicImmS
                | BicRegS
                | BicShiftS
                | OrrImmS
                | OrrRegS
                | OrrShiftS
                | OrnImmS
                | OrnShiftS
                | EorImmS
                | EorRegS
                | EorShiftS
                | AddImmS
                | AddRegS
                | AddShiftS
                | AdcImmS
                | AdcRegS
                | AdcShiftS
                | SbcImmS
                | SbcRegS
                | SbcShiftS
                | SubImmS
                | SubRegS
                | SubShiftS
                | RsbImmS
                | RsbRegS
                | RsbShiftS
                | TstImm
                | TstReg
                | TstShift
                | TeqImm
                | TeqShift
                | CmpImm
                | CmpReg
                | CmpShift
                | CmnImm
                | CmnReg
                | CmnShift
                | MovImmS
                | MovRegS
                | MvnImmS
                | MvnRegS
                | MvnShiftS
                | LslImmS
                | LsrImmS
                | AsrImmS
                | RorImmS
                | RrxS
                | LslRegS
                | LsrRegS
                | AsrRegS
                | RorRegS
                | MulS
                | Msr
        ) || (self.inner == Parallel && matches!(self.a, 0 | 3))
            || (self.a == 1 && matches!(self.inner, AddSpShift | SubSpShift))
            || (self.inner == Float && operation(self) == Operation::Vmrs && self.n == 15);
        o
    }

    /// Returns true if `imm` and `a` are a shift of the second operand.
    #[must_use]
    pub fn is_shifted(&self) -> bool {
        use Opcode::*;
        matches!(
            self.inner,
            AndShift
                | AndShiftS
                | BicShift
                | BicShiftS
                | OrrShift
                | OrrShiftS
                | OrnShift
                | OrnShiftS
                | EorShift
                | EorShiftS
                | AddShift
                | AddShiftS
                | AdcShift
                | AdcShiftS
                | SbcShift
                | SbcShiftS
                | SubShift
                | SubShiftS
                | RsbShift
                | RsbShiftS
                | TstShift
                | TeqShift
                | CmpShift
                | CmnShift
                | MvnShift
                | MvnShiftS
        )
    }
}
