// A meter's power over time: each measurement of the last hour, or means with their least and most.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import * as show from '../format';
import { type PowerData, extent } from '../state';
import { Plot, axis, fromZero } from './plot';

interface Props {
  data: PowerData;
  /** 0: measurements as they came. */
  step_s: number;
  from_s: number;
  to_s: number;
  rangeName: string;
  /** The number of the meter's colour in style.css. */
  colour: number;
}

const DAY_S = 86_400;

export function PowerPlot({ data, step_s, from_s, to_s, rangeName, colour }: Props): JSX.Element {
  const raw = step_s === 0;
  const limits = useMemo(() => ({ from_s, to_s }), []);
  limits.from_s = from_s;
  limits.to_s = to_s;
  const whole = extent(data.power_w);
  const long = to_s - from_s > 2 * DAY_S;
  const columns = useMemo<uPlot.AlignedData>(
    () => (raw ? [data.at_s, data.power_w] : [data.at_s, data.power_w, data.least_w ?? [], data.most_w ?? []]),
    [data, from_s, to_s],
  );
  return (
    <Plot
      label={
        whole === null
          ? `Power, ${rangeName}: no figures.`
          : `Power, ${rangeName}: from ${show.power(whole.least)} to ${show.power(whole.most)}.`
      }
      shape={`${raw} ${long} ${colour}`}
      data={columns}
      idle={
        whole === null
          ? '\u00a0'
          : `${raw ? 'Measurements' : 'Means'} from ${show.power(whole.least)} to ${show.power(whole.most)}`
      }
      readout={(index) => {
        const at = data.at_s[index];
        const power = data.power_w[index];
        if (at === undefined || power === null || power === undefined) return null;
        if (raw) return `${show.clockWithSeconds(at)}: ${show.power(power)}`;
        const when = `${long ? `${show.weekday(at)}, ` : ''}${show.clock(at)} – ${show.clock(at + step_s)}`;
        return `${when}: mean ${show.power(power)}, ${show.power(data.least_w?.[index])} to ${show.power(data.most_w?.[index])}`;
      }}
      options={(colours) => ({
        padding: [10, 14, 0, 0],
        scales: { x: { time: true, range: () => [limits.from_s, limits.to_s] }, y: { range: fromZero } },
        axes: [
          axis(colours, {
            space: 88,
            values: (_u, splits, _axis, _space, step) =>
              splits.map((at) =>
                step >= DAY_S || (long && isMidnight(at)) ? show.weekday(at) : step < 60 ? show.clockWithSeconds(at) : show.clock(at),
              ),
          }),
          axis(colours, { size: 66, space: 36, values: (_u, splits) => show.axisFigures(splits, 'W') }),
        ],
        series: raw
          ? [{}, line(colours.series[colour - 1] ?? colours.line, -1)]
          : [{}, line(colours.series[colour - 1] ?? colours.line, 1), edge(), edge()],
        // The line's colour, faint.
        ...(raw ? {} : { bands: [{ series: [3, 2] as [number, number], fill: `${colours.series[colour - 1] ?? colours.line}33` }] }),
      })}
    />
  );
}

/** Steps, because a figure is the mean of its whole time: `align` -1 the time before it, 1 the time after. */
function line(stroke: string, align: -1 | 1): uPlot.Series {
  const paths = uPlot.paths.stepped?.({ align });
  return { stroke, width: 1.5, points: { show: false }, spanGaps: false, ...(paths === undefined ? {} : { paths }) };
}

function edge(): uPlot.Series {
  return { ...line('transparent', 1), width: 0 };
}

function isMidnight(at_s: number): boolean {
  const date = new Date(at_s * 1000);
  return date.getHours() === 0 && date.getMinutes() === 0;
}
