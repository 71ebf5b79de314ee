//! The dashboard's questions to PostgreSQL, each asked as Grafana asks it, by the user that is
//! Grafana's.

use super::roles::change_users;
use super::{dashboard, queries, text};
use crate::store::place::{NEW_YEAR_S, add, reading, report, start};
use collector::network::{GlobalMeterId, NetworkId};
use collector::store::{DatabaseUrl, Options, Store, Write};
use jiff::tz::TimeZone;
use serde_json::Value;
use testkit::postgres::{Server, shared};

const SEVEN: NetworkId = NetworkId(7);
/// The period on the dashboard: two days, from an hour before the first reading.
const FROM_S: i64 = NEW_YEAR_S - 3600;
const TO_S: i64 = NEW_YEAR_S + 2 * 86_400;
const INTERVAL_S: u32 = 600;
/// The tables that Grafana's user may read; of alerts, meters and partitions some columns.
const READABLE: [&str; 6] = ["alerts", "latest", "meters", "partitions", "readings", "rollups"];

/// A database with two meters in network 0 and one of the same number in network 7, which started,
/// and with the user of Grafana.
fn filled(server: &Server) -> String {
    let database = server.database();
    let place = DatabaseUrl::named(&server.url(&database)).expect("a URL");
    let options = Options { zone: TimeZone::UTC, ..Options::default() };
    let mut store = Store::open(place, &options).expect("the store opens");
    let meters: [GlobalMeterId; 3] = [258.into(), 259.into(), SEVEN.meter(258)];
    add(&mut store, meters);
    let mut batch = vec![Write::Report(report(meters[2], 1, NEW_YEAR_S, start(NEW_YEAR_S, 2)))];
    // A day and a half.
    for n in 2..130 {
        let at_s = NEW_YEAR_S + i64::from(n) * 1000;
        batch.extend(meters.map(|meter| reading(meter, n, at_s, n * 1000, 500)));
    }
    store.commit(batch).expect("committed");
    drop(store);
    let taken = "INSERT INTO partitions VALUES (7, 1, 0, 1767225600000, 'worker-1', 0, '')";
    server.sql(&database, taken);
    change_users(server, &database, &text("grafana/role.sql"));
    database
}

/// A query as Grafana makes it: variables first, then macros. Those of "PostgreSQL data source",
/// "Macros", in Grafana's documentation.
fn expanded(query: &str, variables: &[(&str, String)]) -> String {
    let mut query = query.replace("$__interval", &format!("{INTERVAL_S}s"));
    for (name, value) in variables {
        query = query.replace(&format!("${name}"), value);
    }
    while let Some(at) = query.find("$__") {
        let (open, close) =
            (query[at..].find('(').expect("arguments") + at, query[at..].find(')').expect("an end") + at);
        let arguments: Vec<&str> = query[open + 1..close].split(',').map(str::trim).collect();
        let interval = || {
            let interval = arguments[1].trim_matches('\'').strip_suffix('s').expect("seconds");
            interval.parse::<u32>().expect("seconds")
        };
        let column = arguments[0];
        let written = match &query[at..open] {
            "$__unixEpochFilter" => format!("{column} >= {FROM_S} AND {column} <= {TO_S}"),
            "$__unixEpochGroup" => format!("floor({column}/{0})*{0}", interval()),
            "$__unixEpochGroupAlias" => format!("floor({column}/{0})*{0} AS \"time\"", interval()),
            "$__timeFilter" => format!("{column} BETWEEN to_timestamp({FROM_S}) AND to_timestamp({TO_S})"),
            "$__timeGroup" => format!("floor(extract(epoch from {column})/{0})*{0}", interval()),
            "$__timeGroupAlias" => {
                format!("floor(extract(epoch from {column})/{0})*{0} AS \"time\"", interval())
            }
            unknown => panic!("Grafana's PostgreSQL has no macro {unknown}, or it is not known here"),
        };
        query.replace_range(at..=close, &written);
    }
    assert!(!query.contains('$'), "a variable that the dashboard does not have: {query}");
    query
}

/// Returns the answer to Grafana's user.
fn asked(server: &Server, database: &str, query: &str) -> Vec<Value> {
    let rows = server.sql(
        database,
        &format!("SET ROLE wattseal_grafana; SELECT coalesce(json_agg(q), '[]') FROM ({query}) q"),
    );
    serde_json::from_str(&rows).expect("JSON")
}

/// The values of a variable that may be several: each in quotes, with commas between them.
fn quoted(rows: &[Value], column: &str) -> String {
    let values: Vec<String> = rows.iter().map(|row| format!("'{}'", row[column])).collect();
    values.join(",")
}

#[test]
fn each_dashboard_query_returns_rows_for_its_panel() {
    let server = shared();
    let (database, dashboard) = (filled(server), dashboard());
    let mut variables: Vec<(&str, String)> = Vec::new();
    for variable in dashboard["templating"]["list"].as_array().expect("variables") {
        let name = variable["name"].as_str().expect("a name");
        if variable["type"] == "query" {
            let query = expanded(variable["query"].as_str().expect("a query"), &variables);
            let rows = asked(server, &database, &query);
            let column = if query.contains("__value") { "__value" } else { name };
            variables.push((name, quoted(&rows, column)));
        }
    }
    assert_eq!(variables, [("network", "'0','7'".to_owned()), ("meter", "'258','259','459010'".to_owned())]);
    for (panel, target, query) in queries(&dashboard, "rawSql") {
        let title = panel["title"].as_str().expect("a title");
        let rows = asked(server, &database, &expanded(&query, &variables));
        assert!(!rows.is_empty(), "{title}: no rows");
        match target["format"].as_str() {
            Some("time_series") => is_time_series(title, &rows),
            Some("table") => assert_eq!(panel["type"], "table", "{title}"),
            format => panic!("{title}: {format:?}"),
        }
    }
}

/// One row at least is of network 7, or of its meter; times are in what is shown, and ascend.
fn is_time_series(title: &str, rows: &[Value]) {
    let mut before = 0.0;
    for row in rows {
        let columns: Vec<&String> = row.as_object().expect("a row").keys().collect();
        assert_eq!(columns, ["metric", "time", "value"], "{title}");
        let time = row["time"].as_f64().unwrap_or_else(|| panic!("{title}: no number of seconds in {row}"));
        assert!(time >= before && (FROM_S as f64..=TO_S as f64).contains(&time), "{title}: {row}");
        assert!(row["metric"].is_string() && row["value"].is_number(), "{title}: {row}");
        before = time;
    }
    let of_seven = |row: &Value| row["metric"].as_str().is_some_and(|metric| metric.contains('7'));
    assert!(rows.iter().any(of_seven), "{title}: nothing of network 7 in {rows:?}");
}

/// The panels show the stored rows.
#[test]
fn the_dashboard_shows_what_was_stored() {
    let server = shared();
    let (database, dashboard) = (filled(server), dashboard());
    let variables = [("network", "'7'".to_owned()), ("meter", "'459010'".to_owned())];
    let of = |title: &str| {
        let all = queries(&dashboard, "rawSql");
        let (_, _, query) = all.into_iter().find(|(panel, _, _)| panel["title"] == title).expect("a panel");
        asked(server, &database, &expanded(&query, &variables))
    };
    let now = of("Power now, by network");
    assert_eq!(
        (now.len(), &now[0]["metric"], now[0]["value"].as_f64()),
        (1, &"network 7".into(), Some(500.0))
    );
    let power = of("Power by meter");
    assert!(power.iter().all(|row| row["value"].as_f64() == Some(500.0)), "{power:?}");
    // 128 readings, 1000 s apart, in groups of 600 s: each in one of its own.
    assert_eq!(power.len(), 128);
    // Since its start, the register's 129,000 tenths of Wh.
    let energy: Vec<f64> =
        of("Energy a day, by meter").iter().filter_map(|row| row["value"].as_f64()).collect();
    assert_eq!(energy.len(), 2, "{energy:?}");
    assert!((energy.iter().sum::<f64>() - 12.9).abs() < 1e-6, "{energy:?}");
    let alerts = of("Alerts that nobody acknowledged");
    assert_eq!((alerts.len(), alerts[0]["meter"].as_str()), (1, Some("7-258")));
    let partitions = of("Partitions, as the database has them");
    assert_eq!((partitions.len(), partitions[0]["partition"].as_str()), (1, Some("7.0")));
    let networks = of("Meters by network");
    assert_eq!(
        (networks.len(), networks[0]["meters"].as_u64(), networks[0]["online"].as_u64()),
        (1, Some(1), Some(0))
    );
    assert_eq!(of("Meters that are not heard").len(), 1);
}

/// It reads what the dashboard asks for, and no table that a later version brings unless somebody
/// says so; it changes nothing.
#[test]
fn the_user_of_grafana_reads_no_keys_and_changes_nothing() {
    let server = shared();
    let database = filled(server);
    let tables = |privilege: &str| {
        let query = format!(
            "SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class \
             WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'S') \
             AND {privilege}"
        );
        server.sql(&database, &query)
    };
    assert_eq!(
        tables("relkind <> 'S' AND has_any_column_privilege('wattseal_grafana', oid, 'SELECT')"),
        READABLE.join(" ")
    );
    let writes = "relkind <> 'S' AND (has_any_column_privilege('wattseal_grafana', oid, 'INSERT, UPDATE') \
                  OR has_table_privilege('wattseal_grafana', oid, 'DELETE, TRUNCATE'))";
    assert_eq!(tables(writes), "");
    for (column, table) in [("state", "meters"), ("report", "alerts"), ("backend", "partitions")] {
        let query =
            format!("SELECT has_column_privilege('wattseal_grafana', '{table}', '{column}', 'SELECT')");
        assert_eq!(server.sql(&database, &query), "f", "{table}.{column}");
    }
}
