//! Whole meters in virtual time, any number in one thread: the firmware's loop runs in a coroutine,
//! and stands still in the drivers that wait.
//!
//! [`Meter::resume`] lets it run to the next [`Call`]; who owns the world answers with the time
//! when the call is over, and what came of it. Times are nanoseconds of the world. Computing takes
//! no time; EEPROM takes [`crate::meter::call::BYTE_NS`] a byte.

use crate::meter::call::{Call, Cause, Load, Reply};
use crate::meter::drivers::{self, Context};
use crate::meter::eeprom::{Eeprom, Torn};
use crate::meter::flash::Flash;
use crate::meter::status::Status;
use corosensei::{Coroutine, CoroutineResult, stack::DefaultStack};
use std::convert::Infallible;
use std::ptr::NonNull;

/// Room for the C frames of sealing and opening with curves, with much to spare.
const STACK: usize = 64 * 1024;

pub struct Meter {
    coroutine: Coroutine<Reply, Call, Infallible>,
    /// A box's; the coroutine looks at it, too, while it runs.
    context: NonNull<Context>,
}

// SAFETY: a meter is in one thread at a time; what runs in the coroutine is C that has no
// thread-local state, and drivers that look the thread's context up anew at each call.
unsafe impl Send for Meter {}

impl Meter {
    /// Starts a meter at `now_ns`.
    ///
    /// `eeprom` is what an earlier one left, or what it was provisioned with; `noise_seed` decides
    /// what its noise source reads.
    ///
    /// # Panics
    /// Panics where there is no memory for its stack.
    #[must_use]
    pub fn start(
        provision: &[u8; 176],
        mut eeprom: Eeprom,
        cause: Cause,
        noise_seed: u64,
        now_ns: u64,
    ) -> Meter {
        eeprom.start();
        let context =
            NonNull::from(Box::leak(Box::new(Context::new(provision, eeprom, cause, noise_seed, now_ns))));
        let stack = DefaultStack::new(STACK).expect("there is memory for a stack");
        let address = context.as_ptr() as usize;
        let coroutine = Coroutine::with_stack(stack, move |yielder, _: Reply| {
            // SAFETY: the context lives until the coroutine is gone, and is entered whenever that
            // runs.
            unsafe { drivers::run(address as *mut Context, yielder) }
        });
        Meter { coroutine, context }
    }

    /// As [`Meter::start`], by the bootloader, which runs one of the images in `flash`: that says
    /// where its images go.
    ///
    /// # Panics
    /// Panics where there is no memory for its stack.
    #[must_use]
    pub fn start_from(
        mut flash: Flash,
        provision: &[u8; 176],
        eeprom: Eeprom,
        cause: Cause,
        noise_seed: u64,
        now_ns: u64,
    ) -> Meter {
        flash.start();
        let mut meter = Meter::start(provision, eeprom, cause, noise_seed, now_ns);
        meter.context_mut().flash = Some(flash);
        meter
    }

    /// Its flash, where a bootloader runs it.
    #[must_use]
    pub fn flash(&self) -> Option<&Flash> {
        self.context().flash.as_ref()
    }

    /// The same, to set when its power fails: [`Flash::cut_after`]. Its EEPROM is off then, too.
    pub fn flash_mut(&mut self) -> Option<&mut Flash> {
        self.context_mut().flash.as_mut()
    }

    /// The slot whose image runs.
    #[must_use]
    pub fn running(&self) -> Option<usize> {
        self.context().running.map(usize::from)
    }

    fn context(&self) -> &Context {
        // SAFETY: it lives as long as self, and the coroutine, which looks at it, too, stands
        // still.
        unsafe { self.context.as_ref() }
    }

    fn context_mut(&mut self) -> &mut Context {
        // SAFETY: as above.
        unsafe { self.context.as_mut() }
    }

    /// Lets it run from `now_ns`, when its last call was over, to its next call. The first reply is
    /// not looked at.
    ///
    /// # Panics
    /// Panics where the time runs backwards.
    pub fn resume(&mut self, now_ns: u64, reply: Reply) -> Call {
        self.wait(now_ns);
        let entered = drivers::enter(self.context.as_ptr());
        let CoroutineResult::Yield(call) = self.coroutine.resume(reply);
        drop(entered);
        call
    }

    /// Sets the load of the site from `now_ns` on.
    ///
    /// # Panics
    /// Panics where the time runs backwards.
    pub fn set_load(&mut self, now_ns: u64, load: Load) {
        self.wait(now_ns);
        self.context_mut().load = Some(load);
    }

    /// Its noise source gives nothing from now on.
    pub fn fail_noise(&mut self) {
        self.context_mut().noise = None;
    }

    /// Its noise source gives this from now on.
    pub fn change_noise(&mut self, noise_seed: u64) {
        self.context_mut().noise = Some(fastrand::Rng::with_seed(noise_seed));
    }

    /// Returns its state in RAM: `ws_meter`.
    #[must_use]
    pub fn ram(&self) -> &[u8] {
        self.context().ram()
    }

    /// `ws_meter_status`.
    #[must_use]
    pub fn status(&self) -> Status {
        self.context().status()
    }

    /// Its EEPROM, as of the last time that the meter was told of.
    #[must_use]
    pub fn eeprom(&self) -> &Eeprom {
        &self.context().eeprom
    }

    /// The same, to set when its power fails: [`Eeprom::cut_after`]. The owner sees by
    /// [`Eeprom::is_off`] that it has failed.
    pub fn eeprom_mut(&mut self) -> &mut Eeprom {
        &mut self.context_mut().eeprom
    }

    /// It waits on: up to `now_ns` its EEPROM is written, and the site draws power.
    ///
    /// # Panics
    /// Panics where the time runs backwards.
    pub fn wait(&mut self, now_ns: u64) {
        assert!(now_ns >= self.context().now_ns, "time runs forwards");
        self.context_mut().pass(now_ns);
    }

    /// Its power fails at `now_ns`: its EEPROM is left, a byte under way torn.
    ///
    /// # Panics
    /// Panics where the time runs backwards.
    #[must_use]
    pub fn cut_power(mut self, now_ns: u64, torn: Torn) -> Eeprom {
        self.wait(now_ns);
        let eeprom = &mut self.context_mut().eeprom;
        if !eeprom.is_off() {
            eeprom.cut(torn);
        }
        std::mem::replace(eeprom, Eeprom::new(0))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // SAFETY: in the coroutine there are frames of C, and of drivers that hold nothing to be
        // dropped while they wait. The context was a box.
        unsafe {
            self.coroutine.force_reset();
            drop(Box::from_raw(self.context.as_ptr()));
        }
    }
}
