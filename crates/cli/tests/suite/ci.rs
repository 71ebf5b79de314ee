//! The action for GitHub and the template for GitLab: their steps are run in a project of
//! somebody's own.

use crate::check::{SETTINGS, project};
use std::path::Path;
use std::process::{Command, Output};
use testkit::documents::home;
use yaml_rust2::{Yaml, YamlLoader};

fn yaml(path: &str) -> Yaml {
    let text = std::fs::read_to_string(home().join(path)).expect("a file");
    YamlLoader::load_from_str(&text).expect("YAML").remove(0)
}

fn text(value: &Yaml) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value:?}"))
}

/// A step as a runner runs it; the launcher, which would build, is replaced by the binary under
/// test.
fn step(folder: &Path, shell: &[&str], line: &str, environment: &[(String, String)]) -> Output {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg("-c").arg(line).current_dir(folder);
    command.env("WATTSEAL", env!("CARGO_BIN_EXE_wattseal")).env("WATTSEAL_HOME", home());
    command.envs(environment.iter().cloned()).output().expect("the shell runs")
}

/// Returns a value with GitHub's expressions replaced; `outputs` has those of earlier steps.
fn expanded(value: &str, outputs: &Path) -> String {
    let outputs = std::fs::read_to_string(outputs).expect("outputs");
    let program = outputs.lines().find_map(|line| line.strip_prefix("program=")).unwrap_or_default();
    let value = value.replace("${{ steps.find.outputs.program }}", program);
    let known = [
        ("${{ inputs.project }}", "firmware"),
        ("${{ inputs.token }}", "a token"),
        ("${{ github.action_repository }}", "OWNER/wattseal"),
        ("${{ github.action_ref }}", "v1.2.3"),
        ("${{ github.repository }}", "OWNER/firmware"),
        ("${{ github.event.pull_request.number }}", "7"),
        ("${{ runner.temp }}", "temporary"),
    ];
    let value = known.iter().fold(value.to_owned(), |value, (from, to)| value.replace(from, to));
    assert!(!value.contains("${{"), "{value}");
    value
}

/// A shell's lines in place of `gh`, which would write to GitHub: there is no release, and no
/// comment yet.
const NO_COMMENT_YET: &str = "[ $1 != release ] || exit 1\necho \"$@\" >> \"$GH_LOG\"";

/// Runs all steps of the action, and returns the exit codes; `gh` is replaced.
fn run_action(at: &Path, rounds: &str, gh: &str) -> Vec<i32> {
    let action = yaml("ci/github/action.yml");
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let tools = at.join("tools");
    std::fs::create_dir_all(&tools).expect("a folder");
    testkit::programs::script(&tools.join("gh"), gh);
    let outputs = at.join("outputs");
    std::fs::write(&outputs, "").expect("written");
    let path = std::env::var("PATH").expect("a path");
    let mut codes = Vec::new();
    for step_of in action["runs"]["steps"].as_vec().expect("steps") {
        if let Some(uses) = step_of["uses"].as_str() {
            // Without a release; here there is a program.
            assert_eq!(
                (uses, text(&step_of["if"])),
                ("actions/cache@v4", "steps.find.outputs.program == ''")
            );
            continue;
        }
        let own = step_of["env"].as_hash().expect("an environment").iter();
        let mut environment: Vec<(String, String)> =
            own.map(|(name, value)| (text(name).into(), expanded(text(value), &outputs))).collect();
        for (name, value) in [
            ("ROUNDS", rounds.to_owned()),
            ("PATH", format!("{}:{path}", tools.display())),
            ("GH_LOG", at.join("gh.log").display().to_string()),
            ("GITHUB_OUTPUT", outputs.display().to_string()),
            ("GITHUB_STEP_SUMMARY", at.join("summary.md").display().to_string()),
            ("GITHUB_ACTION_PATH", home().join("ci/github").display().to_string()),
        ] {
            environment.push((name.into(), value));
        }
        assert_eq!(text(&step_of["shell"]), "bash");
        // As GitHub calls it.
        let shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"];
        let output = step(at, &shell, text(&step_of["run"]), &environment);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        std::fs::write(at.join("said"), said).expect("written");
        codes.push(output.status.code().expect("it ends by itself"));
        let is_last = codes.iter().all(|code| *code == 0);
        let always = step_of["if"].as_str().is_some_and(|condition| condition.starts_with("always()"));
        assert!(is_last || always || codes.len() == 2, "{codes:?}");
    }
    codes
}

/// A repository with the project in its folder `firmware`.
fn repository() -> (tempfile::TempDir, tempfile::TempDir) {
    let firmware = project(SETTINGS);
    let repository = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(firmware.path(), repository.path().join("firmware")).expect("a link");
    (firmware, repository)
}

#[test]
fn github_s_steps_check_a_project() {
    let (firmware, repository) = repository();
    let at = repository.path();
    let read =
        |name: &str| std::fs::read_to_string(at.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(run_action(at, "100", NO_COMMENT_YET), [0, 0, 0, 0]);
    assert!(read("summary.md").contains("| main.elf atmega328p work (call) | cycles |"));
    let comments = "repos/OWNER/firmware/issues/7/comments";
    let log = read("gh.log");
    assert!(
        log.contains(&format!("api --method POST {comments} --field body=@firmware/wattseal-comment.md")),
        "{log}"
    );
    assert!(read("firmware/wattseal-comment.md").starts_with("<!-- wattseal: firmware -->\n"));
    assert!(read("firmware/wattseal.xml").contains("failures=\"0\""));
    // Past the limit the first step fails, and the others say why.
    std::fs::remove_file(at.join("summary.md")).expect("there");
    assert_eq!(run_action(at, "250", NO_COMMENT_YET), [0, 1, 0, 0]);
    assert!(read("summary.md").contains("PAST"), "{}", read("summary.md"));
    // The launcher that it runs without another is there.
    assert!(home().join("ci/github/../../wattseal").exists());
    // The comment of an earlier run is written anew.
    let earlier = "case \"$*\" in *--jq*) echo https://api.example.org/comments/3 ;; *) echo \"$@\" >> \"$GH_LOG\" ;; esac";
    assert_eq!(run_action(at, "100", earlier), [0, 0, 0, 0]);
    assert!(
        read("gh.log").contains("api --method PATCH https://api.example.org/comments/3 "),
        "{}",
        read("gh.log")
    );
    // A fork's token may not write, and that is no failure.
    assert_eq!(run_action(at, "100", "echo 'HTTP 403: Resource not accessible'; exit 1"), [0, 0, 0, 0]);
    assert!(read("said").starts_with("::notice::no comment was written"), "{}", read("said"));
    drop(firmware);
}

#[test]
fn gitlab_s_script_checks_a_project() {
    let (firmware, repository) = repository();
    let at = repository.path();
    let template = &yaml("ci/gitlab/wattseal.yml")[".wattseal"];
    let mut variables: Vec<(String, String)> = template["variables"]
        .as_hash()
        .expect("variables")
        .iter()
        .map(|(name, value)| (text(name).into(), text(value).into()))
        .collect();
    let script: Vec<&str> = template["script"].as_vec().expect("a script").iter().map(text).collect();
    // GitLab runs the lines in one shell, which ends with the first that fails.
    let run = |rounds: &str, variables: &[(String, String)]| {
        let environment = [variables, &[("ROUNDS".into(), rounds.into())]].concat();
        step(at, &["bash", "-e"], &script.join("\n"), &environment)
    };
    let output = run("100", &variables);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("set WATTSEAL_REPOSITORY"));
    // Cloned from a repository that is on this machine.
    let source = tempfile::tempdir().expect("a folder");
    let git = |line: &str| {
        let status = Command::new("git").args(line.split(' ')).current_dir(source.path()).status();
        assert!(status.expect("git runs").success(), "{line}");
    };
    git("init --quiet --initial-branch main");
    git("-c user.name=n -c user.email=e commit --quiet --allow-empty --message m");
    let mut set = |name: &str, value: String| {
        let variable = variables.iter_mut().find(|(known, _)| known == name).expect("a variable");
        variable.1 = value;
    };
    set("WATTSEAL_REPOSITORY", format!("file://{}", source.path().display()));
    set("WATTSEAL_PROJECT", "firmware".into());
    let output = run("100", &variables);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(at.join(".wattseal/.git").exists());
    assert_eq!(run("250", &variables).status.code(), Some(1));
    // What the job keeps is what it wrote.
    let junit = text(&template["artifacts"]["reports"]["junit"]).replace("$WATTSEAL_PROJECT", "firmware");
    assert!(std::fs::read_to_string(at.join(junit)).expect("a report").contains("<failure"));
    drop(firmware);
}
