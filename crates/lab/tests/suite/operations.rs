//! Operations of a target, built and started.

use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::{Catalogue, Operation};
use lab::target::Target;
use lab::workspace::Workspace;

/// Builds the wanted operations of a target in a variant, and hands each of them, started, to
/// `run`. A run ends after `cycles_max`.
pub fn each_operation(
    target: &Target,
    variant: &str,
    cycles_max: u64,
    wanted: &dyn Fn(&Operation) -> bool,
    run: &mut dyn FnMut(&Operation, &mut OperationRun<'_>),
) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut operations = catalogue.built_as(target, variant).expect("the target's sets");
    operations.retain(|operation| wanted(operation));
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    if names.is_empty() {
        return;
    }
    let build = firmware::build(&workspace.source(target, &point).expect("a toolchain"), variant, &names)
        .expect("the firmware builds");
    for operation in &operations {
        let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
        let mut started =
            OperationRun::start(target, &elf, operation, point.clock_hz, cycles_max).expect("it starts");
        run(operation, &mut started);
    }
}
