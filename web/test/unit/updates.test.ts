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
  test('is estimated of measured pieces alone', () => {
    const paces = new Paces();
    const at = (pieces: number, now_s: number): number | null => {
      const update = { ...UPDATE, pieces };
      paces.note([update], now_s);
      return paces.remaining_s(update, now_s);
    };
    // That it has a hundred says nothing of how fast they came.
    expect(at(100, 10_000)).toBeNull();
    expect(at(110, 10_010)).toBeNull();
    // 20 pieces in 20 s, 980 are left.
    expect(at(120, 10_020)).toBeCloseTo(980);
    expect(at(150, 10_100)).toBeCloseTo(950 * 2);
  });

  test('needs some pieces, not time alone, and grows while a meter is silent', () => {
    const paces = new Paces();
    paces.note([UPDATE], 0);
    paces.note([{ ...UPDATE, pieces: 102 }], 60);
    expect(paces.remaining_s({ ...UPDATE, pieces: 102 }, 60)).toBeNull();
    const last = { ...UPDATE, pieces: 110 };
    paces.note([last], 60);
    expect(paces.remaining_s(last, 60)).toBeCloseTo(990 * 6);
    expect(paces.remaining_s(last, 120)).toBeCloseTo(990 * 12);
  });

  test('forgets what was long ago', () => {
    const paces = new Paces();
    // 1 piece in 10 s for half an hour, then one a second.
    for (let now = 0; now <= 1800; now += 10) paces.note([{ ...UPDATE, pieces: 100 + now / 10 }], now);
    for (let now = 1; now <= 700; now++) paces.note([{ ...UPDATE, pieces: 280 + now }], 1800 + now);
    expect(paces.remaining_s({ ...UPDATE, pieces: 980 }, 2500)).toBeCloseTo(120);
  });

  test('is of one update: another of the same meter, and one that begins anew, is measured anew', () => {
    const paces = new Paces();
    paces.note([UPDATE], 0);
    const later = { ...UPDATE, pieces: 200 };
    paces.note([later], 100);
    expect(paces.remaining_s(later, 100)).toBeCloseTo(900);
    expect(paces.remaining_s({ ...later, created_s: 1001 }, 100)).toBeNull();
    expect(paces.remaining_s({ ...later, network: 7 }, 100)).toBeNull();
    const anew = { ...UPDATE, pieces: 10 };
    paces.note([anew], 110);
    expect(paces.remaining_s(anew, 110)).toBeNull();
    const on = { ...UPDATE, pieces: 60 };
    paces.note([on], 160);
    expect(paces.remaining_s(on, 160)).toBeCloseTo(1040);
    const other = { ...UPDATE, created_s: 1001, pieces: 100 };
    paces.note([other], 170);
    expect(paces.remaining_s(other, 170)).toBeNull();
    paces.note([{ ...other, pieces: 150 }], 220);
    expect(paces.remaining_s({ ...other, pieces: 150 }, 220)).toBeCloseTo(950);
  });

  test('is not said of what waits or is on trial', () => {
    const paces = new Paces();
    paces.note([UPDATE], 0);
    paces.note([{ ...UPDATE, pieces: 200 }], 100);
    const trying: Update = { ...UPDATE, pieces: 1100, state: 'trying' };
    paces.note([trying], 200);
    expect(paces.remaining_s(trying, 200)).toBeNull();
    // Pieces before that do not count for what comes after.
    paces.note([{ ...UPDATE, pieces: 300 }], 300);
    expect(paces.remaining_s({ ...UPDATE, pieces: 300 }, 300)).toBeNull();
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
