//! Alerts, commands, tokens, actions, and what waits to be forwarded.

use super::place::{Engine, NEW_YEAR_S, add, on_each_engine, report, start};
use collector::api::Action;
use collector::event::CommandState;
use collector::network::GlobalMeterId;
use collector::store::{
    AlertFilter, CommandProgress, METER_OUTBOX_MAX, MeterFilter, NewAction, NewAlert, NewCommand, NewOutbox,
    NewToken, RecordedCommand, Role, Write, Written,
};
use wire::meter::{Alert, Answer, Cause, Command, CommandResult, Content, MessageKind, QueuedCommand, Suite};

on_each_engine!(
    alerts_are_seen_once,
    a_first_start_is_information_and_others_are_open,
    a_command_goes_its_way_and_ends_once,
    possibly_given_command_is_withdrawn_in_place,
    command_of_a_later_version_is_listed_and_ended_by_its_name,
    tokens_and_actions_are_kept_without_secrets,
    forward_queue_is_bounded_and_without_duplicates,
);

const NOW_MS: i64 = NEW_YEAR_S * 1000;

fn alerts_are_seen_once(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let alert = |meter: Option<GlobalMeterId>, seconds: i64| {
        let (cause, detail) = ("silent".to_owned(), "nothing for 30 s".to_owned());
        Write::Alert(NewAlert { meter, at_ms: NOW_MS + seconds * 1000, cause, detail })
    };
    store
        .commit(vec![alert(Some(1.into()), 0), alert(None, 1), alert(Some(1.into()), 2)])
        .expect("there is room");
    let seen = |by: &str| Write::Acknowledge { alert: 1, by: by.to_owned(), at_ms: NOW_MS + 9000 };
    let written = store.commit(vec![seen("Ada"), seen("Bob")]).expect("there is room");
    for written in written {
        let Written::Acknowledged(alert) = written else { panic!("{written:?}") };
        assert_eq!(
            (alert.acknowledged_by.as_deref(), alert.acknowledged_s),
            (Some("Ada"), Some(NEW_YEAR_S + 9))
        );
    }
    let unknown = Write::Acknowledge { alert: 77, by: String::new(), at_ms: 0 };
    assert_eq!(store.commit(vec![unknown]).expect("there is room"), [Written::Unknown]);
    let reader = store.reader();
    let ids = |filter: AlertFilter| -> Vec<i64> {
        reader.alerts(&filter).expect("alerts").iter().map(|alert| alert.id).collect()
    };
    let (all, one) = (AlertFilter::default(), MeterFilter::Meter(1.into()));
    assert_eq!(ids(all), [3, 2, 1]);
    assert_eq!(ids(AlertFilter { open: true, ..all }), [3, 2]);
    assert_eq!(ids(AlertFilter { whose: one, ..all }), [3, 1]);
    assert_eq!(ids(AlertFilter { whose: one, open: true, ..all }), [3]);
    assert_eq!(ids(AlertFilter { before: Some(3), limit: 1, ..all }), [2]);
    assert_eq!(ids(AlertFilter { from_s: Some(NEW_YEAR_S + 1), to_s: Some(NEW_YEAR_S + 2), ..all }), [2]);
}

fn a_first_start_is_information_and_others_are_open(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let by_watchdog = |at_s: i64| match start(at_s, 1) {
        Content::Alert(alert) => Content::Alert(Alert { cause: Cause::Watchdog, ..alert }),
        other => other,
    };
    let at_s = NEW_YEAR_S;
    let batch = [start(at_s, 1), start(at_s + 1, 2), by_watchdog(at_s + 2)];
    let reports = batch.into_iter().zip(1..).map(|(content, n)| Write::Report(report(1, n, at_s, content)));
    store.commit(reports.collect()).expect("there is room");
    let alerts = store.reader().alerts(&AlertFilter::default()).expect("alerts");
    let seen = alerts.iter().map(|alert| (alert.detail.as_str(), alert.acknowledged_by.as_deref()));
    assert!(seen.eq([("start 1", None), ("start 2", None), ("start 1", Some("collector"))]), "{alerts:?}");
    assert_eq!(alerts[2].acknowledged_s, Some(at_s));
    let meter = store.reader().meter(1.into(), 0).expect("readable").expect("there is one");
    assert_eq!(meter.open_alerts, 2);
}

fn a_command_goes_its_way_and_ends_once(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let order = QueuedCommand::Command(Command::Configure { interval_s: 60, suite: Suite::Ecies });
    let new = NewCommand { meter: 1.into(), ticket: 5, order, by: "Ada".to_owned(), created_ms: NOW_MS };
    let written = store.commit(vec![Write::Command(new)]).expect("there is room");
    let Written::Command(given) = &written[0] else { panic!("{written:?}") };
    assert_eq!((given.state, given.ticket), (CommandState::Waiting, 5));
    assert_eq!(given.order, order.into());
    let id = given.id;
    let answer = Answer { m: 3, outcome: CommandResult::Done, body: [7; 11] };
    let step = |state, attempts, seconds: i64, answer| {
        Write::CommandProgress(CommandProgress {
            id,
            state,
            attempts,
            at_ms: NOW_MS + seconds * 1000,
            answer,
        })
    };
    let batch = vec![
        step(CommandState::Sent, 1, 1, None),
        step(CommandState::Sent, 2, 2, None),
        step(CommandState::Done, 2, 3, Some(answer)),
        step(CommandState::Withdrawn, 2, 4, None),
    ];
    assert_eq!(store.reader().open_commands().expect("commands").len(), 1);
    let written = store.commit(batch).expect("there is room");
    assert_eq!(written[3], Written::Unknown);
    let shown = store.reader().command(id).expect("commands").expect("there is one");
    assert_eq!((shown.state, shown.attempts, shown.answer), (CommandState::Done, 2, Some(answer)));
    assert_eq!((shown.sent_ms, shown.ended_ms), (Some(NOW_MS + 1000), Some(NOW_MS + 3000)));
    assert_eq!(store.reader().commands(1.into(), 0).expect("commands"), [shown]);
    assert!(store.reader().open_commands().expect("commands").is_empty());
}

fn possibly_given_command_is_withdrawn_in_place(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1, 2]);
    let give = |meter: u16, ticket| {
        let (order, by) = (QueuedCommand::Command(Command::Reboot), "Ada".to_owned());
        Write::Command(NewCommand { meter: meter.into(), ticket, order, by, created_ms: NOW_MS })
    };
    store.commit(vec![give(1, 5), give(1, 6), give(2, 5)]).expect("there is room");
    let not_given = |ticket| Write::CommandNotGiven { meter: 1.into(), ticket, at_ms: NOW_MS + 1000 };
    let written = store.commit(vec![not_given(5), not_given(5), not_given(7)]).expect("there is room");
    let Written::Command(withdrawn) = &written[0] else { panic!("{written:?}") };
    let said = (withdrawn.id, withdrawn.state, withdrawn.ended_ms);
    assert_eq!(said, (1, CommandState::Withdrawn, Some(NOW_MS + 1000)));
    assert_eq!(written[1..], [Written::Unknown, Written::Unknown]);
    let open = store.reader().open_commands().expect("commands");
    assert_eq!(open.iter().map(|command| command.id).collect::<Vec<_>>(), [2, 3]);
}

/// Another version wrote the order and the answer, and all else of the batch is stored.
fn command_of_a_later_version_is_listed_and_ended_by_its_name(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let give = |ticket| {
        let (order, by) = (QueuedCommand::TimeNow, "Ada".to_owned());
        Write::Command(NewCommand { meter: 1.into(), ticket, order, by, created_ms: NOW_MS })
    };
    store.commit((1..=4).map(give).collect()).expect("there is room");
    let later = [
        (1, r#"{"command":{"configure":{"interval_s":60,"suite":"aes128-gcm","jitter_s":5}}}"#, "configure"),
        (2, r#"{"command":"explode"}"#, "explode"),
        (3, r#""look-at-moon""#, "look-at-moon"),
        (4, "[", "unknown"),
    ];
    for (id, order, _) in later {
        place.change(&format!("UPDATE commands SET \"order\" = '{order}' WHERE id = {id}"));
    }
    let (state, attempts, at_ms) = (CommandState::Withdrawn, 0, NOW_MS + 1000);
    let end = |id| Write::CommandProgress(CommandProgress { id, state, attempts, at_ms, answer: None });
    let written = store.commit((1..=4).map(end).collect()).expect("there is room");
    place.change("UPDATE commands SET answer = '{\"later\":1}' WHERE id = 2");
    for ((id, _, name), written) in later.into_iter().zip(&written) {
        let Written::Command(ended) = written else { panic!("{written:?}") };
        assert_eq!((ended.id, ended.state), (id, state));
        assert_eq!(ended.order, RecordedCommand::Later(name.to_owned()));
    }
    assert_eq!(store.reader().commands(1.into(), 0).expect("commands").len(), 4);
    assert_eq!(store.reader().command(2).expect("commands").expect("there is one").answer, None);
}

fn tokens_and_actions_are_kept_without_secrets(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let new = NewToken { name: "wall".to_owned(), role: Role::Viewer, hash: [0xab; 32], created_ms: 1 };
    assert!(!format!("{new:?}").contains("171"));
    let action = NewAction { at_ms: NOW_MS, who: "local".to_owned(), what: "token wall made".to_owned() };
    let batch = vec![
        Write::Token(new),
        Write::TokenUsed { token: 1, at_ms: 50 },
        Write::TokenUsed { token: 1, at_ms: 40 },
        Write::TokenRevoked { token: 1, at_ms: 60 },
        Write::TokenRevoked { token: 2, at_ms: 60 },
        Write::Action(action),
    ];
    let written = store.commit(batch).expect("there is room");
    assert_eq!((&written[0], &written[4]), (&Written::Token(1), &Written::Unknown));
    let tokens = store.reader().tokens().expect("tokens");
    assert_eq!((tokens[0].hash, tokens[0].role), ([0xab; 32], Role::Viewer));
    assert_eq!((tokens[0].last_used_ms, tokens[0].revoked_ms), (Some(50), Some(60)));
    let actions = store.reader().actions(10, None).expect("actions").into_iter().map(Action::from);
    let actions = serde_json::to_value(actions.collect::<Vec<_>>()).expect("JSON");
    let expected =
        serde_json::json!([{"id": 1, "at_s": NEW_YEAR_S, "who": "local", "what": "token wall made"}]);
    assert_eq!(actions, expected);
}

fn forward_queue_is_bounded_and_without_duplicates(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let message = |number_lsb: u8| {
        Write::OutboxPut(NewOutbox {
            address: 1,
            name: 7,
            kind: MessageKind::Report,
            suite: Suite::Aes128Gcm,
            number_lsb,
            message: vec![number_lsb; 36],
            heard_ms: NOW_MS,
        })
    };
    let mut batch: Vec<Write> = (0..METER_OUTBOX_MAX as u8).map(message).collect();
    batch.extend([message(0), message(99), Write::OutboxRemove { id: 1 }, message(99)]);
    let written = store.commit(batch).expect("there is room");
    let tail = &written[METER_OUTBOX_MAX..];
    let next = METER_OUTBOX_MAX as i64 + 1;
    let expected =
        [Written::Outbox(Some(1)), Written::Outbox(None), Written::Done, Written::Outbox(Some(next))];
    assert_eq!(tail, expected);
    drop(store);
    let waiting = place.open().reader().outbox().expect("messages");
    let lows: Vec<u8> = (1..METER_OUTBOX_MAX as u8).chain([99]).collect();
    assert_eq!(waiting.iter().map(|message| message.number_lsb).collect::<Vec<_>>(), lows);
    assert_eq!(
        (waiting[0].kind, waiting[0].suite, waiting[0].message.len()),
        (MessageKind::Report, Suite::Aes128Gcm, 36)
    );
}
