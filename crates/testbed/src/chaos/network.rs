//! The network between the roles and the servers, and between servers: each connection goes through
//! a relay of this process, which carries what is sent, or harms it.
//!
//! A relay takes no privileges. It knows nothing of what it carries.

use crate::chaos::ClusterError;
use crate::chaos::parts::PartId;
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// Carried at once.
const PIECE_BYTES: usize = 16 << 10;
/// Pieces of one direction of a connection that are on their way at most.
const PIECES_MAX: usize = 256;

/// Condition of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Carries,
    /// Nothing gets through, and nobody is told; later all of it does, as packets that a network
    /// sends again.
    Holds,
    /// All connections end, and none is taken.
    Refuses,
    /// Everything comes later by this.
    Delays(Duration),
}

/// All relays. Dropped, they are gone, with their connections.
pub struct Network {
    runtime: Runtime,
    links: BTreeMap<PartId, watch::Sender<Condition>>,
}

impl Network {
    /// Without relays yet.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new() -> Result<Network, ClusterError> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("network").enable_all().build();
        let runtime = runtime.map_err(|error| ClusterError::Socket { error })?;
        Ok(Network { runtime, links: BTreeMap::new() })
    }

    /// A relay to a server's port on this machine, which is of this link. Returns its own port.
    ///
    /// # Errors
    /// The system gives no port.
    pub fn to_port(&mut self, link: PartId, server: u16) -> Result<u16, ClusterError> {
        let condition = self.condition(link);
        let bound = self.runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let failed = |error| ClusterError::Socket { error };
        let listener = bound.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        self.runtime.spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((client, _)) => {
                        let server =
                            async move { at_once(TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?) };
                        if let Ok(client) = at_once(client) {
                            tokio::spawn(relay(client, server, condition.clone()));
                        }
                    }
                    Err(_) => no_room().await,
                }
            }
        });
        Ok(port)
    }

    /// A relay to a server's socket, which is heard at another path.
    ///
    /// # Errors
    /// The system gives no socket.
    pub fn to_socket(&mut self, link: PartId, at: PathBuf, server: PathBuf) -> Result<(), ClusterError> {
        let condition = self.condition(link);
        let _inside = self.runtime.enter();
        let listener = UnixListener::bind(&at).map_err(|error| ClusterError::File { path: at, error })?;
        self.runtime.spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((client, _)) => {
                        let server = UnixStream::connect(server.clone());
                        tokio::spawn(relay(client, server, condition.clone()));
                    }
                    Err(_) => no_room().await,
                }
            }
        });
        Ok(())
    }

    /// From now on this becomes of the part's connections.
    pub fn set(&self, part: PartId, condition: Condition) {
        for known in part.links().iter().filter_map(|link| self.links.get(link)) {
            known.send_replace(condition);
        }
    }

    fn condition(&mut self, link: PartId) -> watch::Receiver<Condition> {
        let carries = || watch::Sender::new(Condition::Carries);
        self.links.entry(link).or_insert_with(carries).subscribe()
    }
}

/// Makes a stream send small data at once, and not wait for more.
fn at_once(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// There are too many files at the moment.
async fn no_room() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// Carries a connection until one of both sides ends it. A side that does not exist counts as one
/// that ends it at once.
async fn relay<C, S>(
    client: C,
    server: impl Future<Output = io::Result<S>>,
    mut condition: watch::Receiver<Condition>,
) where
    C: AsyncRead + AsyncWrite,
    S: AsyncRead + AsyncWrite,
{
    let mut refuses = condition.clone();
    let carried = async {
        carries(&mut condition).await;
        let ((from_client, to_client), (from_server, to_server)) = (split(client), split(server.await?));
        let up = direction(from_client, to_server, condition.clone());
        let down = direction(from_server, to_client, condition.clone());
        tokio::try_join!(up, down)
    };
    tokio::select! {
        // Whatever came of it, both sides are told by its end.
        _ = carried => {}
        _ = refuses.wait_for(|condition| *condition == Condition::Refuses) => {}
    }
}

/// Waits until something gets through.
async fn carries(condition: &mut watch::Receiver<Condition>) {
    // Where nobody sets it any more all ends.
    let _ = condition.wait_for(|condition| *condition != Condition::Holds).await;
}

/// One direction of a connection: what was sent in its order, and at last that nothing more comes.
async fn direction<R: AsyncRead, W: AsyncWrite>(
    mut from: ReadHalf<R>,
    mut to: WriteHalf<W>,
    mut condition: watch::Receiver<Condition>,
) -> io::Result<()> {
    let (sent, mut coming) = mpsc::channel::<(Instant, Vec<u8>)>(PIECES_MAX);
    let at_the_moment = condition.clone();
    let reads = async move {
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            // An end in disorder is one, too, and comes behind what was sent before.
            let count = from.read(&mut buffer).await.unwrap_or(0);
            let delay = match *at_the_moment.borrow() {
                Condition::Delays(delay) => delay,
                Condition::Carries | Condition::Holds | Condition::Refuses => Duration::ZERO,
            };
            if sent.send((Instant::now() + delay, buffer[..count].to_vec())).await.is_err() || count == 0 {
                return Ok(());
            }
        }
    };
    let writes = async move {
        while let Some((due, bytes)) = coming.recv().await {
            sleep_until(due).await;
            carries(&mut condition).await;
            if bytes.is_empty() {
                break;
            }
            to.write_all(&bytes).await?;
        }
        to.shutdown().await
    };
    tokio::try_join!(reads, writes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::parts::Kind;
    use std::io::{Read, Write};
    use std::time::Instant;

    const LINK: PartId = PartId { kind: Kind::ToNats, index: 0 };
    const SHORT: Duration = Duration::from_millis(100);

    /// A relay with both of its ends.
    fn linked() -> (Network, std::net::TcpListener, u16) {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut network = Network::new().expect("a thread");
        let port = network.to_port(LINK, server.local_addr().expect("a port").port()).expect("a port");
        (network, server, port)
    }

    fn ends(server: &std::net::TcpListener, port: u16) -> (std::net::TcpStream, std::net::TcpStream) {
        let client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let (server, _) = server.accept().expect("it is relayed");
        for end in [&client, &server] {
            end.set_read_timeout(Some(SHORT)).expect("a socket");
        }
        (client, server)
    }

    #[test]
    fn held_bytes_arrive_later_in_order() {
        let (network, server, port) = linked();
        let (mut client, mut server) = ends(&server, port);
        let mut heard = [0; 5];
        client.write_all(b"first").expect("it is sent");
        server.read_exact(&mut heard).expect("it is carried");
        network.set(LINK, Condition::Holds);
        client.write_all(b"after").expect("it is sent");
        drop(client);
        assert!(server.read(&mut heard).is_err(), "neither it nor the end");
        network.set(LINK, Condition::Carries);
        let mut all = String::new();
        server.set_read_timeout(None).expect("a socket");
        server.read_to_string(&mut all).expect("it is carried");
        assert_eq!(all, "after");
    }

    #[test]
    fn refused_connection_ends_and_does_not_begin() {
        let (network, server, port) = linked();
        let (mut client, _server) = ends(&server, port);
        client.set_read_timeout(None).expect("a socket");
        network.set(LINK, Condition::Refuses);
        assert_eq!(client.read(&mut [0]).expect("an end"), 0);
        let mut another = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        assert!(another.read(&mut [0]).unwrap_or(0) == 0);
        network.set(LINK, Condition::Carries);
        ends(&server, port);
    }

    #[test]
    fn delayed_bytes_arrive_later() {
        let (network, server, port) = linked();
        let (mut client, mut server) = ends(&server, port);
        server.set_read_timeout(None).expect("a socket");
        network.set(LINK, Condition::Delays(2 * SHORT));
        let begun = Instant::now();
        client.write_all(b"first").expect("it is sent");
        server.read_exact(&mut [0; 5]).expect("it is carried");
        assert!(begun.elapsed() >= 2 * SHORT);
    }

    #[test]
    fn a_server_that_is_not_there_is_an_end() {
        let (_network, server, port) = linked();
        drop(server);
        let mut client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        assert!(client.read(&mut [0]).unwrap_or(0) == 0);
    }
}
