//! Images of meters' firmware, for all links of a process: a thread of their own reads them from
//! the store, so that no link waits for a database, and an image is in memory once, however many
//! meters it is sent to.

use crate::image_digest::ImageDigest;
use crate::store::{Reader, StoreError};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::VecDeque;
use std::sync::OnceLock;
use wire::meter::Image;

/// Images that are kept for who asks next. Those that are being sent are in memory anyway.
const KEPT_MAX: usize = 2;

/// An image that a link asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    Image(ImageDigest),
    /// The one of its target and version that is for the other slot.
    ForOtherSlot(ImageDigest),
}

/// An image that a link asked for.
pub(crate) struct Found {
    pub(super) wanted: Wanted,
    /// `None`: there is none.
    pub(super) image: Result<Option<Image>, StoreError>,
}

struct Asked {
    wanted: Wanted,
    to: Sender<Found>,
}

/// The way to the thread, which begins with the first question, and ends when nobody can ask any
/// more.
pub(crate) struct Images {
    /// `None`: there are none.
    reader: Option<Reader>,
    asked: OnceLock<Option<Sender<Asked>>>,
}

impl Images {
    pub(crate) fn new(reader: Reader) -> Images {
        Images { reader: Some(reader), asked: OnceLock::new() }
    }

    #[cfg(test)]
    pub(crate) fn none() -> Images {
        Images { reader: None, asked: OnceLock::new() }
    }

    /// Asks; what is found goes to the session. Where nobody answers, as while the system gives no
    /// thread, it is asked again.
    pub(super) fn ask(&self, wanted: Wanted, to: &Sender<Found>) {
        let asked = self.asked.get_or_init(|| {
            let (reader, (asked, asked_in)) = (self.reader.clone()?, unbounded());
            let thread = std::thread::Builder::new().name("images".to_owned());
            match thread.spawn(move || serve(&reader, asked_in)) {
                Ok(_) => Some(asked),
                Err(error) => {
                    tracing::error!("the system gives no thread, and no meter gets an image: {error}");
                    None
                }
            }
        });
        if let Some(asked) = asked {
            let _ = asked.send(Asked { wanted, to: to.clone() });
        }
    }
}

fn serve(reader: &Reader, asked: Receiver<Asked>) {
    let mut kept: VecDeque<Image> = VecDeque::new();
    for Asked { wanted, to } in asked {
        let image = find(reader, &mut kept, wanted);
        if let Err(error) = &image {
            tracing::warn!(%error, "an image could not be read");
        }
        // The link may have ended.
        let _ = to.send(Found { wanted, image });
    }
}

fn find(reader: &Reader, kept: &mut VecDeque<Image>, wanted: Wanted) -> Result<Option<Image>, StoreError> {
    let digest = match wanted {
        Wanted::Image(digest) => Some(digest),
        Wanted::ForOtherSlot(digest) => reader.image_of_other_slot(&digest)?,
    };
    let Some(digest) = digest else { return Ok(None) };
    if let Some(image) = kept.iter().find(|image| *image.digest() == digest.0) {
        return Ok(Some(image.clone()));
    }
    let image = reader.image_content(&digest)?;
    kept.extend(image.clone());
    while kept.len() > KEPT_MAX {
        kept.pop_front();
    }
    Ok(image)
}
