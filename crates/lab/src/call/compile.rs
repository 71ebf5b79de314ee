//! The compilers of a call's parts and of the host.

use crate::LabError;
use firmware::FirmwareError;
use firmware::kit::Kit;
use firmware::objects::{symbol_of, with_constructor};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Flags of C++ that need no library behind them.
const CPP_FLAGS: [&str; 4] = ["-std=gnu++14", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"];

/// The machine of each GCC, as Clang names it.
const GCC_MACHINES: [(&str, &str); 3] = [
    ("arm-none-eabi-gcc", "--target=arm-none-eabi"),
    ("avr-gcc", "--target=avr"),
    ("riscv64-unknown-elf-gcc", "--target=riscv32-unknown-elf"),
];

/// A user's files, and the options that they are compiled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    pub headers: Vec<PathBuf>,
    /// Files of C, C++ and assembly.
    pub sources: Vec<PathBuf>,
    /// Objects and libraries, of one part.
    pub objects: Vec<PathBuf>,
    /// `-I` and `-D`.
    pub options: Vec<String>,
    /// Further flags of the parts' compilers.
    pub flags: Vec<String>,
    /// Another C compiler than the part's own.
    pub compiler: Option<String>,
    pub is_cpp: bool,
}

/// A source's language.
fn is_cpp(path: &Path) -> bool {
    matches!(extension(path), "cc" | "cpp" | "cxx" | "C" | "hpp" | "hh")
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// Returns true if a file is one for `--call`, and no firmware.
pub(super) fn is_source(path: &Path) -> bool {
    matches!(extension(path), "c" | "cc" | "cpp" | "cxx" | "C" | "h" | "hpp" | "hh" | "S" | "s")
}

impl Sources {
    /// Sorts files by their kinds.
    ///
    /// # Errors
    /// A file that is not there or of no known kind.
    pub(super) fn new(files: &[PathBuf], options: &[String], flags: &[String]) -> Result<Sources, LabError> {
        let mut sources = Sources { flags: flags.to_vec(), ..Sources::default() };
        for file in files {
            let failed = |error| LabError::File { path: file.clone(), error };
            let path = std::fs::canonicalize(file).map_err(failed)?;
            if path.is_dir() {
                return Err(LabError::Usage(format!(
                    "{} is a folder; name the source files in it",
                    file.display()
                )));
            }
            match extension(&path) {
                "h" | "hpp" | "hh" => sources.headers.push(path),
                "o" | "a" | "rel" | "lib" => sources.objects.push(path),
                _ if is_source(&path) => sources.sources.push(path),
                _ => {
                    let said = format!(
                        "{} is no source file: --call takes C (.c), C++ (.cpp, .cc), headers (.h), assembly (.S), objects (.o) and \
                         static libraries (.a); without --call it is measured as firmware",
                        file.display()
                    );
                    return Err(LabError::Usage(said));
                }
            }
        }
        sources.is_cpp = sources.sources.iter().chain(&sources.headers).any(|path| is_cpp(path));
        let absolute = |option: &String| match option.strip_prefix("-I") {
            Some(folder) => {
                std::path::absolute(folder).map_or(option.clone(), |path| format!("-I{}", path.display()))
            }
            None => option.clone(),
        };
        sources.options = options.iter().map(absolute).collect();
        Ok(sources)
    }

    /// The name of a file that is written beside them, in their language.
    pub(super) fn named(&self, name: &str) -> String {
        format!("{name}.{}", if self.is_cpp { "cpp" } else { "c" })
    }

    /// The host's compiler.
    pub(super) fn host_compiler(&self) -> &'static str {
        if self.is_cpp || self.sources.iter().any(|path| is_cpp(path)) { "c++" } else { "cc" }
    }

    /// Runs a host's compiler.
    pub(super) fn on_host(&self, folder: &Path, arguments: &[String], what: &str) -> Result<(), LabError> {
        let mut command = Command::new(self.host_compiler());
        command.args(["-w", "-g", "-gdwarf-4"]).args(&self.options).args(arguments);
        ran(command, folder, what)
    }

    /// Compiles and links for a part, as it is built beside `harness`, which calls what `declared`
    /// names. Returns the program, and the one without the function.
    pub(super) fn on_part(
        &self,
        kit: &Kit,
        folder: &Path,
        harness: &Harness<'_>,
    ) -> Result<(PathBuf, PathBuf), LabError> {
        let part = Part { sources: self, kit, folder, target: harness.target };
        if kit.is_sdcc() {
            return part.with_sdcc(harness);
        }
        let mut objects = vec![part.object(&folder.join(self.named("harness")))?];
        for source in self.sources.iter().filter(|source| !harness.included.contains(source)) {
            objects.push(part.object(source)?);
        }
        if let Some(path) = with_constructor(&objects)? {
            let problem = format!(
                "{} has a constructor that runs before main, which the start-up does not call; make it a function",
                path.file_stem().unwrap_or_default().to_string_lossy()
            );
            return Err(LabError::Unfinished(problem));
        }
        let symbol = match symbol_of(harness.function, &objects)? {
            Some(symbol) => symbol,
            None if !self.objects.is_empty() => harness.function.to_owned(),
            None => {
                let problem = format!(
                    "{} is static or inline, which is not seen from outside of its file, or is declared and has no source; \
                     take the word away, or name the source",
                    harness.function
                );
                return Err(LabError::Unfinished(problem));
            }
        };
        let program = part.linked("call.elf", &symbol, &objects)?;
        Ok((program, part.linked("empty.elf", "ws_bench_ready", &objects)?))
    }

    /// Compiles a file so that its debug information can be read, for a part.
    pub(super) fn probed(&self, kit: &Kit, folder: &Path, probe: &Path) -> Result<PathBuf, LabError> {
        let part = Part { sources: self, kit, folder, target: "a part" };
        let program = folder.join("probe.elf");
        let mut command = Command::new(part.compiler());
        command.args(&kit.flags).args(&self.options).args(&self.flags).args(["-w", "-O0", "-g", "-nostdlib"]);
        command.arg(probe).args(["-Wl,-e0,--unresolved-symbols=ignore-all", "-o"]).arg(&program);
        ran(command, folder, "the prototype")?;
        Ok(program)
    }
}

/// The C around a call, for a part.
pub(super) struct Harness<'a> {
    pub target: &'a str,
    pub function: &'a str,
    /// Sources that it includes.
    pub included: &'a [PathBuf],
}

struct Part<'a> {
    sources: &'a Sources,
    kit: &'a Kit,
    folder: &'a Path,
    target: &'a str,
}

impl Part<'_> {
    /// The compiler of C, or of C++.
    fn compiler(&self) -> String {
        let c = self.sources.compiler.as_ref().unwrap_or(&self.kit.compiler);
        match (self.sources.is_cpp, c.strip_suffix("gcc")) {
            (false, _) => c.clone(),
            (true, Some(before)) => format!("{before}g++"),
            (true, None) => format!("{c}++"),
        }
    }

    fn object(&self, source: &Path) -> Result<PathBuf, LabError> {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let mut object = self.folder.join(format!("{name}.o"));
        let mut number = 1;
        while object.exists() {
            number += 1;
            object = self.folder.join(format!("{name}-{number}.o"));
        }
        let given = self.sources.compiler.as_ref().unwrap_or(&self.kit.compiler);
        let mut command = Command::new(if is_cpp(source) { self.compiler() } else { given.clone() });
        command.args(self.machine()).args(&self.kit.flags).arg("-O2");
        if is_cpp(source) {
            command.args(CPP_FLAGS);
        }
        command.args(&self.sources.options).args(&self.sources.flags).arg("-c").arg(source);
        command.arg("-o").arg(&object);
        ran(command, self.folder, &self.what(source))?;
        Ok(object)
    }

    /// Flags that make Clang compile for the part of a GCC.
    fn machine(&self) -> Option<&'static str> {
        let is_clang = |name: &String| name.rsplit('/').next().is_some_and(|name| name.starts_with("clang"));
        self.sources.compiler.as_ref().filter(|given| is_clang(given))?;
        GCC_MACHINES.iter().find(|(gcc, _)| *gcc == self.kit.compiler).map(|(_, machine)| *machine)
    }

    /// A source and the part that it is compiled for, for a message.
    fn what(&self, source: &Path) -> String {
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        match name.starts_with("harness.") {
            true => format!("the function for {}", self.target),
            false => format!("{name} for {}", self.target),
        }
    }

    fn linked(&self, name: &str, symbol: &str, objects: &[PathBuf]) -> Result<PathBuf, LabError> {
        let program = self.folder.join(name);
        let script = self.kit.folder.join("device.ld").display().to_string();
        let options = [
            "--gc-sections".into(),
            format!("--script={script}"),
            format!("--defsym=ws_call_target={symbol}"),
            "--undefined=ws_bench_sizes".into(),
        ];
        let mut command;
        if self.kit.compiler == "clang" {
            command = Command::new("ld.lld");
            command.args(options);
        } else {
            command = Command::new(&self.kit.compiler);
            command.args(&self.kit.link).arg("-nostdlib");
            command.args(options.iter().map(|option| format!("-Wl,{option}")));
        }
        command.args(self.kit.objects()?).args(objects).args(&self.sources.objects);
        command.args(&self.kit.libraries).arg("-o").arg(&program);
        ran(command, self.folder, &format!("the program for {}", self.target))?;
        Ok(program)
    }

    fn with_sdcc(&self, harness: &Harness<'_>) -> Result<(PathBuf, PathBuf), LabError> {
        if self.sources.is_cpp {
            return Err(LabError::Unfinished("its compiler, sdcc, has no C++".into()));
        }
        let mut objects = Vec::new();
        let included = |source: &&PathBuf| !harness.included.contains(source);
        for source in std::iter::once(&self.folder.join("harness.c"))
            .chain(self.sources.sources.iter().filter(included))
        {
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            let object = self.folder.join(format!("{name}-{}.rel", objects.len()));
            let mut command = Command::new("sdcc");
            command.args(&self.kit.flags).args(&self.sources.options).args(&self.sources.flags);
            command.arg("-c").arg(source).arg("-o").arg(&object);
            ran(command, self.folder, &self.what(source))?;
            objects.push(object);
        }
        let empty = self.folder.join("empty.c");
        let text = "volatile unsigned char ws_bench_last;\nvoid ws_bench_run(void) { ws_bench_last = 1; }\n";
        std::fs::write(&empty, text).map_err(|error| LabError::File { path: empty.clone(), error })?;
        let without = self.folder.join("empty-0.rel");
        let mut command = Command::new("sdcc");
        command.args(&self.kit.flags).arg("-c").arg(&empty).arg("-o").arg(&without);
        ran(command, self.folder, "the empty program")?;
        objects.extend(self.sources.objects.iter().cloned());
        Ok((self.linked_by_sdcc("call", &objects)?, self.linked_by_sdcc("none", &[without])?))
    }

    /// Anything that sdcc's linker says is an error: of areas that overlap it speaks, and exits
    /// with 0.
    fn linked_by_sdcc(&self, name: &str, objects: &[PathBuf]) -> Result<PathBuf, LabError> {
        let program = self.folder.join(format!("{name}.ihx"));
        let what = format!("the program for {}", self.target);
        let mut command = Command::new("sdcc");
        command.args(&self.kit.flags).args(&self.kit.link).arg("--out-fmt-ihx");
        command.args(self.kit.objects()?).args(objects).arg("-o").arg(&program);
        let output = output(command, self.folder)?;
        if !output.status.success() || !output.stderr.is_empty() {
            return Err(failed(&output, &what));
        }
        let (ends, code) = self.kit.areas.clone().unwrap_or_default();
        let mut command = Command::new("awk");
        command.arg("-f").arg(self.kit.folder.join("sdld-check.awk")).arg("-v").arg(format!("name={name}"));
        command.arg("-v").arg(format!("ends={ends}")).arg("-v").arg(format!("code={code}"));
        command.arg(program.with_extension("map")).arg(&program);
        ran(command, self.folder, &what)?;
        Ok(program)
    }
}

fn output(mut command: Command, folder: &Path) -> Result<Output, LabError> {
    let tool = command.get_program().to_string_lossy().into_owned();
    command.current_dir(folder).stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => LabError::Unfinished(format!(
            "{tool} is not installed; on Debian the package gcc or g++ brings the host's compiler"
        )),
        _ => LabError::File { path: tool.into(), error },
    })
}

fn failed(output: &Output, what: &str) -> LabError {
    let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.trim().is_empty() {
        said = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    LabError::Firmware(FirmwareError::Build { what: what.into(), output: said })
}

/// Runs a tool, which says what is wrong where it fails.
pub(super) fn ran(command: Command, folder: &Path, what: &str) -> Result<(), LabError> {
    let output = output(command, folder)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(&output, what)),
    }
}
