// uPlot in the page: sized to its place, in the theme's colours, read with the pointer or the arrow keys.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { colour, useTheme } from '../theme';

export interface PlotColours {
  text: string;
  grid: string;
  line: string;
  series: string[];
}

function colours(): PlotColours {
  return {
    text: colour('muted'),
    grid: colour('grid'),
    line: colour('accent'),
    series: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`series-${n}`)),
  };
}

export const FONT = '12px system-ui, sans-serif';

interface PlotProps {
  /** What is plotted, in a sentence with figures, for who does not see it. */
  label: string;
  /** Builds the options; called again when `shape` or the theme changes. */
  options: (colours: PlotColours) => Omit<uPlot.Options, 'width' | 'height'>;
  shape: string;
  data: uPlot.AlignedData;
  /** What stands at a point; null where nothing does. */
  readout: (index: number) => string | null;
  /** Shown while nobody points at anything. */
  idle: string;
  height?: number;
}

export function Plot({ label, options, shape, data, readout, idle, height = 260 }: PlotProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const { theme } = useTheme();
  const now = useRef({ data, options });
  now.current = { data, options };

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = now.current.options(colours());
    const built = new uPlot(
      {
        ...made,
        width: Math.max(200, element.clientWidth),
        height,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false, ...made.cursor },
        hooks: { ...made.hooks, setCursor: [(u) => setIndex(u.cursor.idx ?? null)] },
      },
      now.current.data,
      element,
    );
    plot.current = built;
    const resized = new ResizeObserver(() => {
      const width = Math.max(200, element.clientWidth);
      if (width !== built.width) built.setSize({ width, height });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      built.destroy();
      plot.current = null;
    };
  }, [shape, theme, height]);

  useEffect(() => {
    plot.current?.setData(data);
  }, [data]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const u = plot.current;
    const times = data[0];
    if (u === null || times.length === 0) return;
    const last = times.length - 1;
    const from = index ?? last + 1;
    const step = event.shiftKey ? 10 : 1;
    let to: number;
    if (event.key === 'ArrowLeft') to = from - step;
    else if (event.key === 'ArrowRight') to = index === null ? 0 : from + step;
    else if (event.key === 'Home') to = 0;
    else if (event.key === 'End') to = last;
    else if (event.key === 'Escape') {
      u.setCursor({ left: -10, top: -10 });
      return;
    } else return;
    event.preventDefault();
    const at = times[Math.min(last, Math.max(0, to))];
    if (at !== undefined) u.setCursor({ left: u.valToPos(at, 'x'), top: 0 });
  };

  const said = index === null ? null : readout(index);
  return (
    <div class="plot">
      <output class="readout">{said ?? idle}</output>
      <div
        ref={place}
        class="plot-place"
        role="img"
        tabIndex={0}
        aria-label={`${label} Arrow keys read single figures.`}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

/** An axis in the theme's colours. */
export function axis(colours: PlotColours, more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: colours.text,
    font: FONT,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1, size: 4 },
    size: 27,
    ...more,
  };
}

/** From 0, or below it where something is, with a little room above. */
export function fromZero(_u: uPlot, least: number | null, most: number | null): [number, number] {
  const low = Math.min(0, least ?? 0);
  const high = Math.max(0, most ?? 0);
  if (low === 0 && high === 0) return [0, 10];
  const room = (high - low) * 0.06;
  return [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
}
