//! The lab: builds firmware, runs it on the processor models of `mcu`, and measures it.
//!
//! - [`target`]: a part as `targets/*.toml` describes it; [`workspace`]: the project's files, and
//!   where results are kept
//! - [`board`]: the files `boards/*.toml`, put onto a machine; [`named_board`]: names of boards
//!   that people use for targets
//! - [`accuracy`]: bounds on a model's cycles against the part's
//! - [`calibration`]: a user's measurements, and the targets as they correct them
//! - [`profile`], [`region`]: cycles and stack per function call, or between two edges of a pin,
//!   while a machine runs
//! - [`operations`] and [`reference`]: the operations, and their right outputs
//! - [`cost_table`]: measured costs, cached by content; [`schemes`]: protections of a message;
//!   [`units`]: quantities as a person writes them
//! - [`delivery`]: messages between meter and collector, which another crate plays
//! - [`harness`]: an operation's firmware on its machine, run input by input; [`selection`],
//!   [`repetition`], [`row`]: the rows of a bench, their number of runs, and their figures
//! - [`traces`]: recordings of a run beside its sums: waveforms, calls, counts of instructions
//! - [`user_firmware`]: a user's own firmware in its machine; [`probe`]: the same piece by piece,
//!   with calls of its functions
//! - [`call`]: a function of a user's own, compiled for each part and called
//! - [`bench`], [`ct`], [`fault`], [`measure`], [`check`], [`run`], [`plan`]: the commands
//! - [`verify_board`]: cycles that a board counted itself, beside the model's
//! - [`compare`]: the rows of a command beside those of an earlier run, and limits; [`rank`]: the
//!   figures that rows are ranked by
//! - [`list`]: the names that they take; [`origin`]: the origin of their figures
//! - [`work`]: their work, on all processors of the host
//! - [`report`], [`plot`], [`page`], [`progress`]: rows as a table, JSON or CSV; charts; pages;
//!   progress

pub mod accuracy;
pub mod bench;
pub mod board;
mod cache;
pub mod calibration;
pub mod calibration_point;
pub mod call;
pub mod check;
pub mod compare;
pub mod cost_table;
pub mod ct;
mod debug;
pub mod delivery;
pub mod energy_accuracy;
mod error;
pub mod fault;
mod files;
pub mod harness;
pub mod list;
pub mod measure;
pub mod named_board;
pub mod names;
pub mod operations;
pub mod origin;
pub mod page;
mod pins;
mod pipeline;
pub mod plan;
pub mod plot;
pub mod power_states;
pub mod probe;
pub mod profile;
mod program;
pub mod progress;
pub mod rank;
mod recorded;
pub mod reference;
pub mod region;
pub mod repetition;
pub mod report;
mod result_cache;
pub mod row;
mod rtt;
pub mod run;
pub mod schemes;
pub mod selection;
mod serial_buses;
pub mod sister;
mod stimuli;
pub mod target;
mod target_files;
pub mod timeline;
pub mod traces;
pub mod units;
pub mod user_firmware;
pub mod verify_board;
pub mod work;
pub mod workspace;

pub use error::LabError;
pub use files::Embedded;
