// What somebody has to know of, newest first.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type Alert, type MeterName, byName, nameOf } from '../api';
import { AlertList } from '../parts/alerts';
import { Card, Empty, Failed, Loading, Segments } from '../parts/basics';
import { store, useEvents, useLoad, useNow, useStore } from '../store';
import { meterName } from '../words';

const PAGE = 50;

export function AlertsPage(): JSX.Element {
  const { meters, session } = useStore();
  const now_s = useNow(5000);
  const [open, setOpen] = useState(true);
  const [meter, setMeter] = useState<MeterName | undefined>(undefined);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const query = { ...(meter === undefined ? {} : { meter }), open, limit: PAGE };
  const found = useLoad(() => store.api.alerts(query), [open, meter ?? null]);
  const [ended, setEnded] = useState('');
  const key = `${open} ${meter ?? ''}`;
  useEvents(
    (event) => {
      if (event.event === 'alert' || event.event === 'resync') found.reload();
    },
    [open, meter],
  );

  const alerts = found.data;
  const more = async (): Promise<void> => {
    const last = alerts?.[alerts.length - 1];
    if (alerts === null || last === undefined) return;
    setFailed(null);
    try {
      const older = await store.api.alerts({ ...query, before: last.id });
      if (older.length < PAGE) setEnded(key);
      found.put([...alerts, ...older]);
    } catch (error) {
      if (error instanceof ApiError) setFailed(error);
    }
  };
  const changed = (alert: Alert): void => {
    if (alerts !== null) found.put(alerts.map((one) => (one.id === alert.id ? alert : one)));
  };

  return (
    <Card
      title={open ? 'Open alerts' : 'All alerts'}
      aside={
        <div class="filters">
          <Segments
            name="Which"
            options={[
              { value: 'open', name: 'Open' },
              { value: 'all', name: 'All' },
            ]}
            value={open ? 'open' : 'all'}
            onChange={(value) => setOpen(value === 'open')}
          />
          <label class="field inline">
            <span class="hidden">Of meter</span>
            <select
              value={meter ?? ''}
              onChange={(event) => {
                const value = event.currentTarget.value;
                setMeter(value === '' ? undefined : (value as MeterName));
              }}
            >
              <option value="">All meters</option>
              {[...meters.values()]
                .sort(byName)
                .map((one) => (
                  <option key={nameOf(one)} value={nameOf(one)}>
                    {meterName(one)}
                  </option>
                ))}
            </select>
          </label>
        </div>
      }
    >
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {alerts === null ? (
        found.loading && <Loading what="the alerts" />
      ) : alerts.length === 0 ? (
        <Empty title={open ? 'No open alerts' : 'No alerts'}>
          {open ? 'Everything is acknowledged. “All” shows what was before.' : 'Nothing has happened yet.'}
        </Empty>
      ) : (
        <>
          <AlertList
            alerts={alerts}
            meters={meters}
            named
            administrator={session?.role === 'administrator'}
            now_s={now_s}
            onChanged={changed}
          />
          {failed !== null && <Failed error={failed} />}
          {alerts.length >= PAGE && ended !== key && (
            <p class="more">
              <button type="button" onClick={() => void more()}>
                Show older
              </button>
            </p>
          )}
        </>
      )}
    </Card>
  );
}
