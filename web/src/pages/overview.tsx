// All meters at once: power now, the last quarter of an hour, who is silent and what is wrong.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Meter, byName, nameOf } from '../api';
import { OTHERS, coloursOf } from '../colours';
import { Ago, Badge, Card, Empty, Failed, Figure, Loading, Segments, Tile } from '../parts/basics';
import { AlertsBadge, MeterFinder, NetworkTag, OnlineBadge, Strength, SuiteMark } from '../parts/meter';
import * as show from '../format';
import { OtherMetersCard } from '../parts/others';
import { Spark } from '../plots/spark';
import { meterLink } from '../router';
import { MOST_ALERTS, store, useNow, useStore } from '../store';
import { isOnline, total } from '../state';
import { isLookedFor, meterName } from '../words';

const MORE = 24;
type View = 'cards' | 'table';

export function Overview(): JSX.Element {
  const { meters, metersLoaded, openAlerts, severalNetworks } = useStore();
  const now_s = useNow();
  const [view, setView] = useState<View>('cards');
  const [wanted, setWanted] = useState('');
  const [network, setNetwork] = useState<number | null>(null);
  const [most, setMost] = useState(MORE);
  const colours = useMemo(() => coloursOf(meters.keys()), [meters]);

  if (metersLoaded === 'loading') return <Loading what="the meters" />;
  if (metersLoaded !== 'ready') return <Failed error={metersLoaded} retry={() => void store.loadMeters()} />;

  const everywhere = [...meters.values()].sort(byName);
  const all = everywhere.filter((meter) => network === null || (meter.network ?? 0) === network);
  const sum = total(all, now_s);
  // Those of the collector itself are no network's.
  const alerts = network === null ? openAlerts : all.reduce((open, meter) => open + meter.open_alerts, 0);
  const never = all.filter((meter) => !meter.revoked && meter.heard_s === null).length;
  const silent = sum.meters - sum.online - never;
  const found = all.filter((meter) => isLookedFor(meter, wanted));
  const shown = found.slice(0, most);

  return (
    <>
      <dl class="tiles three">
        <Tile
          name="Power now"
          value={<Figure parts={show.powerParts(sum.online === 0 ? null : sum.power_w)} />}
          note={sum.meters === 0 ? 'no meters yet' : sum.online === sum.meters ? (network === null ? 'all meters together' : 'all meters of the network') : `of the ${show.count(sum.online)} that are online`}
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
          value={alerts === null ? '–' : alerts < MOST_ALERTS ? show.count(alerts) : `${show.count(MOST_ALERTS)}+`}
          note={alerts === 0 ? 'all acknowledged' : <a href="#/alerts">Show them</a>}
        />
      </dl>
      {everywhere.length === 0 ? (
        <div class="card">
          <Empty title="No meters yet">
            Make keys for one with <code>./wattseal meters provision</code>; it appears here within seconds. To see it all with emulated
            meters, run <code>./wattseal demo</code>.
          </Empty>
        </div>
      ) : (
        <>
          <div class="toolbar">
            <MeterFinder
              what="Find a meter by name or number"
              meters={everywhere}
              wanted={wanted}
              network={network}
              onChange={(text, of) => {
                setWanted(text);
                setNetwork(of);
                setMost(MORE);
              }}
            />
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
                <MeterCard key={nameOf(meter)} meter={meter} now_s={now_s} colour={colours.get(nameOf(meter)) ?? OTHERS} />
              ))}
            </ul>
          ) : (
            <MeterTable meters={shown} now_s={now_s} severalNetworks={severalNetworks} />
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
      <OtherMetersCard now_s={now_s} />
    </>
  );
}

function MeterCard({ meter, now_s, colour }: { meter: Meter; now_s: number; colour: number }): JSX.Element {
  const { sparks } = useStore();
  const name = nameOf(meter);
  useEffect(() => store.wantSpark(name), [name]);
  const online = isOnline(meter, now_s);
  return (
    <li class={`meter-card ${online ? '' : 'stale'}`}>
      <div class="meter-head">
        <h2>
          <a href={meterLink(nameOf(meter))}>{meterName(meter)}</a>
        </h2>
        <NetworkTag of={meter} />
        <OnlineBadge meter={meter} now_s={now_s} />
        <AlertsBadge meter={meter} />
      </div>
      <p class="meter-power">
        <Figure parts={show.powerParts(meter.last?.power_w)} />
        {!online && meter.last !== null && <span class="tile-note">when last heard</span>}
      </p>
      <Spark series={sparks.get(name)} interval_s={meter.interval_s} now_s={now_s} colour={colour} />
      <p class="quiet meter-foot">
        <Ago at_s={meter.last?.at_s ?? null} now_s={now_s} />
        <SuiteMark suite={meter.suite} />
        <span>{show.strength(meter.link.rssi_dbm)}</span>
      </p>
    </li>
  );
}

interface TableProps {
  meters: readonly Meter[];
  now_s: number;
  /** Then there is a column for the network. */
  severalNetworks: boolean;
}

function MeterTable({ meters, now_s, severalNetworks }: TableProps): JSX.Element {
  return (
    <Card title="Meters">
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Meters">
        <table>
          <thead>
            <tr>
              <th scope="col">Meter</th>
              {severalNetworks && <th scope="col">Network</th>}
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
              <tr key={nameOf(meter)}>
                <th scope="row">
                  <a href={meterLink(nameOf(meter))}>{meterName(meter)}</a>
                </th>
                {severalNetworks && <td>{meter.network ?? 0}</td>}
                <td>
                  <OnlineBadge meter={meter} now_s={now_s} />
                </td>
                <td class="figure">{show.power(meter.last?.power_w)}</td>
                <td class="figure">{show.register(meter.total_wh ?? meter.last?.energy_wh)}</td>
                <td>
                  <Ago at_s={meter.last?.at_s ?? null} now_s={now_s} />
                </td>
                <td>
                  <SuiteMark suite={meter.suite} />
                </td>
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
