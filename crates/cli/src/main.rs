//! The `wattseal` binary: [`cli`] is all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os().collect())
}
