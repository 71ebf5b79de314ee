// Which stretch of time is shown, and how finely.

import type { Resolution, Step } from './api';
import { type Day, dayOf, firstOfMonth, midnight, mondayOf, plusDays } from './zone';
import * as show from './format';

export type Span = 'hour' | 'day' | 'week' | 'month';

export interface PowerRange {
  span: Span;
  name: string;
  seconds: number;
  resolution: Resolution;
  /** Length of one interval of the resolution; 0 where each measurement stands for itself. */
  step_s: number;
}

/** At most some 750 points each, but for the hour, which shows every measurement. */
export const POWER_RANGES: readonly PowerRange[] = [
  { span: 'hour', name: 'Hour', seconds: 3600, resolution: 'raw', step_s: 0 },
  { span: 'day', name: 'Day', seconds: 86_400, resolution: 'quarter', step_s: 900 },
  { span: 'week', name: 'Week', seconds: 7 * 86_400, resolution: 'hour', step_s: 3600 },
  { span: 'month', name: 'Month', seconds: 31 * 86_400, resolution: 'hour', step_s: 3600 },
];

export const STEPS: readonly { step: Step; name: string }[] = [
  { step: 'quarter', name: '15 min' },
  { step: 'hour', name: 'Hours' },
  { step: 'day', name: 'Days' },
  { step: 'week', name: 'Weeks' },
  { step: 'month', name: 'Months' },
];

export const STEP_NAMES: Record<Step, string> = {
  quarter: 'quarter-hour',
  hour: 'hour',
  day: 'day',
  week: 'week',
  month: 'month',
};

export interface Window {
  from_s: number;
  to_s: number;
  title: string;
}

const WEEKS = 26;
const MONTHS = 12;

/** The stretch that bars of that step fill, `back` stretches before the one that `now_s` is in. */
export function consumptionWindow(step: Step, zone: string, now_s: number, back: number): Window {
  const today = dayOf(now_s, zone);
  let from: Day;
  let to: Day;
  switch (step) {
    case 'quarter':
    case 'hour':
      from = plusDays(today, -back);
      to = plusDays(from, 1);
      break;
    case 'day':
      from = firstOfMonth(today, -back);
      to = firstOfMonth(from, 1);
      break;
    case 'week':
      to = plusDays(mondayOf(today), 7 - 7 * WEEKS * back);
      from = plusDays(to, -7 * WEEKS);
      break;
    case 'month':
      to = firstOfMonth(today, 1 - MONTHS * back);
      from = firstOfMonth(to, -MONTHS);
      break;
  }
  const from_s = midnight(from, zone);
  const to_s = midnight(to, zone);
  const last_s = to_s - 1;
  const title =
    step === 'quarter' || step === 'hour'
      ? show.day(from_s, zone)
      : step === 'day'
        ? show.month(from_s, zone)
        : step === 'week'
          ? `${show.day(from_s, zone)} – ${show.day(last_s, zone)}`
          : `${show.month(from_s, zone)} – ${show.month(last_s, zone)}`;
  return { from_s, to_s, title };
}

/** Names of an interval: short below its bar, long in a table. */
export function intervalName(step: Step, start_s: number, zone: string): { short: string; long: string } {
  switch (step) {
    case 'quarter':
    case 'hour': {
      const end = start_s + (step === 'hour' ? 3600 : 900);
      return { short: show.clock(start_s, zone), long: `${show.clock(start_s, zone)} – ${show.clock(end, zone)}` };
    }
    case 'day':
      return { short: show.dayNumber(start_s, zone), long: show.day(start_s, zone) };
    case 'week':
      return { short: show.dayShort(start_s, zone), long: `Week of ${show.day(start_s, zone)}` };
    case 'month':
      return { short: show.monthShort(start_s, zone), long: show.month(start_s, zone) };
  }
}

/** The start of every interval in the stretch. */
export function intervalStarts(step: Step, window: Window, zone: string): number[] {
  const starts: number[] = [];
  if (step === 'quarter' || step === 'hour') {
    const length = step === 'hour' ? 3600 : 900;
    for (let at = window.from_s; at < window.to_s; at += length) starts.push(at);
    return starts;
  }
  let day = dayOf(window.from_s, zone);
  for (;;) {
    const at = midnight(day, zone);
    if (at >= window.to_s) return starts;
    starts.push(at);
    day = step === 'month' ? firstOfMonth(day, 1) : plusDays(day, step === 'week' ? 7 : 1);
  }
}
