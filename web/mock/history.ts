// Readings and consumption of the mock's meters, which are made of the time alone.

import { nameOf } from '../src/api';
import * as made from './data';
import { Refused, fieldsOf, inNetwork } from './request';

export class History {
  constructor(
    private readonly start_s: number,
    private readonly now_s: () => number,
    private readonly meters: readonly made.MockMeter[],
    /** Nothing of the past is known. */
    private readonly is_bare: boolean,
  ) {}

  private range(args: URLSearchParams): [number, number] {
    const at = (name: string, otherwise: number): number => {
      const text = args.get(name);
      // A time, or where the page before ended.
      const value = text === null ? otherwise : /^\d+\.\d+\.\d+$/.test(text) ? Number.parseInt(text) + 1 : Date.parse(text) / 1000;
      if (!Number.isFinite(value)) throw new Refused(400, 'time', `${name} is not RFC 3339: ${text}`);
      return value;
    };
    return [at('from', this.start_s - 86_400), at('to', this.now_s())];
  }

  /** How far back a meter is known, and until when. */
  private known(one: made.MockMeter): [number, number] {
    if (one.never === true || this.is_bare) return [0, 0];
    const until = one.silent_s === undefined ? this.now_s() : this.start_s - one.silent_s;
    return [this.start_s - 200 * 86_400, until];
  }

  readings(one: made.MockMeter, args: URLSearchParams): unknown {
    const [from, to] = this.range(args);
    const [since, until] = this.known(one);
    const resolution = args.get('resolution') ?? 'raw';
    const limit = Math.min(10_000, Number(args.get('limit') ?? 10_000));
    if (resolution === 'raw') {
      const at_s: number[] = [];
      const first = Math.ceil(Math.max(from, since) / one.interval_s) * one.interval_s;
      for (let at = first; at < Math.min(to, until); at += one.interval_s) {
        // A quarter of an hour ago it was away for four minutes.
        if (one.meter === 258 && at > this.start_s - 1500 && at < this.start_s - 1260) continue;
        at_s.push(at);
      }
      const next = at_s.length > limit ? at_s[limit] : null;
      at_s.length = Math.min(at_s.length, limit);
      return {
        ...fieldsOf(one),
        resolution,
        at_s,
        power_w: at_s.map((at) => made.powerAt(one, at)),
        energy_wh: at_s.map((at) => made.registerAt(one, at)),
        next: next === null || next === undefined ? null : `${next - 1}.1.0`,
      };
    }
    const at_s = made.starts(resolution, Math.max(from, since), Math.min(to, until));
    const whole = at_s.map((start) => {
      const end = Math.min(made.endOf(resolution, start), until);
      let least = Infinity;
      let most = -Infinity;
      for (let at = start; at < end; at += 900) {
        const part = made.quarter(one, Math.floor(at / 900) * 900);
        least = Math.min(least, part.least);
        most = Math.max(most, part.most);
      }
      const used = made.usedWh(one, start, end);
      return { least, most, used, mean: Math.round((used * 36_000) / Math.max(1, end - start)) / 10, end };
    });
    return {
      ...fieldsOf(one),
      resolution,
      at_s,
      power_w: whole.map(({ mean }) => mean),
      power_min_w: whole.map(({ least }) => least),
      power_max_w: whole.map(({ most }) => most),
      used_wh: whole.map(({ used }) => used),
      readings: whole.map(({ end }, i) => Math.floor((end - (at_s[i] ?? 0)) / one.interval_s)),
      next: null,
    };
  }

  consumption(args: URLSearchParams): unknown {
    const [from, to] = this.range(args);
    const step = args.get('resolution') ?? 'day';
    const meter = args.get('meter');
    const start_s = this.is_bare ? [] : made.starts(step, from, Math.min(to, this.now_s()));
    return {
      resolution: step,
      zone: made.ZONE,
      start_s,
      meters: this.meters
        .filter((one) => one.never !== true && (meter === null ? inNetwork(one, args) : nameOf(one) === meter))
        .map((one) => ({
          ...fieldsOf(one),
          used_wh: start_s.map((start) => {
            const [since, until] = this.known(one);
            const end = Math.min(made.endOf(step, start), until);
            return end <= Math.max(start, since) ? null : made.usedWh(one, Math.max(start, since), end);
          }),
        })),
    };
  }
}
