//! `wattseal run --uart USART0=tcp:PORT` and `=pty`: a program talks to another on this machine.

use crate::run::avr;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run of the program that echoes in capitals, and the word behind `said` in its first message.
fn begun(uart: &str, said: &str) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .arg("run")
        .arg(avr("echo.c"))
        .args(["--target", "atmega328p", "--time", "20s", "--uart", uart])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test runs");
    let mut first = String::new();
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    errors.read_line(&mut first).expect("a message");
    let place = first.trim_end().split_once(said).unwrap_or_else(|| panic!("{first}")).1.to_owned();
    // It may say more at its end.
    std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    (child, place)
}

/// Talks to the program, which then ends with the number of letters.
fn talk(mut from: impl Read, mut to: impl Write, child: &mut Child) {
    let mut expect = |text: &str| {
        let mut bytes = vec![0; text.len()];
        from.read_exact(&mut bytes).expect("an answer");
        assert_eq!(String::from_utf8_lossy(&bytes), text);
    };
    expect("ready\n");
    to.write_all(b"hello\n").expect("sent");
    expect("HELLO\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(6));
    let mut rest = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "", "what goes to the port is not printed, too");
}

#[test]
fn uart_is_a_tcp_port_from_the_first_connection_on() {
    let (mut child, address) = begun("USART0=tcp:0", "waits for a connection at ");
    let stream = TcpStream::connect(address).expect("a listener");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
    talk(&stream, &stream, &mut child);
}

#[test]
fn uart_is_a_pseudo_terminal() {
    let (mut child, path) = begun("USART0=pty", "is at ");
    let terminal = OpenOptions::new().read(true).write(true).open(path).expect("a terminal");
    talk(&terminal, &terminal, &mut child);
}

/// The program runs no faster than the part, so that it waits as long as its peer believes.
#[test]
fn run_with_a_peer_takes_the_program_s_time() {
    let (mut child, address) = begun("USART0=tcp:0", "waits for a connection at ");
    let begun = Instant::now();
    let stream = TcpStream::connect(address).expect("a listener");
    std::thread::sleep(Duration::from_millis(300));
    talk(&stream, &stream, &mut child);
    // Without a pace the 20 s of its time were over, in a fraction of a second.
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[test]
fn connection_that_cannot_be_is_refused() {
    let echo = avr("echo.c");
    let said = |options: &[&str], code: i32| {
        let output = crate::run::run_with(&echo, "atmega328p", options, "");
        assert_eq!(output.status.code(), Some(code), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&["--uart", "USART0=com3"], 2).contains("'com3' is no connection"));
    assert!(said(&["--uart", "USART0=tcp:70000"], 2).contains("'tcp:70000' is no connection"));
    assert!(said(&["--uart", "USART1=pty"], 2).contains("did you mean USART0"));
    assert!(said(&["--uart", "USART0=pty", "--input", "-"], 2).contains("not both"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = format!("USART0=tcp:{}", taken.local_addr().expect("an address").port());
    assert!(said(&["--uart", &port], 1).contains("cannot be opened"));
}
