//! The alerts, by Prometheus' own `promtool`.

use super::{dashboard, documented, queries, text};
use std::process::Command;
use testkit::documents::home;

/// promtool: its arguments.
fn promtool(arguments: &[&str]) {
    let mut command = Command::new("promtool");
    let ran = command.args(arguments).current_dir(home()).output();
    let ran = ran.expect("promtool is missing; install it with: apt-get install prometheus");
    let said = [ran.stdout, ran.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    assert!(ran.status.success(), "promtool {}: {said}", arguments.join(" "));
}

/// The documentation's commands, which check rules and scrapes, and run the alerts' own tests.
#[test]
fn promtool_takes_the_alerts_and_their_tests() {
    let commands = documented("promtool ");
    assert!(commands.iter().any(|line| line.starts_with("promtool test rules ")), "{commands:?}");
    assert!(commands.iter().any(|line| line.starts_with("promtool check rules ")), "{commands:?}");
    for line in &commands {
        promtool(&line.split(' ').skip(1).collect::<Vec<_>>());
    }
}

/// Each says what to do, and has a test in which it does not fire and one in which it does.
#[test]
fn each_alert_says_what_to_do_and_is_tested() {
    let (rules, tests) = (text("prometheus/alerts.yml"), text("prometheus/alerts.test.yml"));
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert!(alerts.len() > 15);
    for alert in alerts {
        let name = alert.lines().next().expect("a name");
        for field in ["severity: ", "summary: ", "action: "] {
            assert!(alert.contains(field), "{name} has no {field}");
        }
        let test = tests.split("- name: ").find(|test| test.lines().next() == Some(name));
        let test = test.unwrap_or_else(|| panic!("{name} is not tested"));
        let fires = format!("exp_samples: [{{ labels: '{{alertname=\"{name}\"}}', value: 1 }}]");
        assert!(test.contains(&fires) && test.contains("exp_samples: []"), "{name}: {test}");
    }
}

/// The dashboard's expressions are PromQL, with Grafana's variable as Grafana makes it of a scrape
/// each 15 s.
#[test]
fn the_expressions_of_the_dashboard_are_prometheus() {
    let mut rules = "groups:\n  - name: dashboard\n    rules:\n".to_owned();
    for (at, (_, _, expression)) in queries(&dashboard(), "expr").into_iter().enumerate() {
        let expression = expression.replace("$__rate_interval", "60s");
        assert!(!expression.contains('$') && !expression.contains('\''), "{expression}");
        rules += &format!("      - record: dashboard:{at}\n        expr: '{expression}'\n");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("dashboard.yml");
    std::fs::write(&file, rules).expect("written");
    promtool(&["check", "rules", file.to_str().expect("UTF-8")]);
}
