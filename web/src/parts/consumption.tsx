// Consumption as bars, with a choice of the interval, and back and forth in time.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Meter, MeterName, Step } from '../api';
import { OTHERS, coloursOf, coloursTogether } from '../colours';
import { useConsumption } from '../consumption';
import * as show from '../format';
import { ConsumptionBars, type Layer } from '../plots/bars';
import { STEPS, STEP_NAMES, intervalName } from '../ranges';
import { sum } from '../state';
import { browserZone } from '../zone';
import { calledIn } from '../words';
import { meterLink } from '../router';
import { Card, DataTable, Empty, Failed, Loading, Segments } from './basics';

/** More than these are summed up as others: more colours nobody tells apart. */
const MOST_LAYERS = 7;

interface Props {
  meters: ReadonlyMap<MeterName, Meter>;
  /** One alone. */
  meter?: MeterName;
  title: string;
}

export function ConsumptionCard({ meters, meter, title }: Props): JSX.Element {
  const [step, setStep] = useState<Step>('day');
  const [back, setBack] = useState(0);
  const { used, window, error, loading, reload } = useConsumption(step, back, meter);

  const ranked = useMemo(
    () =>
      used === null
        ? []
        : [...used.meters]
            .map(([id, used_wh]) => ({ id, used_wh, all: sum(used_wh) }))
            .sort((a, b) => (b.all ?? -1) - (a.all ?? -1) || a.id.localeCompare(b.id, 'en', { numeric: true })),
    [used],
  );
  const layers = useMemo(() => {
    const name = (id: MeterName): string => calledIn(meters, id);
    const shown = ranked.slice(0, ranked.length > MOST_LAYERS + 1 ? MOST_LAYERS : ranked.length);
    const colours = coloursTogether(shown.map((one) => one.id), coloursOf(meters.keys()));
    const own: Layer[] = shown.map(({ id, used_wh }) => ({ name: name(id), colour: colours.get(id) ?? OTHERS, used_wh }));
    const others = ranked.slice(own.length);
    if (others.length > 0 && used !== null) {
      own.push({
        name: `${others.length} other meters`,
        colour: OTHERS,
        used_wh: used.starts.map((_, i) => sum(others.map((one) => one.used_wh[i]))),
      });
    }
    return own;
  }, [ranked, meters.size]);
  const all = sum(ranked.map((one) => one.all));
  const zone = used?.zone;

  return (
    <Card
      title={title}
      aside={
        <Segments
          name="Bars are"
          options={STEPS.map((one) => ({ value: one.step, name: one.name }))}
          value={step}
          onChange={(next) => {
            setStep(next);
            setBack(0);
          }}
        />
      }
    >
      <div class="stepper">
        <button type="button" class="small icon" aria-label="Earlier" onClick={() => setBack(back + 1)}>
          ‹
        </button>
        <p aria-live="polite">
          <strong>{window.title}</strong>
          {all !== null && <span class="figure-big">{show.energy(all)}</span>}
        </p>
        <button type="button" class="small icon" aria-label="Later" disabled={back === 0} onClick={() => setBack(back - 1)}>
          ›
        </button>
      </div>
      {error !== null && <Failed error={error} retry={reload} />}
      {used === null ? (
        loading && <Loading what="the consumption" />
      ) : all === null ? (
        <Empty title="No readings in this time">
          {back === 0 ? 'Bars appear as soon as a meter reports.' : 'Go on to another time with ‹ and ›.'}
        </Empty>
      ) : (
        <>
          <ConsumptionBars step={step} zone={used.zone} starts={used.starts} layers={layers} title={window.title} />
          {meter === undefined && (
            <ul class="legend">
              {layers.map((layer, i) => {
                const id = ranked[i]?.id;
                const own = i < layers.length - 1 || ranked.length === layers.length;
                return (
                  <li key={layer.name}>
                    <span class={`swatch series-${layer.colour}`} aria-hidden="true" />
                    {own && id !== undefined ? <a href={meterLink(id)}>{layer.name}</a> : layer.name}
                    <strong>{show.energy(sum(layer.used_wh))}</strong>
                  </li>
                );
              })}
            </ul>
          )}
          <DataTable
            caption={`Consumption by ${STEP_NAMES[step]}, ${window.title}`}
            head={[
              step === 'quarter' || step === 'hour' ? 'Time' : 'From',
              ...(layers.length > 1 ? [...layers.map((layer) => layer.name), 'All'] : ['Used']),
            ]}
            rows={() =>
              used.starts.flatMap((start, i) => {
                const cells = layers.map((layer) => layer.used_wh[i] ?? null);
                if (cells.every((cell) => cell === null)) return [];
                const figures = layers.length > 1 ? [...cells, sum(cells)] : cells;
                return [[intervalName(step, start, used.zone).long, ...figures.map((figure) => show.energy(figure))]];
              })
            }
          />
          {zone !== undefined && zone !== browserZone() && (
            <p class="quiet">Days, and the times here, are those of the collector: {zone}.</p>
          )}
        </>
      )}
    </Card>
  );
}
