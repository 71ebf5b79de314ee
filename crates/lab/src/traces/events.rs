//! Calls, interrupts, sleep and current as a trace in JSON, as Perfetto and Chrome's tracing read
//! it ("Trace Event Format").

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Track of a trace's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Track {
    /// The calls of a task; 0 where there is no operating system.
    Calls(usize),
    /// The handlers of interrupts, and what they call.
    Interrupts,
    /// The modes that the core sleeps in.
    Sleep,
}

impl Track {
    /// The number of its thread.
    fn thread(self) -> usize {
        match self {
            Track::Calls(0) => 1,
            Track::Interrupts => 2,
            Track::Sleep => 3,
            Track::Calls(task) => 3 + task,
        }
    }

    fn name(self) -> String {
        match self {
            Track::Calls(0) => "calls".into(),
            Track::Calls(task) => format!("calls of task {}", task + 1),
            Track::Interrupts => "interrupts".into(),
            Track::Sleep => "sleep".into(),
        }
    }
}

/// A trace that is being written, event by event. Times are in picoseconds and never go back.
pub(super) struct TraceEvents {
    out: BufWriter<File>,
    /// Number of events that have begun and not ended.
    open: BTreeMap<Track, usize>,
    error: Option<io::Error>,
}

impl TraceEvents {
    /// Begins to write into `file`.
    pub fn new(file: File, part: &str) -> TraceEvents {
        let mut events = TraceEvents { out: BufWriter::new(file), open: BTreeMap::new(), error: None };
        let head = format!(
            "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n\
             {{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{}}}}}",
            quoted(part)
        );
        events.error = events.out.write_all(head.as_bytes()).err();
        events
    }

    fn write(&mut self, event: std::fmt::Arguments<'_>) {
        if self.error.is_none() {
            self.error = write!(self.out, ",\n{{\"pid\":1,{event}}}").err();
        }
    }

    pub fn begin(&mut self, at_ps: u64, track: Track, name: &str) {
        let thread = track.thread();
        if !self.open.contains_key(&track) {
            let shown = quoted(&track.name());
            self.write(format_args!(
                "\"ph\":\"M\",\"tid\":{thread},\"name\":\"thread_name\",\"args\":{{\"name\":{shown}}}"
            ));
        }
        *self.open.entry(track).or_default() += 1;
        let (time, name) = (Microseconds(at_ps), quoted(name));
        self.write(format_args!("\"ph\":\"B\",\"tid\":{thread},\"ts\":{time},\"name\":{name}"));
    }

    pub fn end(&mut self, at_ps: u64, track: Track) {
        let Some(open @ 1..) = self.open.get_mut(&track) else { return };
        *open -= 1;
        let (time, thread) = (Microseconds(at_ps), track.thread());
        self.write(format_args!("\"ph\":\"E\",\"tid\":{thread},\"ts\":{time}"));
    }

    pub fn counter(&mut self, at_ps: u64, name: &str, unit: &str, value: f64) {
        let time = Microseconds(at_ps);
        self.write(format_args!(
            "\"ph\":\"C\",\"ts\":{time},\"name\":\"{name}\",\"args\":{{\"{unit}\":{value}}}"
        ));
    }

    /// Ends all that has not ended.
    pub fn end_all(&mut self, at_ps: u64) {
        for (track, open) in self.open.clone() {
            (0..open).for_each(|_| self.end(at_ps, track));
        }
    }

    /// Completes the file; the run ended at this time.
    pub fn finish(mut self, end_ps: u64) -> io::Result<()> {
        self.end_all(end_ps);
        if let Some(error) = self.error {
            return Err(error);
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}

/// A time as the format has it, to the last picosecond.
struct Microseconds(u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
