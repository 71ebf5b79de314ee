import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as show from '../../src/format';

/** Gaps that do not break are plain ones here. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');

beforeEach(() => show.setLocale('en-GB'));
afterEach(() => show.setLocale(undefined));

describe('power', () => {
  test.each([
    [0, '0 W'],
    [-0.4, '0 W'],
    [412, '412 W'],
    [999.4, '999 W'],
    [999.5, '1.00 kW'],
    [-1500, '\u22121.50 kW'],
    [9994, '9.99 kW'],
    [9996, '10.0 kW'],
    [32_767, '32.8 kW'],
    [999_960, '1,000 kW'],
    [1_234_567, '1,235 kW'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('%d W is %s', (watts, text) => expect(plain(show.power(watts))).toBe(text));
});

describe('energy', () => {
  test.each([
    [0, '0 Wh'],
    [0.1, '0.1 Wh'],
    [99.94, '99.9 Wh'],
    [99.96, '100 Wh'],
    [412.3, '412 Wh'],
    [999.6, '1.00 kWh'],
    [12_345.6, '12.3 kWh'],
    [null, '–'],
  ])('%d Wh is %s', (used, text) => expect(plain(show.energy(used))).toBe(text));
});

test('a register keeps its hundredths of a kilowatt-hour', () => {
  expect(plain(show.register(12_345.6))).toBe('12.35 kWh');
  expect(plain(show.register(429_496_729.5))).toBe('429,496.73 kWh');
  expect(plain(show.register(3.2))).toBe('3.2 Wh');
});

test('numbers are the locale’s', () => {
  show.setLocale('de-DE');
  expect(plain(show.power(1500))).toBe('1,50 kW');
  expect(plain(show.register(12_345_600))).toBe('12.345,60 kWh');
});

test('an axis is in one unit, and its figures differ', () => {
  expect(show.axisFigures([0, 500, 1000, 1500], 'W').map(plain)).toEqual(['0.0 kW', '0.5 kW', '1.0 kW', '1.5 kW']);
  expect(show.axisFigures([0, 250, 500, 750, 1000], 'Wh').map(plain)).toEqual([
    '0.00 kWh',
    '0.25 kWh',
    '0.50 kWh',
    '0.75 kWh',
    '1.00 kWh',
  ]);
  expect(show.axisFigures([0, 20, 40], 'W').map(plain)).toEqual(['0 W', '20 W', '40 W']);
  expect(show.axisFigures([0, 0.5, 1], 'Wh').map(plain)).toEqual(['0.0 Wh', '0.5 Wh', '1.0 Wh']);
  expect(show.axisFigures([-2000, 0, 2000], 'W').map(plain)).toEqual(['\u22122 kW', '0 kW', '2 kW']);
});

test('costs keep three digits', () => {
  expect(plain(show.milliseconds(3.814))).toBe('3.81 ms');
  expect(plain(show.milliseconds(0.0421))).toBe('0.0421 ms');
  expect(plain(show.milliseconds(1893.4))).toBe('1.89 s');
  expect(plain(show.milliseconds(2700))).toBe('2.70 s');
  expect(plain(show.milliseconds(23))).toBe('23.0 ms');
  expect(plain(show.microjoules(45_480.2))).toBe('45,480 µJ');
  expect(plain(show.joules(0.791))).toBe('791 mJ');
  expect(plain(show.percent(6, 9258))).toBe('0.1 %');
  expect(plain(show.percent(1, 0))).toBe('–');
});

test('how long ago', () => {
  const at = (past: number): string => plain(show.ago(1_000_000 - past, 1_000_000));
  expect([at(0), at(4), at(5), at(59), at(60), at(3599), at(7200), at(172_799), at(172_800)]).toEqual([
    'just now',
    'just now',
    '5 s ago',
    '59 s ago',
    '1 min ago',
    '59 min ago',
    '2 h ago',
    '47 h ago',
    '2 d ago',
  ]);
  expect(plain(show.ago(null, 0))).toBe('never');
  expect(at(-30)).toBe('just now');
  expect(at(-600)).toBe('in 10 min');
});

test('times in a zone', () => {
  // 2026-03-28 23:30 in UTC is the next day in Prague.
  const at = Date.UTC(2026, 2, 28, 23, 30) / 1000;
  expect(show.day(at, 'UTC')).toContain('28 Mar');
  expect(show.day(at, 'Europe/Prague')).toContain('29 Mar');
  expect(show.clock(at, 'Europe/Prague')).toBe('00:30');
});
