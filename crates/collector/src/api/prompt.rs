//! Connections that have to say something soon.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Bytes of HTTP/2's preface (RFC 9113, section 3.4). Until so many are there, or an answer goes out, it may not be known which HTTP is
/// spoken, and nothing else looks at the clock: hyper's time-out for a head begins with its parser.
const PREFACE_BYTES: usize = 24;

/// A connection that is broken off when its first bytes do not come in time.
pub(super) struct Prompt<I> {
    inner: I,
    /// `None`: they came.
    late: Option<Pin<Box<Sleep>>>,
    missing: usize,
}

impl<I> Prompt<I> {
    pub(super) fn new(inner: I, within: Duration) -> Prompt<I> {
        Prompt { inner, late: Some(Box::pin(sleep(within))), missing: PREFACE_BYTES }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Prompt<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        self.missing = self.missing.saturating_sub(buffer.filled().len() - before);
        if self.missing == 0 {
            self.late = None;
        }
        if read.is_pending()
            && let Some(late) = &mut self.late
            && late.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Prompt<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.late = None;
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
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
        self.late = None;
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
