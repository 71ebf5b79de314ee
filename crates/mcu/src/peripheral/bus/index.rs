//! Indexes of the devices by wanted event and by role.

use crate::{Peripheral, Roles, Spec};

/// The devices that want an event or have a role, by their indices on the bus.
pub(super) struct DeviceIndex {
    /// For each interrupt, the devices that are told of its acknowledgement.
    pub acknowledged: Vec<Vec<u8>>,
    pub dma_controllers: Vec<usize>,
    /// With the lines of their DMA requests.
    pub dma_requesters: Vec<(u128, usize)>,
    pub inputs: Vec<usize>,
    pub triggered: Vec<usize>,
    pub watchdogs: Vec<usize>,
    pub nonvolatile: Vec<usize>,
}

impl DeviceIndex {
    pub fn new(devices: &[Box<dyn Peripheral>], specs: &[Spec]) -> DeviceIndex {
        let with = |has_role: fn(&Roles<'_>) -> bool| {
            (0..devices.len()).filter(|index| has_role(&devices[*index].roles())).collect::<Vec<_>>()
        };
        let acknowledged = |irq: u32| {
            let devices = (0..).zip(specs).filter(|(_, spec)| spec.interrupts >> irq & 1 == 1);
            devices.map(|(index, _)| index).collect()
        };
        let specified = |wants: fn(&Spec) -> bool| {
            (0..specs.len()).filter(|index| wants(&specs[*index])).collect::<Vec<_>>()
        };
        let requesters = (0..).zip(specs).filter(|(_, spec)| spec.dma_lines != 0);
        DeviceIndex {
            acknowledged: (0..u128::BITS).map(acknowledged).collect(),
            dma_controllers: with(|roles| roles.dma_controller.is_some()),
            dma_requesters: requesters.map(|(index, spec)| (spec.dma_lines, index)).collect(),
            inputs: specified(|spec| spec.follows_inputs),
            triggered: specified(|spec| spec.follows_triggers),
            watchdogs: with(|roles| roles.watchdog.is_some()),
            nonvolatile: with(|roles| roles.nonvolatile.is_some()),
        }
    }
}
