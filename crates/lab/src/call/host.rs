//! The same call on the host: its types, and its outputs.

use super::compile::{Sources, ran};
use super::numbers::{Number, decoded, encoded};
use super::slots::Plan;
use super::source::{Declared, PROBE};
use crate::{LabError, names};
use firmware::c_types::{self, Signature};
use firmware::kit::Kit;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which the function counts as endless.
const PATIENCE: Duration = Duration::from_secs(10);

/// Exit code of the host's program where it cannot read or write.
const TORN: i32 = 97;

/// The function's types, and the files that declare it.
pub(super) struct Found {
    pub signature: Signature,
    pub files: Vec<PathBuf>,
    /// The host's compiler cannot compile them, with what it said.
    pub not_on_host: Option<String>,
}

/// Finds the file that declares a function, and its types.
pub(super) fn find(
    sources: &Sources,
    function: &str,
    folder: &Path,
    kit: impl Fn() -> Option<Kit>,
) -> Result<Found, LabError> {
    let candidates = candidates(sources)?;
    let mut first = None;
    for files in &candidates {
        match probe(sources, Declared { files, function }, folder, true) {
            Ok(program) => {
                let signature = c_types::signature(&program, PROBE, function)?;
                return Ok(Found { signature, files: files.clone(), not_on_host: None });
            }
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    let mut known = Vec::new();
    let mut compiles = false;
    for files in &candidates {
        if let Ok(program) = probe(sources, Declared { files, function }, folder, false) {
            compiles = true;
            known.extend(c_types::defined(&program)?);
        }
    }
    let first = first.unwrap_or_else(|| LabError::Usage("name a source file or a header".into()));
    if compiles {
        known.retain(|name| name != "ws_user_main");
        return Err(
            match known.iter().any(|name| name == function || name.ends_with(&format!("::{function}"))) {
                // It is there, and has no one type: it is overloaded, or in a namespace.
                true => first,
                false => {
                    let suggestion = names::suggestion(function, known.iter().map(String::as_str));
                    LabError::UnknownName { what: "function", name: function.into(), suggestion }
                }
            },
        );
    }
    // Sources for one part alone: its own compiler says the types.
    let Some(kit) = kit() else { return Err(first) };
    for files in &candidates {
        let path = folder.join(sources.named("probe"));
        write(&path, &Declared { files, function }.probe(true))?;
        if let Ok(program) = sources.probed(&kit, folder, &path) {
            let signature = c_types::signature(&program, PROBE, function)?;
            let not_on_host = Some(first.to_string());
            return Ok(Found { signature, files: files.clone(), not_on_host });
        }
    }
    Err(first)
}

/// Files that may declare the function, together: the headers, or one source.
fn candidates(sources: &Sources) -> Result<Vec<Vec<PathBuf>>, LabError> {
    if !sources.headers.is_empty() {
        return Ok(vec![sources.headers.clone()]);
    }
    let of_c = sources.sources.iter().filter(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        !matches!(extension, Some("s" | "S"))
    });
    let candidates: Vec<Vec<PathBuf>> = of_c.map(|path| vec![path.clone()]).collect();
    match candidates.is_empty() {
        true => Err(LabError::Usage(
            "nothing declares the function: name its source, or a header beside objects and libraries".into(),
        )),
        false => Ok(candidates),
    }
}

fn probe(
    sources: &Sources,
    declared: Declared<'_>,
    folder: &Path,
    with_function: bool,
) -> Result<PathBuf, LabError> {
    let path = folder.join(sources.named("probe"));
    write(&path, &declared.probe(with_function))?;
    let program = folder.join("probe.so");
    let arguments = ["-O0", "-fPIC", "-shared", "-o"].map(str::to_owned).into_iter();
    let files = [program.display().to_string(), path.display().to_string()];
    let arguments: Vec<String> = arguments.chain(files).collect();
    sources.on_host(folder, &arguments, "the function for the host")?;
    Ok(program)
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), LabError> {
    std::fs::write(path, text).map_err(|error| LabError::File { path: path.into(), error })
}

/// Builds the host's program, whose reads and writes out of bounds end it where the compiler can
/// see to that.
pub(super) fn build(
    sources: &Sources,
    folder: &Path,
    function: &str,
    included: &[PathBuf],
) -> Result<PathBuf, LabError> {
    let program = folder.join("host");
    let harness = folder.join(sources.named("harness"));
    let mut files: Vec<String> = vec![harness.display().to_string()];
    let others = sources.sources.iter().filter(|source| !included.contains(source));
    files.extend(others.map(|source| source.display().to_string()));
    let mut objects = Vec::new();
    let guarded = ["-fsanitize=address".to_owned(), "-fno-omit-frame-pointer".into()];
    let compile = |flags: &[String], objects: &mut Vec<PathBuf>| -> Result<(), LabError> {
        objects.clear();
        for (number, file) in files.iter().enumerate() {
            let object = folder.join(format!("host-{number}.o"));
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let what = if number == 0 { "the function".into() } else { name };
            let arguments = ["-O1", "-DWS_HOST", "-c"].map(str::to_owned).into_iter();
            let arguments = arguments.chain(flags.iter().cloned());
            let arguments = arguments.chain([file.clone(), "-o".into(), object.display().to_string()]);
            sources.on_host(folder, &arguments.collect::<Vec<_>>(), &format!("{what} for the host"))?;
            objects.push(object);
        }
        let symbol = firmware::objects::symbol_of(function, objects)?.ok_or_else(|| {
            LabError::Unfinished(format!(
                "{function} is static or inline, which is not seen from outside of its file, or is declared and has no source; \
                 take the word away, or name the source"
            ))
        })?;
        let mut command = Command::new(sources.host_compiler());
        command.args(flags).args(&*objects).arg(format!("-Wl,--defsym=ws_call_target={symbol}"));
        command.args(["-lm", "-o"]).arg(&program);
        ran(command, folder, "the program for the host")
    };
    compile(&guarded, &mut objects).or_else(|error| match error {
        LabError::Unfinished(_) => Err(error),
        _ => compile(&[], &mut objects),
    })?;
    Ok(program)
}

/// Runs the host's program on the inputs of each run; the outputs of each run, by slot.
pub(super) fn run(
    program: &Path,
    plan: &Plan,
    runs: &[Vec<Vec<Number>>],
) -> Result<Vec<Vec<Vec<Number>>>, LabError> {
    let (given, taken) = (program.with_extension("in"), program.with_extension("out"));
    let mut bytes = Vec::new();
    for inputs in runs {
        bytes.push(1);
        for (slot, numbers) in plan.slots.iter().zip(inputs).filter(|(slot, _)| slot.content.is_some()) {
            for number in numbers {
                let size = slot.scalar.host_bytes();
                bytes.extend(encoded(*number, size, false).ok_or_else(|| {
                    LabError::Usage(format!("{}: {number} does not fit into {}", slot.label, slot.spelled))
                })?);
            }
        }
    }
    std::fs::write(&given, &bytes).map_err(|error| LabError::File { path: given.clone(), error })?;
    ended(program, &given, &taken).map_err(|error| match error {
        LabError::Unfinished(said) => LabError::Unfinished(labelled(&said, plan)),
        error => error,
    })?;
    let outputs = std::fs::read(&taken).map_err(|error| LabError::File { path: taken.clone(), error })?;
    let mut rest = outputs.as_slice();
    let mut all = Vec::new();
    for _ in runs {
        let mut of_run = Vec::new();
        for slot in &plan.slots {
            let size = slot.scalar.host_bytes();
            let length = if slot.is_output { size * slot.count } else { 0 };
            let (numbers, after) = rest.split_at_checked(length).ok_or_else(|| {
                LabError::Unfinished("on the host the function ended the program".to_owned())
            })?;
            rest = after;
            of_run.push(numbers.chunks_exact(size).map(|one| decoded(one, slot.scalar, false)).collect());
        }
        all.push(of_run);
    }
    Ok(all)
}

/// A message with the labels of variables in place of their names in the program.
fn labelled(said: &str, plan: &Plan) -> String {
    let structures = plan.structures.iter().map(|one| (&one.symbol, &one.label));
    let mut names: Vec<_> =
        plan.slots.iter().map(|slot| (&slot.symbol, &slot.label)).chain(structures).collect();
    names.sort_by_key(|(symbol, _)| std::cmp::Reverse(symbol.len()));
    names.iter().fold(said.to_owned(), |said, (symbol, label)| said.replace(symbol.as_str(), label))
}

/// Runs a program to its end.
fn ended(program: &Path, given: &Path, taken: &Path) -> Result<(), LabError> {
    let said = program.with_extension("err");
    let failed = |error| LabError::File { path: said.clone(), error };
    let stderr = std::fs::File::create(&said).map_err(failed)?;
    let mut child = Command::new(program)
        .args([given, taken])
        .env("ASAN_OPTIONS", "detect_leaks=0:color=never")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|error| LabError::File { path: program.into(), error })?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            // It may have ended meanwhile.
            let _ = child.kill();
            let _ = child.wait();
            let problem = format!("on the host the function did not return within {} s", PATIENCE.as_secs());
            return Err(LabError::Unfinished(problem));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if status.success() {
        return Ok(());
    }
    let text = std::fs::read(&said).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().skip_while(|line| !line.contains("ERROR: AddressSanitizer"));
    let problem = match (lines.next(), status.code()) {
        (Some(first), _) => {
            let first = first.split_once("AddressSanitizer: ").map_or(first, |(_, rest)| rest);
            let what = first.split(" on address").next().unwrap_or(first);
            let what = what.split(" (pc").next().unwrap_or(what);
            let place = lines.clone().find(|line| line.trim_start().starts_with("#0"));
            let place = place.and_then(|line| line.split_once(" in ")).map(|(_, place)| place);
            let variable = text.lines().find_map(|line| line.split_once("global variable '"));
            let variable = variable.and_then(|(_, rest)| rest.split_once('\''));
            let of = variable.map_or(String::new(), |(name, _)| format!(" beside {name}"));
            format!(
                "out of bounds on the host: {what}{of}{}",
                place.map_or(String::new(), |place| format!(", in {place}"))
            )
        }
        (None, Some(TORN)) => "the host's program could not exchange its files".to_owned(),
        (None, _) => format!("on the host the function ended with {status}"),
    };
    Err(LabError::Unfinished(problem))
}
