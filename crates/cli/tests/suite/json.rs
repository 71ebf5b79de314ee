//! `docs/reference/json.md` and `docs/schema/` say which fields the commands write as JSON: they
//! are made of the types that are written.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use testkit::documents::home;

const AGAIN: &str = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_json_reference";

const HEAD: &str = "# JSON of every command

For programs that read what `wattseal` writes with `--format json`: an array of objects, in SI units, on standard output. What
a field is called stays; fields may be added, so a program passes over those that it does not know. A file that `--save` writes has the
same rows. This page is made of the types that are written, and so are the files of `docs/reference/schema/`, each a JSON Schema (2020-12) of what a
command writes; a test says where they are stale, and

```
cargo test -p wattseal-cli --test suite -- --ignored renew_the_json_reference
```

makes them anew. `a[].b` is a field of each element of the array `a`, `a.*` whatever names the object `a` has. A type with `null`
is written as `null` where there is no value. `run`, `firmware`, `completions` and `man` write no rows.
";

/// Output of a command.
struct Written {
    /// The file of its schema, without `.json`.
    name: &'static str,
    command: &'static str,
    schema: Value,
}

fn written() -> [Written; 13] {
    [
        of::<lab::row::BenchRow>("bench", "wattseal bench"),
        of::<lab::measure::MeasureRow>("measure", "wattseal measure"),
        of::<lab::call::CallRow>("measure-call", "wattseal measure --call CALL"),
        of::<lab::traces::ListingRow>("measure-listing", "wattseal measure --listing NAME"),
        of::<lab::ct::ConstantTimeRow>("ct", "wattseal ct"),
        of::<lab::report::CheckedRow>("ct-firmware", "wattseal ct FIRMWARE.elf"),
        of::<lab::fault::FaultRow>("fault", "wattseal fault"),
        of::<lab::report::ChangeRow>("compare", "wattseal check, and bench, measure, ct with --against"),
        of::<Listed>("list", "wattseal list targets|ops|variants|schemes|papers|boards"),
        of::<papers::reproduce::PaperRecord>("reproduce", "wattseal reproduce"),
        of::<lab::verify_board::BoardRow>("verify-board", "wattseal verify-board"),
        of::<lab::plan::PlanRow>("plan", "wattseal plan"),
        of::<Simulated>("simulate", "wattseal simulate"),
    ]
}

/// A target, an operation, a variant, a scheme, a paper or a board.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Listed {
    Target(lab::list::TargetEntry),
    Op(lab::list::OpEntry),
    Variant(lab::list::VariantEntry),
    Scheme(lab::list::SchemeEntry),
    Paper(lab::list::PaperEntry),
    Board(lab::list::BoardEntry),
}

/// Results of a harvested node, of a network or of a node that configures itself.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Simulated {
    Node(sim::harvest::outcome::Outcome),
    Network(sim::network::outcome::NetworkOutcome),
    Configured(sim::configured::simulation::PolicyOutcome),
}

fn of<Row: JsonSchema>(name: &'static str, command: &'static str) -> Written {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema: Schema = generator.into_root_schema_for::<Vec<Row>>();
    schema.insert("title".into(), json!(command));
    Written { name, command, schema: schema.to_value() }
}

/// A field of a row.
struct Field {
    path: String,
    kind: String,
    about: String,
}

/// The fields of a value of this schema, which has the name `path` in the row.
fn fields(root: &Value, schema: &Value, path: &str, found: &mut Vec<Field>) {
    let schema = resolved(root, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let own = property["description"].as_str();
        let about = own.or(resolved(root, property)["description"].as_str()).unwrap_or_default();
        found.push(Field { path: path.clone(), kind: kind(root, property), about: about.replace('\n', " ") });
        inner(root, property, &path, found);
    }
}

/// The fields within a field.
fn inner(root: &Value, schema: &Value, path: &str, found: &mut Vec<Field>) {
    let schema = resolved(root, schema);
    if !schema["items"].is_null() {
        inner(root, &schema["items"], &format!("{path}[]"), found);
    } else if !schema["additionalProperties"].is_null() && schema["properties"].is_null() {
        inner(root, &schema["additionalProperties"], &format!("{path}.*"), found);
    } else {
        fields(root, schema, path, found);
    }
}

/// Returns the target of a reference; of a value or `null`, the value.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").expect("a definition");
        return resolved(root, &root["$defs"][name]);
    }
    let several = schema["anyOf"].as_array();
    let value = several.and_then(|any| any.iter().find(|one| one["type"] != "null"));
    value.map_or(schema, |value| resolved(root, value))
}

/// A type in a reader's words.
fn kind(root: &Value, schema: &Value) -> String {
    let nullable = schema["anyOf"].as_array().is_some_and(|any| any.iter().any(|one| one["type"] == "null"));
    let schema = resolved(root, schema);
    let named = |one: &Value| match (&one["const"], one["properties"].as_object()) {
        (Value::String(text), _) => vec![format!("`\"{text}\"`")],
        (_, Some(properties)) => properties
            .iter()
            .map(|(name, inner)| format!("`{{\"{name}\": …}}` with {}", kind(root, inner)))
            .collect(),
        _ => one["enum"].as_array().into_iter().flatten().map(|text| format!("`{text}`")).collect(),
    };
    let words = if let Some(one_of) = schema["oneOf"].as_array() {
        one_of.iter().flat_map(named).collect::<Vec<_>>()
    } else if !schema["enum"].is_null() {
        named(schema)
    } else if let Value::Array(types) = &schema["type"] {
        types.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
    } else if !schema["items"].is_null() {
        vec![format!("array of {}", kind(root, &schema["items"]))]
    } else if !schema["additionalProperties"].is_null() && schema["properties"].is_null() {
        vec![format!("object of {}", kind(root, &schema["additionalProperties"]))]
    } else {
        vec![schema["type"].as_str().expect("a type").to_owned()]
    };
    let null = nullable.then(|| "null".to_owned());
    words.into_iter().chain(null).collect::<Vec<_>>().join(", ")
}

/// The rows that a command may write: one, or one of two.
fn rows(schema: &Value) -> Vec<&Value> {
    let row = &schema["items"];
    let target = row["$ref"].as_str().map_or(row, |_| resolved_once(schema, row));
    target["anyOf"].as_array().map_or_else(|| vec![target], |any| any.iter().collect())
}

fn resolved_once<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|text| text.strip_prefix("#/$defs/")).expect("a definition");
    &root["$defs"][name]
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for Written { name, command, schema } in &written() {
        let _ = write!(page, "\n## {command}\n\n[schema/{name}.json](schema/{name}.json)\n");
        for row in rows(schema) {
            let about = resolved(schema, row)["description"].as_str().unwrap_or_default();
            let _ = write!(
                page,
                "\n{}\n\n| field | type | what |\n| --- | --- | --- |\n",
                about.replace('\n', " ")
            );
            let mut found = Vec::new();
            fields(schema, row, "", &mut found);
            for Field { path, kind, about } in found {
                let _ = writeln!(page, "| `{path}` | {kind} | {about} |");
            }
        }
    }
    page
}

/// The reference: each file and what must stand in it.
fn reference() -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::from([(home().join("docs/reference/json.md"), page())]);
    for Written { name, schema, .. } in written() {
        let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        files.insert(home().join(format!("docs/reference/schema/{name}.json")), text);
    }
    files
}

#[test]
fn the_json_reference_is_of_what_is_written() {
    for (path, text) in reference() {
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "{} is of other types; {AGAIN}", path.display());
    }
}

#[test]
#[ignore = "writes docs/reference/json.md and docs/reference/schema"]
fn renew_the_json_reference() {
    fs::create_dir_all(home().join("docs/reference/schema")).expect("a folder");
    for (path, text) in reference() {
        fs::write(path, text).expect("written");
    }
}

/// A reader learns of each field what it is.
#[test]
fn each_field_is_explained() {
    for Written { name, schema, .. } in &written() {
        let mut found = Vec::new();
        rows(schema).into_iter().for_each(|row| fields(schema, row, "", &mut found));
        assert!(found.len() > 4, "{name}: {} fields", found.len());
        for Field { path, about, .. } in found {
            assert!(about.len() > 3 && !about.contains("[`"), "{name}: {path}: '{about}'");
        }
    }
}

/// The fields of a row as it is written, by their paths.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    value.as_array().into_iter().flatten().for_each(|item| paths(item, &format!("{path}[]"), found));
    for (name, inner) in value.as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        found.insert(path.clone());
        paths(inner, &path, found);
    }
}

#[test]
fn rows_have_the_fields_of_their_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (elf, saved) = (at("debug.elf"), at("saved.json"));
    let compiled = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-Os", "-gdwarf-4", "-o", &elf])
        .arg(home().join("crates/cli/tests/suite/run/debug.c"))
        .status();
    assert!(compiled.expect("the compiler runs").success());
    // A part of which currents of single programs are known, so that its rows have every field.
    let fast = "--target stm32f407 --op aes128-encrypt --variant fast --runs 3";
    // Whether the tag is right is a branch that depends on the key.
    let open = "--target atmega328p --op aes128-gcm-open --variant fast --runs 3";
    let fir = home().join("docs/examples/fir.c");
    let own = format!("{elf} --target atmega328p --max-cycles 20000");
    // The end of the program is good, and its stop by a fault is not bad.
    let ends = "--good reach:main --bad exit:99";
    for (name, line) in [
        ("bench", format!("bench {fast}")),
        ("ct", format!("ct {open}")),
        ("measure", format!("measure {own} --save {saved}")),
        ("compare", format!("measure {own} --against {saved}")),
        ("measure-call", format!("measure {} --call fir([4],4) --target stm32f407", fir.display())),
        ("measure-listing", format!("measure {own} --listing main")),
        ("fault", format!("fault {elf} --target atmega328p --window 1..50 {ends}")),
        ("list", "list targets".into()),
        ("plan", "plan --target atmega328p --scheme aes128-gcm --variant fast --supply 5".into()),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
        command.args(line.split(' ')).args(["--format", "json"]).env("WATTSEAL_HOME", home());
        let output = command.output().expect("wattseal runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect(&said);
        let written = written().into_iter().find(|written| written.name == name).expect("a schema");
        let mut known = Vec::new();
        fields(&written.schema, self::rows(&written.schema)[0], "", &mut known);
        let known: BTreeSet<String> = known.into_iter().map(|field| field.path).collect();
        for row in &rows {
            let mut found = BTreeSet::new();
            paths(row, "", &mut found);
            assert_eq!(found, known, "{line}");
        }
        assert!(name == "compare" || !rows.is_empty(), "{line}: no rows");
    }
}
