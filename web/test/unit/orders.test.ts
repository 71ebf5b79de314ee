import { expect, test } from 'vitest';
import { SUITES, type Suite } from '../../src/api';
import { answerRows } from '../../src/parts/answer';
import { type Fields, type CommandKind, kindsOf, orderOf } from '../../src/parts/orders';
import { routeOf } from '../../src/router';
import { means } from '../../src/state';
import { SUITE_MEANINGS, SUITE_NAMES, orderName } from '../../src/words';

const FIELDS: Fields = {
  interval_s: '60',
  suite: 'ecies',
  voltage_uv: '270000',
  current_ua: '52000',
  phase: '-120',
  meter: '772',
  address: '67',
  collector_address: '65',
  page: '1',
};

test('commands are as the collector takes them', () => {
  const orders = (['configure', 'calibrate', 'register', 'set-time', 'read-status', 'reboot', 'renew-key'] as const).map((kind) => orderOf(kind, FIELDS));
  expect(orders).toEqual(
    [
      { configure: { interval_s: 60, suite: 'ecies' } },
      { calibrate: { voltage_uv: 270_000, current_ua: 52_000, phase: -120 } },
      { register: { meter: 772, address: 67, collector_address: 65 } },
      'set-time',
      { 'read-status': { page: 1 } },
      'reboot',
      'renew-key',
    ].map((order) => ({ order })),
  );
});

test('a key is renewed with the suite alone that has one to renew', () => {
  const kinds = (suite: Suite): CommandKind[] => kindsOf({ suite }).map((each) => each.kind);
  expect(kinds('aes256-gcm-rekeyed')).toContain('renew-key');
  for (const suite of SUITES.filter((each) => each !== 'aes256-gcm-rekeyed')) {
    expect(kinds(suite)).toEqual(['configure', 'calibrate', 'register', 'set-time', 'read-status', 'reboot']);
  }
});

test('commands and suites have words', () => {
  expect(orderName('renew-key')).toBe('Renew the key');
  for (const suite of SUITES) expect([SUITE_NAMES[suite], SUITE_MEANINGS[suite]]).not.toContain(undefined);
});

test.each<[CommandKind, Partial<Fields>]>([
  ['configure', { interval_s: '0' }],
  ['configure', { interval_s: '65536' }],
  ['configure', { interval_s: '1.5' }],
  ['configure', { interval_s: '' }],
  ['configure', { interval_s: '1e3' }],
  ['calibrate', { voltage_uv: '4000001' }],
  ['calibrate', { current_ua: '0' }],
  ['calibrate', { phase: '257' }],
  ['calibrate', { phase: '-257' }],
  // 10,000 µV times 10,999 µA is just too little.
  ['calibrate', { voltage_uv: '10000', current_ua: '10999' }],
  ['register', { meter: '0' }],
  ['register', { meter: '65536' }],
  ['register', { address: '256' }],
  ['register', { collector_address: '0' }],
])('%s with %o is refused here', (kind, fields) => {
  expect(orderOf(kind, { ...FIELDS, ...fields })).toHaveProperty('wrong');
});

test('the least product that a meter takes is taken', () => {
  expect(orderOf('calibrate', { ...FIELDS, voltage_uv: '10000', current_ua: '11000' })).toHaveProperty('order');
});

test('an answer is figures with units', () => {
  const plain = (rows: [string, string][]): string[] => rows.map(([name, value]) => `${name}: ${value}`.replace(/\u00a0/g, ' '));
  const done = { outcome: 'done', code: 0 };
  const metering = { ...done, status: { metering: { energy_dwh: 1234, voltage_dv: 2304, current_ca: 652, refused: 7, lost: 0 } } };
  expect(plain(answerRows(metering))).toEqual([
    'Register: 123 Wh',
    'Voltage: 230.4 V',
    'Current: 6.52 A',
    'Packets refused: 7',
    'Measurements lost: 0',
  ]);
  const settings = {
    ...done,
    status: { settings: { time_s: 820_540_800, suite: 'aes128-gcm' as const, interval_s: 10, waiting: 5, starts: 3, stack_untouched_quads: 40 } },
  };
  expect(plain(answerRows(settings)).slice(1)).toEqual([
    'Suite: AES-128-GCM',
    'Interval: 10 s',
    'Reports waiting: 5',
    'Starts: 3',
    'Stack never touched: 160 B',
  ]);
  expect(answerRows(settings)[0]?.[1]).toContain('2026');
  expect(answerRows({ outcome: 'out-of-range', code: 2, status: null })).toEqual([['Answer', 'Out of range (2)']]);
  expect(answerRows({ ...done, status: null })).toEqual([]);
  expect(answerRows(null)).toEqual([]);
});

test('means have holes, and last as long as they do', () => {
  const rolled = { meter: 1, resolution: 'quarter' as const, next: null, used_wh: [0, 0, 0], readings: [1, 1, 1] };
  const data = means({ ...rolled, at_s: [0, 900, 3600], power_w: [1, 2, 3], power_min_w: [0, 1, 2], power_max_w: [2, 3, 4] }, 900);
  expect(data.at_s).toEqual([0, 900, 1800, 1801, 3600, 4500]);
  expect(data.power_w).toEqual([1, 2, 2, null, 3, 3]);
});

test('paths', () => {
  expect(routeOf('')).toEqual({ page: 'overview' });
  expect(routeOf('#/meters/258')).toEqual({ page: 'meter', meter: '258' });
  expect(routeOf('#/alerts/')).toEqual({ page: 'alerts' });
  expect(routeOf('#/meters/x')).toEqual({ page: 'unknown' });
});
