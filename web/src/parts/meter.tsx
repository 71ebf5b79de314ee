// A meter's state in small: online or not, how well it is heard.

import type { JSX } from 'preact';
import type { Meter, OfMeter } from '../api';
import * as show from '../format';
import { isOnline } from '../state';
import { useStore } from '../store';
import { strengthBars, strengthWord } from '../words';
import { Badge } from './basics';

export function OnlineBadge({ meter, now_s }: { meter: Meter; now_s: number }): JSX.Element {
  if (meter.revoked) return <Badge tone="plain">Revoked</Badge>;
  if (meter.heard_s === null) return <Badge tone="plain">Never heard</Badge>;
  return isOnline(meter, now_s) ? <Badge tone="good">Online</Badge> : <Badge tone="bad">Offline</Badge>;
}

/** Of which network something is, where there are several. */
export function NetworkTag({ of }: { of: Pick<OfMeter, 'network'> }): JSX.Element | null {
  const { severalNetworks } = useStore();
  return severalNetworks ? <Badge tone="plain">Network {of.network ?? 0}</Badge> : null;
}

export function AlertsBadge({ meter }: { meter: Meter }): JSX.Element | null {
  return meter.open_alerts === 0 ? null : <Badge tone="warn">{show.counted(meter.open_alerts, 'alert')}</Badge>;
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
