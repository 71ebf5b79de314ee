//! A machine that Python drives: [`lab::probe`].

mod actions;
mod devices;
mod snapshot;
mod uart;

pub use snapshot::Snapshot;
pub use uart::Uart;

use crate::convert::{names, optional, place, places, quantity, records, workspace};
use crate::errors::{UsageError, exception};
use crate::number::{Number, c_type};
use actions::Actions;
use devices::Devices;
use lab::probe::{self, Argument, Probe, Reason, Returns};
use lab::timeline::Spent;
use lab::user_firmware::Setup;
use lab::{LabError, bench, units};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Default of `returns`.
const AS_BUILT: &str = "as built";

/// A microcontroller's model, with firmware on it.
///
/// The target by its exact name, such as ``atmega328p``.
///
/// ``clock`` in Hz (``16e6`` or ``"16MHz"``): the core's, whatever the program sets; otherwise what
/// the program sets.
/// ``crystal`` in Hz: what the program makes its clock of. ``supply`` in volts; otherwise the target's default. ``lenient``, ``stubs``: as ``--lenient`` and ``--stub`` of ``wattseal measure``.
#[pyclass(frozen, module = "wattseal")]
pub struct Machine {
    setup: Setup,
    /// One thread at a time; none before firmware is loaded.
    probe: Mutex<Option<Probe>>,
    actions: Actions,
    devices: Devices,
}

/// End of a run.
#[pyclass(frozen, get_all, module = "wattseal")]
pub struct RunEnd {
    /// ``reached`` (a symbol that was asked for), ``cycles``, ``stepped``, ``halted``, ``exited``, ``returned``, ``breakpoint`` or ``power lost``.
    reason: &'static str,
    /// The program's, where it ended itself by semihosting.
    exit_code: Option<u32>,
    /// The same for a person, with function and source line.
    ending: String,
}

impl From<probe::RunEnd> for RunEnd {
    fn from(end: probe::RunEnd) -> RunEnd {
        let (reason, exit_code) = match end.reason {
            Reason::Reached => ("reached", None),
            Reason::Cycles => ("cycles", None),
            Reason::Stepped => ("stepped", None),
            Reason::Halted => ("halted", None),
            Reason::Exited(code) => ("exited", Some(code)),
            Reason::Returned => ("returned", None),
            Reason::Breakpoint => ("breakpoint", None),
            Reason::PowerLost => ("power lost", None),
        };
        RunEnd { reason, exit_code, ending: end.ending }
    }
}

#[pymethods]
impl RunEnd {
    fn __repr__(&self) -> String {
        format!("<{}: {}>", self.reason, self.ending)
    }
}

/// A call that has returned, and what it cost.
#[pyclass(frozen, get_all, module = "wattseal")]
pub struct CallResult {
    /// Result of the function.
    result: Option<i128>,
    /// From the function's first instruction to the end of its return. ``measure`` counts the call
    /// instruction, too.
    cycles: u64,
    /// Instructions executed.
    instructions: u64,
    /// Deepest stack use in bytes, the return address with it.
    stack_bytes: u32,
    /// Seconds, at the clock that the program has set or that was asked for.
    time_s: f64,
    /// Joules, at the data sheet's active current at that clock and supply, and asleep at the
    /// mode's.
    energy_j: f64,
}

#[pymethods]
impl CallResult {
    fn __repr__(&self) -> String {
        let CallResult { result, cycles, instructions, stack_bytes, time_s, energy_j } = self;
        let result = result.map_or("None".into(), |result| result.to_string());
        format!(
            "CallResult(result={result}, cycles={cycles}, instructions={instructions}, stack_bytes={stack_bytes}, \
             time_s={time_s:e}, energy_j={energy_j:e})"
        )
    }
}

impl Machine {
    fn lock(&self) -> MutexGuard<'_, Option<Probe>> {
        self.probe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a use of the machine by a function of one of its devices, which would wait for
    /// itself.
    fn refuse_within_device(&self) -> PyResult<()> {
        if devices::is_within() && matches!(self.probe.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(devices::refused());
        }
        Ok(())
    }

    /// Does something with what is loaded, while others may use the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Probe) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        self.refuse_within_device()?;
        let done = py.detach(|| self.lock().as_mut().map(act));
        let done =
            done.ok_or_else(|| UsageError::new_err("nothing is loaded: load(\"firmware.elf\") first"))?;
        done.map_err(|error| exception(&error))
    }

    /// The same, until a signal comes, such as Ctrl-C, whose exception is raised.
    fn running<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Probe, probe::Look<'_>) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let mut signal = None;
        let mut look = || {
            signal = Python::attach(|py| py.check_signals()).err();
            signal.is_some()
        };
        let done = self.with(py, |probe| act(probe, &mut look));
        signal.or_else(|| self.devices.take_raised()).map_or(done, Err)
    }

    /// Calls what is to be called where the program stands.
    fn act(slf: &Bound<'_, Self>) -> PyResult<()> {
        let machine = slf.get();
        if machine.actions.are_none() {
            return Ok(());
        }
        let pc = machine.with(slf.py(), |probe| Ok(probe.machine().pc()))?;
        machine.actions.call(pc, slf)
    }

    fn spent(&self, py: Python<'_>) -> PyResult<Spent> {
        self.with(py, |probe| probe.spent())
    }
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (target, *, clock=None, crystal=None, supply=None, lenient=false, stubs=None))]
    fn new(
        target: String,
        clock: Option<&Bound<'_, PyAny>>,
        crystal: Option<&Bound<'_, PyAny>>,
        supply: Option<&Bound<'_, PyAny>>,
        lenient: bool,
        stubs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Machine> {
        workspace()?.target(&target).map_err(|error| exception(&error))?;
        let setup = Setup {
            clock_hz: optional("clock", clock, units::frequency)?,
            crystal_hz: optional("crystal", crystal, units::frequency)?,
            supply_v: optional("supply", supply, units::volts)?,
            lenient,
            stubs: names(stubs)?,
            ..Setup::new(PathBuf::new(), &target)
        };
        Ok(Machine {
            setup,
            probe: Mutex::new(None),
            actions: Actions::default(),
            devices: Devices::default(),
        })
    }

    /// Loads an ELF file, and resets the machine: its first instruction comes next.
    fn load(&self, py: Python<'_>, elf: PathBuf) -> PyResult<()> {
        self.actions.refuse_within("load")?;
        self.refuse_within_device()?;
        let workspace = workspace()?;
        let setup = Setup { elf, ..self.setup.clone() };
        let probe = py.detach(|| Probe::attach(&workspace, &setup)).map_err(|error| exception(&error))?;
        let before = py.detach(|| self.lock().replace(probe));
        // The end of a device's functions may run Python code, which may come here.
        drop(before);
        self.actions.clear();
        self.devices.clear();
        Ok(())
    }

    /// A power-on reset; what was counted is forgotten.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.actions.refuse_within("reset")?;
        self.with(py, |probe| probe.reset())
    }

    /// Runs on until the instruction at one of these symbols or addresses comes next, or, with
    /// none, until the program ends; for at most
    /// ``max_cycles`` cycles from here (4e9). Raises ``Error`` where ``until`` was not reached.
    /// Ctrl-C ends it.
    #[pyo3(signature = (until=None, *, max_cycles=None))]
    fn run(
        slf: &Bound<'_, Self>,
        until: Option<&Bound<'_, PyAny>>,
        max_cycles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RunEnd> {
        let (py, machine) = (slf.py(), slf.get());
        let (until, most) = (places(until)?, cycles(max_cycles)?);
        machine.actions.refuse_within("run")?;
        let run = machine.with(py, |probe| probe.begin_run(&until, most))?;
        loop {
            let end = machine.running(py, |probe, look| probe.continue_run(&run, look))?;
            if end.as_ref().is_none_or(|end| end.reason == Reason::Reached) {
                Machine::act(slf)?;
            }
            if let Some(end) = end {
                return Ok(end.into());
            }
        }
    }

    /// Executes instructions, ``count`` of them; those of interrupts that come in between count.
    /// If the core sleeps, the next instruction is the one after it wakes.
    #[pyo3(signature = (count=1))]
    fn step(&self, py: Python<'_>, count: u64) -> PyResult<RunEnd> {
        self.actions.refuse_within("step")?;
        Ok(self.running(py, |probe, look| probe.step(count, look))?.into())
    }

    /// From here on calls ``act(machine)`` whenever the instruction at this symbol or address comes
    /// next, in ``run`` and in ``call``; ``None`` for no longer. It may look at the machine and
    /// change it, but not run it. Its exception ends the run. ``load`` forgets it.
    fn on(&self, py: Python<'_>, place: &Bound<'_, PyAny>, act: Option<Py<PyAny>>) -> PyResult<()> {
        let place = crate::convert::place(place)?;
        let address = self.with(py, |probe| Ok(probe.firmware().symbol(&place)?.address))?;
        let stops = self.actions.set(address, act);
        self.with(py, |probe| probe.stop_at(&stops))
    }

    /// The machine as it is now, for ``restore``.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        Ok(Snapshot::new(self.with(py, |probe| Ok(probe.snapshot()))?))
    }

    /// Goes back to a snapshot, as often as is wanted: memories, registers, peripherals, pins, and
    /// what was counted.
    fn restore(&self, py: Python<'_>, snapshot: &Bound<'_, Snapshot>) -> PyResult<()> {
        self.actions.refuse_within("restore")?;
        let snapshot = snapshot.get();
        self.with(py, |probe| snapshot.give_back(probe))
    }

    /// Calls a function where the program stands, by the C calling convention of its target (AVR,
    /// Cortex-M, MSP430, RISC-V), and leaves the program where it stood, with its registers as they
    /// were.
    ///
    /// An argument is an integer;
    /// ``u8(5)`` to ``i64(5)``, an integer of this type; the name of a symbol, for its address; or ``(symbol, bytes)``,
    /// which writes the bytes there first. What integers are and what comes back is in the debug
    /// information
    /// (``-gdwarf-4``). Where there is none, integers have to say their type, and ``returns`` what comes back: ``"u16"``, ``None``.
    ///
    /// Refused: floating-point numbers, structures and ``...`` as arguments; the large code model
    /// of the MSP430; other cores; a program that has not run to where its stack and variables are
    /// set up.
    #[pyo3(signature = (function, *arguments, returns=Some(AS_BUILT), max_cycles=None))]
    fn call(
        slf: &Bound<'_, Self>,
        function: &Bound<'_, PyAny>,
        arguments: &Bound<'_, PyTuple>,
        returns: Option<&str>,
        max_cycles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CallResult> {
        let (py, machine) = (slf.py(), slf.get());
        machine.actions.refuse_within("call")?;
        let function = place(function)?;
        let arguments = arguments.iter().map(|one| argument(&one)).collect::<PyResult<Vec<_>>>()?;
        let returns = match returns {
            None => Returns::Nothing,
            Some(AS_BUILT) => Returns::AsBuilt,
            Some(name) => Returns::Type(c_type(name)?),
        };
        let most = cycles(max_cycles)?;
        let call = machine.with(py, |probe| probe.begin_call(&function, &arguments, returns, most))?;
        // The function itself may be a place to act at.
        Machine::act(slf)?;
        let probe::CallResult { result, cycles, instructions, stack_bytes, time_s, energy_j } = loop {
            match machine.running(py, |probe, look| probe.continue_call(&call, look))? {
                Some(result) => break result,
                None => Machine::act(slf)?,
            }
        };
        Ok(CallResult { result, cycles, instructions, stack_bytes, time_s, energy_j })
    }

    /// Memory at a symbol or an address; all of a symbol where no length is said. On an AVR data
    /// addresses begin at 0x800000.
    #[pyo3(signature = (place, length=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        place: &Bound<'py, PyAny>,
        length: Option<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let place = crate::convert::place(place)?;
        let bytes = self.with(py, |probe| probe.read(&place, length))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes memory at a symbol or an address, as a debugger would; non-volatile memory, too.
    fn write(&self, py: Python<'_>, place: &Bound<'_, PyAny>, data: Vec<u8>) -> PyResult<()> {
        let place = crate::convert::place(place)?;
        self.with(py, |probe| probe.write(&place, &data))
    }

    /// The address of a symbol, and its size in bytes, 0 where the file does not tell.
    fn symbol(&self, py: Python<'_>, name: &str) -> PyResult<(u32, u32)> {
        let symbol = self.with(py, |probe| Ok(probe.firmware().symbol(name)?))?;
        Ok((symbol.address, symbol.size))
    }

    /// Sets a register, as a debugger would.
    fn set_register(&self, py: Python<'_>, name: &str, value: u32) -> PyResult<()> {
        self.with(py, |probe| probe.set_register(name, value))
    }

    /// Bytes begin to arrive at a UART, at its own rate, while the program runs on.
    fn send(&self, py: Python<'_>, uart: &str, data: Vec<u8>) -> PyResult<()> {
        self.with(py, |probe| probe.send(uart, &data))
    }

    /// Returns the output of the program since the last call, by port: UARTs, ``ITM.0``,
    /// ``semihosting``.
    fn sent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ports = PyDict::new(py);
        for (port, bytes) in self.with(py, |probe| Ok(probe.take_sent()))? {
            ports.set_item(port, PyBytes::new(py, &bytes))?;
        }
        Ok(ports)
    }

    /// A UART, by its name in the data sheet: ``USART2``.
    fn uart(slf: &Bound<'_, Self>, name: String) -> PyResult<Uart> {
        slf.get().with(slf.py(), |probe| probe.listens(&name))?;
        Ok(Uart::new(slf.clone().unbind(), name))
    }

    /// The level at a pin, such as ``PB5``, ``PORTB.5`` or ``P1.0``, whoever drives it; ``None``
    /// where nobody does.
    fn pin(&self, py: Python<'_>, name: &str) -> PyResult<Option<bool>> {
        self.with(py, |probe| probe.pin(name))
    }

    /// Drives a pin from outside, as a button does, or with ``None`` lets go of it. The program
    /// sees it when it runs on.
    #[pyo3(signature = (name, level))]
    fn set_pin(&self, py: Python<'_>, name: &str, level: Option<bool>) -> PyResult<()> {
        self.with(py, |probe| probe.set_pin(name, level))
    }

    /// Puts a device onto an I2C bus, such as ``TWI`` or ``I2C1``, at an address of seven bits. Its
    /// functions are called while the program runs: ``write(byte)`` with each byte from the master,
    /// ``read()`` for each byte to it, ``start(reads, time_s)`` when it is addressed, ``stop()`` at
    /// the end. ``write`` and ``start`` may return ``False`` for no acknowledgement. A device
    /// without ``write`` or ``read`` does not acknowledge its address for it. An exception ends the
    /// run. ``load`` takes the device off; ``restore`` leaves its own state as it is.
    #[pyo3(signature = (bus, address, *, write=None, read=None, start=None, stop=None))]
    #[expect(clippy::too_many_arguments, reason = "a function for each event of the bus")]
    fn attach_i2c(
        &self,
        py: Python<'_>,
        bus: &str,
        address: &Bound<'_, PyAny>,
        write: Option<Py<PyAny>>,
        read: Option<Py<PyAny>>,
        start: Option<Py<PyAny>>,
        stop: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let functions = [("write", write), ("read", read), ("start", start), ("stop", stop)];
        let address: u8 = address.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(py) {
            true => UsageError::new_err(format!(
                "{address} is no I2C address: they have seven bits, up to 0x7f, without the bit for reading"
            )),
            false => error,
        })?;
        let script = self.devices.script(format!("{bus} {address:#04x}"), functions);
        let shared = Arc::new(Mutex::new(script.clone()));
        self.with(py, |probe| probe.attach_i2c(bus, address, shared))?;
        self.devices.keep(&script);
        Ok(())
    }

    /// Wires a device to an SPI master, such as ``SPI`` or ``SPI1``; the pin ``select`` selects it
    /// while low. ``transfer(byte)`` is called with each byte from the master, and returns the byte
    /// that goes to it meanwhile. ``on_select(selected, time_s)`` is called when the pin goes low
    /// or back. ``mode`` is the SPI mode that the device understands. An exception ends the run.
    /// ``load`` takes the device off; ``restore`` leaves its own state as it is.
    #[pyo3(signature = (bus, select, transfer, *, on_select=None, mode=0))]
    fn attach_spi(
        &self,
        py: Python<'_>,
        bus: &str,
        select: &str,
        transfer: Py<PyAny>,
        on_select: Option<Py<PyAny>>,
        mode: u8,
    ) -> PyResult<()> {
        let functions = [("transfer", Some(transfer)), ("select", on_select)];
        let script = self.devices.script(format!("{bus} {select}"), functions);
        let shared = Arc::new(Mutex::new(script.clone()));
        self.with(py, |probe| probe.attach_spi(bus, select, mode, shared))?;
        self.devices.keep(&script);
        Ok(())
    }

    /// A record for each function that was executed since reset, as
    /// ``wattseal measure --format json`` has it: ``calls``, ``inclusive_cycles``, ``exclusive_cycles``, ``stack_bytes``, ``time_s``, ``energy_j``. ``pandas.DataFrame``
    /// takes it.
    fn profile<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        records(py, &self.with(py, |probe| Ok(probe.profile()))?)
    }

    /// The registers by their names in the data sheet, in lower case.
    #[getter]
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let registers = PyDict::new(py);
        for (name, value) in self.with(py, |probe| Ok(probe.machine().registers()))? {
            registers.set_item(name, value)?;
        }
        Ok(registers)
    }

    /// The target's name.
    #[getter]
    fn target(&self) -> &str {
        &self.setup.target
    }

    /// Cycles since reset.
    #[getter]
    fn cycles(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |probe| Ok(probe.machine().cycles()))
    }

    /// Instructions since reset.
    #[getter]
    fn instructions(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |probe| Ok(probe.machine().instructions()))
    }

    /// The core's clock, in Hz.
    #[getter]
    fn clock_hz(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |probe| Ok(probe.machine().clock_hz()))
    }

    /// The supply, in volts.
    #[getter]
    fn supply_v(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |probe| Ok(probe.supply_v()))
    }

    /// Seconds since reset, at the clocks that there were.
    #[getter]
    fn time_s(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.spent(py)?.time_s)
    }

    /// Joules since reset, at the data sheet's active current, and asleep at the mode's: at an
    /// upper bound where there is none.
    #[getter]
    fn energy_j(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.spent(py)?.energy_j)
    }

    fn __repr__(&self) -> String {
        format!("Machine({:?})", self.setup.target)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.actions.traverse(&visit)?;
        self.devices.traverse(&visit)
    }

    fn __clear__(&self) {
        self.actions.clear();
        self.devices.clear();
    }
}

fn cycles(given: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    given.map_or(Ok(bench::MAX_CYCLES), |given| quantity("max_cycles", given, units::count))
}

/// An argument of a call: a number, a number of a type, the name of a symbol, or a symbol with
/// bytes for it.
fn argument(given: &Bound<'_, PyAny>) -> PyResult<Argument> {
    if let Ok(number) = given.cast::<Number>() {
        let Number { number, kind } = number.get();
        return Ok(Argument::Number { number: *number, kind: Some(*kind) });
    }
    if given.is_instance_of::<PyString>() {
        return Ok(Argument::Address(given.extract()?));
    }
    if let Ok(pair) = given.cast::<PyTuple>()
        && pair.len() == 2
    {
        return Ok(Argument::Bytes {
            place: place(&pair.get_item(0)?)?,
            bytes: pair.get_item(1)?.extract()?,
        });
    }
    match given.extract::<i128>() {
        Ok(number) => Ok(Argument::Number { number, kind: None }),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{} is nothing that can be passed: give an integer, u16(5) and the like, the name of a symbol for its address, or \
             (symbol, bytes), which writes the bytes there first",
            given.repr()?
        ))),
    }
}
