//! Files for a shell and `man`, made of the commands.

use clap::{Args, Command, Subcommand};
use clap_complete::Shell;
use lab::LabError;
use output::Answer;
use std::fs::create_dir_all;
use std::path::PathBuf;

/// Commands that need no project.
#[derive(Subcommand)]
pub(crate) enum ShellCommand {
    /// Write a shell's completions of commands and options
    #[command(
        after_help = "Example: wattseal completions bash >~/.local/share/bash-completion/completions/wattseal"
    )]
    Completions(CompletionsArgs),
    /// Manual pages of all commands
    #[command(after_help = "Example: wattseal man ~/.local/share/man/man1")]
    Man(ManArgs),
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that completes
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The folder for the pages, such as ~/.local/share/man/man1
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Does what was asked for.
pub(crate) fn perform(command: ShellCommand, commands: Command) -> Result<Answer, LabError> {
    match command {
        ShellCommand::Completions(args) => Ok(completions(&args, commands)),
        ShellCommand::Man(args) => man(args, commands),
    }
}

/// Writes the script that the shell is to source.
fn completions(args: &CompletionsArgs, mut commands: Command) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut commands, "wattseal", &mut script);
    Answer { data: String::from_utf8_lossy(&script).into_owned(), remark: String::new(), success: true }
}

/// Writes a page for each command.
fn man(args: ManArgs, commands: Command) -> Result<Answer, LabError> {
    let ManArgs { folder } = args;
    create_dir_all(&folder)
        .and_then(|()| clap_mangen::generate_to(commands, &folder))
        .map_err(|error| LabError::File { path: folder.clone(), error })?;
    let remark = format!("wattseal: the pages are in {}", folder.display());
    Ok(Answer { data: String::new(), remark, success: true })
}
