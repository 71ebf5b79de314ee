//! The way of what was heard to a telegram that is to be stored: reading, decryption, the
//! judgement. It knows no clock, no socket and no database.

use super::contents::{clock_off_s, contents_of};
use super::partial_messages::PartialMessages;
use super::refusal::Refusal;
use super::source::Sender;
use crate::mbus_meter::MbusMeterId;
use crate::registry::{MbusKey, MbusMeter};
use crate::store::NewTelegram;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wire::wireless_mbus::{
    Application, Datagram, FormatCache, Frame, MeterAddress, OpenedMessage, ReceivedFrame,
};

/// Formats of one meter that are remembered; with one more, all are forgotten and learned anew.
const FORMATS_MAX: usize = 8;
/// The time in which a meter may store one telegram more that nothing authenticates, and how many
/// at once.
const UNAUTHENTICATED_EVERY_MS: i64 = 60_000;
const UNAUTHENTICATED_BURST: i64 = 10;
/// The clock of a telegram that nothing authenticates is off by no more.
const CLOCK_OFF_S_MAX: i64 = 86_400;

/// Opens and judges telegrams. The bounds are of meters that are registered, and of senders.
#[derive(Debug)]
pub struct TelegramReceiver {
    /// The zone of the meters' clocks.
    zone: TimeZone,
    /// Takes telegrams of all registered meters that nothing authenticates.
    unauthenticated: bool,
    meters: BTreeMap<MbusMeterId, MbusMeter>,
    partial: PartialMessages,
    formats: HashMap<MbusMeterId, FormatCache>,
    /// The highest counter of each meter and key.
    counters: HashMap<(MbusMeterId, [u8; 8]), u32>,
    /// Meters whose telegrams were authentic once.
    authentic: BTreeSet<MbusMeterId>,
    /// Meters' telegrams that nothing authenticates.
    unproven: HashMap<MbusMeterId, Unproven>,
}

/// The telegrams of a meter that nothing authenticates.
#[derive(Debug)]
struct Unproven {
    /// The time up to which its share is used.
    used_until_ms: i64,
    /// The digest of the last one.
    last: [u8; 32],
}

impl TelegramReceiver {
    /// Without any meter. unauthenticated: takes telegrams of all registered meters that nothing
    /// authenticates.
    #[must_use]
    pub fn new(zone: TimeZone, unauthenticated: bool) -> TelegramReceiver {
        TelegramReceiver {
            zone,
            unauthenticated,
            meters: BTreeMap::new(),
            partial: PartialMessages::default(),
            formats: HashMap::new(),
            counters: HashMap::new(),
            authentic: BTreeSet::new(),
            unproven: HashMap::new(),
        }
    }

    /// The registered meters, from now on.
    pub fn set_meters(&mut self, meters: BTreeMap<MbusMeterId, MbusMeter>) {
        self.formats.retain(|meter, _| meters.contains_key(meter));
        self.unproven.retain(|meter, _| meters.contains_key(meter));
        self.meters = meters;
    }

    /// The highest counters, as they are stored.
    pub fn set_counters(&mut self, counters: impl IntoIterator<Item = (MbusMeterId, [u8; 8], u32)>) {
        self.counters = counters.into_iter().map(|(meter, key, counter)| ((meter, key), counter)).collect();
        self.authentic = self.counters.keys().map(|(meter, _)| *meter).collect();
    }

    /// Takes a line. `None`: a fragment, or a meter's format, and all is well. The meter of a
    /// refusal is a registered one.
    ///
    /// # Errors
    /// [`Refusal`], with the registered meter in whose name the telegram came.
    pub fn receive(
        &mut self,
        sender: Sender,
        line: &str,
        heard_ms: i64,
    ) -> Result<Option<NewTelegram>, (Refusal, Option<MbusMeterId>)> {
        let received = ReceivedFrame::from_line(line).map_err(|error| (error.into(), None))?;
        self.receive_frame(sender, received, heard_ms)
    }

    /// Takes a frame that a radio module gave; otherwise as [`receive`](Self::receive).
    ///
    /// # Errors
    /// [`Refusal`], with the registered meter in whose name the telegram came.
    pub fn receive_frame(
        &mut self,
        sender: Sender,
        received: ReceivedFrame,
        heard_ms: i64,
    ) -> Result<Option<NewTelegram>, (Refusal, Option<MbusMeterId>)> {
        let ReceivedFrame { frame, without_crc, .. } = received;
        let as_checked = self.receive_content(sender, frame, heard_ms);
        match (as_checked, without_crc) {
            // Of nothing else: a repetition would be another telegram with two bytes more.
            (Err(refusal @ (Refusal::Open(_), _)), Some(frame)) => {
                self.receive_content(sender, frame, heard_ms).map_err(|_| refusal)
            }
            (as_checked, _) => as_checked,
        }
    }

    fn receive_content(
        &mut self,
        sender: Sender,
        frame: Frame,
        heard_ms: i64,
    ) -> Result<Option<NewTelegram>, (Refusal, Option<MbusMeterId>)> {
        let link = frame.address;
        let datagram = Datagram::parse(frame).map_err(|error| (error.into(), self.known(link)))?;
        let opened = self.open(sender, datagram).map_err(|refusal| (refusal, self.known(link)))?;
        let Some((opened, meter)) = opened else { return Ok(None) };
        self.judge(&opened, &meter, heard_ms).map_err(|refusal| (refusal, Some(meter.meter)))
    }

    /// The registered meter of an address.
    fn known(&self, address: MeterAddress) -> Option<MbusMeterId> {
        MbusMeterId::of(address).filter(|meter| self.meters.contains_key(meter))
    }

    /// The meter of an address as it was registered, which its version and device type have to fit.
    fn registered(&self, address: MeterAddress) -> Result<&MbusMeter, Refusal> {
        let meter = MbusMeterId::of(address).and_then(|meter| self.meters.get(&meter));
        let meter = meter.ok_or(Refusal::Unregistered(address))?;
        let fits = |registered: Option<u8>, sent: u8| registered.is_none_or(|is| is == sent);
        match fits(meter.version, address.version) && fits(meter.device_type, address.device_type) {
            true => Ok(meter),
            false => Err(Refusal::OtherDevice(address)),
        }
    }

    /// Decrypts, joins and opens. A fragment has to be of a registered meter, so that nobody else's
    /// take room.
    fn open(
        &mut self,
        sender: Sender,
        datagram: Datagram,
    ) -> Result<Option<(OpenedMessage, MbusMeter)>, Refusal> {
        let link = datagram.address;
        let datagram = match datagram.is_encrypted() {
            true => {
                let key = self.registered(link)?.key.as_ref().map(MbusKey::meter_key);
                datagram.decrypt(&key.ok_or(wire::wireless_mbus::OpenError::NoKey(link))?)?
            }
            false => datagram,
        };
        if is_fragment(datagram.body()) {
            self.registered(link)?;
        }
        let Some(message) = self.partial.take(sender, &datagram)? else { return Ok(None) };
        let meter = self.registered(message.meter())?.clone();
        let opened = message.open(meter.key.as_ref().map(MbusKey::meter_key).as_ref())?;
        Ok(Some((opened, meter)))
    }

    /// Judges an opened message, and makes the telegram of it.
    fn judge(
        &mut self,
        opened: &OpenedMessage,
        meter: &MbusMeter,
        heard_ms: i64,
    ) -> Result<Option<NewTelegram>, Refusal> {
        if !opened.authenticated {
            self.check_may_be_unproven(meter)?;
        }
        let counter = self.check_counter(opened, meter)?;
        let application = self.decode(opened, meter.meter)?;
        let authenticated = match &application {
            Application::Records { authenticated, .. } => opened.authenticated && *authenticated,
            _ => opened.authenticated,
        };
        if opened.authenticated && !authenticated {
            // A format that nothing authenticates.
            self.check_may_be_unproven(meter)?;
        }
        let clock_off_s = clock_off_s(&application, &self.zone, heard_ms);
        if !authenticated {
            self.check_unproven(opened, meter.meter, (clock_off_s, heard_ms))?;
        }
        if let Some((key, counter)) = counter {
            self.counters.insert((meter.meter, key), counter);
            self.authentic.insert(meter.meter);
        }
        if application == Application::Format {
            return Ok(None);
        }
        Ok(Some(NewTelegram {
            meter: meter.meter,
            heard_ms,
            address: opened.meter,
            mode: (opened.header.configuration.field >> 8 & 0x1f) as u8,
            authenticated,
            counter,
            access_number: opened.header.access_number,
            status: opened.header.status.map(|status| status.0),
            clock_off_s,
            contents: contents_of(&application),
        }))
    }

    /// A meter has to be set to take what nothing authenticates. The collector's setting is not for
    /// meters that authenticate their telegrams.
    fn check_may_be_unproven(&self, meter: &MbusMeter) -> Result<(), Refusal> {
        match (meter.unauthenticated, self.unauthenticated, self.authentic.contains(&meter.meter)) {
            (true, _, _) | (_, true, false) => Ok(()),
            (_, true, true) => Err(Refusal::Downgraded(meter.meter)),
            (_, false, _) => Err(Refusal::NotAuthenticated(meter.meter)),
        }
    }

    /// The counter of an authentic message has to be above all before it.
    fn check_counter(
        &self,
        opened: &OpenedMessage,
        meter: &MbusMeter,
    ) -> Result<Option<([u8; 8], u32)>, Refusal> {
        let (true, Some(counter), Some(key)) = (opened.authenticated, opened.counter, &meter.key) else {
            return Ok(None);
        };
        let (meter, key) = (meter.meter, key.id());
        match self.counters.get(&(meter, key)) {
            Some(&highest) if counter == highest => Err(Refusal::Repeated { meter, counter }),
            Some(&highest) if counter < highest => Err(Refusal::Replayed { meter, counter, highest }),
            _ => Ok(Some((key, counter))),
        }
    }

    /// Decodes by the formats of this meter.
    fn decode(&mut self, opened: &OpenedMessage, meter: MbusMeterId) -> Result<Application, Refusal> {
        let formats = self.formats.entry(meter).or_default();
        let application = formats.decode(opened);
        if formats.len() > FORMATS_MAX {
            *formats = FormatCache::default();
        }
        Ok(application?)
    }

    /// Checks what nothing authenticates: its clock, whether it is the last one again, and how
    /// often such ones come.
    fn check_unproven(
        &mut self,
        opened: &OpenedMessage,
        meter: MbusMeterId,
        (clock_off_s, heard_ms): (Option<i64>, i64),
    ) -> Result<(), Refusal> {
        if let Some(off_s) = clock_off_s.filter(|off_s| off_s.abs() > CLOCK_OFF_S_MAX) {
            return Err(Refusal::Clock { meter, off_s });
        }
        let access_number = opened.header.access_number.map_or([0, 0], |number| [1, number]);
        let digest = Sha256::new().chain_update(access_number).chain_update(&opened.payload).finalize();
        let digest: [u8; 32] = digest.into();
        let unproven =
            self.unproven.entry(meter).or_insert(Unproven { used_until_ms: i64::MIN, last: [0; 32] });
        // A clock that was set back begins anew.
        let burst_ms = UNAUTHENTICATED_BURST * UNAUTHENTICATED_EVERY_MS;
        let used_until_ms = match unproven.used_until_ms.saturating_sub(heard_ms) {
            ahead_ms if ahead_ms <= 0 || ahead_ms > burst_ms => heard_ms,
            _ => unproven.used_until_ms,
        };
        if used_until_ms > heard_ms && unproven.last == digest {
            return Err(Refusal::Same(meter));
        }
        if used_until_ms + UNAUTHENTICATED_EVERY_MS > heard_ms + burst_ms {
            return Err(Refusal::TooOften(meter));
        }
        *unproven = Unproven { used_until_ms: used_until_ms + UNAUTHENTICATED_EVERY_MS, last: digest };
        Ok(())
    }
}

/// True of a fragment of a longer message: CI field 90h, and a fragment's number in the control
/// field behind the length. OMS volume 2, section 6.
fn is_fragment(body: &[u8]) -> bool {
    matches!(body, [0x90, _, fragment, ..] if *fragment != 0)
}
