// Other makers' meters, by wireless M-Bus, and what of them anybody may have sent.

import type { JSX } from 'preact';
import type { OtherMeter } from '../api';
import * as show from '../format';
import { otherMeterLink } from '../router';
import { store, useLive } from '../store';
import { Ago, Badge, Card, Failed } from './basics';

/** Nothing where no telegram was ever stored. */
export function OtherMetersCard({ now_s }: { now_s: number }): JSX.Element | null {
  const found = useLive(
    () => store.api.otherMeters(),
    [],
    ({ event }) => event === 'telegram' || event === 'mbus-meter-removed',
  );
  if (found.error !== null) return <Failed error={found.error} retry={found.reload} />;
  if (found.data === null || found.data.length === 0) return null;
  return (
    <Card title="Other makers’ meters">
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Other makers’ meters">
        <table>
          <thead>
            <tr>
              <th scope="col">Meter</th>
              <th scope="col">Last telegram</th>
              <th scope="col" class="figure">
                Telegrams
              </th>
              <th scope="col">Trust</th>
              <th scope="col" class="figure">
                Refused
              </th>
            </tr>
          </thead>
          <tbody>
            {found.data.map((meter) => (
              <tr key={meter.meter}>
                <th scope="row">
                  <a href={otherMeterLink(meter.meter)}>{meter.meter}</a>
                </th>
                <td>
                  <Ago at_s={meter.heard_s} now_s={now_s} />
                </td>
                <td class="figure">{show.count(meter.telegrams)}</td>
                <td>
                  <TrustBadge meter={meter} />
                </td>
                <td class="figure">{show.count(meter.refused)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function TrustBadge({ meter }: { meter: OtherMeter }): JSX.Element {
  if (meter.unauthenticated === 0) return meter.telegrams === 0 ? <span>–</span> : <Badge tone="good">Authenticated</Badge>;
  const all = meter.unauthenticated === meter.telegrams;
  return <Badge tone="warn">{all ? 'Not authenticated' : `${show.count(meter.unauthenticated)} not authenticated`}</Badge>;
}
