//! As much of HTTP as it takes to ask a role on this machine.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer's status and body.
pub struct HttpAnswer {
    pub status: u16,
    pub body: String,
}

/// Asks, and waits for the answer as long at each step.
///
/// # Errors
/// The system's error, also if no answer comes: the request may have arrived then.
pub fn ask(
    to: SocketAddr,
    (method, path): (&str, &str),
    token: Option<&str>,
    body: &str,
    within: Duration,
) -> io::Result<HttpAnswer> {
    let mut stream = TcpStream::connect_timeout(&to, within)?;
    stream.set_read_timeout(Some(within))?;
    stream.set_write_timeout(Some(within))?;
    let authorization = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n{authorization}Content-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no HTTP"))?;
    let body = answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned());
    Ok(HttpAnswer { status, body })
}
