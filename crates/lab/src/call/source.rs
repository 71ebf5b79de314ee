//! The C around a call: the program that waits for arguments, and the same for the host.

use super::slots::{LOOPS, Plan};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Bytes on either side of an array that the function must not change.
pub(super) const GUARD: usize = 8;
/// Each of them.
pub(super) const GUARD_BYTE: u8 = 0xa5;

/// Name of the variable whose type is a pointer to the function.
pub(super) const PROBE: &str = "ws_probe";

/// The user's files as one text, and what is called in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared<'a> {
    /// Files that declare the function.
    pub files: &'a [PathBuf],
    pub function: &'a str,
}

impl Declared<'_> {
    fn includes(&self) -> String {
        let mut text = "#include <stdint.h>\n#define main ws_user_main\n".to_owned();
        for file in self.files {
            let _ = writeln!(text, "#include \"{}\"", quoted(file));
        }
        text + "#undef main\n"
    }

    /// A file of which the compiler's debug information says the function's types; without the
    /// function where its name alone is wrong.
    pub(super) fn probe(&self, with_function: bool) -> String {
        let mut text = self.includes();
        if with_function {
            let function = self.function;
            let _ = write!(
                text,
                "#ifdef __cplusplus\ndecltype(&{function}) {PROBE};\n#else\n__typeof__(&{function}) {PROBE};\n#endif\n"
            );
        }
        text
    }

    /// The program's C.
    pub(super) fn harness(&self, plan: &Plan) -> String {
        let mut text = self.includes();
        text += HEAD;
        let function = self.function;
        let _ = writeln!(
            text,
            "#ifdef __SDCC\n#define ws_call_target {function}\n#else\nextern WS_TYPE_OF({function}) ws_call_target;\n#endif"
        );
        for slot in &plan.slots {
            let (spelled, symbol, count) = (&slot.spelled, &slot.symbol, slot.count);
            let _ = match (slot.is_guarded, slot.place.starts_with('&')) {
                (true, _) => writeln!(text, "WS_ARRAY({spelled}, {symbol}, {count});"),
                (false, true) => writeln!(text, "{spelled} {symbol};"),
                (false, false) => writeln!(text, "{spelled} {symbol}[{count}];"),
            };
        }
        for array in &plan.structures {
            let _ = writeln!(text, "WS_ARRAY({}, {}, {});", array.spelled, array.symbol, array.count);
        }
        text += &plan.declarations;
        let sizes = plan.slots.iter().map(|slot| &slot.spelled);
        let sizes = sizes.chain(plan.structures.iter().map(|array| &array.spelled));
        let sizes: String = sizes.map(|spelled| format!("sizeof({spelled}), ")).collect();
        let _ = writeln!(
            text,
            "extern const unsigned short ws_bench_sizes[];\nconst unsigned short ws_bench_sizes[] = {{{sizes}0}};"
        );
        let _ = writeln!(text, "volatile unsigned char ws_bench_last;\nvoid ws_bench_run(void);");
        let _ = writeln!(text, "void ws_bench_run(void)\n{{");
        let is_used = |counter: &String| {
            [&plan.before, &plan.after].iter().any(|copies| copies.contains(&format!("({counter} = 0;")))
        };
        for counter in (0..LOOPS).map(|at| format!("i{at}")).filter(is_used) {
            let _ = writeln!(text, "    unsigned {counter};");
        }
        let _ =
            writeln!(text, "{}    {}\n{}    ws_bench_last = 1;\n}}", plan.before, plan.statement, plan.after);
        text += "#ifdef __cplusplus\n}\n#endif\n";
        text + &host_main(plan)
    }
}

const HEAD: &str = "\
#ifdef __cplusplus
extern \"C\" {
#define WS_TYPE_OF(function) decltype(function)
#else
#define WS_TYPE_OF(function) __typeof__(function)
#endif
#ifdef WS_HOST
#define WS_ARRAY(type, name, count) struct ws_of_##name { type a[count]; } name
#else
#define WS_ARRAY(type, name, count) \\
    struct ws_of_##name { unsigned char before[8]; type a[count]; unsigned char after[8]; } name
#endif
";

/// The host's program: a run for each byte 1 in the first file, its outputs into the second.
fn host_main(plan: &Plan) -> String {
    let mut text = "\n#ifdef WS_HOST\n#include <stdio.h>\nint main(int count, char **files)\n{\n".to_owned();
    text += "    FILE *in = fopen(files[1], \"rb\");\n    FILE *out = fopen(files[2], \"wb\");\n    (void)count;\n";
    text += "    if (in == 0 || out == 0) { return 97; }\n    while (fgetc(in) == 1) {\n";
    let bytes =
        |slot: &super::slots::Slot| format!("{}, sizeof({}) * {}", slot.place, slot.spelled, slot.count);
    for slot in plan.slots.iter().filter(|slot| slot.content.is_some()) {
        let _ = writeln!(text, "        if (fread({}, 1, in) != 1) {{ return 97; }}", bytes(slot));
    }
    text += "        ws_bench_run();\n";
    for slot in plan.slots.iter().filter(|slot| slot.is_output) {
        let _ = writeln!(text, "        if (fwrite({}, 1, out) != 1) {{ return 97; }}", bytes(slot));
    }
    text + "    }\n    return fclose(out) == 0 ? 0 : 97;\n}\n#endif\n"
}

/// A path in a text of C.
fn quoted(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")
}
