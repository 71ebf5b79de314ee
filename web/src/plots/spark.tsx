// The small plot on a meter's card: the last quarter of an hour, or of a meter that is new what there is of it, without axes.

import type { JSX } from 'preact';
import * as show from '../format';
import { SPARK_S } from '../store';
import { type Series, extent, plotStart } from '../state';

const WIDTH = 240;
const HEIGHT = 48;
/** At least so much is shown. */
const LEAST_S = 120;

interface Props {
  /** undefined: it is being loaded. */
  series: Series | 'failed' | undefined;
  interval_s: number;
  now_s: number;
  /** The number of the meter's colour in style.css. */
  colour: number;
}

export function Spark({ series, interval_s, now_s, colour }: Props): JSX.Element {
  if (series === undefined) return <p class="spark quiet">Loading …</p>;
  if (series === 'failed') return <p class="spark quiet">The last 15 minutes could not be loaded</p>;
  const range = extent(series.power_w);
  if (range === null) return <p class="spark quiet">No readings in the last 15 minutes</p>;
  const low = Math.min(0, range.least);
  const high = Math.max(range.most, low + 1);
  const span_s = now_s - plotStart(series, interval_s, now_s, SPARK_S, LEAST_S);
  const x = (at: number): number => WIDTH * (1 - (now_s - at) / span_s);
  const y = (watts: number): number => HEIGHT - 2 - ((HEIGHT - 4) * (watts - low)) / (high - low);
  let path = '';
  let area = '';
  let begun: number | null = null;
  let before: number | null = null;
  const close = (): void => {
    if (begun !== null && before !== null) area += `V${y(0).toFixed(1)}H${begun.toFixed(1)}Z`;
  };
  series.at_s.forEach((at, i) => {
    const right = x(at);
    const level = y(series.power_w[i] ?? 0).toFixed(1);
    if (before === null || right - before > (WIDTH * 3 * interval_s) / span_s) {
      close();
      // The figure is the mean of the interval that ends here.
      begun = Math.max(0, right - (WIDTH * interval_s) / span_s);
      path += `M${begun.toFixed(1)} ${level}H${right.toFixed(1)}`;
      area += `M${begun.toFixed(1)} ${y(0).toFixed(1)}V${level}H${right.toFixed(1)}`;
    } else {
      path += `V${level}H${right.toFixed(1)}`;
      area += `V${level}H${right.toFixed(1)}`;
    }
    before = right;
  });
  close();
  return (
    <svg
      class={`spark series-${colour}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${span_s < SPARK_S ? 'Since its first reading' : 'Last 15 minutes'}: from ${show.power(range.least)} to ${show.power(range.most)}`}
    >
      <path class="spark-area" d={area} />
      <path class="spark-line" d={path} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
