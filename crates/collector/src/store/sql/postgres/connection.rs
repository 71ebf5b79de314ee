//! One connection to a server, and what is asked by it.

use super::error::ConnectionError;
use super::server::{Server, name_of};
use super::tls::Tls;
use super::wait::{runtime, wait};
use crate::store::sql::{Cell, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Row, SimpleQueryMessage, Socket, Statement};

/// A server that has not answered a question until then is given up. It gives up itself before
/// (`STATEMENT_TIMEOUT_S` of the writer).
const ANSWER: Duration = Duration::from_secs(40);
/// A server that cannot be connected with until then, name and password and all, is given up.
const CONNECT: Duration = Duration::from_secs(20);
/// The time for which other servers may claim to take writes, after one of them does.
const OTHERS: Duration = Duration::from_secs(1);

pub(crate) struct Connection {
    client: Client,
    statements: RefCell<HashMap<String, Statement>>,
    /// Warnings that the server gave. A commit that was not copied to a standby ends with one.
    warnings: Arc<AtomicU64>,
}

impl Connection {
    pub(in crate::store) fn connect(server: &Server) -> Result<Connection, ConnectionError> {
        let tls = match server.has_tls() {
            true => Some(
                Tls::new(server.authorities().map(std::path::PathBuf::as_path))
                    .map_err(ConnectionError::Here)?,
            ),
            false => None,
        };
        let Connected { client, warnings } = match server.hosts() {
            [host] => {
                let runtime = runtime().map_err(ConnectionError::Here)?;
                let connecting = runtime.spawn(connect(host.clone(), tls));
                let client =
                    wait(connecting, Instant::now() + CONNECT).ok_or(ConnectionError::Silent(CONNECT))?;
                client.map_err(|error| ConnectionError::Here(error.to_string()))??
            }
            hosts => of_several(hosts, tls)?,
        };
        Ok(Connection { client, statements: RefCell::default(), warnings })
    }

    /// Says if the server has closed it.
    pub(in crate::store) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(in crate::store) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    pub(crate) fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, ConnectionError> {
        self.query_with(sql, &bound(values))
    }

    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, ConnectionError> {
        self.execute_with(sql, &bound(values))
    }

    /// With values of the library's kinds: columns, above all.
    pub(in crate::store) fn query_with(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, ConnectionError> {
        let statement = self.prepared(sql)?;
        self.answer(self.client.query(&statement, values), ANSWER)
    }

    pub(in crate::store) fn execute_with(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, ConnectionError> {
        let statement = self.prepared(sql)?;
        self.answer(self.client.execute(&statement, values), ANSWER)
    }

    /// Puts rows into a table. columns: as SQL lists them, and as the rows have them.
    pub(in crate::store) fn copy_in<'v>(
        &self,
        table: &str,
        columns: &str,
        rows: impl ExactSizeIterator<Item = Vec<Value<'v>>>,
    ) -> Result<(), ConnectionError> {
        if rows.len() == 0 {
            return Ok(());
        }
        let types = self.prepared(&format!("SELECT {columns} FROM {table}"))?;
        let types: Vec<Type> = types.columns().iter().map(|column| column.type_().clone()).collect();
        let copy = format!("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)");
        let copied = async {
            let mut writer = pin!(BinaryCopyInWriter::new(self.client.copy_in(copy.as_str()).await?, &types));
            for row in rows {
                writer.as_mut().write(&bound(&row)).await?;
            }
            writer.finish().await
        };
        self.answer(copied, ANSWER).map(drop)
    }

    /// Statements without values, with semicolons between them, sent together. Returns the first
    /// columns of the rows.
    pub(in crate::store) fn simple(&self, sql: &str) -> Result<Vec<String>, ConnectionError> {
        self.simple_within(sql, ANSWER)
    }

    pub(in crate::store) fn simple_within(
        &self,
        sql: &str,
        within: Duration,
    ) -> Result<Vec<String>, ConnectionError> {
        let said = self.answer(self.client.simple_query(sql), within)?;
        let first = |said: SimpleQueryMessage| match said {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        Ok(said.into_iter().filter_map(first).collect())
    }

    fn prepared(&self, sql: &str) -> Result<Statement, ConnectionError> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let statement = self.answer(self.client.prepare(sql), ANSWER)?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn answer<T>(
        &self,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
        within: Duration,
    ) -> Result<T, ConnectionError> {
        wait(asked, Instant::now() + within)
            .ok_or(ConnectionError::Silent(within))?
            .map_err(ConnectionError::from)
    }
}

/// The result of connecting to a host.
struct Connected {
    client: Client,
    warnings: Arc<AtomicU64>,
}

async fn connect(host: Config, tls: Option<Tls>) -> Result<Connected, tokio_postgres::Error> {
    let warnings = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&warnings);
    let client = match tls {
        Some(tls) => {
            let (client, connection) = host.connect(tls).await?;
            tokio::spawn(carry(connection, counted));
            client
        }
        None => {
            let (client, connection) = host.connect(NoTls).await?;
            tokio::spawn(carry(connection, counted));
            client
        }
    };
    Ok(Connected { client, warnings })
}

/// The rank among several servers: first those that take writes, and of two such the one that was
/// promoted last. The other is a primary that its standby has left without its knowledge: its
/// commits would wait in vain.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Standby,
    /// Its timeline, in hexadecimal digits, always as many: one more with each promotion.
    Primary(String),
}

async fn rank(client: &Client) -> Result<Rank, tokio_postgres::Error> {
    // Digits of the log's file that is written now; the first eight are the timeline.
    let timeline = "SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END";
    let said = client.simple_query(timeline).await?;
    let said = said.iter().find_map(|said| match said {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    Ok(match said {
        None | Some("") => Rank::Standby,
        Some(timeline) => Rank::Primary(timeline.to_owned()),
    })
}

/// Asks all hosts at once, because one that hangs says nothing for long.
fn of_several(hosts: &[Config], tls: Option<Tls>) -> Result<Connected, ConnectionError> {
    let runtime = runtime().map_err(ConnectionError::Here)?;
    let mut asked = JoinSet::new();
    for (at, host) in hosts.iter().enumerate() {
        let (host, tls) = (host.clone(), tls.clone());
        let connecting = async move {
            let ranked = async {
                let connected = connect(host, tls).await?;
                Ok::<_, tokio_postgres::Error>((rank(&connected.client).await?, connected))
            };
            (at, ranked.await)
        };
        asked.spawn_on(connecting, runtime.handle());
    }
    let mut best: Option<(Rank, Connected)> = None;
    let mut refused: Vec<Option<ConnectionError>> = hosts.iter().map(|_| None).collect();
    let mut until = Instant::now() + CONNECT;
    while let Some(Some(answered)) = wait(asked.join_next(), until) {
        match answered {
            Ok((_, Ok((rank, connected)))) => {
                if let Rank::Primary(_) = rank {
                    until = until.min(Instant::now() + OTHERS);
                }
                if best.as_ref().is_none_or(|(other, _)| *other < rank) {
                    best = Some((rank, connected));
                }
            }
            Ok((at, Err(error))) => refused[at] = Some(ConnectionError::from(error)),
            Err(error) => return Err(ConnectionError::Here(error.to_string())),
        }
    }
    let silent = |error: Option<ConnectionError>| error.unwrap_or(ConnectionError::Silent(CONNECT));
    let reasons = || hosts.iter().map(name_of).zip(refused.into_iter().map(silent)).collect();
    best.map(|(_, connected)| connected).ok_or_else(|| ConnectionError::NoHost(reasons()))
}

/// Carries what comes and goes, until the connection ends.
async fn carry<S>(mut connection: tokio_postgres::Connection<Socket, S>, warnings: Arc<AtomicU64>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let next = |connection: &mut tokio_postgres::Connection<Socket, S>,
                context: &mut std::task::Context<'_>|
     -> Poll<bool> {
        connection.poll_message(context).map(|message| match message {
            Some(Ok(AsyncMessage::Notice(notice))) => {
                if notice.severity() == "WARNING" {
                    warnings.fetch_add(1, Ordering::Release);
                    tracing::warn!("the database warns: {}", notice.message());
                }
                true
            }
            Some(Ok(_)) => true,
            // The waiting request gets the error.
            Some(Err(_)) | None => false,
        })
    };
    while poll_fn(|context| next(&mut connection, context)).await {}
}

fn bound<'a>(values: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (*self, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Int(value), &Type::INT2) => i16::try_from(value)?.to_sql(kind, out),
            (Value::Int(value), &Type::INT4) => i32::try_from(value)?.to_sql(kind, out),
            (Value::Int(value), &Type::INT8) => value.to_sql(kind, out),
            (Value::Text(text), &Type::TEXT) => text.to_sql(kind, out),
            (Value::Bytes(bytes), &Type::BYTEA) => bytes.to_sql(kind, out),
            (value, kind) => Err(format!("{value:?} is no {kind}").into()),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT2 | Type::INT4 | Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Cell<'a>, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT2 => Cell::Int(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Cell::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Cell::Int(i64::from_sql(kind, raw)?),
            Type::TEXT => Cell::Text(<&str>::from_sql(kind, raw)?),
            _ => Cell::Bytes(<&[u8]>::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Cell<'a>, Box<dyn Error + Sync + Send>> {
        Ok(Cell::Null)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT2 | Type::INT4 | Type::INT8 | Type::TEXT | Type::BYTEA)
    }
}
