//! Commands for meters.

use super::access::Caller;
use super::error::ApiError;
use super::extract::{Arguments, Body, InPath};
use super::meters::known;
use super::names::NamedMeter;
use super::readings::limit;
use super::schema::{self, CommandStateName, SuiteName};
use super::state::{Api, now_ms};
use super::tokens::action;
use crate::event::CommandState;
use crate::meters::{RequestError, command_by_name};
use crate::network::{GlobalMeterId, NetworkId};
use crate::store::{CommandRecord, RecordedCommand};
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wire::meter::{Answer, Command as MeterCommand, CommandResult, MeterId, QueuedCommand, Status};

/// A command, and how far it is.
#[derive(Serialize, ToSchema)]
pub(super) struct Command {
    id: i64,
    meter: MeterId,
    /// The meter's; left out of network 0's.
    #[schema(value_type = u32)]
    #[serde(skip_serializing_if = "NetworkId::is_default")]
    network: NetworkId,
    #[serde(serialize_with = "command_by_name::serialize_recorded")]
    #[schema(value_type = Ordered)]
    command: RecordedCommand,
    #[schema(value_type = CommandStateName)]
    state: CommandState,
    /// The number of times that it was sent.
    attempts: u32,
    /// The name of the token that gave it; `collector`: the collector itself.
    by: String,
    created_s: i64,
    ended_s: Option<i64>,
    answer: Option<Answered>,
}

/// The command: as it was given, or one of the collector's own.
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
#[expect(dead_code, reason = "its names and arguments are the description's")]
enum Ordered {
    /// Seconds between measurements, and how to seal.
    Configure {
        interval_s: u16,
        #[schema(value_type = SuiteName)]
        suite: wire::meter::Suite,
    },
    /// The units of the converter's steps.
    Calibrate { voltage_uv: u32, current_ua: u32, phase: i16 },
    /// Name and radio addresses.
    Register { meter: MeterId, address: u8, collector_address: u8 },
    /// The time that it is when the command is sent.
    SetTime,
    /// To say what time it has: the collector's own.
    LookAtTime,
    /// A page of its state.
    ReadStatus { page: u8 },
    /// Begin anew.
    Reboot,
    /// Renew the key of the suite `aes256-gcm-rekeyed`.
    RenewKey,
    /// Begin to take an image of its firmware.
    UpdateFirmware,
}

/// A meter's answer.
#[derive(Serialize, ToSchema)]
struct Answered {
    /// `done`, `unknown-command`, `out-of-range`, `image-refused`, or `other`.
    outcome: &'static str,
    /// The outcome's number: 0 done, 1 unknown command, 2 arguments out of range.
    code: u8,
    /// The page that was asked for.
    #[schema(value_type = Option<Object>)]
    status: Option<Status>,
}

/// A command to be given.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandWanted {
    #[serde(with = "command_by_name")]
    #[schema(value_type = schema::CommandRequest)]
    command: QueuedCommand,
}

/// The commands to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandArguments {
    /// The largest number of rows; 50 if left out.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

impl From<CommandRecord> for Command {
    fn from(record: CommandRecord) -> Command {
        let page = match record.order {
            RecordedCommand::Known(QueuedCommand::Command(MeterCommand::ReadStatus { page })) => Some(page),
            RecordedCommand::Known(QueuedCommand::ReadClock) => Some(0),
            _ => None,
        };
        Command {
            id: record.id,
            meter: record.meter.meter,
            network: record.meter.network,
            command: record.order,
            state: record.state,
            attempts: record.attempts,
            by: record.by,
            created_s: record.created_ms.div_euclid(1000),
            ended_s: record.ended_ms.map(|ended_ms| ended_ms.div_euclid(1000)),
            answer: record.answer.map(|answer| Answered::new(&answer, page)),
        }
    }
}

impl Answered {
    fn new(answer: &Answer, page: Option<u8>) -> Answered {
        let outcome = match answer.outcome {
            CommandResult::Done => "done",
            CommandResult::UnknownCommand => "unknown-command",
            CommandResult::OutOfRange => "out-of-range",
            CommandResult::NumberTooLow => "number-too-low",
            CommandResult::ImageRefused(_) => "image-refused",
            CommandResult::Other(_) => "other",
        };
        Answered { outcome, code: answer.outcome.code(), status: page.and_then(|page| answer.status(page)) }
    }
}

/// A meter's commands, newest first.
#[utoipa::path(get, path = "/meters/{meter}/commands", operation_id = "list_commands", tag = "commands", params(("meter" = inline(NamedMeter), Path), CommandArguments),
    responses((status = OK, body = Vec<Command>)))]
pub(super) async fn list(
    State(api): State<Api>,
    InPath(NamedMeter(meter)): InPath<NamedMeter>,
    Arguments(arguments): Arguments<CommandArguments>,
) -> Result<Json<Vec<Command>>, ApiError> {
    let limit = limit(arguments.limit, 50, 1000)?;
    known(&api, meter).await?;
    let commands = api.read(move |reader| reader.commands(meter, limit)).await?;
    Ok(Json(commands.into_iter().map(Command::from).collect()))
}

/// Gives a meter a command: it is sent until the meter answers.
#[utoipa::path(post, path = "/meters/{meter}/commands", tag = "commands", params(("meter" = inline(NamedMeter), Path)),
    request_body = CommandWanted, responses((status = CREATED, body = Command)))]
pub(super) async fn give(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath(NamedMeter(meter)): InPath<NamedMeter>,
    Body(wanted): Body<CommandWanted>,
) -> Result<(StatusCode, Json<Command>), ApiError> {
    if let QueuedCommand::Command(command) = &wanted.command {
        in_range(command)?;
    }
    not_revoked(&api, meter).await?;
    let name = caller.name.clone();
    let id = api.parts.meters.command(meter, wanted.command, &name).await.map_err(refused_request)?;
    let command: Command = one(&api, meter, id).await?.into();
    let given = command_by_name::to_json(&wanted.command);
    noted(&api, &caller, format!("commanded meter {meter}: {given}")).await;
    Ok((StatusCode::CREATED, Json(command)))
}

/// Takes a command back. If it was sent, the meter may have done it.
#[utoipa::path(delete, path = "/meters/{meter}/commands/{id}", tag = "commands",
    params(("meter" = inline(NamedMeter), Path), ("id" = i64, Path)), responses((status = OK, body = Command)))]
pub(super) async fn withdraw(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    InPath((NamedMeter(meter), id)): InPath<(NamedMeter, i64)>,
) -> Result<Json<Command>, ApiError> {
    known(&api, meter).await?;
    let command = one(&api, meter, id).await?;
    let over = |state| {
        let message = format!("command {id} is over: {}", state_name(state));
        ApiError::conflict("command-over", message)
    };
    match command.state {
        CommandState::Waiting | CommandState::Sent => {}
        CommandState::Withdrawn => return Ok(Json(command.into())),
        state => return Err(over(state)),
    }
    match api.parts.meters.withdraw(meter, id).await {
        Ok(()) => {}
        // It was answered meanwhile.
        Err(RequestError::NoCommand(_)) => return Err(over(one(&api, meter, id).await?.state)),
        Err(error) => return Err(refused_request(error)),
    }
    noted(&api, &caller, format!("withdrew command {id} of meter {meter}")).await;
    Ok(Json(one(&api, meter, id).await?.into()))
}

async fn one(api: &Api, meter: GlobalMeterId, id: i64) -> Result<CommandRecord, ApiError> {
    let found = api.read(move |reader| reader.command(id)).await?;
    found.filter(|command| command.meter == meter).ok_or_else(|| {
        let message = format!("meter {meter} has no command {id}");
        ApiError::not_found("command-unknown", message)
            .hint(format!("GET /api/v1/meters/{meter}/commands lists them"))
    })
}

async fn not_revoked(api: &Api, meter: GlobalMeterId) -> Result<(), ApiError> {
    if known(api, meter).await?.revoked {
        let message = format!("meter {meter} was revoked; it takes no commands");
        return Err(ApiError::conflict("meter-revoked", message));
    }
    Ok(())
}

/// Writes down what was done already: it stands whether this can be written or not.
pub(super) async fn noted(api: &Api, caller: &Caller, what: String) {
    if let Err(error) = api.write(vec![action(&caller.name, now_ms(), what)]).await {
        tracing::warn!(code = error.code, "an action was not written down");
    }
}

/// Refuses a command with an argument out of its range, by name.
fn in_range(command: &MeterCommand) -> Result<(), ApiError> {
    let wrong = |argument: &str, given: i64, range: &str| {
        let message = format!("{argument} is {given}; it is {range}");
        Err(ApiError::unprocessable("argument-range", message))
    };
    let steps = 1..=4_000_000;
    match *command {
        MeterCommand::Configure { interval_s: 0, .. } => wrong("interval_s", 0, "1 to 65,535 seconds"),
        MeterCommand::Calibrate { voltage_uv, .. } if !steps.contains(&voltage_uv) => {
            wrong("voltage_uv", voltage_uv.into(), "1 to 4,000,000 microvolts")
        }
        MeterCommand::Calibrate { current_ua, .. } if !steps.contains(&current_ua) => {
            wrong("current_ua", current_ua.into(), "1 to 4,000,000 microamperes")
        }
        MeterCommand::Calibrate { phase, .. } if !(-256..=256).contains(&phase) => {
            wrong("phase", phase.into(), "-256 to 256, in 1/256 of a sampling interval")
        }
        MeterCommand::Calibrate { voltage_uv, current_ua, .. }
            if u64::from(voltage_uv) * u64::from(current_ua) < LEAST_STEP_PRODUCT =>
        {
            let message = format!(
                "voltage_uv times current_ua is {}; meters take at least {LEAST_STEP_PRODUCT}",
                u64::from(voltage_uv) * u64::from(current_ua)
            );
            Err(ApiError::unprocessable("argument-range", message))
        }
        MeterCommand::Register { meter: 0, .. } => wrong("meter", 0, "1 to 65,535; 0 is nobody"),
        MeterCommand::Register { address: 0, .. } => wrong("address", 0, "1 to 255"),
        MeterCommand::Register { collector_address: 0, .. } => wrong("collector_address", 0, "1 to 255"),
        MeterCommand::ReadStatus { page } if page > 1 => wrong("page", page.into(), "0 or 1"),
        _ => Ok(()),
    }
}

/// With less than that a meter finds the steps out of range (`wire::meter::Command::Calibrate`).
const LEAST_STEP_PRODUCT: u64 = 110_000_000;

pub(super) fn refused_request(error: RequestError) -> ApiError {
    let message = error.to_string();
    match error {
        RequestError::UnknownMeter(_) => ApiError::not_found("meter-unknown", message),
        RequestError::NoCommand(_) => ApiError::not_found("command-unknown", message),
        RequestError::NoUpdate(_) => ApiError::conflict("update-over", message),
        RequestError::UnknownImage(_) => ApiError::not_found("image-unknown", message),
        RequestError::SealRequired => ApiError::unprocessable("seal-required", message),
        RequestError::KeysNotRenewed => ApiError::unprocessable("keys-not-renewed", message),
        RequestError::OutOfRange => ApiError::unprocessable("argument-range", message),
        RequestError::NameTaken(_) => ApiError::conflict("meter-name-taken", message),
        RequestError::OtherSlice { .. } => ApiError::conflict("meter-name-slice", message),
        RequestError::QueueFull(_) => ApiError::conflict("queue-full", message),
        RequestError::NumbersUsedUp(_) => ApiError::conflict("numbers-used-up", message),
        RequestError::EpochOver { .. } | RequestError::State(_) => ApiError::conflict("meter-state", message),
        RequestError::ClockBehind => ApiError::unavailable("clock-behind", message),
        RequestError::Store(_) => {
            tracing::error!(%error, "a command or an update was not stored");
            ApiError::unavailable("store", "it could not be stored, and was not given")
        }
        RequestError::Busy => ApiError::unavailable("busy", message),
        RequestError::Stopped => ApiError::unavailable("stopping", message),
        RequestError::Nobody(_) => ApiError::unavailable("no-worker", message),
        RequestError::Silent(meter) => ApiError::unavailable("worker-silent", message)
            .hint(format!("look at GET /api/v1/meters/{meter}/commands before it is tried again")),
        RequestError::NoConnection => ApiError::unavailable("nats", message),
        RequestError::NotRead { .. } => {
            tracing::error!(%error, "a question was not read");
            ApiError::unavailable("worker-version", message)
        }
    }
}

fn state_name(state: CommandState) -> &'static str {
    match state {
        CommandState::Waiting => "waiting",
        CommandState::Sent => "sent",
        CommandState::Done => "done",
        CommandState::Refused => "refused",
        CommandState::Withdrawn => "withdrawn",
    }
}
