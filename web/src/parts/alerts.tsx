// A list of alerts, to be acknowledged by an administrator.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type Alert, type Meter, type MeterName, whose } from '../api';
import { meterLink } from '../router';
import { store } from '../store';
import { calledIn, causeName, isFirstStart, isSevere } from '../words';
import { Ago, At, Badge, Failed } from './basics';
import { NetworkTag } from './meter';

interface Props {
  alerts: readonly Alert[];
  meters: ReadonlyMap<MeterName, Meter>;
  /** Whether each says whose it is. */
  named: boolean;
  administrator: boolean;
  now_s: number;
  onChanged: (alert: Alert) => void;
}

export function AlertList({ alerts, meters, named, administrator, now_s, onChanged }: Props): JSX.Element {
  const [busy, setBusy] = useState<number | null>(null);
  const [error, setError] = useState<ApiError | null>(null);

  const acknowledge = async (alert: Alert): Promise<void> => {
    setBusy(alert.id);
    setError(null);
    try {
      onChanged(await store.api.acknowledge(alert.id));
      store.say(`Acknowledged: ${causeName(alert.cause)}.`);
      void store.loadAlerts();
      const meter = whose(alert);
      if (meter !== null) void store.loadMeter(meter);
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    } finally {
      setBusy(null);
    }
  };

  return (
    <>
      {error !== null && <Failed error={error} />}
      <ul class="alerts">
        {alerts.map((alert) => {
          const open = alert.acknowledged_s === null;
          const meter = whose(alert);
          const first = !open && isFirstStart(alert);
          return (
            <li key={alert.id} class={open ? 'open' : ''}>
              <div class="alert-main">
                <p class="alert-title">
                  <Badge tone={!open ? 'plain' : isSevere(alert.cause) ? 'bad' : 'warn'}>{first ? 'First start' : causeName(alert.cause)}</Badge>
                  {named &&
                    (meter === null ? (
                      <span>Collector</span>
                    ) : (
                      <>
                        <a href={meterLink(meter)}>{calledIn(meters, meter)}</a>
                        <NetworkTag of={alert} />
                      </>
                    ))}
                  {alert.detail !== '' && !first && <span>{alert.detail}</span>}
                </p>
                <p class="quiet">
                  <At at_s={alert.at_s} /> (<Ago at_s={alert.at_s} now_s={now_s} />)
                  {!open && !first && (
                    <>
                      {' · '}acknowledged{alert.acknowledged_by !== null && ` by ${alert.acknowledged_by}`},{' '}
                      <At at_s={alert.acknowledged_s} />
                    </>
                  )}
                </p>
              </div>
              {open && administrator && (
                <button
                  type="button"
                  class="small"
                  disabled={busy === alert.id}
                  onClick={() => void acknowledge(alert)}
                  aria-label={`Acknowledge: ${causeName(alert.cause)}${named && meter !== null ? `, ${calledIn(meters, meter)}` : ''}`}
                >
                  Acknowledge
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
