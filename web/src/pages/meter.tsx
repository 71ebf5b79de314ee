// One meter: its power, what it used, how it is heard, what its sealing costs, and commands.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, type Meter, type MeterName, nameOf, whose } from '../api';
import { AlertList } from '../parts/alerts';
import { Badge, Card, Ago, Empty, Failed, Figure, Loading, Tile } from '../parts/basics';
import { CommandsCard } from '../parts/commands';
import { ConsumptionCard } from '../parts/consumption';
import { CostsCard } from '../parts/costs';
import { NetworkTag, OnlineBadge, Strength, SuiteMark } from '../parts/meter';
import { PowerCard } from '../parts/power';
import { MeterUpdate } from '../parts/updates';
import * as show from '../format';
import { store, useEvents, useLoad, useNow, useStore } from '../store';
import { isOnline } from '../state';

const REFRESH_MS = 15_000;
const ALERTS = 5;

export function MeterPage({ id }: { id: MeterName }): JSX.Element {
  const { meters, metersLoaded, session } = useStore();
  const now_s = useNow();
  const administrator = session?.role === 'administrator';
  const meter = meters.get(id);

  useEffect(() => {
    // The counts of the link come with no event.
    const timer = setInterval(() => void store.loadMeter(id), REFRESH_MS);
    return () => clearInterval(timer);
  }, [id]);

  if (meter === undefined) {
    if (metersLoaded === 'loading') return <Loading what="the meter" />;
    if (metersLoaded !== 'ready') return <Failed error={metersLoaded} retry={() => void store.loadMeters()} />;
    return (
      <div class="card">
        <Empty title={`There is no meter ${id}`}>
          It may have been taken out. <a href="#/">All meters</a> are on the overview.
        </Empty>
      </div>
    );
  }
  const online = isOnline(meter, now_s);
  return (
    <>
      <div class="meter-title">
        <NetworkTag of={meter} />
        <OnlineBadge meter={meter} now_s={now_s} />
        <span class="quiet">
          {meter.label.trim() !== '' && `Meter ${nameOf(meter)} · `}epoch {meter.epoch} · every {show.span(meter.interval_s)} ·{' '}
          <SuiteMark suite={meter.suite} />
        </span>
        {administrator && <Rename meter={meter} />}
      </div>
      <dl class="tiles">
        <Tile
          name={online || meter.last === null ? 'Power now' : 'Power when last heard'}
          value={<Figure parts={show.powerParts(meter.last?.power_w)} />}
          note={<Ago at_s={meter.last?.at_s ?? null} now_s={now_s} />}
        />
        <Tile name="Register" value={<Figure parts={show.registerParts(meter.total_wh ?? meter.last?.energy_wh)} />} note={registerNote(meter)} />
        <Tile
          name="Signal"
          value={show.strength(meter.link.rssi_dbm)}
          note={
            meter.heard_s === null ? (
              'never heard'
            ) : (
              <>
                heard <Ago at_s={meter.heard_s} now_s={now_s} />
              </>
            )
          }
        />
        <Tile
          name="Open alerts"
          value={show.count(meter.open_alerts)}
          note={
            meter.waiting_commands === 0 ? 'no command waits' : `${show.counted(meter.waiting_commands, 'command')} waiting`
          }
        />
      </dl>
      <PowerCard meter={meter} />
      <ConsumptionCard title="Consumption" meters={meters} meter={id} />
      <div class="columns">
        <LinkCard meter={meter} />
        <CostsCard meter={meter} />
      </div>
      <MeterUpdate key={`update ${id}`} meter={meter} administrator={administrator} />
      <AlertsCard meter={meter} meters={meters} administrator={administrator} />
      <CommandsCard key={id} meter={meter} administrator={administrator} />
    </>
  );
}

/** Since when the register's figure counts; the meter's own says no more than since its last start. */
function registerNote({ total_wh, last }: Meter): string {
  if (typeof total_wh !== 'number') return 'energy since its last start';
  const restarted = last !== null && Math.abs(total_wh - last.energy_wh) >= 0.05;
  return `energy since its first start${restarted ? `; ${show.register(last.energy_wh)} since the last` : ''}`;
}

function Rename({ meter }: { meter: Meter }): JSX.Element {
  const [open, setOpen] = useState(false);
  const [label, setLabel] = useState(meter.label);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => setLabel(meter.label), [meter.label]);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      store.putMeter(await store.api.rename(nameOf(meter), label.trim()));
      store.say('Renamed.');
      setOpen(false);
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    }
  };
  if (!open) {
    return (
      <button type="button" class="small" onClick={() => setOpen(true)}>
        Rename
      </button>
    );
  }
  return (
    <form class="rename" onSubmit={(event) => void submit(event)}>
      <label class="field inline">
        <span class="hidden">Name of meter {nameOf(meter)}</span>
        <input
          maxLength={64}
          value={label}
          ref={(input) => {
            if (input !== null && document.activeElement?.tagName === 'BUTTON') input.focus();
          }}
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="small primary">
        Save
      </button>
      <button type="button" class="small" onClick={() => setOpen(false)}>
        Cancel
      </button>
      {error !== null && <Failed error={error} />}
    </form>
  );
}

function LinkCard({ meter }: { meter: Meter }): JSX.Element {
  const { link } = meter;
  return (
    <Card title="Link quality">
      <dl class="facts">
        <Fact name="Signal" value={<Strength dbm={link.rssi_dbm} />} what="of the last packet" />
        <Fact name="Reports" value={show.count(link.reports)} what="taken and stored" />
        <Fact
          name="Repeats"
          value={`${show.count(link.repeats)}${link.reports > 0 ? ` (${show.percent(link.repeats, link.reports)})` : ''}`}
          what="came again, because an acknowledgement got lost"
        />
        <Fact
          name="Refused"
          value={link.refused === 0 ? '0' : <Badge tone="warn">{show.count(link.refused)}</Badge>}
          what="packets in its name that were not authentic"
        />
        <Fact
          name="Lost"
          value={link.lost === 0 ? '0' : <Badge tone="bad">{show.count(link.lost)}</Badge>}
          what="readings the meter had no room to keep"
        />
      </dl>
    </Card>
  );
}

function Fact({ name, value, what }: { name: string; value: JSX.Element | string; what: string }): JSX.Element {
  return (
    <div>
      <dt>
        {name}
        <span class="quiet">{what}</span>
      </dt>
      <dd>{value}</dd>
    </div>
  );
}

interface AlertsProps {
  meter: Meter;
  meters: ReadonlyMap<MeterName, Meter>;
  administrator: boolean;
}

function AlertsCard({ meter, meters, administrator }: AlertsProps): JSX.Element {
  const name = nameOf(meter);
  const found = useLoad(() => store.api.alerts({ meter: name, limit: ALERTS }), [name]);
  const now_s = useNow(5000);
  useEvents(
    (event) => {
      if (event.event === 'resync' || (event.event === 'alert' && whose(event) === name)) found.reload();
    },
    [name],
  );
  const alerts = found.data;
  return (
    <Card title="Alerts" aside={<a href="#/alerts">All alerts</a>}>
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {alerts === null ? (
        found.loading && <Loading what="the alerts" />
      ) : alerts.length === 0 ? (
        <Empty title="No alerts">Nothing has happened to this meter.</Empty>
      ) : (
        <AlertList
          alerts={alerts}
          meters={meters}
          named={false}
          administrator={administrator}
          now_s={now_s}
          onChanged={(alert) => found.put(alerts.map((one) => (one.id === alert.id ? alert : one)))}
        />
      )}
    </Card>
  );
}
