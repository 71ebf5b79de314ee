// Used energy by interval, as bars, stacked where several meters are shown.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { Step } from '../api';
import * as show from '../format';
import { STEP_NAMES, intervalName } from '../ranges';
import { extent, sum } from '../state';
import { Plot, axis, fromZero } from './plot';

export interface Layer {
  name: string;
  /** The number of its colour in style.css. */
  colour: number;
  used_wh: (number | null)[];
}

interface Props {
  step: Step;
  zone: string;
  starts: number[];
  layers: Layer[];
  title: string;
}

export function ConsumptionBars({ step, zone, starts, layers, title }: Props): JSX.Element {
  const totals = useMemo(() => starts.map((_, i) => sum(layers.map((layer) => layer.used_wh[i]))), [starts, layers]);
  // Each layer on top of those before it; the highest is drawn first, so that the others cover its lower part.
  const columns = useMemo<uPlot.AlignedData>(() => {
    const heights: (number | null)[][] = [];
    layers.forEach((_, top) => {
      heights.push(starts.map((_start, i) => sum(layers.slice(0, top + 1).map((layer) => layer.used_wh[i]))));
    });
    return [starts.map((_, i) => i), ...heights.reverse()];
  }, [starts, layers]);
  const all = sum(totals);
  const most = extent(totals);
  return (
    <Plot
      label={
        all === null || most === null
          ? `Consumption by ${STEP_NAMES[step]}, ${title}: no figures.`
          : `Consumption by ${STEP_NAMES[step]}, ${title}: ${show.energy(all)} in all, at most ${show.energy(most.most)} in one ${STEP_NAMES[step]}.`
      }
      shape={`${step} ${zone} ${starts[0] ?? 0} ${starts.length} ${layers.map((layer) => layer.colour).join(' ')}`}
      data={columns}
      height={240}
      idle={most === null ? '\u00a0' : `At most ${show.energy(most.most)} in one ${STEP_NAMES[step]}`}
      readout={(index) => {
        const start = starts[index];
        if (start === undefined) return null;
        const name = intervalName(step, start, zone).long;
        const used = totals[index];
        if (used === null || used === undefined) return `${name}: no readings`;
        return `${name}: ${show.energy(used)}`;
      }}
      options={(colours) => ({
        padding: [10, 14, 0, 0],
        scales: { x: { time: false, range: () => [-0.6, starts.length - 0.4] }, y: { range: fromZero } },
        cursor: { points: { show: false } },
        axes: [
          axis(colours, {
            grid: { show: false },
            splits: (u) => places(step, starts.length, u.width - 80),
            values: (_u, splits) => splits.map((i) => (starts[i] === undefined ? '' : intervalName(step, starts[i], zone).short)),
          }),
          axis(colours, { size: 72, space: 36, values: (_u, splits) => show.axisFigures(splits, 'Wh') }),
        ],
        series: [
          {},
          ...layers
            .map((_, i) => i)
            .reverse()
            .map((i): uPlot.Series => {
              const fill = colours.series[(layers[i]?.colour ?? 0) - 1] ?? colours.line;
              const paths = uPlot.paths.bars?.({ size: [0.76, 64], align: 0 });
              return { fill, stroke: fill, width: 0, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
            }),
        ],
      })}
    />
  );
}

/** Which bars get a name: as many as have room, at round places. */
function places(step: Step, bars: number, width: number): number[] {
  const room = step === 'day' ? 26 : step === 'month' ? 40 : 52;
  const fit = Math.max(1, Math.floor(width / room));
  const strides = step === 'quarter' ? [4, 8, 12, 16, 24, 48] : step === 'hour' ? [1, 2, 3, 4, 6, 12] : [1, 2, 3, 4, 5, 7, 10, 13];
  const stride = strides.find((one) => bars / one <= fit) ?? Math.ceil(bars / fit);
  const at: number[] = [];
  for (let i = 0; i < bars; i += stride) at.push(i);
  return at;
}
