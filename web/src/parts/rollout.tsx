// Beginning updates, for an administrator: a version, and the meters that are to have it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type Image, MOST_UPDATES, type Meter, type MeterName, type Update, byName, nameOf } from '../api';
import * as show from '../format';
import { store, useStore } from '../store';
import { type Release, isUnderWay, releasesOf, slotsOf } from '../updates';
import { isLookedFor, meterName, releaseName } from '../words';
import { Card, Confirm, Empty, Failed, Segments } from './basics';
import { MeterFinder, NetworkTag } from './meter';
import { UpdateBadge } from './updates';

const MORE = 120;
type Which = 'all' | 'without';

interface Props {
  images: readonly Image[];
  updates: readonly Update[];
  onBegun: () => void;
}

export function BeginUpdates({ images, updates, onBegun }: Props): JSX.Element | null {
  const { meters } = useStore();
  const [key, setKey] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<MeterName>>(new Set());
  const [asking, setAsking] = useState<Release | null>(null);
  const [busy, setBusy] = useState(false);
  const [begun, setBegun] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const latest = new Map(updates.map((update) => [nameOf(update), update]));
  const releases = releasesOf(images);
  // The newest one, until another is chosen; also where the one that was chosen is gone.
  const release = releases.find((one) => one.key === key) ?? releases[0];
  const takers = [...meters.values()].filter((meter) => !meter.revoked && chosen.has(nameOf(meter))).sort(byName);
  const called = show.counted(takers.length, 'meter');

  const change = (next: ReadonlySet<MeterName>): void => {
    setChosen(next);
    setBegun(null);
    setError(null);
  };
  const begin = async (of: Release): Promise<void> => {
    setAsking(null);
    setBusy(true);
    setError(null);
    try {
      const made = await store.api.beginUpdates(of.images[0].digest, takers);
      const said = `${show.counted(made.length, 'update')} to version ${of.version} ${made.length === 1 ? 'has' : 'have'} begun.`;
      change(new Set());
      setBegun(said);
      store.say(said);
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    } finally {
      setBusy(false);
    }
    onBegun();
  };

  if (release === undefined) return null;
  const replaced = takers.filter((meter) => {
    const update = latest.get(nameOf(meter));
    return update !== undefined && isUnderWay(update);
  }).length;
  return (
    <Card title="Update meters">
      <form
        class="rollout"
        onSubmit={(event) => {
          event.preventDefault();
          setAsking(release);
        }}
      >
        <label class="field">
          <span>Image</span>
          <select value={release.key} onChange={(event) => setKey(event.currentTarget.value)}>
            {releases.map((one) => (
              <option key={one.key} value={one.key}>
                {releaseName(one)}
              </option>
            ))}
          </select>
          <span class="quiet">
            {slotsOf(release).length === 1
              ? 'Meters that run from this slot refuse it, until the image for their other slot is added, too.'
              : 'Each meter gets the image for the slot that it does not run from.'}
          </span>
        </label>
        <MeterChoice meters={meters} latest={latest} version={release.version} chosen={chosen} onChange={change} />
        <div class="buttons">
          <p class="quiet" aria-live="polite">
            {takers.length > MOST_UPDATES
              ? `${called} chosen; at most ${show.count(MOST_UPDATES)} at once.`
              : takers.length === 0
                ? 'No meter chosen.'
                : `${called} chosen.`}
          </p>
          <button type="submit" class="primary" disabled={busy || takers.length === 0 || takers.length > MOST_UPDATES}>
            {busy ? 'Beginning …' : 'Update …'}
          </button>
        </div>
        {begun !== null && <p class="note good">{begun}</p>}
        {error !== null && <Failed error={error} />}
      </form>
      {asking !== null && (
        <Confirm
          title={`Update ${called} to version ${asking.version}?`}
          confirm="Update"
          onCancel={() => setAsking(null)}
          onConfirm={() => void begin(asking)}
        >
          <p>
            {releaseName(asking)}. The pieces go out between readings, to a few meters at once. Each then starts with it, and goes back to
            its former firmware where the new one does not report in. A meter that has reported in takes no older version any more.
          </p>
          {replaced > 0 && <p>{show.counted(replaced, 'update')} under way {replaced === 1 ? 'ends' : 'end'} with that.</p>}
        </Confirm>
      )}
    </Card>
  );
}

interface ChoiceProps {
  meters: ReadonlyMap<MeterName, Meter>;
  /** Each meter's update, if there is one. */
  latest: ReadonlyMap<MeterName, Update>;
  version: number;
  chosen: ReadonlySet<MeterName>;
  onChange: (chosen: ReadonlySet<MeterName>) => void;
}

function MeterChoice({ meters, latest, version, chosen, onChange }: ChoiceProps): JSX.Element {
  const [wanted, setWanted] = useState('');
  const [network, setNetwork] = useState<number | null>(null);
  const [which, setWhich] = useState<Which>('all');
  const [most, setMost] = useState(MORE);
  const takers = [...meters.values()].filter((meter) => !meter.revoked).sort(byName);
  const has = (meter: Meter): boolean => {
    const update = latest.get(nameOf(meter));
    return update !== undefined && update.version >= version && (update.state === 'runs' || isUnderWay(update));
  };
  const found = takers.filter(
    (meter) => (network === null || (meter.network ?? 0) === network) && isLookedFor(meter, wanted) && (which === 'all' || !has(meter)),
  );
  const put = (some: readonly Meter[], isChosen: boolean): void => {
    const next = new Set(chosen);
    for (const meter of some) {
      if (isChosen) next.add(nameOf(meter));
      else next.delete(nameOf(meter));
    }
    onChange(next);
  };

  return (
    <fieldset class="choice">
      <legend>Meters</legend>
      <div class="toolbar">
        <MeterFinder
          what="Find meters to choose by name or number"
          meters={takers}
          wanted={wanted}
          network={network}
          onChange={(text, of) => {
            setWanted(text);
            setNetwork(of);
            setMost(MORE);
          }}
        />
        <Segments
          name="Which meters"
          options={[
            { value: 'all', name: 'All' },
            { value: 'without', name: `Without version ${version}` },
          ]}
          value={which}
          onChange={setWhich}
        />
        <div class="pair">
          <button type="button" class="small" disabled={found.length === 0} onClick={() => put(found, true)}>
            Choose {wanted === '' && which === 'all' && network === null ? 'all' : 'these'} {show.count(found.length)}
          </button>
          <button type="button" class="small" disabled={chosen.size === 0} onClick={() => onChange(new Set())}>
            Choose none
          </button>
        </div>
      </div>
      {found.length === 0 ? (
        <Empty title={takers.length === 0 ? 'No meters yet' : 'No such meter'} />
      ) : (
        <ul class="choices" tabIndex={0} aria-label="Meters to choose from">
          {found.slice(0, most).map((meter) => {
            const update = latest.get(nameOf(meter));
            return (
              <li key={nameOf(meter)}>
                <label>
                  <input
                    type="checkbox"
                    checked={chosen.has(nameOf(meter))}
                    onChange={(event) => put([meter], event.currentTarget.checked)}
                  />
                  <span class="choice-name">{meterName(meter)}</span>
                  <NetworkTag of={meter} />
                  {update !== undefined && (
                    <span class="choice-update">
                      <span class="quiet">{update.version}</span> <UpdateBadge state={update.state} />
                    </span>
                  )}
                </label>
              </li>
            );
          })}
          {found.length > most && (
            <li>
              <button type="button" class="small" onClick={() => setMost(most + MORE)}>
                Show more ({show.count(found.length - most)} left)
              </button>
            </li>
          )}
        </ul>
      )}
    </fieldset>
  );
}
