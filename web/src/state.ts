// What is known of the meters, and how events change it. No browser, no network: figures in, figures out.

import type { Meter, ReadingEvent, RolledReadings } from './api';

/** Power over time, oldest first: `power_w[i]` is the mean until `at_s[i]`. */
export interface Series {
  at_s: number[];
  power_w: number[];
}

/** The meter after the reading; the same object where it changes nothing. */
export function withReading(meter: Meter, reading: ReadingEvent): Meter {
  const heard_s = Math.floor(reading.heard_ms / 1000);
  // Readings that waited in the meter's journal come late and out of order: the last one is the one measured last.
  const newer = meter.last === null || reading.at_s >= meter.last.at_s;
  return {
    ...meter,
    suite: reading.suite,
    last: newer
      ? { at_s: reading.at_s, power_w: reading.power_w, energy_wh: reading.energy_dwh / 10 }
      : meter.last,
    total_wh: typeof reading.total_dwh === 'number' ? reading.total_dwh / 10 : (meter.total_wh ?? null),
    heard_s: Math.max(heard_s, meter.heard_s ?? heard_s),
    online: true,
    link: { ...meter.link, rssi_dbm: reading.rssi_dbm ?? meter.link.rssi_dbm },
  };
}

/** Whether it reported within three intervals, and the collector did not say otherwise. */
export function isOnline(meter: Meter, now_s: number): boolean {
  return !meter.revoked && meter.online && meter.heard_s !== null && now_s - meter.heard_s <= 3 * meter.interval_s + 5;
}

/** Adds a reading where its time belongs and leaves out what is older than `since_s`; a second one of the same time replaces the first. */
export function withPoint(series: Series, at_s: number, power_w: number, since_s: number): Series {
  const times = series.at_s;
  let place = times.length;
  while (place > 0 && (times[place - 1] ?? 0) > at_s) place--;
  const same = place > 0 && times[place - 1] === at_s;
  const at = times.slice();
  const power = series.power_w.slice();
  if (same) power[place - 1] = power_w;
  else {
    at.splice(place, 0, at_s);
    power.splice(place, 0, power_w);
  }
  return since({ at_s: at, power_w: power }, since_s);
}

/** Two series of one meter as one; where both have a time, the second one's. */
export function merged(first: Series, second: Series, since_s: number): Series {
  const points = new Map<number, number>();
  for (const { at_s, power_w } of [first, second]) at_s.forEach((at, i) => points.set(at, power_w[i] ?? 0));
  const at_s = [...points.keys()].sort((a, b) => a - b);
  return since({ at_s, power_w: at_s.map((at) => points.get(at) ?? 0) }, since_s);
}

function since(series: Series, since_s: number): Series {
  const first = series.at_s.findIndex((at) => at >= since_s);
  if (first === 0) return series;
  if (first < 0) return { at_s: [], power_w: [] };
  return { at_s: series.at_s.slice(first), power_w: series.power_w.slice(first) };
}

/** With a hole wherever a measurement is missing, so that no line is drawn over what nobody knows. */
export function withGaps(series: Series, interval_s: number): { at_s: number[]; power_w: (number | null)[] } {
  const at_s: number[] = [];
  const power_w: (number | null)[] = [];
  series.at_s.forEach((at, i) => {
    const before = series.at_s[i - 1];
    if (before !== undefined && at - before > 3 * interval_s) {
      at_s.push(before + 1, at - interval_s);
      power_w.push(null, null);
    }
    at_s.push(at);
    power_w.push(series.power_w[i] ?? null);
  });
  return { at_s, power_w };
}

/** What a plot of power is made of. */
export interface PowerData {
  /** Raw: the end of each measurement's time. Else the start of the interval. */
  at_s: number[];
  power_w: (number | null)[];
  /** Only with intervals. */
  least_w?: (number | null)[];
  most_w?: (number | null)[];
}

/** For the plot: a hole where intervals are missing, and the last one drawn to its end. */
export function means(rolled: RolledReadings | null, step_s: number): PowerData {
  const data = { at_s: [], power_w: [], least_w: [], most_w: [] } satisfies PowerData as Required<PowerData>;
  const put = (at: number, power: number | null, least: number | null, most: number | null): void => {
    data.at_s.push(at);
    data.power_w.push(power);
    data.least_w.push(least);
    data.most_w.push(most);
  };
  rolled?.at_s.forEach((at, i) => {
    const mean = rolled.power_w[i] ?? null;
    const least = rolled.power_min_w[i] ?? null;
    const most = rolled.power_max_w[i] ?? null;
    put(at, mean, least, most);
    const next = rolled.at_s[i + 1];
    if (next === undefined || next > at + step_s) {
      put(at + step_s, mean, least, most);
      if (next !== undefined) put(at + step_s + 1, null, null, null);
    }
  });
  return data;
}

export interface Total {
  power_w: number;
  /** Of how many meters. */
  online: number;
  /** Revoked ones are not counted. */
  meters: number;
}

/** Power of all meters that are online; what the others draw is not known. */
export function total(meters: Iterable<Meter>, now_s: number): Total {
  const sum: Total = { power_w: 0, online: 0, meters: 0 };
  for (const meter of meters) {
    if (meter.revoked) continue;
    sum.meters++;
    if (meter.last !== null && isOnline(meter, now_s)) {
      sum.online++;
      sum.power_w += meter.last.power_w;
    }
  }
  return sum;
}

/** Where a live plot of `span_s` begins: later where there is nothing before, so that the first minutes are not at its very edge. */
export function plotStart(series: Series, interval_s: number, now_s: number, span_s: number, least_s: number): number {
  const first = series.at_s[0];
  return first === undefined ? now_s - span_s : Math.max(now_s - span_s, Math.min(first - interval_s, now_s - least_s));
}

export interface Extent {
  least: number;
  most: number;
}

export function extent(values: readonly (number | null)[]): Extent | null {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? { least, most } : null;
}

/** Sum, and null where nothing is known. */
export function sum(values: readonly (number | null | undefined)[]): number | null {
  let known = false;
  let all = 0;
  for (const value of values) {
    if (value === null || value === undefined) continue;
    known = true;
    all += value;
  }
  return known ? all : null;
}
