//! `wattseal list`.

use clap::{Args, ValueEnum};
use lab::workspace::Workspace;
use lab::{LabError, list};
use output::{Answer, Format};

#[derive(Args)]
pub(crate) struct ListArgs {
    /// Sort of names
    #[arg(value_enum)]
    what: Names,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
    /// Format of the list; JSON and CSV have more than fits in a table
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Names that commands take.
#[derive(Clone, Copy, ValueEnum)]
enum Names {
    /// Microcontrollers, for --target
    Targets,
    /// Operations, for --op
    Ops,
    /// Builds of operations, for --variant
    Variants,
    /// Protections of a message, for plan --scheme
    Schemes,
    /// Papers, for reproduce
    Papers,
    /// Boards that go wherever a target does
    Boards,
}

pub(crate) fn command(workspace: &Workspace, args: &ListArgs) -> Result<Answer, LabError> {
    let ListArgs { format, wide, .. } = *args;
    let data = match args.what {
        Names::Targets => list::text(&list::targets(workspace)?, format, wide),
        Names::Ops => list::text(&list::operations(workspace)?, format, wide),
        Names::Variants => list::text(&list::variants(workspace)?, format, wide),
        Names::Schemes => list::text(&list::schemes(workspace)?, format, wide),
        Names::Papers => list::text(&list::papers(workspace)?, format, wide),
        Names::Boards => list::text(&list::boards(workspace)?, format, wide),
    }?;
    Ok(Answer { data, remark: String::new(), success: true })
}
