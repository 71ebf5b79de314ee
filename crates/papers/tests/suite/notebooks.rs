//! A notebook for each paper: it names the paper and tables that the paper has. What it shows is
//! that of a run, which `./wattseal test-python` repeats for fujdiak2015.

use lab::workspace::Workspace;
use papers::paper::Paper;
use std::path::PathBuf;

/// The notebook of a paper.
fn path(workspace: &Workspace, paper: &str) -> PathBuf {
    let folder = workspace.root().expect("the project's folder").join("docs/how-to");
    match paper {
        "fujdiak2015" => folder.join("python.ipynb"),
        _ => folder.join("notebooks").join(format!("{paper}.ipynb")),
    }
}

#[test]
fn each_paper_has_a_notebook_of_its_own_tables() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    for paper in Paper::named(&workspace, "all").expect("the papers") {
        let path = path(&workspace, &paper.id);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(text.contains(&format!("wattseal.reproduce(\\\"{}\\\")", paper.id)), "{path:?}");
        let names: Vec<&str> = text
            .split("cells.table == \\\"")
            .skip(1)
            .filter_map(|rest| rest.split_once("\\\"").map(|(name, _)| name))
            .collect();
        assert!(!names.is_empty(), "{path:?} shows no table");
        for name in names {
            assert!(paper.table.iter().any(|table| table.name == name), "{path:?}: no table '{name}'");
        }
        // It was run: every cell of code has a number, and nothing failed.
        assert!(!text.contains("\"execution_count\": null") && !text.contains("Traceback"), "{path:?}");
    }
}
