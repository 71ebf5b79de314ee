import { expect, test } from 'vitest';
import { consumptionWindow, intervalStarts } from '../../src/ranges';
import { dayOf, firstOfMonth, midnight, mondayOf, plusDays } from '../../src/zone';

const at = (text: string): number => Date.parse(text) / 1000;
const PRAGUE = 'Europe/Prague';

test('midnight on both sides of the changes of the clock', () => {
  expect(midnight({ year: 2026, month: 3, day: 29 }, PRAGUE)).toBe(at('2026-03-29T00:00:00+01:00'));
  expect(midnight({ year: 2026, month: 3, day: 30 }, PRAGUE)).toBe(at('2026-03-30T00:00:00+02:00'));
  expect(midnight({ year: 2026, month: 10, day: 25 }, PRAGUE)).toBe(at('2026-10-25T00:00:00+02:00'));
  expect(midnight({ year: 2026, month: 10, day: 26 }, PRAGUE)).toBe(at('2026-10-26T00:00:00+01:00'));
  expect(midnight({ year: 2026, month: 1, day: 1 }, 'Pacific/Kiritimati')).toBe(at('2026-01-01T00:00:00+14:00'));
  expect(midnight({ year: 2026, month: 1, day: 1 }, 'Pacific/Pago_Pago')).toBe(at('2026-01-01T00:00:00-11:00'));
  expect(midnight({ year: 2026, month: 1, day: 1 }, 'Asia/Kathmandu')).toBe(at('2026-01-01T00:00:00+05:45'));
});

test('where the clocks skip midnight the day begins after the gap', () => {
  // Santiago de Chile, 2025-09-07: 00:00 becomes 01:00.
  expect(midnight({ year: 2025, month: 9, day: 7 }, 'America/Santiago')).toBe(at('2025-09-07T01:00:00-03:00'));
});

test('every midnight of five years is the first second of its day, in any zone', () => {
  for (const zone of [PRAGUE, 'America/Santiago', 'Asia/Tehran', 'Africa/Cairo', 'Australia/Lord_Howe', 'UTC']) {
    let day = { year: 2022, month: 1, day: 1 };
    for (let i = 0; i < 5 * 365; i++) {
      const begin = midnight(day, zone);
      expect(dayOf(begin, zone)).toEqual(day);
      expect(dayOf(begin - 1, zone)).toEqual(plusDays(day, -1));
      day = plusDays(day, 1);
    }
  }
});

test('weeks begin on Monday, months on the first', () => {
  expect(mondayOf({ year: 2026, month: 3, day: 1 })).toEqual({ year: 2026, month: 2, day: 23 });
  expect(mondayOf({ year: 2026, month: 3, day: 2 })).toEqual({ year: 2026, month: 3, day: 2 });
  expect(firstOfMonth({ year: 2026, month: 1, day: 31 }, -2)).toEqual({ year: 2025, month: 11, day: 1 });
});

test('stretches of bars have the bars that belong there', () => {
  const now = at('2026-03-29T15:00:00+02:00');
  const starts = (step: 'quarter' | 'hour' | 'day' | 'week' | 'month', back = 0): number[] =>
    intervalStarts(step, consumptionWindow(step, PRAGUE, now, back), PRAGUE);
  // The day on which the clocks go forward has 23 hours.
  expect(starts('hour')).toHaveLength(23);
  expect(starts('quarter')).toHaveLength(92);
  expect(starts('hour', 1)).toHaveLength(24);
  expect(starts('day')).toHaveLength(31);
  expect(starts('day', 1)).toHaveLength(28);
  expect(starts('week')).toHaveLength(26);
  expect(starts('month')).toHaveLength(12);
  expect(starts('day')[0]).toBe(at('2026-03-01T00:00:00+01:00'));
  expect(starts('week')[25]).toBe(at('2026-03-23T00:00:00+01:00'));
  expect(starts('month')[11]).toBe(at('2026-03-01T00:00:00+01:00'));
  expect(starts('month', 1)[11]).toBe(at('2025-03-01T00:00:00+01:00'));
});

test('stretches follow each other without hole or overlap', () => {
  const now = at('2026-03-29T15:00:00+02:00');
  for (const step of ['hour', 'day', 'week', 'month'] as const) {
    for (let back = 0; back < 30; back++) {
      expect(consumptionWindow(step, PRAGUE, now, back + 1).to_s).toBe(consumptionWindow(step, PRAGUE, now, back).from_s);
    }
  }
});
