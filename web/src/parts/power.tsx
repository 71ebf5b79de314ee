// A meter's power: the last hour as it comes, or a day, a week, a month in means.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type ApiError, type Meter, nameOf } from '../api';
import { coloursOf, wished } from '../colours';
import * as show from '../format';
import { PowerPlot } from '../plots/power';
import { POWER_RANGES, type PowerRange, type Span } from '../ranges';
import { type PowerData, type Series, means, merged, plotStart, withGaps, withPoint } from '../state';
import { store, useEvents, useLoad, useNow, useStore } from '../store';
import { Card, DataTable, Empty, Failed, Loading, Segments } from './basics';

const RELOAD_MS = 120_000;
/** At least so much is shown of the last hour. */
const LEAST_S = 300;
const FIRST = POWER_RANGES[0] as PowerRange;

export function PowerCard({ meter }: { meter: Meter }): JSX.Element {
  const { meters } = useStore();
  const colour = useMemo(() => coloursOf(meters.keys()).get(nameOf(meter)) ?? wished(nameOf(meter)), [meters, nameOf(meter)]);
  const [span, setSpan] = useState<Span>('hour');
  const range = POWER_RANGES.find((one) => one.span === span) ?? FIRST;
  return (
    <Card
      title="Power"
      aside={
        <Segments
          name="Range"
          options={POWER_RANGES.map((one) => ({ value: one.span, name: one.name }))}
          value={span}
          onChange={setSpan}
        />
      }
    >
      {range.step_s === 0 ? (
        <LastHour key={nameOf(meter)} meter={meter} range={range} colour={colour} />
      ) : (
        <Means key={`${nameOf(meter)} ${span}`} meter={meter} range={range} colour={colour} />
      )}
    </Card>
  );
}

interface HalfProps {
  meter: Meter;
  range: PowerRange;
  colour: number;
}

function LastHour({ meter, range, colour }: HalfProps): JSX.Element {
  const name = nameOf(meter);
  const [series, setSeries] = useState<Series>({ at_s: [], power_w: [] });
  const now_s = useNow(2000);
  const found = useLoad(() => {
    const at = store.now_s();
    return store.api.readings(name, { from_s: at - range.seconds, to_s: at + 60 }, 'raw');
  }, [name]);
  useEffect(() => {
    const loaded = found.data;
    if (loaded !== null) setSeries((live) => merged(loaded, live, store.now_s() - range.seconds));
  }, [found.data]);
  useEvents(
    (event) => {
      if (event.event === 'resync') found.reload();
      if (event.event !== 'reading' || nameOf(event) !== name) return;
      setSeries((before) => withPoint(before, event.at_s, event.power_w, store.now_s() - range.seconds));
    },
    [name],
  );
  const data = useMemo<PowerData>(() => withGaps(series, meter.interval_s), [series, meter.interval_s]);
  return (
    <Shown
      colour={colour}
      data={data}
      range={range}
      from_s={plotStart(series, meter.interval_s, now_s, range.seconds, LEAST_S)}
      to_s={now_s}
      loading={found.loading && series.at_s.length === 0}
      error={found.error}
      reload={found.reload}
      empty="Readings appear here as the meter sends them."
      head={['Time', 'Power']}
      rows={() => series.at_s.map((at, i) => [show.dateTime(at), show.power(series.power_w[i])])}
    />
  );
}

function Means({ meter, range, colour }: HalfProps): JSX.Element {
  const name = nameOf(meter);
  const [to_s, setTo] = useState(store.now_s());
  const found = useLoad(async () => {
    const at = store.now_s();
    setTo(at);
    const resolution = range.resolution === 'raw' ? 'quarter' : range.resolution;
    return store.api.readings(name, { from_s: at - range.seconds, to_s: at }, resolution);
  }, [name, range.span]);
  useEffect(() => {
    const timer = setInterval(found.reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, []);
  useEvents((event) => {
    if (event.event === 'resync') found.reload();
  }, []);
  const data = useMemo(() => means(found.data, range.step_s), [found.data]);
  return (
    <Shown
      colour={colour}
      data={data}
      range={range}
      from_s={to_s - range.seconds}
      to_s={to_s}
      loading={found.loading && found.data === null}
      error={found.error}
      reload={found.reload}
      empty="This meter reported nothing in this time."
      head={['Time', 'Mean', 'Least', 'Most', 'Used', 'Readings']}
      rows={() => {
        const rolled = found.data;
        if (rolled === null) return [];
        return rolled.at_s.map((at, i) => [
          show.dateTime(at),
          show.power(rolled.power_w[i]),
          show.power(rolled.power_min_w[i]),
          show.power(rolled.power_max_w[i]),
          show.energy(rolled.used_wh[i]),
          show.count(rolled.readings[i] ?? 0),
        ]);
      }}
    />
  );
}

interface ShownProps {
  colour: number;
  data: PowerData;
  range: PowerRange;
  from_s: number;
  to_s: number;
  loading: boolean;
  error: ApiError | null;
  reload: () => void;
  empty: string;
  head: readonly string[];
  rows: () => readonly (readonly string[])[];
}

function Shown({ colour, data, range, from_s, to_s, loading, error, reload, empty, head, rows }: ShownProps): JSX.Element {
  const name = `the last ${range.name.toLowerCase()}`;
  return (
    <>
      {error !== null && <Failed error={error} retry={reload} />}
      {loading ? (
        <Loading what="the power" />
      ) : data.at_s.length === 0 ? (
        error === null && <Empty title={`No readings in ${name}`}>{empty}</Empty>
      ) : (
        <>
          <PowerPlot colour={colour} data={data} step_s={range.step_s} from_s={from_s} to_s={to_s} rangeName={name} />
          <DataTable caption={`Power in ${name}`} head={head} rows={rows} />
        </>
      )}
    </>
  );
}
