//! The tables of docs/reference/wireless-mbus.md have the figures that the tool has, and its chart
//! is of its table.

use crate::documentation::measured;
use crate::post_quantum::{chart_of_energies, page, stale_costs, stale_energies, stale_messages, table};
use lab::plot::svg;
use testkit::documents::home;

const PAGE: &str = "docs/reference/wireless-mbus.md";
const CHART: &str = "docs/reference/wireless-mbus.svg";

#[test]
fn costs_of_telegrams_are_what_bench_measures() {
    let page = page(PAGE);
    let (mut rows, mut stale) = stale_costs(&page);
    let energies = table(&page, "| energy, flash on |");
    let sealing = energies[1..].iter().flat_map(|line| ["--target", line[0]]);
    let arguments: Vec<&str> =
        ["--variant", "fast", "--op", "ecies-ecdsa-seal"].into_iter().chain(sealing).collect();
    rows.extend(measured(&arguments));
    stale.extend(stale_energies(&page, &rows));
    assert!(rows.len() > 60, "{PAGE} lacks tables of costs");
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
}

#[test]
fn telegrams_are_what_plan_says() {
    let stale = stale_messages(PAGE, ["1/7.5min", "1/4h"]);
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
}

fn chart() -> String {
    let chart = chart_of_energies(&page(PAGE), "Energy of a telegram, by target");
    svg(&chart).expect("points")
}

#[test]
fn the_chart_is_of_the_table() {
    let there = std::fs::read_to_string(home().join(CHART)).unwrap_or_default();
    let renew = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_chart_of_telegrams";
    assert!(there == chart(), "{CHART} is of other figures; {renew}");
}

#[test]
#[ignore = "writes docs/reference/wireless-mbus.svg"]
fn renew_the_chart_of_telegrams() {
    std::fs::write(home().join(CHART), chart()).expect("written");
}
