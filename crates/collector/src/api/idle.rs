//! Connections that are closed when no request is under way for some time, or when a later one
//! takes their place.

use super::places::Place;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};

/// A connection with its place.
pub(super) struct Idle<I> {
    inner: I,
    place: Arc<Place>,
    /// Comes when the place is another's; `None`: it came.
    closed: Option<oneshot::Receiver<()>>,
    within: Duration,
    look_at: Pin<Box<Sleep>>,
}

impl<I> Idle<I> {
    /// within: a request begins within this, and the next one within this after it.
    pub(super) fn new(
        inner: I,
        place: Arc<Place>,
        closed: oneshot::Receiver<()>,
        within: Duration,
    ) -> Idle<I> {
        Idle { inner, place, closed: Some(closed), within, look_at: Box::pin(sleep(within)) }
    }

    /// # Errors
    /// The connection is over.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let Some(closed) = &mut self.closed else { return Err(io::ErrorKind::ConnectionAborted.into()) };
        if Pin::new(closed).poll(cx).is_ready() {
            self.closed = None;
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        while self.look_at.as_mut().poll(cx).is_ready() {
            let (now, closes_at) = (Instant::now(), self.place.closes_at(self.within));
            if closes_at <= now {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.look_at.as_mut().reset(closes_at.min(now + self.within));
        }
        Ok(())
    }

    fn wrote(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.place.wrote(*bytes);
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Idle<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Idle<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.wrote(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
