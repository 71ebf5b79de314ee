//! The faults that a run can get, and their names.

use super::change::{Change, Layout, Model};
use super::reference::Reference;

/// Faults of some models at each step of a run.
pub(super) struct FaultSpace<'a> {
    pub reference: &'a Reference,
    pub layout: &'a Layout,
    pub models: &'a [Model],
}

impl FaultSpace<'_> {
    /// The changes at a step, in their order.
    pub fn changes(&self, step: usize) -> Vec<Change> {
        let mut found = Vec::new();
        let length = self.length(step);
        for model in self.models {
            self.layout.changes(*model, length, self.reference.reads_of(step), &mut found);
        }
        found
    }

    pub fn length(&self, step: usize) -> Option<u32> {
        self.reference.lengths.get(&self.reference.steps[step].pc).copied()
    }

    /// The change of an ID's text, `STEP:NAME`.
    pub fn named(&self, id: &str) -> Option<(usize, Change)> {
        let (step, name) = id.split_once(':')?;
        let step = step.parse().ok().filter(|step| *step < self.reference.steps.len())?;
        let change = self.layout.named(name, self.length(step), self.reference.reads_of(step))?;
        Some((step, change))
    }

    /// The ID of a fault.
    pub fn id(&self, step: usize, change: Change) -> String {
        format!("{step}:{}", self.layout.name(change))
    }
}
