//! Figures that stand in sentences: docs/stated.toml has each with the arguments of `bench`.

use crate::contract::{home, stdout, wattseal};
use output::grouped;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    page: String,
    text: String,
    bench: String,
}

#[derive(Deserialize)]
struct File {
    stated: Vec<Stated>,
}

/// The text with the figures of a row of `bench` in it.
fn filled(text: &str, row: &Value) -> String {
    let bytes = |name: &str| row[name].as_i64().expect("a number of bytes");
    let cycles = row["cycles"]["mean"].as_f64().expect("a mean");
    let figures = [
        ("{cycles}", grouped(cycles.round() as i64)),
        ("{M0}", format!("{:.0}", cycles / 1e6)),
        ("{M1}", format!("{:.1}", cycles / 1e6)),
        ("{M2}", format!("{:.2}", cycles / 1e6)),
        ("{flash}", grouped(bytes("flash_bytes"))),
        ("{memory}", grouped(bytes("ram_bytes") + bytes("stack_bytes"))),
        ("{stack}", grouped(bytes("stack_bytes"))),
    ];
    figures.iter().fold(text.to_owned(), |text, (name, figure)| text.replace(name, figure))
}

#[test]
fn figures_in_sentences_are_what_bench_says() {
    let text = fs::read_to_string(home().join("docs/stated.toml")).expect("the file");
    let file: File = toml::from_str(&text).expect("TOML of this form");
    let mut by_row: BTreeMap<&str, Vec<&Stated>> = BTreeMap::new();
    for stated in &file.stated {
        by_row.entry(&stated.bench).or_default().push(stated);
    }
    let mut stale = Vec::new();
    for (bench, all) in by_row {
        let arguments: Vec<&str> =
            ["bench", "--format", "json"].into_iter().chain(bench.split(' ')).collect();
        let output = wattseal(&arguments);
        assert!(output.status.success(), "{bench}: {}", String::from_utf8_lossy(&output.stderr));
        let rows: Vec<Value> = serde_json::from_str(&stdout(&output)).expect("JSON");
        let [row] = &rows[..] else { panic!("{bench}: {} rows", rows.len()) };
        for stated in all {
            let page = fs::read_to_string(home().join(&stated.page)).expect("a page");
            let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
            let wanted = filled(&stated.text, row);
            assert_ne!(wanted, stated.text, "it has no figure");
            if !page.contains(wanted.trim()) {
                stale.push(format!("{}: {wanted}", stated.page));
            }
        }
    }
    assert!(stale.is_empty(), "the pages have to have:\n{}", stale.join("\n"));
}
