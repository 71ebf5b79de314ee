import { describe, expect, test } from 'vitest';
import type { Update, UpdateState } from '../../src/api';
import { address, roughly } from '../../src/format';
import { Paces, countsOf, groupOf, inOrder, isUnderWay, releasesOf } from '../../src/updates';
import { UPDATE_MEANINGS, UPDATE_NAMES, imageName, isLookedFor, releaseName } from '../../src/words';

const UPDATE: Update = {
  meter: 258,
  image: 'ab'.repeat(32),
  version: 7,
  state: 'sending',
  refusal: null,
  pieces: 100,
  of: 1100,
  by: 'anna',
  created_s: 1000,
  changed_s: 2000,
};

const STATES = Object.keys(UPDATE_NAMES) as UpdateState[];

test('what is under way stands first and stays where it is; of what ended the latest', () => {
  const some: Update[] = [
    { ...UPDATE, meter: 1, state: 'withdrawn', changed_s: 9000 },
    { ...UPDATE, meter: 2, state: 'runs', changed_s: 5000 },
    { ...UPDATE, meter: 3, state: 'runs', changed_s: 6000 },
    { ...UPDATE, meter: 4, state: 'waiting', changed_s: 9999 },
    { ...UPDATE, meter: 5, state: 'went-back', changed_s: 1 },
    { ...UPDATE, meter: 6, state: 'refused', changed_s: 2 },
    { ...UPDATE, meter: 7, state: 'asking' },
    { ...UPDATE, meter: 9, state: 'sending', changed_s: 8000 },
    { ...UPDATE, meter: 8, state: 'sending', changed_s: 7000 },
    { ...UPDATE, meter: 1, network: 7, state: 'sending', changed_s: 9000 },
    { ...UPDATE, meter: 10, state: 'trying' },
  ];
  const order = inOrder(some).map(({ meter, network = 0 }) => `${network}-${meter}`);
  expect(order).toEqual(['0-8', '0-9', '7-1', '0-10', '0-7', '0-4', '0-6', '0-5', '0-3', '0-2', '0-1']);
  expect(some[0]?.meter).toBe(1);
});

test('each state is counted, is under way or has ended, and has words', () => {
  expect(STATES.filter((state) => isUnderWay({ state })).sort()).toEqual(['asking', 'sending', 'trying', 'waiting']);
  expect(STATES.filter((state) => groupOf({ state }) === 'failed').sort()).toEqual(['not-possible', 'refused', 'went-back']);
  const counts = countsOf([...STATES.map((state) => ({ ...UPDATE, state })), UPDATE]);
  expect(Object.keys(counts).length).toBe(STATES.length);
  expect([counts.sending, counts.runs]).toEqual([2, 1]);
  expect(countsOf([])).toEqual({});
  for (const state of STATES) expect(UPDATE_MEANINGS[state]).toMatch(/^[a-z]/);
});

test('images for the slots of one microcontroller are one release', () => {
  const image = { digest: 'ab', target: 'stm32f407', version: 7, address: 0x0808_0000, bytes: 1, pieces: 1, added_s: 0, by: 'anna' };
  const all = [image, { ...image, version: 6 }, { ...image, digest: 'cd', address: 0x0802_0000 }, { ...image, target: 'msp430f5438a' }, { ...image, digest: 'ef' }];
  const releases = releasesOf(all);
  expect(releases.map(releaseName)).toEqual([
    'Version 7 for stm32f407, slots at 0x08020000 and 0x08080000',
    'Version 6 for stm32f407, slot at 0x08080000',
    'Version 7 for msp430f5438a, slot at 0x08080000',
  ]);
  expect(releases[0]?.images.map(({ digest }) => digest)).toEqual(['ab', 'cd', 'ef']);
  expect(releasesOf([])).toEqual([]);
});

describe('what is left', () => {
  const paces = (...seen: [pieces: number, now_s: number][]): Paces => {
    const log = new Paces();
    for (const [pieces, now_s] of seen) log.note([{ ...UPDATE, pieces }], now_s);
    return log;
  };
  const left = (log: Paces, pieces: number, now_s: number): number | null => log.remaining_s({ ...UPDATE, pieces }, now_s);

  test('is estimated of pieces alone that were seen to arrive', () => {
    // That it has a hundred says nothing of how fast they came, nor of when the last one did.
    expect(left(paces([100, 0]), 100, 60)).toBeNull();
    expect(left(paces([100, 0], [150, 5]), 150, 60)).toBeNull();
    expect(left(paces([100, 0], [150, 5], [160, 15]), 160, 15)).toBeNull();
    // 20 in 20 s, 930 are left.
    expect(left(paces([100, 0], [150, 5], [170, 25]), 170, 25)).toBeCloseTo(930);
  });

  test('needs some pieces, not time alone, and grows while a meter is silent', () => {
    expect(left(paces([100, 0], [101, 5], [103, 65]), 103, 65)).toBeNull();
    const log = paces([100, 0], [101, 5], [111, 65]);
    expect(left(log, 111, 65)).toBeCloseTo(989 * 6);
    expect(left(log, 111, 125)).toBeCloseTo(989 * 12);
  });

  test('forgets what was long ago', () => {
    const log = new Paces();
    // 1 piece in 10 s for half an hour, then one a second.
    for (let now = 0; now <= 1800; now += 10) log.note([{ ...UPDATE, pieces: 100 + now / 10 }], now);
    for (let now = 1; now <= 700; now++) log.note([{ ...UPDATE, pieces: 280 + now }], 1800 + now);
    expect(left(log, 980, 2500)).toBeCloseTo(120);
  });

  test('is of one update: another of the same meter, and one that begins anew, is measured anew', () => {
    const log = paces([100, 0], [101, 1], [201, 101]);
    expect(left(log, 201, 101)).toBeCloseTo(899);
    expect(log.remaining_s({ ...UPDATE, pieces: 201, created_s: 1001 }, 101)).toBeNull();
    expect(log.remaining_s({ ...UPDATE, pieces: 201, network: 7 }, 101)).toBeNull();
    log.note([{ ...UPDATE, pieces: 10 }], 110);
    expect(left(log, 10, 110)).toBeNull();
    log.note([{ ...UPDATE, pieces: 20 }], 120);
    log.note([{ ...UPDATE, pieces: 70 }], 170);
    expect(left(log, 70, 170)).toBeCloseTo(1030);
    const other = { ...UPDATE, created_s: 1001, pieces: 100 };
    log.note([other], 180);
    expect(log.remaining_s(other, 180)).toBeNull();
    log.note([{ ...other, pieces: 110 }], 190);
    log.note([{ ...other, pieces: 160 }], 240);
    expect(log.remaining_s({ ...other, pieces: 160 }, 240)).toBeCloseTo(940);
  });

  test('is not said of what waits or is on trial', () => {
    const log = paces([100, 0], [101, 1], [201, 101]);
    const trying: Update = { ...UPDATE, pieces: 1100, state: 'trying' };
    log.note([trying], 200);
    expect(log.remaining_s(trying, 200)).toBeNull();
    // Pieces before that do not count for what comes after.
    log.note([{ ...UPDATE, pieces: 300 }], 300);
    expect(left(log, 300, 330)).toBeNull();
  });
});

test('estimates are no finer than they may be', () => {
  const plain = (seconds: number): string => roughly(seconds).replace(/\u00a0/g, ' ');
  expect([0, 3, 41, 110, 754, 7139, 7200, 9100, 171_000, 500_000].map(plain)).toEqual([
    '10 s', '10 s', '50 s', '2 min', '13 min', '119 min', '2 h', '3 h', '2 d', '6 d',
  ]);
});

test('addresses are hexadecimal, as wide as the microcontroller’s', () => {
  expect([134_348_800, 0x5c00, 0x1_0000].map(address)).toEqual(['0x08020000', '0x5c00', '0x00010000']);
  expect(imageName({ target: 'stm32f407', version: 7, address: 0x0808_0000 })).toBe('Version 7 for stm32f407, slot at 0x08080000');
});

test('meters are found by a part of their name or number', () => {
  const meter = { meter: 258, network: 7, label: 'Flat 3' };
  for (const wanted of ['', ' flat ', '7-2', '58', 'FLAT 3']) expect(isLookedFor(meter, wanted)).toBe(true);
  for (const wanted of ['flat 4', '259']) expect(isLookedFor(meter, wanted)).toBe(false);
});
