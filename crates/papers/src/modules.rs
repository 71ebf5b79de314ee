//! Modules of an operation: the part that an instruction belongs to, and each part's cost.
//!
//! Assembly kernels set marks between their modules ([`firmware::symbols::Mark`]). In compiled code
//! a module is a list of C functions, and an instruction belongs to the innermost of the functions
//! inlined there that is in such a list. What is in none, such as a routine of the compiler's
//! runtime, belongs to where it was called from.

use crate::paper::Module;
use firmware::Firmware;
use mcu::{Flow, Observer, Step};
use std::collections::{BTreeMap, HashMap};

/// Marks with these names begin a round, also where its steps cannot be told apart.
const ROUNDS: [&str; 2] = ["iteration", "last_iteration"];
/// A round begins where one of the first follows one of the second.
const FIRST_STEPS: [&str; 2] = ["byte_sub", "shift_row"];
const LAST_STEPS: [&str; 2] = ["mix_column", "add_round_key"];

/// Cost of a module in one run, all its executions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub cycles: u64,
    /// Bytes in the program; 0 in compiled code, where a module's instructions are not in one
    /// place.
    pub bytes: u32,
    /// Number of its marks; 0 in compiled code.
    pub marks: u32,
    /// Number of times that execution came to one of them; 0 in compiled code.
    pub entries: u32,
}

impl Cost {
    /// In how many places the whole module stands: kernels that interleave modules have several
    /// marks in each. `None` in compiled code.
    #[must_use]
    pub fn copies(&self, executions: u32) -> Option<f64> {
        (self.entries > 0).then(|| f64::from(self.marks) * f64::from(executions) / f64::from(self.entries))
    }
}

/// Charges cycles to modules, and notes where rounds begin.
pub struct ModuleWatcher<'a> {
    firmware: &'a Firmware,
    modules: &'a BTreeMap<String, Module>,
    known: HashMap<u32, Option<&'a str>>,
    cycles: BTreeMap<&'a str, u64>,
    /// Executions of the instruction behind each mark.
    entries: HashMap<u32, u32>,
    /// The module of the last instruction, and when that began.
    last: Option<(Option<&'a str>, u64)>,
    /// The modules that the calls under way were made from.
    callers: Vec<Option<&'a str>>,
    /// The last step was one of a round's last.
    late: bool,
    rounds: Vec<u64>,
    busy_until: u64,
}

impl<'a> ModuleWatcher<'a> {
    /// A watcher that has seen nothing yet.
    #[must_use]
    pub fn new(firmware: &'a Firmware, modules: &'a BTreeMap<String, Module>) -> Self {
        ModuleWatcher {
            firmware,
            modules,
            known: HashMap::new(),
            cycles: BTreeMap::new(),
            entries: HashMap::new(),
            last: None,
            callers: Vec::new(),
            late: false,
            rounds: Vec::new(),
            busy_until: 0,
        }
    }

    /// Cycles since reset at which each round began.
    #[must_use]
    pub fn rounds(&self) -> &[u64] {
        &self.rounds
    }

    /// Cycles since reset at which the last instruction of a module ended.
    #[must_use]
    pub fn busy_until(&self) -> u64 {
        self.busy_until
    }

    /// The cost of each module that was executed.
    #[must_use]
    pub fn costs(&self) -> BTreeMap<String, Cost> {
        let mut costs: BTreeMap<String, Cost> = self
            .cycles
            .iter()
            .map(|(&module, &cycles)| (module.to_owned(), Cost { cycles, ..Cost::default() }))
            .collect();
        let marks = self.firmware.marks();
        for (index, mark) in marks.iter().enumerate() {
            let end = self.end_of_mark(index);
            // What the linker kept but this operation never comes to is another operation's.
            if !self.known.keys().any(|address| (mark.address..end).contains(address)) {
                continue;
            }
            if let Some(cost) = costs.get_mut(&mark.module) {
                cost.bytes += end - mark.address;
                cost.marks += 1;
                cost.entries += self.entries.get(&mark.address).copied().unwrap_or(0);
            }
        }
        costs
    }

    fn end_of_mark(&self, index: usize) -> u32 {
        let marks = self.firmware.marks();
        let start = marks[index].address;
        let next = marks.get(index + 1).map_or(u32::MAX, |mark| mark.address);
        let functions = self.firmware.functions();
        let end = self.firmware.function_at(start).map_or(u32::MAX, |function| {
            match (functions[function].size, functions.get(function + 1)) {
                (0, Some(following)) => following.address,
                (0, None) => u32::MAX,
                (size, _) => functions[function].address + size,
            }
        });
        next.min(end)
    }

    fn module_at(&mut self, address: u32) -> Option<&'a str> {
        if let Some(&known) = self.known.get(&address) {
            return known;
        }
        let module = self.marked(address).or_else(|| self.compiled(address));
        self.known.insert(address, module);
        module
    }

    fn marked(&self, address: u32) -> Option<&'a str> {
        let marks = self.firmware.marks();
        let index = marks.partition_point(|mark| mark.address <= address).checked_sub(1)?;
        if address >= self.end_of_mark(index) {
            return None;
        }
        self.modules.get_key_value(&marks[index].module).map(|(name, _)| name.as_str())
    }

    fn compiled(&self, address: u32) -> Option<&'a str> {
        let functions = self.firmware.functions();
        let function = self.firmware.function_at(address).map(|index| functions[index].name.clone());
        self.firmware.inlined(address).into_iter().chain(function).find_map(|function| {
            let (name, _) = self.modules.iter().find(|(_, module)| module.functions.contains(&function))?;
            Some(name.as_str())
        })
    }
}

impl Observer for ModuleWatcher<'_> {
    fn step(&mut self, step: &Step) {
        let last = self.last.take();
        if let Some((Some(module), since)) = last {
            *self.cycles.entry(module).or_default() += step.cycles - since;
            self.busy_until = step.cycles;
        }
        match step.flow {
            Flow::Call { .. } => self.callers.push(last.and_then(|(module, _)| module)),
            Flow::Return => {
                self.callers.pop();
            }
            _ => {}
        }
        let module = self.module_at(step.pc).or_else(|| self.callers.last().copied().flatten());
        self.last = Some((module, step.cycles));
        let Some(module) = module else { return };
        let entered = self.firmware.marks().binary_search_by_key(&step.pc, |mark| mark.address).is_ok();
        if entered {
            *self.entries.entry(step.pc).or_default() += 1;
        }
        if entered && ROUNDS.contains(&module) || self.late && FIRST_STEPS.contains(&module) {
            self.rounds.push(step.cycles);
            self.late = false;
        }
        self.late |= LAST_STEPS.contains(&module);
    }
}
