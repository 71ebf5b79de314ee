//! The interface of a machine for its users.

use super::{Core, Machine};
use crate::flash::CHANGED;
use crate::observe::AnyObserver;
use crate::residency::Usage;
use crate::{
    Board, EnteredFault, Fault, Image, Mcu, NoObserver, Observer, Part, Register, RegisterUses, ResetCause,
    Residency, Role, Span, Step, Stop, StubUse, SupplyLimits, Taint, Trace, Until,
};
use std::any::Any;
use std::collections::BTreeSet;

impl<C: Core> Mcu for Machine<C> {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        self.ram_image.clear();
        for segment in &image.segments {
            if !self.poke(segment.address, &segment.bytes) {
                let (address, size) = (segment.address, segment.bytes.len() as u32);
                return Err(Fault::Load { address, size, part: self.part.name.clone() });
            }
            if !segment.bytes.is_empty() && self.core.is_ram(segment.address) {
                self.ram_image.push(segment.clone());
            }
        }
        self.core.check_image()
    }

    fn reset(&mut self) {
        self.interrupt_flash_write(CHANGED);
        self.core.clear_ram();
        for segment in &self.ram_image {
            self.core.poke(segment.address, &segment.bytes);
        }
        self.bus.reset();
        self.supply.reset();
        self.bus.clock_changes.clear();
        self.usage = Usage::new(self.bus.clock_hz());
        self.cycles = 0;
        self.instructions = 0;
        self.begin(ResetCause::PowerOn);
    }

    fn reset_by(&mut self, cause: ResetCause) {
        if cause == ResetCause::PowerOn {
            self.reset();
        } else {
            self.reset_running(cause);
        }
    }

    fn cut_power(&mut self, torn: u8) {
        self.bus.cut_power(torn);
        self.interrupt_flash_write(torn);
        self.reset();
    }

    fn nonvolatile_writes(&self) -> u64 {
        self.bus.nonvolatile_writes()
    }

    fn run(&mut self, until: &Until) -> Result<Stop, Fault> {
        self.run_with(until, &mut NoObserver)
    }

    fn run_observed(&mut self, until: &Until, observer: &mut dyn Observer) -> Result<Stop, Fault> {
        self.run_with(until, &mut AnyObserver::Other(observer))
    }

    fn run_traced(&mut self, until: &Until, trace: &mut Trace) -> Result<Stop, Fault> {
        self.run_with(until, &mut AnyObserver::Trace(trace))
    }

    fn taint(&self) -> Taint {
        Taint::new(self.core.dataflow(), self.bus.ranges())
    }

    fn run_tainted(&mut self, until: &Until, taint: &mut Taint) -> Result<Stop, Fault> {
        self.run_with(until, &mut AnyObserver::Taint(taint))
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn clock_hz(&self) -> u64 {
        self.bus.clock_hz()
    }

    fn residency(&self) -> Residency {
        self.usage_now().residency(self.cycles)
    }

    fn spans(&self) -> Vec<Span> {
        self.usage_now().spans(self.cycles)
    }

    fn supply_limits(&self) -> Option<SupplyLimits> {
        self.bus.has_power_management().then(|| {
            let (falling_v, rising_v) = self.supply.limits(&self.bus.power);
            SupplyLimits { falling_v, rising_v }
        })
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn set_lenient(&mut self, lenient: bool) {
        self.bus.events.set_lenient(lenient);
    }

    fn set_stop_on_fault(&mut self, stop: bool) {
        self.core.set_stop_on_fault(stop);
    }

    fn faults_entered(&self) -> &[EnteredFault] {
        self.core.faults_entered()
    }

    fn tolerated(&self) -> Vec<(&str, u64)> {
        self.bus.events.tolerated()
    }

    fn refused(&self) -> Option<&'static str> {
        self.bus.events.refused()
    }

    fn stub_uses(&self) -> Vec<StubUse> {
        self.bus.stub_uses()
    }

    fn waits_in_vain(&self) -> bool {
        let listens = self.core.interrupt_mask() & !self.core.non_maskable() != 0;
        self.core.is_asleep() && listens && self.nothing_can_come()
    }

    fn computed_in_float(&self) -> bool {
        self.core.computed_in_float()
    }

    fn is_uncached(&self) -> bool {
        self.core.is_uncached()
    }

    fn moved_by_dma(&self) -> bool {
        self.bus.moved_by_dma
    }

    fn next_step(&self) -> Step {
        Step { pc: self.pc(), sp: self.sp(), cycles: self.cycles, flow: self.flow }
    }

    fn pc(&self) -> u32 {
        self.core.register(Self::with_role(Role::ProgramCounter))
    }

    fn set_pc(&mut self, pc: u32) {
        self.core.set_register(Self::with_role(Role::ProgramCounter), pc);
        self.reset_fault = None;
    }

    fn sp(&self) -> u32 {
        C::STACK_SPACE + self.core.register(Self::with_role(Role::StackPointer))
    }

    fn register_names(&self) -> &'static [Register] {
        self.core.all_registers()
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let named = self.core.all_registers().iter().enumerate();
        named.map(|(index, register)| (register.name.to_string(), self.core.register(index))).collect()
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let registers = self.core.all_registers();
        let Some(index) = registers.iter().position(|register| register.name == name) else {
            return false;
        };
        if registers[index].role == Role::ProgramCounter {
            self.set_pc(value);
        } else {
            self.core.set_register(index, value);
            self.interrupts_from = 0;
        }
        true
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        if self.core.peek(address, bytes) {
            return true;
        }
        let Some(memory) = self.bus.memory(address, bytes.len()) else { return false };
        bytes.copy_from_slice(memory);
        true
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        if self.core.poke(address, bytes) {
            return true;
        }
        let Some(memory) = self.bus.memory_mut(address, bytes.len()) else { return false };
        memory.copy_from_slice(bytes);
        true
    }

    fn inspect(&self, address: u32, bytes: &mut [u8]) -> bool {
        let mut copy = self.clone();
        let mut rest = bytes;
        let mut address = address;
        while !rest.is_empty() {
            let fits = |size: &u8| {
                *size <= C::WIDTH
                    && usize::from(*size) <= rest.len()
                    && address.is_multiple_of(u32::from(*size))
            };
            let read = |size| Some((size, C::read_register(&mut copy, address, size)?));
            let Some((size, value)) = [4, 2, 1].into_iter().filter(fits).find_map(read) else { return false };
            let (first, others) = rest.split_at_mut(size.into());
            first.copy_from_slice(&value.to_le_bytes()[..usize::from(size)]);
            rest = others;
            address = address.wrapping_add(size.into());
        }
        true
    }

    fn finish_sending(&mut self, observer: &mut dyn Observer) {
        let pc = self.pc();
        self.bus.finish_sending(pc, observer);
    }

    fn uart_listens(&self, port: &str) -> Option<bool> {
        self.bus.uart_listens(port)
    }

    fn uart_receive(&mut self, port: &str, bytes: &[u8]) -> bool {
        self.bus.uart_receive(port, bytes, self.cycles)
    }

    fn board(&self) -> &Board {
        &self.bus.board
    }

    fn board_mut(&mut self) -> &mut Board {
        self.board_touched = true;
        &mut self.bus.board
    }

    fn restore(&mut self, from: &(dyn Mcu + 'static)) -> bool {
        let from: &dyn Any = from;
        let Some(from) = from.downcast_ref::<Self>().filter(|from| from.part.name == self.part.name) else {
            return false;
        };
        // All fields, so that none is forgotten.
        let Machine {
            part: _,
            core,
            bus,
            cycles,
            instructions,
            deadline,
            limit,
            interrupts_from,
            flow,
            fault,
            reset_fault,
            held_until,
            interrupted_write,
            supply,
            usage,
            ram_image,
            board_touched,
        } = from;
        self.core.restore(core);
        self.bus.clone_from(bus);
        (self.cycles, self.instructions) = (*cycles, *instructions);
        (self.deadline, self.limit, self.interrupts_from) = (*deadline, *limit, *interrupts_from);
        (self.flow, self.held_until, self.board_touched) = (*flow, *held_until, *board_touched);
        self.supply = *supply;
        self.fault.clone_from(fault);
        self.reset_fault.clone_from(reset_fault);
        self.interrupted_write.clone_from(interrupted_write);
        self.usage.clone_from(usage);
        self.ram_image.clone_from(ram_image);
        true
    }

    fn instruction_length(&self, address: u32) -> Option<u32> {
        self.core.instruction_length(address)
    }

    fn register_uses(&self, addresses: &BTreeSet<u32>) -> Option<RegisterUses> {
        RegisterUses::of(self.core.dataflow(), addresses)
    }

    fn snapshot(&self) -> Box<dyn Mcu> {
        Box::new(self.clone())
    }
}
