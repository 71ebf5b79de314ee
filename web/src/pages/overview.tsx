// All meters at once: power now, the last quarter of an hour, who is silent and what is wrong.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Meter } from '../api';
import { Ago, Badge, Card, Empty, Failed, Figure, Loading, Segments, Tile } from '../parts/basics';
import { AlertsBadge, OnlineBadge, Strength } from '../parts/meter';
import * as show from '../format';
import { Spark } from '../plots/spark';
import { meterLink } from '../router';
import { MOST_ALERTS, store, useNow, useStore } from '../store';
import { isOnline, total } from '../state';
import { SUITE_NAMES, meterName } from '../words';

const MORE = 24;
type View = 'cards' | 'table';

export function Overview(): JSX.Element {
  const { meters, metersLoaded, openAlerts } = useStore();
  const now_s = useNow();
  const [view, setView] = useState<View>('cards');
  const [wanted, setWanted] = useState('');
  const [most, setMost] = useState(MORE);

  if (metersLoaded === 'loading') return <Loading what="the meters" />;
  if (metersLoaded !== 'ready') return <Failed error={metersLoaded} retry={() => void store.loadMeters()} />;

  const all = [...meters.values()].sort((a, b) => a.meter - b.meter);
  const sum = total(all, now_s);
  const never = all.filter((meter) => !meter.revoked && meter.heard_s === null).length;
  const silent = sum.meters - sum.online - never;
  const text = wanted.trim().toLocaleLowerCase();
  const found = all.filter(
    (meter) => text === '' || String(meter.meter).includes(text) || meter.label.toLocaleLowerCase().includes(text),
  );
  const shown = found.slice(0, most);

  return (
    <>
      <dl class="tiles three">
        <Tile
          name="Power now"
          value={<Figure parts={show.powerParts(sum.online === 0 ? null : sum.power_w)} />}
          note={sum.meters === 0 ? 'no meters yet' : sum.online === sum.meters ? 'all meters together' : `of the ${show.count(sum.online)} that are online`}
        />
        <Tile
          name="Meters online"
          value={`${show.count(sum.online)} of ${show.count(sum.meters)}`}
          note={
            silent + never === 0
              ? sum.meters === 0
                ? 'no meters yet'
                : 'none is silent'
              : [silent > 0 && `${show.count(silent)} silent`, never > 0 && `${show.count(never)} never heard`]
                  .filter(Boolean)
                  .join(', ')
          }
        />
        <Tile
          name="Open alerts"
          value={openAlerts === null ? '–' : openAlerts < MOST_ALERTS ? show.count(openAlerts) : `${show.count(MOST_ALERTS)}+`}
          note={openAlerts === 0 ? 'all acknowledged' : <a href="#/alerts">Show them</a>}
        />
      </dl>
      {all.length === 0 ? (
        <div class="card">
          <Empty title="No meters yet">
            Make keys for one with <code>./wattseal meters provision</code>; it appears here within seconds. To see it all with emulated
            meters, run <code>./wattseal demo</code>.
          </Empty>
        </div>
      ) : (
        <>
          <div class="toolbar">
            <label class="field inline">
              <span class="hidden">Find a meter by name or number</span>
              <input
                type="search"
                placeholder="Find by name or number"
                value={wanted}
                onInput={(event) => {
                  setWanted(event.currentTarget.value);
                  setMost(MORE);
                }}
              />
            </label>
            <Segments
              name="Shown as"
              options={[
                { value: 'cards', name: 'Cards' },
                { value: 'table', name: 'Table' },
              ]}
              value={view}
              onChange={setView}
            />
          </div>
          {found.length === 0 ? (
            <div class="card">
              <Empty title="No meter has that name or number">Delete the text above to see all.</Empty>
            </div>
          ) : view === 'cards' ? (
            <ul class="meters">
              {shown.map((meter) => (
                <MeterCard key={meter.meter} meter={meter} now_s={now_s} />
              ))}
            </ul>
          ) : (
            <MeterTable meters={shown} now_s={now_s} />
          )}
          {found.length > shown.length && (
            <p class="more">
              <button type="button" onClick={() => setMost(most + 2 * MORE)}>
                Show more ({show.count(found.length - shown.length)} left)
              </button>
            </p>
          )}
        </>
      )}
    </>
  );
}

function MeterCard({ meter, now_s }: { meter: Meter; now_s: number }): JSX.Element {
  const { sparks } = useStore();
  useEffect(() => store.wantSpark(meter.meter), [meter.meter]);
  const online = isOnline(meter, now_s);
  return (
    <li class={`meter-card ${online ? '' : 'stale'}`}>
      <div class="meter-head">
        <h2>
          <a href={meterLink(meter.meter)}>{meterName(meter)}</a>
        </h2>
        <OnlineBadge meter={meter} now_s={now_s} />
        <AlertsBadge meter={meter} />
      </div>
      <p class="meter-power">
        <Figure parts={show.powerParts(meter.last?.power_w)} />
        {!online && meter.last !== null && <span class="tile-note">when last heard</span>}
      </p>
      <Spark series={sparks.get(meter.meter)} interval_s={meter.interval_s} now_s={now_s} />
      <p class="quiet meter-foot">
        <Ago at_s={meter.last?.at_s ?? null} now_s={now_s} />
        <span>{SUITE_NAMES[meter.suite] ?? meter.suite}</span>
        <span>{show.strength(meter.link.rssi_dbm)}</span>
      </p>
    </li>
  );
}

function MeterTable({ meters, now_s }: { meters: readonly Meter[]; now_s: number }): JSX.Element {
  return (
    <Card title="Meters">
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Meters">
        <table>
          <thead>
            <tr>
              <th scope="col">Meter</th>
              <th scope="col">State</th>
              <th scope="col" class="figure">
                Power
              </th>
              <th scope="col" class="figure">
                Register
              </th>
              <th scope="col">Last reading</th>
              <th scope="col">Suite</th>
              <th scope="col" class="figure">
                Interval
              </th>
              <th scope="col">Signal</th>
              <th scope="col">Alerts</th>
            </tr>
          </thead>
          <tbody>
            {meters.map((meter) => (
              <tr key={meter.meter}>
                <th scope="row">
                  <a href={meterLink(meter.meter)}>{meterName(meter)}</a>
                </th>
                <td>
                  <OnlineBadge meter={meter} now_s={now_s} />
                </td>
                <td class="figure">{show.power(meter.last?.power_w)}</td>
                <td class="figure">{show.register(meter.last?.energy_wh)}</td>
                <td>
                  <Ago at_s={meter.last?.at_s ?? null} now_s={now_s} />
                </td>
                <td>{SUITE_NAMES[meter.suite] ?? meter.suite}</td>
                <td class="figure">{show.span(meter.interval_s)}</td>
                <td>
                  <Strength dbm={meter.link.rssi_dbm} />
                </td>
                <td>{meter.open_alerts === 0 ? <Badge tone="plain">none</Badge> : <AlertsBadge meter={meter} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
