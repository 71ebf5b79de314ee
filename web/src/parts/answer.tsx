// What a meter answered, as names and figures with their units.

import type { JSX } from 'preact';
import * as show from '../format';
import type { Answer as Answered, Suite } from '../api';
import { SUITE_NAMES, sentence } from '../words';

const EPOCH_2000_S = 946_684_800;

/** Names and figures of an answer; that it is done the command's state says. */
export function answerRows(answer: Answered | null): [string, string][] {
  if (answer === null) return [];
  const rows: [string, string][] = [];
  if (answer.code !== 0) rows.push(['Answer', `${sentence(answer.outcome)} (${answer.code})`]);
  for (const page of Object.values(answer.status ?? {})) {
    for (const [name, value] of Object.entries(page) as [string, string | number | null][]) {
      if (value !== null) rows.push(figure(name, value));
    }
  }
  return rows;
}

function figure(name: string, value: string | number): [string, string] {
  if (name === 'suite') return ['Suite', SUITE_NAMES[value as Suite] ?? String(value)];
  if (typeof value !== 'number') return [sentence(name), sentence(value)];
  // The meter's own count of seconds; a small one is since its start.
  if (name === 'time_s') return ['Time', value > 100_000_000 ? show.dateTime(value + EPOCH_2000_S) : `${show.span(value)} since its start`];
  if (name === 'interval_s') return ['Interval', show.span(value)];
  if (name === 'energy_dwh') return ['Register', show.register(value / 10)];
  // The meter counts its stack in steps of four bytes.
  if (name === 'stack_untouched_quads') return ['Stack never touched', show.bytes(4 * value)];
  if (name.endsWith('_dv')) return [sentence(name.slice(0, -3)), `${show.number(value / 10, 1)}\u00a0V`];
  if (name.endsWith('_ca')) return [sentence(name.slice(0, -3)), `${show.number(value / 100, 2)}\u00a0A`];
  const unit = UNITS.find(([ending]) => name.endsWith(ending));
  if (unit !== undefined) return [sentence(name.slice(0, -unit[0].length)), `${show.number(value, 0, 2)}\u00a0${unit[1]}`];
  return [NAMES[name] ?? sentence(name), show.number(value, 0, 2)];
}

const NAMES: Record<string, string> = {
  waiting: 'Reports waiting',
  refused: 'Packets refused',
  lost: 'Measurements lost',
};

const UNITS: readonly [string, string][] = [
  ['_bytes', 'bytes'],
  ['_ms', 'ms'],
  ['_wh', 'Wh'],
  ['_s', 's'],
  ['_v', 'V'],
  ['_a', 'A'],
  ['_w', 'W'],
];

export function Answer({ answer }: { answer: Answered | null }): JSX.Element | null {
  const rows = answerRows(answer);
  if (rows.length === 0) return null;
  return (
    <dl class="answer">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
