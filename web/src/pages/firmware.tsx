// Firmware of meters: how far their updates are, and for administrators what begins one.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Update, type UpdateState, nameOf } from '../api';
import { Ago, Card, Empty, Failed, Loading, Tile } from '../parts/basics';
import { ImagesCard } from '../parts/images';
import { MeterFinder, NetworkTag } from '../parts/meter';
import { BeginUpdates } from '../parts/rollout';
import { Pieces, UpdateBadge, updateMeaning, useUpdates, useWithdraw } from '../parts/updates';
import * as show from '../format';
import { meterLink } from '../router';
import { type Resource, store, useLive, useNow, useStore } from '../store';
import { type Counts, FAILED, GROUPS, type Group, UNDER_WAY, countsOf, groupOf, inOrder, isUnderWay } from '../updates';
import { UPDATE_NAMES, calledIn, isLookedFor } from '../words';

const MORE = 50;

const GROUP_NAMES: Record<Group, string> = {
  'under-way': 'Under way',
  failed: 'Failed',
  runs: 'Updated',
  withdrawn: 'Withdrawn',
};

export function FirmwarePage({ administrator }: { administrator: boolean }): JSX.Element {
  const images = useLive(() => store.api.images(), [], () => false);
  const updates = useUpdates();
  return (
    <>
      <Updates found={updates} administrator={administrator} />
      {administrator && images.data !== null && (
        <BeginUpdates images={images.data} updates={updates.data ?? []} onBegun={updates.reload} />
      )}
      <ImagesCard found={images} administrator={administrator} />
    </>
  );
}

function Updates({ found, administrator }: { found: Resource<Update[]>; administrator: boolean }): JSX.Element {
  const { meters } = useStore();
  const { withdraw, error } = useWithdraw(found);
  const [wanted, setWanted] = useState('');
  const [network, setNetwork] = useState<number | null>(null);
  const [group, setGroup] = useState<Group | null>(null);
  const [most, setMost] = useState(MORE);
  const updates = found.data;

  if (updates === null || updates.length === 0) {
    return (
      <Card title="Updates">
        {found.error !== null && <Failed error={found.error} retry={found.reload} />}
        {updates === null ? (
          found.loading && <Loading what="the updates" />
        ) : (
          <Empty title="No updates yet">
            {administrator ? 'Add an image and choose the meters that are to have it.' : 'An administrator can begin some.'}
          </Empty>
        )}
      </Card>
    );
  }
  const named = inOrder(updates).map((update) => ({ update, called: calledIn(meters, nameOf(update)) }));
  const all = named.filter(
    ({ update, called }) =>
      (network === null || (update.network ?? 0) === network) && isLookedFor({ ...update, label: called }, wanted),
  );
  const shown = all.filter(({ update }) => group === null || groupOf(update) === group);
  return (
    <>
      <Tally counts={countsOf(updates)} all={updates.length} />
      <Card title="Updates">
        {found.error !== null && <Failed error={found.error} retry={found.reload} />}
        {error !== null && <Failed error={error} />}
        <div class="toolbar">
          <MeterFinder
            what="Find an update by the meter’s name or number"
            meters={updates}
            wanted={wanted}
            network={network}
            onChange={(text, of) => {
              setWanted(text);
              setNetwork(of);
              setMost(MORE);
            }}
          />
          <label class="field inline">
            <span class="hidden">Which updates</span>
            <select
              value={group ?? ''}
              onChange={(event) => {
                const value = event.currentTarget.value;
                setGroup(GROUPS.find((one) => one === value) ?? null);
                setMost(MORE);
              }}
            >
              <option value="">All updates ({show.count(all.length)})</option>
              {GROUPS.map((one) => (
                <option key={one} value={one}>
                  {GROUP_NAMES[one]} ({show.count(all.filter(({ update }) => groupOf(update) === one).length)})
                </option>
              ))}
            </select>
          </label>
        </div>
        {shown.length === 0 ? (
          <Empty title="No such update">Delete the text above, or choose others, to see all.</Empty>
        ) : (
          <UpdateTable updates={shown.slice(0, most)} administrator={administrator} withdraw={withdraw} />
        )}
        {shown.length > most && (
          <p class="more">
            <button type="button" onClick={() => setMost(most + 2 * MORE)}>
              Show more ({show.count(shown.length - most)} left)
            </button>
          </p>
        )}
      </Card>
    </>
  );
}

/** How many do what: groups in large, states beneath. */
function Tally({ counts, all }: { counts: Counts; all: number }): JSX.Element {
  const sum = (states: readonly UpdateState[]): number => states.reduce((so_far, state) => so_far + (counts[state] ?? 0), 0);
  const each = (states: readonly UpdateState[], none: string): string =>
    states
      .filter((state) => counts[state] !== undefined)
      .map((state) => `${show.count(counts[state] ?? 0)}\u00a0${UPDATE_NAMES[state].toLowerCase()}`)
      .join(', ') || none;
  return (
    <dl class="tiles">
      <Tile name="Updates under way" value={show.count(sum(UNDER_WAY))} note={each(UNDER_WAY, 'none')} />
      <Tile name="Meters updated" value={show.count(counts.runs ?? 0)} note={`of ${show.count(all)}`} />
      <Tile name="Updates failed" value={show.count(sum(FAILED))} note={each(FAILED, 'none')} />
      <Tile name="Updates withdrawn" value={show.count(counts.withdrawn ?? 0)} note={counts.withdrawn === undefined ? 'none' : 'taken back'} />
    </dl>
  );
}

interface TableProps {
  updates: readonly { update: Update; called: string }[];
  administrator: boolean;
  withdraw: (update: Update, called: string) => Promise<void>;
}

function UpdateTable({ updates, administrator, withdraw }: TableProps): JSX.Element {
  const now_s = useNow(5000);
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Updates">
      <table class="updates">
        <thead>
          <tr>
            <th scope="col">Meter</th>
            <th scope="col" class="figure roomy">
              Version
            </th>
            <th scope="col">State</th>
            <th scope="col" class="roomy">
              Changed
            </th>
            {administrator && (
              <th scope="col">
                <span class="hidden">Withdraw</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {updates.map(({ update, called }) => (
            <tr key={nameOf(update)}>
              <th scope="row">
                <a href={meterLink(nameOf(update))}>{called}</a> <NetworkTag of={update} />
                <span class="quiet narrow">version {update.version}</span>
              </th>
              <td class="figure roomy">{update.version}</td>
              <td class="update-state">
                <UpdateBadge state={update.state} />{' '}
                <span class={groupOf(update) === 'failed' ? 'quiet' : 'quiet roomy'}>{updateMeaning(update)}</span>
                <Pieces update={update} called={called} now_s={now_s} />
              </td>
              <td class="roomy since">
                <Ago at_s={update.changed_s} now_s={now_s} />
                <span class="quiet"> begun by {update.by}</span>
              </td>
              {administrator && (
                <td class="figure">
                  {isUnderWay(update) && (
                    <button
                      type="button"
                      class="small"
                      onClick={() => void withdraw(update, called)}
                      aria-label={`Withdraw the update of ${called}`}
                    >
                      Withdraw
                    </button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
