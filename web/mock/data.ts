// Meters that never were: the same figures whenever they are asked for, made of the time alone.

import { type Action, type Alert, type Command, type Cost, type Image, type Meter, type OfMeter, type OtherMeter, type Suite, type Telegram, type TelegramRecord, type Token, type Update, nameOf } from '../src/api';
import { midnight, dayOf, firstOfMonth, mondayOf, plusDays } from '../src/zone';

export const ZONE = 'Europe/Prague';

export interface MockMeter {
  meter: number;
  /** Left out: 0. */
  network?: number;
  label: string;
  suite: Suite;
  interval_s: number;
  /** What it draws at night, in W. */
  base_w: number;
  /** What it draws at most, in W. */
  peak_w: number;
  rssi_dbm: number | null;
  /** Silent since so many seconds before the mock's start. */
  silent_s?: number;
  revoked?: boolean;
  never?: boolean;
}

export const METERS: readonly MockMeter[] = [
  { meter: 257, label: 'Flat 1', suite: 'none', interval_s: 10, base_w: 60, peak_w: 900, rssi_dbm: -52 },
  { meter: 258, label: 'Flat 3', suite: 'aes128-gcm', interval_s: 10, base_w: 180, peak_w: 2400, rssi_dbm: -61 },
  { meter: 259, label: 'Workshop', suite: 'aes256-gcm', interval_s: 10, base_w: 40, peak_w: 5200, rssi_dbm: -74 },
  { meter: 260, label: 'Heat pump', suite: 'ecies', interval_s: 30, base_w: 350, peak_w: 3100, rssi_dbm: -83 },
  { meter: 261, label: 'Staircase and cellar of the house at the back', suite: 'ecies-ecdsa', interval_s: 60, base_w: 12, peak_w: 140, rssi_dbm: -96 },
  { meter: 262, label: '', suite: 'aes128-gcm', interval_s: 10, base_w: 90, peak_w: 1300, rssi_dbm: -88, silent_s: 5400 },
  { meter: 263, label: 'Spare', suite: 'aes128-gcm', interval_s: 10, base_w: 0, peak_w: 0, rssi_dbm: null, never: true },
];

/** Another site, whose meters have the numbers of the first one's. */
export const NETWORK_7: readonly MockMeter[] = [
  { network: 7, meter: 257, label: 'Mill, ground floor', suite: 'aes128-gcm', interval_s: 10, base_w: 90, peak_w: 1900, rssi_dbm: -70 },
  { network: 7, meter: 258, label: '', suite: 'ecies', interval_s: 30, base_w: 700, peak_w: 6400, rssi_dbm: -77 },
];

/** A number from 0 to 1 that looks random and is not. */
function noise(seed: number): number {
  let x = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b);
  return ((x ^ (x >>> 16)) >>> 0) / 0xffff_ffff;
}

/** Power at a time, in whole W: night and day, and something switched on now and then. */
export function powerAt(meter: MockMeter, at_s: number): number {
  const hour = ((at_s / 3600 + 1) % 24) + 0;
  const day = 0.25 + 0.75 * Math.max(0, Math.sin(((hour - 5) / 19) * Math.PI)) ** 2;
  const slot = Math.floor(at_s / 480);
  const on = noise(slot * 31 + meter.meter) > 1 - 0.3 * day ? 0.4 + 0.6 * noise(slot * 17 + meter.meter * 3) : 0;
  const hum = (noise(Math.floor(at_s / 10) * 7 + meter.meter) - 0.5) * 0.05;
  return Math.round(meter.base_w * (0.8 + 0.4 * day) * (1 + hum) + (meter.peak_w - meter.base_w) * on * (0.9 + hum));
}

const rolled = new Map<string, { mean: number; least: number; most: number }>();

/** Mean, least and most power of a quarter of an hour. */
export function quarter(meter: MockMeter, start_s: number): { mean: number; least: number; most: number } {
  const key = `${nameOf(meter)} ${start_s}`;
  let found = rolled.get(key);
  if (found === undefined) {
    let sum = 0;
    let least = Infinity;
    let most = -Infinity;
    for (let at = start_s; at < start_s + 900; at += 60) {
      const watts = powerAt(meter, at);
      sum += watts;
      least = Math.min(least, watts);
      most = Math.max(most, watts);
    }
    found = { mean: sum / 15, least, most };
    rolled.set(key, found);
  }
  return found;
}

/** When its last measurement was, and what its register said. */
export function lastOf(meter: MockMeter, start_s: number, now_s: number): Meter['last'] {
  if (meter.never === true) return null;
  const end = meter.silent_s === undefined ? now_s : start_s - meter.silent_s;
  const at_s = Math.floor(end / meter.interval_s) * meter.interval_s;
  return { at_s, power_w: powerAt(meter, at_s), energy_wh: registerAt(meter, at_s) };
}

export function registerAt(meter: MockMeter, at_s: number): number {
  const mean = meter.base_w + 0.12 * meter.peak_w;
  return Math.round(((at_s - 1_735_689_600) / 3600) * mean * 10) / 10;
}

/** What its register had counted before its power went. */
export function beforeRestarts(meter: MockMeter): number {
  return meter.meter === 258 ? 1234.5 : 0;
}

/** The starts of the intervals that overlap from .. to. */
export function starts(step: string, from_s: number, to_s: number): number[] {
  const found: number[] = [];
  if (step === 'quarter' || step === 'hour') {
    const length = step === 'hour' ? 3600 : 900;
    for (let at = Math.floor(from_s / length) * length; at < to_s; at += length) if (at >= from_s) found.push(at);
    return found;
  }
  let day = dayOf(from_s, ZONE);
  if (step === 'week') day = mondayOf(day);
  if (step === 'month') day = firstOfMonth(day);
  for (;;) {
    const at = midnight(day, ZONE);
    if (at >= to_s) return found;
    if (at >= from_s) found.push(at);
    day = step === 'month' ? firstOfMonth(day, 1) : plusDays(day, step === 'week' ? 7 : 1);
  }
}

/** Where the interval that begins there ends. */
export function endOf(step: string, start_s: number): number {
  if (step === 'quarter') return start_s + 900;
  if (step === 'hour') return start_s + 3600;
  const day = dayOf(start_s, ZONE);
  return midnight(step === 'month' ? firstOfMonth(day, 1) : plusDays(day, step === 'week' ? 7 : 1), ZONE);
}

/** What was used from .. to, by hours where it is long. */
export function usedWh(meter: MockMeter, from_s: number, to_s: number): number {
  let used = 0;
  const stride = to_s - from_s > 3 * 86_400 ? 14_400 : 900;
  for (let at = from_s; at < to_s; at += stride) {
    used += (quarter(meter, Math.floor(at / 900) * 900).mean * Math.min(stride, to_s - at)) / 3600;
  }
  return Math.round(used * 10) / 10;
}

export const COSTS: readonly Cost[] = [
  ['none', 0.42, 10.1, 18, 9.8],
  ['aes128-gcm', 3.81, 91.6, 39, 21.4],
  ['aes256-gcm', 4.62, 111.2, 39, 23.0],
  ['ecies', 1893.4, 45_480, 122, 1968.2],
  ['ecies-ecdsa', 2951.7, 70_870, 159, 3044.9],
  ['ascon-aead128', 3.1, 80.2, 39, 20.1],
].map(([suite, prepare_ms, energy_uj, air_bytes, round_trip_ms]) => ({
  suite: suite as Suite,
  prepare_ms: prepare_ms as number,
  energy_uj: energy_uj as number,
  air_bytes: air_bytes as number,
  round_trip_ms: round_trip_ms as number,
  source: 'Made up for the mock: no measurement.',
}));

export function firstAlerts(now_s: number): Alert[] {
  const alerts: Omit<Alert, 'id'>[] = [
    { meter: 262, at_s: now_s - 5370, cause: 'silent', detail: 'nothing heard for 30 s', acknowledged_s: null, acknowledged_by: null },
    { meter: 261, at_s: now_s - 9000, cause: 'lost-readings', detail: '3 readings lost for want of room', acknowledged_s: null, acknowledged_by: null },
    { meter: 258, at_s: now_s - 15_000, cause: 'brown-out', detail: 'start 4', acknowledged_s: null, acknowledged_by: null },
    { meter: null, at_s: now_s - 40_000, cause: 'clock', detail: 'the clock was set forward by 3.2 s', acknowledged_s: now_s - 39_000, acknowledged_by: 'Jana' },
    { meter: 259, at_s: now_s - 90_000, cause: 'refused', detail: '112 packets that are not authentic within a minute', acknowledged_s: now_s - 80_000, acknowledged_by: 'Jana' },
  ];
  for (let i = 0; i < 60; i++) {
    alerts.push({ meter: 257 + (i % 5), at_s: now_s - 100_000 - 7000 * i, cause: 'power-on', detail: `start ${60 - i}`, acknowledged_s: now_s - 99_000 - 7000 * i, acknowledged_by: i === 59 ? 'collector' : 'Jana' });
  }
  return alerts.map((alert, i) => ({ id: 100 - i, ...alert }));
}

export const DONE = { outcome: 'done', code: 0, status: null };

export function firstCommands(now_s: number): Command[] {
  return [
    { id: 12, meter: 258, command: { 'read-status': { page: 0 } }, state: 'done', attempts: 1, by: 'Jana', created_s: now_s - 3000, ended_s: now_s - 2990, answer: { ...DONE, status: { settings: { time_s: now_s - 2990 - 946_684_800, suite: 'aes128-gcm', interval_s: 10, waiting: 0, starts: 4, stack_untouched_quads: 61 } } } },
    { id: 11, meter: 258, command: { configure: { interval_s: 10, suite: 'aes128-gcm' } }, state: 'done', attempts: 2, by: 'Jana', created_s: now_s - 90_000, ended_s: now_s - 89_980, answer: DONE },
    { id: 10, meter: 258, command: { calibrate: { voltage_uv: 270_000, current_ua: 52_000, phase: -120 } }, state: 'refused', attempts: 1, by: 'Jana', created_s: now_s - 95_000, ended_s: now_s - 94_990, answer: { outcome: 'out-of-range', code: 2, status: null } },
    { id: 9, meter: 262, command: 'set-time', state: 'sent', attempts: 7, by: 'Jana', created_s: now_s - 4000, ended_s: null, answer: null },
  ];
}

export function firstImages(now_s: number): Image[] {
  const one = (digest: string, target: string, version: number, address: number, bytes: number, age_s: number): Image => ({
    digest: digest.repeat(16),
    target,
    version,
    address,
    bytes,
    pieces: Math.ceil(bytes / 36),
    added_s: now_s - age_s,
    by: 'Jana',
  });
  return [
    one('5e1f', 'stm32f407', 7, 0x0808_0000, 60_680, 7000),
    one('0b7a', 'stm32f407', 7, 0x0802_0000, 60_680, 7100),
    one('c3d9', 'msp430f5438a', 4, 0x5c00, 13_780, 3_000_000),
  ];
}

/** An update of the meter with the image, that waits. */
export function update(of: OfMeter, image: Image, some: Pick<Update, 'by' | 'created_s'> & Partial<Update>): Update {
  const { meter, network = 0 } = of;
  return {
    meter,
    ...(network === 0 ? {} : { network }),
    image: image.digest,
    version: image.version,
    state: 'waiting',
    refusal: null,
    pieces: 0,
    of: image.pieces,
    changed_s: some.created_s,
    ...some,
  };
}

export function firstUpdates(now_s: number): Update[] {
  const [slotB, slotA, old] = firstImages(now_s) as [Image, Image, Image];
  const begun = { by: 'Jana', created_s: now_s - 5400 };
  return [
    update({ meter: 258 }, slotB, { ...begun, state: 'sending', pieces: 700, changed_s: now_s - 3 }),
    update({ meter: 260 }, slotB, { ...begun, changed_s: now_s - 5400 }),
    update({ meter: 262 }, slotA, { ...begun, pieces: 120, changed_s: now_s - 5300 }),
    update({ meter: 261 }, slotB, { ...begun, state: 'refused', refusal: 'other-slot', changed_s: now_s - 4000 }),
    update({ meter: 259 }, slotA, { ...begun, state: 'runs', pieces: slotA.pieces, changed_s: now_s - 2400 }),
    update({ meter: 257 }, old, { ...begun, state: 'not-possible', created_s: now_s - 2_900_000, changed_s: now_s - 2_899_000 }),
  ];
}

/** Another maker's meter and its last telegram. */
export interface MockOther {
  meter: OtherMeter;
  telegram: Telegram | null;
}

const RECORD: TelegramRecord = {
  function: 'instantaneous', storage: 0, tariff: 0, subunit: 0, quantity: 'volume', unit: 'm³',
  modifiers: [], understood: true, value: '123.456', header: '0413', data: '40e20100',
};

/** An authentic meter, one that nothing authenticates, and one whose telegrams are all refused. */
export function others(now_s: number): MockOther[] {
  const telegram = (meter: string, authenticated: boolean, records: TelegramRecord[]): Telegram => ({
    id: 7, meter, heard_s: now_s - 40, address: `${meter.slice(0, 3)} ${meter.slice(4)} 01 07`, mode: authenticated ? 7 : 5,
    authenticated, counter: authenticated ? 4711 : null, access_number: 17, status: 0, clock_off_s: authenticated ? -3 : null,
    contents: { records, more_follow: false, manufacturer_data: authenticated ? '' : '0f01', unread: '', protocol: null, bytes: '' },
  });
  const meter = (name: string, counts: Partial<OtherMeter>): OtherMeter => ({
    meter: name, first_heard_s: now_s - 90_000, heard_s: now_s - 40, telegrams: 5760, unauthenticated: 0,
    refused: 0, refused_s: null, refusal: null, ...counts,
  });
  return [
    {
      meter: meter('ELS-12345678', {}),
      telegram: telegram('ELS-12345678', true, [
        RECORD,
        { ...RECORD, storage: 1, function: 'maximum', quantity: 'volume flow', unit: 'm³/h', value: '1.25' },
        { ...RECORD, quantity: null, unit: '', understood: false, value: '0102', header: '02ff21', data: '0102' },
      ]),
    },
    {
      meter: meter('KAM-00000042', { telegrams: 12, unauthenticated: 12, refused: 3, refused_s: now_s - 300, refusal: 'its counter 3 came before' }),
      telegram: telegram('KAM-00000042', false, [{ ...RECORD, quantity: 'energy', unit: 'Wh', value: '1234000', tariff: 2 }]),
    },
    {
      meter: meter('ZRI-0000AB01', { first_heard_s: null, heard_s: null, telegrams: 0, refused: 9, refused_s: now_s - 9, refusal: 'the key is another one' }),
      telegram: null,
    },
  ];
}

export function firstTokens(now_s: number): Token[] {
  return [
    { id: 1, name: 'Jana', role: 'administrator', created_s: now_s - 8_000_000, last_used_s: now_s - 12, revoked_s: null },
    { id: 2, name: 'Hall display', role: 'viewer', created_s: now_s - 4_000_000, last_used_s: now_s - 40, revoked_s: null },
    { id: 3, name: 'Old phone', role: 'viewer', created_s: now_s - 7_000_000, last_used_s: now_s - 2_600_000, revoked_s: now_s - 2_500_000 },
  ];
}

export function firstActions(now_s: number): Action[] {
  return [
    { id: 5, at_s: now_s - 2900, who: 'Jana', what: `added the image ${'5e1f'.repeat(16)}: stm32f407, version 7` },
    { id: 4, at_s: now_s - 3000, who: 'Jana', what: 'meter 258: read-status page 0' },
    { id: 3, at_s: now_s - 39_000, who: 'Jana', what: 'alert 97 acknowledged' },
    { id: 2, at_s: now_s - 2_500_000, who: 'Jana', what: 'token 3 "Old phone" revoked' },
    { id: 1, at_s: now_s - 4_000_000, who: 'Jana', what: 'token 2 "Hall display" made, viewer' },
  ];
}
