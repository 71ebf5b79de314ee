//! Names that columns have for states and roles.

use super::record::Role;
use crate::event::{CommandState, UpdateState};

/// Returns the name in `commands.state`.
pub(in crate::store) fn name_of_state(state: CommandState) -> &'static str {
    match state {
        CommandState::Waiting => "waiting",
        CommandState::Sent => "sent",
        CommandState::Done => "done",
        CommandState::Refused => "refused",
        CommandState::Withdrawn => "withdrawn",
    }
}

pub(in crate::store) fn state_of_name(name: &str) -> CommandState {
    match name {
        "sent" => CommandState::Sent,
        "done" => CommandState::Done,
        "refused" => CommandState::Refused,
        "withdrawn" => CommandState::Withdrawn,
        _ => CommandState::Waiting,
    }
}

/// Returns the name in `tokens.role`.
pub(in crate::store) fn name_of_role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Administrator => "administrator",
    }
}

/// Returns the role of a name; an unknown name is a viewer.
pub(in crate::store) fn role_of_name(name: &str) -> Role {
    if name == "administrator" { Role::Administrator } else { Role::Viewer }
}

/// Condition of an update that is not over.
pub(in crate::store) const IS_OPEN: &str = "state IN ('waiting', 'asking', 'sending', 'trying')";

/// Returns the name in `updates.state`.
pub(in crate::store) fn name_of_update_state(state: UpdateState) -> &'static str {
    match state {
        UpdateState::Waiting => "waiting",
        UpdateState::Asking => "asking",
        UpdateState::Sending => "sending",
        UpdateState::Trying => "trying",
        UpdateState::Runs => "runs",
        UpdateState::Refused => "refused",
        UpdateState::WentBack => "went-back",
        UpdateState::NotPossible => "not-possible",
        UpdateState::Withdrawn => "withdrawn",
    }
}

pub(in crate::store) fn update_state_of_name(name: &str) -> UpdateState {
    match name {
        "asking" => UpdateState::Asking,
        "sending" => UpdateState::Sending,
        "trying" => UpdateState::Trying,
        "runs" => UpdateState::Runs,
        "refused" => UpdateState::Refused,
        "went-back" => UpdateState::WentBack,
        "not-possible" => UpdateState::NotPossible,
        "withdrawn" => UpdateState::Withdrawn,
        _ => UpdateState::Waiting,
    }
}
