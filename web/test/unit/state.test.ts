import { describe, expect, test } from 'vitest';
import type { Meter, ReadingEvent } from '../../src/api';
import { laidOut } from '../../src/consumption';
import { isOnline, merged, plotStart, sum, total, withGaps, withPoint, withReading } from '../../src/state';

const METER: Meter = {
  meter: 258,
  label: 'Flat 3',
  epoch: 1,
  suite: 'aes128-gcm',
  interval_s: 10,
  revoked: false,
  last: { at_s: 1000, power_w: 400, energy_wh: 12_345.6 },
  total_wh: 20_000,
  heard_s: 1001,
  online: true,
  link: { rssi_dbm: -61, reports: 10, repeats: 0, refused: 0, lost: 0 },
  open_alerts: 0,
  waiting_commands: 0,
};

const READING: ReadingEvent = {
  event: 'reading',
  meter: 258,
  n: 7,
  at_s: 1010,
  heard_ms: 1_011_400,
  power_w: 500,
  energy_dwh: 123_470,
  total_dwh: 200_014,
  suite: 'ecies',
  rssi_dbm: null,
};

describe('a reading', () => {
  test('is the last one where it is newer', () => {
    const after = withReading(METER, READING);
    expect(after.last).toEqual({ at_s: 1010, power_w: 500, energy_wh: 12_347 });
    expect(after.total_wh).toBe(20_001.4);
    // An older worker says nothing of it.
    expect(withReading(METER, { ...READING, total_dwh: null }).total_wh).toBe(20_000);
    expect([after.heard_s, after.suite, after.link.rssi_dbm, after.online]).toEqual([1011, 'ecies', -61, true]);
  });

  test('from the journal does not take the place of a newer one, but the meter was heard', () => {
    const after = withReading(METER, { ...READING, at_s: 500 });
    expect(after.last).toBe(METER.last);
    expect(after.heard_s).toBe(1011);
  });
});

test('a meter is online for three intervals', () => {
  expect(isOnline(METER, 1031)).toBe(true);
  expect(isOnline(METER, 1037)).toBe(false);
  expect(isOnline({ ...METER, online: false }, 1002)).toBe(false);
  expect(isOnline({ ...METER, revoked: true }, 1002)).toBe(false);
  expect(isOnline({ ...METER, heard_s: null, last: null }, 1002)).toBe(false);
});

test('the total is of those online alone', () => {
  const others = [
    { ...METER, meter: 1, last: { at_s: 1000, power_w: -150, energy_wh: 0 } },
    { ...METER, meter: 2, online: false },
    { ...METER, meter: 3, revoked: true },
    { ...METER, meter: 4, last: null, heard_s: null },
  ];
  expect(total([METER, ...others], 1010)).toEqual({ power_w: 250, online: 2, meters: 4 });
  expect(total([], 1010)).toEqual({ power_w: 0, online: 0, meters: 0 });
});

describe('a series', () => {
  const series = { at_s: [10, 20, 30], power_w: [1, 2, 3] };

  test('takes points where they belong, once', () => {
    expect(withPoint(series, 40, 4, 0)).toEqual({ at_s: [10, 20, 30, 40], power_w: [1, 2, 3, 4] });
    expect(withPoint(series, 25, 9, 0)).toEqual({ at_s: [10, 20, 25, 30], power_w: [1, 2, 9, 3] });
    expect(withPoint(series, 5, 9, 0)).toEqual({ at_s: [5, 10, 20, 30], power_w: [9, 1, 2, 3] });
    expect(withPoint(series, 20, 9, 0)).toEqual({ at_s: [10, 20, 30], power_w: [1, 9, 3] });
    expect(series).toEqual({ at_s: [10, 20, 30], power_w: [1, 2, 3] });
  });

  test('leaves out what is old', () => {
    expect(withPoint(series, 40, 4, 20)).toEqual({ at_s: [20, 30, 40], power_w: [2, 3, 4] });
    expect(withPoint(series, 40, 4, 50)).toEqual({ at_s: [], power_w: [] });
  });

  test('what was loaded and what came meanwhile are one', () => {
    expect(merged(series, { at_s: [30, 40], power_w: [7, 8] }, 15)).toEqual({ at_s: [20, 30, 40], power_w: [2, 7, 8] });
  });

  test('has holes where measurements are missing', () => {
    expect(withGaps({ at_s: [10, 20, 80, 90], power_w: [1, 2, 3, 4] }, 10)).toEqual({
      at_s: [10, 20, 21, 70, 80, 90],
      power_w: [1, 2, null, null, 3, 4],
    });
    // One that is late is not missing.
    expect(withGaps({ at_s: [10, 40], power_w: [1, 2] }, 10).power_w).toEqual([1, 2]);
  });
});

test('a live plot begins where its readings do, and is never shorter than it has to be', () => {
  const from = (at: number[]): number => plotStart({ at_s: at, power_w: at }, 10, 10_000, 3600, 300);
  expect(from([])).toBe(6400);
  expect(from([9990])).toBe(9700);
  expect(from([9000, 9990])).toBe(8990);
  expect(from([100, 9990])).toBe(6400);
});

test('consumption is laid out over all intervals; what is not known is not 0', () => {
  const answer = {
    resolution: 'hour' as const,
    zone: 'UTC',
    start_s: [3600, 7200],
    meters: [
      { meter: 1, used_wh: [5, null] },
      { meter: 2, used_wh: [0, 7] },
      { meter: 2, network: 7, used_wh: [8, 9] },
    ],
  };
  const { starts, meters } = laidOut(answer, [0, 3600, 7200, 10_800]);
  expect(starts).toEqual([0, 3600, 7200, 10_800]);
  expect(meters.get('1')).toEqual([null, 5, null, null]);
  expect(meters.get('2')).toEqual([null, 0, 7, null]);
  expect(meters.get('7-2')).toEqual([null, 8, 9, null]);
  expect(sum([null, undefined])).toBeNull();
  expect(sum([null, 0])).toBe(0);
});
