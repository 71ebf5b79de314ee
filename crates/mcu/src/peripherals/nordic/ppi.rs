//! Programmable peripheral interconnect (PPI): events of peripherals trigger tasks of others. PS,
//! "PPI"; the fixed channels 20 to 31 are its table "Pre-programmed channels" (from memory, not yet
//! compared).
//!
//! A task comes one period of 16 MHz after its event, an asynchronous event's, too, where the part
//! takes up to one. Of groups that are enabled and disabled in one cycle, enabling prevails. An end
//! point at a peripheral without a model is refused when its channel is enabled; one at a stub is
//! taken, from which no event comes.

use super::block::{Block, OwnRegisters};
use super::core_clock::CORE_HZ;
use crate::peripherals::register::Register;
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};
use std::collections::VecDeque;
use std::ops::Range;

/// TASKS_CHG[n].EN and .DIS.
const CHG_TASKS: Range<u32> = 0x000..0x030;
const CHEN: u32 = 0x500;
const CHENSET: u32 = 0x504;
const CHENCLR: u32 = 0x508;
/// CH[n].EEP, and CH[n].TEP behind it.
const CH: u32 = 0x510;
const CHG: u32 = 0x800;
/// FORK[n].TEP.
const FORK: u32 = 0x910;

/// Channels with end points of the program, all channels, groups.
const PROGRAMMABLE: u32 = 20;
const CHANNELS: u32 = 32;
const GROUPS: u32 = 6;

/// Events and tasks of the channels 20 to 31.
const FIXED: [(u32, u32); 12] = [
    (TIMER0 + 0x140, RADIO),
    (TIMER0 + 0x140, RADIO + 0x004),
    (TIMER0 + 0x144, RADIO + 0x010),
    (RADIO + 0x128, AAR_CCM),
    (RADIO + 0x100, AAR_CCM),
    (RADIO + 0x104, AAR_CCM + 0x004),
    (RADIO + 0x104, TIMER0 + 0x044),
    (RADIO + 0x10c, TIMER0 + 0x048),
    (RTC0 + 0x140, RADIO),
    (RTC0 + 0x140, RADIO + 0x004),
    (RTC0 + 0x140, TIMER0 + 0x00c),
    (RTC0 + 0x140, TIMER0),
];
const RADIO: u32 = 0x4000_1000;
const TIMER0: u32 = 0x4000_8000;
const RTC0: u32 = 0x4000_b000;
const AAR_CCM: u32 = 0x4000_f000;

/// The models that pass their events on.
const ROUTED: [&str; 10] = [
    "nrf-clock",
    "nrf-ecb",
    "nrf-gpiote",
    "nrf-rng",
    "nrf-rtc",
    "nrf-saadc",
    "nrf-temp",
    "nrf-timer",
    "nrf-uart",
    "nrf-wdt",
];

/// Kind of a peripheral's addresses: tasks, and events.
const TASKS: Range<u32> = 0x000..0x100;
const EVENTS: Range<u32> = 0x100..0x180;
const PCLK16M_HZ: u64 = 16_000_000;

/// The registers that keep what is written.
const MAP: &[Register] = &map();

const fn map() -> [Register; 78] {
    let mut map = [Register::new(CH, u32::MAX); 78];
    let mut index = 0;
    while index < 2 * PROGRAMMABLE {
        map[index as usize] = Register::new(CH + 4 * index, u32::MAX);
        index += 1;
    }
    let mut group = 0;
    while group < GROUPS {
        map[(index + group) as usize] = Register::new(CHG + 4 * group, u32::MAX);
        group += 1;
    }
    let mut fork = 0;
    while fork < CHANNELS {
        map[(index + group + fork) as usize] = Register::new(FORK + 4 * fork, u32::MAX);
        fork += 1;
    }
    map
}

/// End point of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// A peripheral that is modelled.
    Model,
    /// A stub, which stands in for one.
    Stub,
}

/// The interconnect.
#[derive(Clone)]
pub struct Ppi {
    block: Block,
    /// The bases of the peripherals at which an end point may be.
    peripherals: Vec<(u32, Answer)>,
    /// The names of those without a model, with their bases.
    unmodelled: Vec<(u32, String)>,
    /// CHEN.
    enabled: u32,
    /// Tasks to come: cycle and register.
    tasks: VecDeque<(u64, u32)>,
    latency: u64,
}

impl Ppi {
    /// The interconnect at `spec.base` of the peripherals of a part.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Ppi {
        let specs = part.peripherals.iter();
        let models = specs.filter(|other| other.stub || ROUTED.contains(&other.model.as_str()));
        let answer = |stub: bool| if stub { Answer::Stub } else { Answer::Model };
        let stubs = part.unmodelled.iter().filter(|block| block.stub);
        let own = std::iter::once((spec.base, Answer::Model));
        Ppi {
            block: Block::new(spec, 0, MAP),
            peripherals: models
                .map(|other| (other.base, answer(other.stub)))
                .chain(stubs.map(|block| (block.base, Answer::Stub)))
                .chain(own)
                .collect(),
            unmodelled: part.unmodelled.iter().map(|block| (block.base, block.name.clone())).collect(),
            enabled: 0,
            tasks: VecDeque::new(),
            latency: latency(CORE_HZ),
        }
    }

    fn answer(&self, address: u32) -> Option<Answer> {
        let found = self.peripherals.iter().find(|(base, _)| *base == address & !0xfff);
        found.map(|(_, answer)| *answer)
    }

    /// CH[n].EEP; 0 for none.
    fn event(&self, channel: u32) -> u32 {
        match channel.checked_sub(PROGRAMMABLE) {
            Some(fixed) => FIXED[fixed as usize].0,
            None => self.block.registers[CH + 8 * channel],
        }
    }

    /// CH[n].TEP and FORK[n].TEP, as far as they are there.
    fn task_registers(&self, channel: u32) -> impl Iterator<Item = u32> {
        let own = match channel.checked_sub(PROGRAMMABLE) {
            Some(fixed) => FIXED[fixed as usize].1,
            None => self.block.registers[CH + 8 * channel + 4],
        };
        [own, self.block.registers[FORK + 4 * channel]].into_iter().filter(|register| *register != 0)
    }

    fn channels(&self) -> impl Iterator<Item = u32> + '_ {
        (0..CHANNELS).filter(|channel| self.enabled >> channel & 1 == 1)
    }

    /// Refuses an end point at a register of none of the peripherals that are modelled.
    fn check_end_point(&self, address: u32, offsets: &Range<u32>) -> Result<(), String> {
        if address & 3 != 0 || !offsets.contains(&(address & 0xfff)) {
            let kind = if *offsets == EVENTS { "event" } else { "task" };
            return Err(format!("{address:#x} is no {kind}'s register"));
        }
        if self.answer(address).is_some() {
            return Ok(());
        }
        let base = address & !0xfff;
        let name = self.unmodelled.iter().find(|(other, _)| *other == base).map(|(_, name)| name.as_str());
        let name = name.map_or_else(|| format!("the peripheral at {base:#x}"), String::from);
        Err(format!("{name} has no model that PPI reaches ({address:#x})"))
    }

    /// Checks the channels that are enabled, and connects their events.
    fn connect(&self, context: &mut Context<'_, '_>) -> Result<(), String> {
        let mut events = Vec::new();
        for channel in self.channels() {
            let event = self.event(channel);
            let checked = match event {
                0 => Ok(()),
                _ => self.check_end_point(event, &EVENTS),
            };
            let mut tasks = self.task_registers(channel);
            checked
                .and_then(|()| tasks.try_for_each(|task| self.check_end_point(task, &TASKS)))
                .map_err(|what| format!("channel {channel}: {what}"))?;
            if self.answer(event) == Some(Answer::Model) && !events.contains(&event) {
                events.push(event);
            }
        }
        context.events.connect(events);
        Ok(())
    }

    /// True for the task that enables a group, which prevails over one that disables it.
    fn enables_group(&self, register: u32) -> bool {
        let offset = register.wrapping_sub(self.block.base);
        CHG_TASKS.contains(&offset) && offset & 4 == 0
    }
}

/// Cycles of a period of 16 MHz.
fn latency(clock_hz: u64) -> u64 {
    clock_hz.div_ceil(PCLK16M_HZ)
}

impl OwnRegisters for Ppi {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        _context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match offset {
            CHEN => self.enabled = value,
            CHENSET => self.enabled |= value,
            CHENCLR => self.enabled &= !value,
            offset if CHG_TASKS.contains(&offset) => {
                let group = self.block.registers[CHG + 4 * (offset / 8)];
                match (value & 1, offset & 4) {
                    (0, _) => {}
                    (_, 0) => self.enabled |= group,
                    _ => self.enabled &= !group,
                }
            }
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Ppi {
    fn spec(&self) -> Spec {
        Spec { follows_triggers: true, ..self.block.spec() }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let own = match (address - self.block.base) & !3 {
            CHEN | CHENSET | CHENCLR => Some(self.enabled),
            offset if CHG_TASKS.contains(&offset) => Some(0),
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
        self.write_register(address, size, value, context)?;
        self.connect(context).map_err(|what| context.fault(&self.block.name, address, what))
    }

    fn due(&self) -> Option<u64> {
        self.tasks.front().map(|(at, _)| *at)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let mut due = Vec::new();
        while let Some((_, register)) = self.tasks.front().copied().filter(|(at, _)| *at <= context.now) {
            self.tasks.pop_front();
            due.push(register);
        }
        due.sort_by_key(|register| self.enables_group(*register));
        due.into_iter().for_each(|register| context.events.trigger_task(register));
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if let Event::EventRaised { register, at } = event {
            let channels = self.channels().filter(|channel| self.event(*channel) == register);
            let tasks: Vec<u32> = channels.flat_map(|channel| self.task_registers(channel)).collect();
            self.tasks.extend(tasks.into_iter().map(|task| (at + self.latency, task)));
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.latency = latency(clock_hz);
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.enabled = 0;
        self.tasks.clear();
    }
}
