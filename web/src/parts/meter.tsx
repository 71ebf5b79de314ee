// A meter's state in small: online or not, how well it is heard.

import type { JSX } from 'preact';
import type { Meter, OfMeter, Suite } from '../api';
import * as show from '../format';
import { isOnline } from '../state';
import { useStore } from '../store';
import { SUITE_NAMES, strengthBars, strengthWord } from '../words';
import { Badge } from './basics';

export function OnlineBadge({ meter, now_s }: { meter: Meter; now_s: number }): JSX.Element {
  if (meter.revoked) return <Badge tone="plain">Revoked</Badge>;
  if (meter.heard_s === null) return <Badge tone="plain">Never heard</Badge>;
  return isOnline(meter, now_s) ? <Badge tone="good">Online</Badge> : <Badge tone="bad">Offline</Badge>;
}

/** How a meter seals: a warning where it does not. */
export function SuiteMark({ suite }: { suite: Suite }): JSX.Element {
  const name = SUITE_NAMES[suite] ?? suite;
  if (suite !== 'none') return <span>{name}</span>;
  return (
    <Badge tone="warn">
      <svg viewBox="0 0 16 16" class="lock" aria-hidden="true">
        <path d="M5 7V4.5a3 3 0 0 1 5.8-1.1" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />
        <rect x="3" y="7" width="10" height="7.5" rx="1.4" fill="currentColor" />
      </svg>
      {name}
    </Badge>
  );
}

/** Of which network something is, where there are several. */
export function NetworkTag({ of }: { of: Pick<OfMeter, 'network'> }): JSX.Element | null {
  const { severalNetworks } = useStore();
  return severalNetworks ? <Badge tone="plain">Network {of.network ?? 0}</Badge> : null;
}

export function AlertsBadge({ meter }: { meter: Meter }): JSX.Element | null {
  return meter.open_alerts === 0 ? null : <Badge tone="warn">{show.counted(meter.open_alerts, 'alert')}</Badge>;
}

interface FinderProps {
  /** What the text does, for who does not see where it stands. */
  what: string;
  /** Of which networks they are, the choice is. */
  meters: readonly Pick<OfMeter, 'network'>[];
  wanted: string;
  /** null: all. */
  network: number | null;
  onChange: (wanted: string, network: number | null) => void;
}

/** What of a list of meters is shown: by name or number, and of which network, where there are several. */
export function MeterFinder({ what, meters, wanted, network, onChange }: FinderProps): JSX.Element {
  const { severalNetworks } = useStore();
  const networks = [...new Set(meters.map((meter) => meter.network ?? 0))].sort((a, b) => a - b);
  return (
    <>
      <label class="field inline">
        <span class="hidden">{what}</span>
        <input
          type="search"
          placeholder="Find by name or number"
          value={wanted}
          onInput={(event) => onChange(event.currentTarget.value, network)}
        />
      </label>
      {severalNetworks && (
        <label class="field inline">
          <span class="hidden">Of network</span>
          <select
            value={network === null ? '' : String(network)}
            onChange={(event) => {
              const value = event.currentTarget.value;
              onChange(wanted, value === '' ? null : Number(value));
            }}
          >
            <option value="">All networks</option>
            {networks.map((one) => (
              <option key={one} value={String(one)}>
                Network {one}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

export function Strength({ dbm }: { dbm: number | null }): JSX.Element {
  const bars = strengthBars(dbm);
  return (
    <span class="strength">
      <svg viewBox="0 0 16 12" class="bars" aria-hidden="true">
        {[0, 1, 2, 3].map((i) => (
          <rect key={i} x={i * 4} y={9 - i * 3} width="3" height={3 + i * 3} rx="0.5" class={i < bars ? 'on' : 'off'} />
        ))}
      </svg>
      {show.strength(dbm)}
      {dbm !== null && <span class="quiet"> {strengthWord(dbm)}</span>}
    </span>
  );
}
