// The API's names in words for a person.

import { type Command, type CommandState, type Image, type ImageRefusal, type Meter, type MeterName, type OfMeter, type Suite, type UpdateState, nameOf } from './api';
import { address, number } from './format';
import { type Release, slotsOf } from './updates';

export const SUITE_NAMES: Record<Suite, string> = {
  none: 'Not sealed',
  'aes128-gcm': 'AES-128-GCM',
  'aes256-gcm': 'AES-256-GCM',
  ecies: 'ECIES',
  'ecies-ecdsa': 'ECIES + ECDSA',
  'ascon-aead128': 'Ascon-AEAD128',
  'aes256-gcm-rekeyed': 'AES-256-GCM, renewed',
};

export const SUITE_MEANINGS: Record<Suite, string> = {
  none: 'Neither secret nor authentic: anyone in range reads and forges it.',
  'aes128-gcm': 'Secret and authentic with a key that meter and collector share.',
  'aes256-gcm': 'Secret and authentic with a longer key that meter and collector share.',
  ecies: 'Encrypted to the collector’s public key; recordings stay closed when the meter is stolen.',
  'ecies-ecdsa': 'Encrypted to the collector, and signed by the meter: who reported it can be proved.',
  'ascon-aead128': 'Secret and authentic with a key that meter and collector share, with the cipher for small devices.',
  'aes256-gcm-rekeyed': 'As AES-256-GCM, with a key that is renewed over the air: a stolen one opens neither what was sent before it nor after.',
};

const CAUSES: Record<string, string> = {
  'power-on': 'Power came on',
  'external-reset': 'Reset pin',
  'brown-out': 'Supply fell too low',
  watchdog: 'Watchdog restarted the meter',
  commanded: 'Restarted by command',
  unknown: 'Restarted, reason not known',
  'noise-source': 'Noise source failed',
  journal: 'Journal found damaged',
  silent: 'Meter is silent',
  'lost-readings': 'Readings lost',
  clock: 'Collector’s clock was set',
  store: 'Readings cannot be stored',
  damaged: 'Stored readings changed',
  refused: 'Packets refused',
};

/** A meter's first start, as each has one: information, which the collector acknowledges by itself. */
export function isFirstStart({ cause, detail }: { cause: string; detail: string }): boolean {
  return cause === 'power-on' && detail === 'start 1';
}

export function causeName(cause: string): string {
  return CAUSES[cause] ?? sentence(cause);
}

/** `some-name` or `some_name` as `Some name`. */
export function sentence(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const SEVERE = new Set(['noise-source', 'journal', 'lost-readings', 'store', 'damaged', 'refused', 'watchdog', 'silent']);

/** Those that mean something is broken, lost or attacked; others are for the record. */
export function isSevere(cause: string): boolean {
  return SEVERE.has(cause);
}

export const STATE_NAMES: Record<CommandState, string> = {
  waiting: 'Waiting',
  sent: 'Sent',
  done: 'Done',
  refused: 'Refused',
  withdrawn: 'Withdrawn',
};

export const STATE_MEANINGS: Record<CommandState, string> = {
  waiting: 'goes out when the meter reports next',
  sent: 'sent again until the meter answers',
  done: 'the meter did it',
  refused: 'the meter refused it',
  withdrawn: 'taken back; the meter may have done it if it was sent',
};

export const UPDATE_NAMES: Record<UpdateState, string> = {
  waiting: 'Waiting',
  asking: 'Asking',
  sending: 'Sending',
  trying: 'On trial',
  runs: 'Runs',
  refused: 'Refused',
  'went-back': 'Went back',
  'not-possible': 'Not possible',
  withdrawn: 'Withdrawn',
};

export const UPDATE_MEANINGS: Record<UpdateState, string> = {
  waiting: 'others go first, the meter is not heard, its suite takes no image, or the image is not there',
  asking: 'the meter is asked how it stands',
  sending: 'piece by piece, between its readings',
  trying: 'the meter has all of it, and starts with it',
  runs: 'the meter runs it, and has reported in',
  refused: 'the meter refused it',
  'went-back': 'it did not report in, or its signature is not good there; the former one runs again',
  'not-possible': 'the meter has no bootloader, or a firmware that takes no image',
  withdrawn: 'taken back, or the meter was revoked or got other keys; one that had all of it may run it all the same',
};

export const IMAGE_REFUSALS: Record<ImageRefusal, string> = {
  'no-image': 'what came is not the image that the meter was told of',
  'other-target': 'the image is for another microcontroller',
  'other-slot': 'the image is for the slot that the meter runs from, and there is none for the other slot',
  old: 'the meter has confirmed a newer version, and no version goes back',
  large: 'the image is larger than a slot of the meter',
  'not-kept': 'the meter’s flash does not keep it',
  'on-trial': 'the firmware that the meter runs is on trial itself: begin again later',
  other: 'the meter’s reason is not known to the collector',
};

export function imageName({ target, version, address: slot }: Pick<Image, 'target' | 'version' | 'address'>): string {
  return `Version ${version} for ${target}, slot at ${address(slot)}`;
}

export function releaseName(release: Release): string {
  const slots = slotsOf(release);
  return `Version ${release.version} for ${release.target}, ${slots.length === 1 ? 'slot' : 'slots'} at ${slots.map(address).join(' and ')}`;
}

/** What the command asks, with its arguments. */
export function orderName(order: Command['command']): string {
  if (order === 'look-at-time') return 'Look at its time';
  if (order === 'set-time') return 'Set time';
  if (order === 'reboot') return 'Reboot';
  if (order === 'renew-key') return 'Renew the key';
  if (order === 'update-firmware') return 'Take a firmware image';
  if ('configure' in order) {
    const { interval_s, suite } = order.configure;
    return `Configure: every ${number(interval_s)} s, ${SUITE_NAMES[suite] ?? suite}`;
  }
  if ('calibrate' in order) {
    const { voltage_uv, current_ua, phase } = order.calibrate;
    return `Calibrate: ${number(voltage_uv)} µV and ${number(current_ua)} µA a step, phase ${number(phase)}/256`;
  }
  if ('register' in order) {
    const { meter, address, collector_address } = order.register;
    return `Register: as ${meter}, address ${address}, collector ${collector_address}`;
  }
  if ('read-status' in order) return `Read status: page ${order['read-status'].page}`;
  return JSON.stringify(order);
}

export function meterName(meter: OfMeter & { label: string }): string {
  return meter.label.trim() === '' ? unnamed(nameOf(meter)) : meter.label;
}

/** What a meter is called of which nothing else is known. */
function unnamed(meter: MeterName): string {
  return `Meter ${meter}`;
}

/** Whether a meter is one that is looked for by a part of its name, or its number. */
export function isLookedFor(meter: OfMeter & { label: string }, wanted: string): boolean {
  const text = wanted.trim().toLocaleLowerCase();
  return text === '' || nameOf(meter).includes(text) || meter.label.toLocaleLowerCase().includes(text);
}

/** What a meter is called, also one that is not there any more. */
export function calledIn(meters: ReadonlyMap<MeterName, Meter>, meter: MeterName): string {
  const found = meters.get(meter);
  return found === undefined ? unnamed(meter) : meterName(found);
}

/** In words, how well its radio is heard; the RFM12B and CC2500 lose packets from about -100 dBm on. */
export function strengthWord(dbm: number | null): string {
  if (dbm === null) return 'not known';
  return dbm >= -75 ? 'strong' : dbm >= -90 ? 'fair' : 'weak';
}

/** Bars of four, for a picture beside the figure. */
export function strengthBars(dbm: number | null): number {
  if (dbm === null) return 0;
  return dbm >= -65 ? 4 : dbm >= -75 ? 3 : dbm >= -90 ? 2 : 1;
}
