//! gdb on a running program: the remote protocol by the crate gdbstub, registers as each core's gdb
//! expects them, and the way back by snapshots.

mod history;
mod registers;
mod session;
mod watch;
mod wire;

use crate::LabError;
use crate::program::{Ending, Program};
use gdbstub::common::Signal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, SingleThreadStopReason};
use registers::Layout;
use session::Session;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use wire::Wire;

type Failure = GdbStubError<Infallible, io::Error>;

/// Lets a gdb that comes to `listener` run the program; once it detaches, the program runs to its
/// end.
///
/// # Errors
/// There is no gdb for the core; nobody can listen.
pub(crate) fn serve(program: &mut Program<'_>, listener: &TcpListener) -> Result<Ending, LabError> {
    let Some(layout) = Layout::of(&*program.machine) else {
        let said = format!("there is no gdb for the core of {}", program.target.name());
        return Err(LabError::Usage(said));
    };
    let unheard = |error: io::Error| LabError::Unfinished(format!("gdb cannot be listened to: {error}"));
    let address = listener.local_addr().map_err(unheard)?;
    (program.say)(&format!(
        "waiting for gdb: {} {} -ex 'target remote {address}'",
        layout.gdb,
        program.firmware.path().display()
    ));
    let Some(wire) = Wire::accept(listener, || program.interrupted()).map_err(unheard)? else {
        return Ok(Ending::failed("interrupted", LabError::Unfinished("interrupted before gdb came".into())));
    };
    let mut session = Session::new(program, layout);
    let parting = attend(&mut session, wire).unwrap_or_else(|error| Parting::Lost(error.to_string()));
    let Session { program, ended, .. } = session;
    match ended {
        // That has been said.
        Some(Ending { failure: Some(LabError::Fault { .. }), text, code }) => {
            return Ok(Ending { code, text, failure: None });
        }
        Some(ending) => return Ok(ending),
        None => {}
    }
    let unfinished = |text: &str, why: String| Ending::failed(text, LabError::Unfinished(why));
    let place = program.place();
    Ok(match parting {
        Parting::Detached => program.run_to_end(None),
        Parting::Killed => Ending::of(0, format!("ended by gdb{place}")),
        Parting::Interrupted => unfinished("interrupted", format!("interrupted{place}")),
        Parting::Lost(why) => unfinished("gdb is gone", format!("gdb is gone{place}: {why}")),
    })
}

/// End of a gdb session.
enum Parting {
    Detached,
    /// It ended the program, or the program ended.
    Killed,
    /// The command is to end.
    Interrupted,
    /// The connection broke, for this reason.
    Lost(String),
}

/// Does what gdb says until it goes or the program ends.
fn attend(session: &mut Session<'_, '_>, wire: Wire) -> Result<Parting, Failure> {
    let mut stub = GdbStub::new(wire).run_state_machine(session)?;
    loop {
        stub = match stub {
            GdbStubStateMachine::Idle(mut idle) => match idle.borrow_conn().read() {
                Ok(Some(byte)) => idle.incoming_data(session, byte)?,
                Ok(None) if session.program.interrupted() => return Ok(Parting::Interrupted),
                Ok(None) => idle.into(),
                Err(error) => return Ok(Parting::Lost(error.to_string())),
            },
            GdbStubStateMachine::Running(mut running) => match running.borrow_conn().read_waiting() {
                Ok(Some(byte)) => running.incoming_data(session, byte)?,
                Ok(None) => match session.advance() {
                    Some(reason) => running.report_stop(session, reason)?,
                    None => running.into(),
                },
                Err(error) => return Ok(Parting::Lost(error.to_string())),
            },
            GdbStubStateMachine::CtrlCInterrupt(interrupted) => {
                let reason = SingleThreadStopReason::Signal(Signal::SIGINT);
                interrupted.interrupt_handled(session, Some(reason))?
            }
            GdbStubStateMachine::Disconnected(disconnected) => {
                return Ok(match disconnected.get_reason() {
                    DisconnectReason::Disconnect => Parting::Detached,
                    _ => Parting::Killed,
                });
            }
        };
    }
}
