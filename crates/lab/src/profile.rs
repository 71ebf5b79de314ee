//! Cycles and stack per function call, from the steps of a machine.
//!
//! A call lasts from the start of the call instruction to the end of the return: what it costs
//! whoever calls. The call instruction's own cycles count for the function called. A jump to
//! another function's first instruction is a tail call and ends with its caller's return. The entry
//! into an interrupt counts for what it interrupted.
//!
//! Each stack that an interrupt returns to has its own calls: those of a task that waits go on when
//! it does, and have lasted all the while.

mod call;
mod event;
mod frame;

pub use call::{Call, ExecutionPoint, OpenCall, Total};
pub use event::{CallEdge, CallEvent};

use crate::target::Target;
use crate::timeline::Timeline;
use firmware::Firmware;
use frame::{Entry, Frame, Node, StepRecord, Waiting};
use mcu::{ClockChange, Flow, Observer, SleepInterval, Step};
use std::ops::Range;

/// Follows calls and returns; to be told of every [`Step`] of one or more runs in a row, or of
/// those that [`mcu::ControlTransfers`] passes on.
pub struct Profiler<'a> {
    firmware: &'a Firmware,
    frames: Vec<Frame>,
    waiting: Vec<Waiting>,
    nodes: Vec<Node>,
    /// By function; behind them one for what is in no function.
    totals: Vec<Total>,
    /// Of these the one of the innermost call.
    current: usize,
    /// Addresses behind the first of its function and before the next one: a jump there is no call.
    body: Range<u32>,
    watched: Vec<bool>,
    calls: Vec<Call>,
    last: Option<StepRecord>,
    /// The cycle up to which frames and nodes have their own cycles; from there on they are the
    /// innermost call's.
    charged: u64,
    /// The stack pointer that the interrupt found whose handler comes next.
    found: Option<u32>,
    /// All ones where the stack grows up.
    upside_down: u32,
    /// The stack pointer's last move may be the first half of one.
    half_moved: bool,
    timeline: Timeline<'a>,
    /// The number of the task that runs, and of the one that was last seen for the first time.
    task: usize,
    newest_task: usize,
    /// Events since they were last taken, where somebody takes them.
    events: Option<Vec<CallEvent>>,
}

impl Observer for Profiler<'_> {
    #[inline(always)]
    fn step(&mut self, step: &Step) {
        // Most follow on the one before and leave the stack as it is. (`==` would be a call for
        // each: this is built at opt-level 0.)
        if matches!(step.flow, Flow::Next)
            && let Some(last) = &mut self.last
            && last.sp == step.sp ^ self.upside_down
        {
            self.totals[self.current].exclusive += step.cycles - last.cycles;
            last.pc = step.pc;
            last.cycles = step.cycles;
            return;
        }
        self.follow(step);
    }
    fn interrupt(&mut self, sp: u32) {
        self.found = Some(self.upright(sp));
    }
    fn clock(&mut self, change: &ClockChange) {
        self.timeline.change(change);
    }
    fn sleep(&mut self, interval: &SleepInterval) {
        self.timeline.sleep(interval);
    }
}

impl<'a> Profiler<'a> {
    /// A profiler that keeps each single call of the `watched` functions (indices into
    /// [`Firmware::functions`]) and the sums of all.
    #[must_use]
    pub fn new(firmware: &'a Firmware, watched: &[usize]) -> Self {
        let count = firmware.functions().len();
        let mut marks = vec![false; count];
        for &function in watched {
            marks[function] = true;
        }
        Profiler {
            firmware,
            frames: Vec::new(),
            waiting: Vec::new(),
            nodes: Vec::new(),
            totals: vec![Total::default(); count + 1],
            current: count,
            body: 0..0,
            watched: marks,
            calls: Vec::new(),
            last: None,
            charged: 0,
            found: None,
            upside_down: if firmware.core().stack_grows_up() { u32::MAX } else { 0 },
            half_moved: false,
            timeline: Timeline::of_cycles(),
            task: 0,
            newest_task: 0,
            events: None,
        }
    }

    /// The same state, of equal firmware and an equal target that live elsewhere.
    pub(crate) fn rebound<'b>(&self, firmware: &'b Firmware, target: &'b Target) -> Profiler<'b> {
        Profiler {
            firmware,
            frames: self.frames.clone(),
            waiting: self.waiting.clone(),
            nodes: self.nodes.clone(),
            totals: self.totals.clone(),
            current: self.current,
            body: self.body.clone(),
            watched: self.watched.clone(),
            calls: self.calls.clone(),
            last: self.last,
            charged: self.charged,
            found: self.found,
            upside_down: self.upside_down,
            half_moved: self.half_moved,
            timeline: self.timeline.rebound(target),
            task: self.task,
            newest_task: self.newest_task,
            events: self.events.clone(),
        }
    }

    /// The same, keeping events for [`Profiler::take_events`].
    #[must_use]
    pub fn telling(self) -> Self {
        Profiler { events: Some(Vec::new()), ..self }
    }

    /// The events since the last time; to be taken after each step.
    #[inline]
    pub fn take_events(&mut self) -> Vec<CallEvent> {
        self.events.as_mut().map_or_else(Vec::new, std::mem::take)
    }

    fn tell(&mut self, function: Option<usize>, cycles: u64, in_interrupt: bool, edge: CallEdge) {
        let task = self.task;
        if let Some(events) = &mut self.events {
            events.push(CallEvent { function, cycles, task, in_interrupt, edge });
        }
    }

    /// The same, with time and energy of calls.
    #[must_use]
    pub fn timed(self, timeline: Timeline<'a>) -> Self {
        Profiler { timeline, ..self }
    }

    /// The way from cycles to time.
    #[must_use]
    pub fn timeline(&self) -> &Timeline<'a> {
        &self.timeline
    }

    /// The same, when all is over.
    #[must_use]
    pub fn into_timeline(self) -> Timeline<'a> {
        self.timeline
    }

    /// The firmware whose functions it follows.
    #[must_use]
    pub fn firmware(&self) -> &'a Firmware {
        self.firmware
    }

    /// The finished calls of the watched functions, in the order of their returns.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// From here on each single call of a function (an index into [`Firmware::functions`]) is kept,
    /// or no longer; those that were kept are given and forgotten.
    pub fn watch(&mut self, function: usize, watched: bool) -> Vec<Call> {
        self.watched[function] = watched;
        std::mem::take(&mut self.calls)
    }

    /// Sums for each of [`Firmware::functions`].
    #[must_use]
    pub fn totals(&self) -> &[Total] {
        &self.totals[..self.totals.len() - 1]
    }

    /// The calls of functions that are under way, the outermost first and those of waiting tasks
    /// before the others. A run that has ended is told of with [`mcu::Mcu::next_step`], so that its
    /// last instruction is in them.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let now = self.last.map_or(0, |last| last.cycles);
        let end = self.timeline.at(now);
        let mut calls = Vec::new();
        let mut uncharged = if self.frames.is_empty() { 0 } else { now - self.charged };
        let waiting = self.waiting.iter().rev().map(|task| &task.frames);
        for frames in std::iter::once(&self.frames).chain(waiting) {
            let mut lowest_sp = u32::MAX;
            for (depth, frame) in frames.iter().enumerate().rev() {
                lowest_sp = lowest_sp.min(frame.lowest_sp);
                let exclusive = frame.exclusive + std::mem::take(&mut uncharged);
                let stack = frame.sp - lowest_sp.min(frame.sp);
                if frame.on_another_stack() {
                    lowest_sp = u32::MAX;
                }
                let Some(function) = frame.function else { continue };
                calls.push(OpenCall {
                    function,
                    start: frame.start,
                    inclusive: now - frame.start,
                    exclusive,
                    stack,
                    whole: frame.whole,
                    spent: self.timeline.between(&frame.begun, &end),
                    outermost: !frames[..depth].iter().any(|other| other.function == frame.function),
                });
            }
        }
        calls.reverse();
        calls
    }

    /// Cycles by call chain, a line each, as flame-graph tools take them:
    /// `main;caller;callee 1234`.
    #[must_use]
    pub fn folded(&self) -> Vec<String> {
        let now = self.last.map_or(0, |last| last.cycles);
        let mut own: Vec<u64> = self.nodes.iter().map(|node| node.exclusive).collect();
        if let Some(top) = self.frames.last() {
            own[top.node] += now - self.charged;
        }
        let mut lines: Vec<String> = self
            .nodes
            .iter()
            .zip(own)
            .filter(|(_, own)| *own > 0)
            .map(|(node, own)| {
                let mut names = vec![self.name(node.function)];
                let mut parent = node.parent;
                while let Some(index) = parent {
                    names.push(self.name(self.nodes[index].function));
                    parent = self.nodes[index].parent;
                }
                names.reverse();
                format!("{} {own}", names.join(";"))
            })
            .collect();
        lines.sort();
        lines
    }

    fn name(&self, function: Option<usize>) -> &str {
        function.map_or("(unnamed)", |index| self.firmware.functions()[index].name.as_str())
    }

    fn follow(&mut self, step: &Step) {
        let flow = step.flow;
        let step = StepRecord { pc: step.pc, sp: self.upright(step.sp), cycles: step.cycles };
        let Some(last) = self.last else {
            self.last = Some(step);
            self.charged = step.cycles;
            self.push(step.pc, u32::MAX, step, step, Entry::Call);
            return;
        };
        self.last = Some(step);
        let elapsed = step.cycles - last.cycles;
        match flow {
            // `rcall .+0` and the like make room on the stack; nothing is called.
            Flow::Call { return_to } if return_to != step.pc => {
                // The call instruction counts for what is called.
                self.charge(last.cycles);
                self.push(step.pc, return_to, last, step, Entry::Call);
                self.totals[self.current].exclusive += elapsed;
                return;
            }
            _ => self.totals[self.current].exclusive += elapsed,
        }
        self.charge(step.cycles);
        match flow {
            Flow::Interrupt { return_to } => {
                // An instruction that calls the handler found what it had itself.
                let interrupted = self.found.take().unwrap_or(last.sp);
                // One handler right after the other, with nothing unstacked in between.
                if let Some(depth) = self.innermost_interrupt()
                    && (self.frames[depth].return_to, self.frames[depth].interrupted)
                        == (return_to, Some(interrupted))
                    && self.frames[depth].sp == step.sp
                {
                    self.end(depth, step);
                }
                self.push(step.pc, return_to, step, step, Entry::Interrupt { interrupted });
                return;
            }
            Flow::Return => self.unwind(step),
            Flow::InterruptReturn => self.return_from_interrupt(step),
            Flow::Jump => {
                if self.frames.last().is_some_and(|top| top.return_to == step.pc && step.sp >= top.sp) {
                    self.unwind(step);
                } else {
                    self.tail_call(step);
                }
            }
            _ => {}
        }
        self.deepen(last.sp, step.sp);
    }

    /// A stack that grows up is looked at upside down; what this turns over, it turns back.
    fn upright(&self, sp: u32) -> u32 {
        sp ^ self.upside_down
    }

    /// Notes the depth of the stack pointer, which was `last` one step before `sp`.
    ///
    /// An AVR moves it in two halves, high byte first as avr-gcc does it, with interrupts off in
    /// between. The value between has the old low byte and the new high byte and was never a place
    /// on the stack. A move of only the high byte therefore counts only when the next move is not
    /// one of only the low byte. Elsewhere this changes nothing: a frame of whole 256 bytes is left
    /// as it was made, or goes deeper.
    ///
    /// A pointer further from a call's beginning than any memory is long is another stack. So may
    /// be a pointer that a handler moves to at once ([`Profiler::return_from_interrupt`]).
    fn deepen(&mut self, last: u32, sp: u32) {
        const HALF: u32 = 0xff;
        // RAM of Cortex-M parts begins at 0x1000_0000, 0x2000_0000, 0x2400_0000: no two are nearer.
        const ANOTHER_MEMORY: u32 = 1 << 24;
        // Pushing all registers moves it by 64 bytes, with those of floating point by 200.
        const FAR: u32 = 1024;
        let Some(top) = self.frames.last_mut() else { return };
        if top.interrupted.is_some() && last.abs_diff(sp) > FAR {
            top.before_move.get_or_insert(top.lowest_sp);
        }
        if top.sp.abs_diff(sp) > ANOTHER_MEMORY {
            return;
        }
        let moved = last ^ sp;
        if moved != 0 {
            if self.half_moved && moved > HALF {
                top.lowest_sp = top.lowest_sp.min(last);
            }
            self.half_moved = moved & HALF == 0;
        }
        if !self.half_moved {
            top.lowest_sp = top.lowest_sp.min(sp);
        }
    }

    /// A run begins anew where the last one stopped, after time that belongs to nobody.
    pub fn pause(&mut self) {
        if let Some(last) = self.last.take() {
            self.charge(last.cycles);
        }
        self.frames.clear();
        self.waiting.clear();
        self.entered();
    }

    /// The cycles up to `until` are the innermost call's own; its function has them already.
    fn charge(&mut self, until: u64) {
        let elapsed = until - self.charged;
        self.charged = until;
        if let Some(top) = self.frames.last_mut() {
            top.exclusive += elapsed;
            self.nodes[top.node].exclusive += elapsed;
        }
    }

    /// Another call is the innermost one.
    fn entered(&mut self) {
        let function = self.frames.last().and_then(|top| top.function);
        self.current = function.unwrap_or(self.totals.len() - 1);
        let functions = self.firmware.functions();
        self.body = function.map_or(0..0, |index| {
            let next = functions.get(index + 1).map_or(u32::MAX, |next| next.address);
            functions[index].address + 1..next
        });
    }

    fn push(&mut self, pc: u32, return_to: u32, from: StepRecord, step: StepRecord, entry: Entry) {
        self.half_moved = false;
        let function = self.firmware.function_at(pc);
        let whole = function.is_some_and(|index| self.firmware.functions()[index].address == pc);
        let parent = self.frames.last().map(|top| top.node);
        let node = self.node(parent, function);
        let interrupts = matches!(entry, Entry::Interrupt { .. });
        let in_interrupt = interrupts || self.frames.last().is_some_and(|below| below.in_interrupt);
        let edge = match entry {
            Entry::Call => CallEdge::Call,
            Entry::Jump => CallEdge::TailCall,
            Entry::Interrupt { .. } => CallEdge::Interrupt { pc },
        };
        self.tell(function, from.cycles, in_interrupt, edge);
        self.frames.push(Frame {
            function,
            node,
            start: from.cycles,
            begun: self.timeline.at(from.cycles),
            exclusive: 0,
            return_to,
            from: from.pc,
            sp: from.sp,
            lowest_sp: from.sp.min(step.sp),
            tail: entry == Entry::Jump,
            whole,
            interrupted: if let Entry::Interrupt { interrupted } = entry { Some(interrupted) } else { None },
            in_interrupt,
            before_move: None,
        });
        self.entered();
    }

    fn node(&mut self, parent: Option<usize>, function: Option<usize>) -> usize {
        let existing = match parent {
            Some(parent) => self.nodes[parent]
                .children
                .iter()
                .copied()
                .find(|&child| self.nodes[child].function == function),
            None => (0..self.nodes.len())
                .find(|&index| self.nodes[index].parent.is_none() && self.nodes[index].function == function),
        };
        existing.unwrap_or_else(|| {
            let index = self.nodes.len();
            self.nodes.push(Node { function, parent, exclusive: 0, children: Vec::new() });
            if let Some(parent) = parent {
                self.nodes[parent].children.push(index);
            }
            index
        })
    }

    fn tail_call(&mut self, step: StepRecord) {
        if self.body.contains(&step.pc) {
            return;
        }
        let Some(function) = self.firmware.function_at(step.pc) else { return };
        let Some(top) = self.frames.last() else { return };
        // Without a size it is a label inside something, as local loop labels of assembly are.
        let entry = &self.firmware.functions()[function];
        if entry.address == step.pc && entry.size > 0 && top.function != Some(function) {
            let return_to = top.return_to;
            self.push(step.pc, return_to, step, step, Entry::Jump);
        }
    }

    /// Ends the calls that a return to `step.pc` ends: down to the nearest one that was to return
    /// there.
    fn unwind(&mut self, step: StepRecord) {
        let Some(depth) = self.frames.iter().rposition(|frame| !frame.tail && frame.return_to == step.pc)
        else {
            return;
        };
        self.end(depth, step);
    }

    /// The innermost interrupt's frame.
    fn innermost_interrupt(&self) -> Option<usize> {
        self.frames.iter().rposition(|frame| frame.interrupted.is_some())
    }

    /// Ends an interrupt; where it does not return to the stack that it found, another task goes
    /// on. A handler that moved the stack pointer far on its way there went to that task's stack,
    /// as NuttX's do, which have the main stack pointer as tasks have: none of that is below what
    /// it interrupted. One that returns to where it came from had a large frame, for all that can
    /// be seen.
    fn return_from_interrupt(&mut self, step: StepRecord) {
        let Some(depth) = self.innermost_interrupt() else { return self.unwind(step) };
        let (pc, sp) = (self.frames[depth].return_to, self.frames[depth].interrupted);
        let sp = sp.filter(|sp| *sp != step.sp);
        self.end(depth + 1, step);
        if let (Some(_), Some(before)) = (sp, self.frames[depth].before_move) {
            self.frames[depth].lowest_sp = before;
        }
        self.end(depth, step);
        let Some(sp) = sp else { return };
        let found = self.waiting.iter().position(|task| (task.pc, task.sp) == (step.pc, step.sp));
        let resumed = found.map(|index| self.waiting.remove(index));
        let resumed_task = resumed.as_ref().map_or(self.newest_task + 1, |resumed| resumed.task);
        self.newest_task = self.newest_task.max(resumed_task);
        let resumed = resumed.map(|resumed| resumed.frames);
        let known = resumed.is_some();
        let task = std::mem::replace(&mut self.task, resumed_task);
        let frames = std::mem::replace(&mut self.frames, resumed.unwrap_or_default());
        self.waiting.push(Waiting { frames, pc, sp, task });
        if known {
            self.entered();
        } else {
            self.push(step.pc, u32::MAX, step, step, Entry::Call);
        }
    }

    /// Ends the calls from `depth` on, the innermost first.
    fn end(&mut self, depth: usize, step: StepRecord) {
        while self.frames.len() > depth {
            let Some(frame) = self.frames.pop() else { return };
            let edge = if frame.interrupted.is_some() { CallEdge::InterruptReturn } else { CallEdge::Return };
            self.tell(frame.function, step.cycles, frame.in_interrupt, edge);
            if let Some(below) = self.frames.last_mut()
                && !frame.on_another_stack()
            {
                below.lowest_sp = below.lowest_sp.min(frame.lowest_sp);
            }
            let Some(function) = frame.function else { continue };
            let call = Call {
                function,
                start: frame.start,
                inclusive: step.cycles - frame.start,
                exclusive: frame.exclusive,
                stack: frame.sp - frame.lowest_sp,
                spent: self.timeline.between(&frame.begun, &self.timeline.at(step.cycles)),
                from: ExecutionPoint { pc: frame.from, sp: self.upright(frame.sp) },
                to: ExecutionPoint { pc: step.pc, sp: self.upright(step.sp) },
            };
            let outermost = !self.frames.iter().any(|other| other.function == Some(function));
            let total = &mut self.totals[function];
            if outermost {
                total.inclusive += call.inclusive;
                total.spent = total.spent + call.spent;
            }
            if !frame.whole {
                continue;
            }
            total.calls += 1;
            total.stack = total.stack.max(call.stack);
            if self.watched[function] {
                self.calls.push(call);
            }
        }
        self.entered();
    }
}
