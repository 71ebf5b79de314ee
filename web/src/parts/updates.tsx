// Updates of firmware: what a meter does with an image, how far it is, how long it takes yet.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, type Meter, type Update, type UpdateState, nameOf } from '../api';
import * as show from '../format';
import { type Resource, store, useLive, useNow } from '../store';
import { Paces, isUnderWay } from '../updates';
import { IMAGE_REFUSALS, UPDATE_MEANINGS, UPDATE_NAMES, meterName } from '../words';
import { Ago, At, Badge, Card, Failed, type Tone } from './basics';

const TONES: Record<UpdateState, Tone> = {
  waiting: 'plain',
  asking: 'busy',
  sending: 'busy',
  trying: 'warn',
  runs: 'good',
  refused: 'bad',
  'went-back': 'bad',
  'not-possible': 'bad',
  withdrawn: 'plain',
};

/** What was seen of all updates since the dashboard was opened, on whatever page. */
const paces = new Paces();

/** Updates of all meters, or those that a meter's page needs; again when they go on. */
export function useUpdates(of?: Meter): Resource<Update[]> {
  const name = of === undefined ? null : nameOf(of);
  return useLive(
    async () => {
      const updates = await store.api.updates(of === undefined ? undefined : (of.network ?? 0));
      paces.note(updates, store.now_s());
      return updates;
    },
    [name],
    (event) => event.event === 'update' && (name === null || nameOf(event) === name),
  );
}

interface Withdrawing {
  withdraw: (update: Update, called: string) => Promise<void>;
  error: ApiError | null;
}

export function useWithdraw({ data, put, reload }: Resource<Update[]>): Withdrawing {
  const [error, setError] = useState<ApiError | null>(null);
  const withdraw = async (update: Update, called: string): Promise<void> => {
    setError(null);
    try {
      const gone = await store.api.withdrawUpdate(nameOf(update));
      store.say(`The update of ${called} is withdrawn.`);
      if (data !== null) put(data.map((one) => (nameOf(one) === nameOf(gone) ? gone : one)));
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
      reload();
    }
  };
  return { withdraw, error };
}

export function UpdateBadge({ state }: { state: UpdateState }): JSX.Element {
  return <Badge tone={TONES[state]}>{UPDATE_NAMES[state]}</Badge>;
}

/** Why it stands as it does, in words. */
export function updateMeaning({ state, refusal }: Pick<Update, 'state' | 'refusal'>): string {
  return state === 'refused' && refusal !== null ? IMAGE_REFUSALS[refusal] : UPDATE_MEANINGS[state];
}

/** The pieces that the meter has: a bar while it goes on, and figures. */
export function Pieces({ update, called, now_s }: { update: Update; called: string; now_s: number }): JSX.Element | null {
  const { pieces, of, state } = update;
  const goesOn = isUnderWay(update);
  // Of a meter that was not told yet nothing is to be seen, nor of one that has it and runs it.
  if (of === 0 || state === 'runs' || (pieces === 0 && state !== 'sending')) return null;
  const figures = `${show.count(pieces)} of ${show.counted(of, 'piece')}`;
  if (!goesOn) return <span class="quiet">{`ended at ${figures}`}</span>;
  const left_s = paces.remaining_s(update, now_s);
  // What is not whole is not said to be 100 %.
  const share = show.percent(Math.floor((100 * pieces) / of), 100);
  return (
    <span class="pieces">
      <progress max={of} value={pieces} aria-label={`Pieces that ${called} has`} />
      <span class="quiet">
        {share}
        {' · '}
        {figures}
        {left_s !== null && ` · about ${show.roughly(left_s)} left`}
      </span>
    </span>
  );
}

/** On a meter's own page: its update, if there is one. */
export function MeterUpdate({ meter, administrator }: { meter: Meter; administrator: boolean }): JSX.Element | null {
  const name = nameOf(meter);
  const found = useUpdates(meter);
  const { withdraw, error } = useWithdraw(found);
  const now_s = useNow(5000);
  const update = found.data?.find((one) => nameOf(one) === name);
  const [told, setTold] = useState(update?.state);
  useEffect(() => {
    if (update === undefined || update.state === told) return;
    if (told !== undefined && update.state !== 'withdrawn') store.say(`Firmware version ${update.version}: ${UPDATE_NAMES[update.state]}.`);
    setTold(update.state);
  }, [update?.state]);

  if (update === undefined && found.error === null) return null;
  return (
    <Card title="Firmware" aside={<a href="#/firmware">All updates</a>}>
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {error !== null && <Failed error={error} />}
      {update !== undefined && (
        <div class="update">
          <div class="command-head">
            <UpdateBadge state={update.state} />
            <strong>Version {update.version}</strong>
            {administrator && isUnderWay(update) && (
              <button type="button" class="small" onClick={() => void withdraw(update, meterName(meter))} aria-label="Withdraw the update">
                Withdraw
              </button>
            )}
          </div>
          <Pieces update={update} called={meterName(meter)} now_s={now_s} />
          <p class="quiet">
            {updateMeaning(update)} · begun <At at_s={update.created_s} /> by {update.by} · changed <Ago at_s={update.changed_s} now_s={now_s} />
          </p>
        </div>
      )}
    </Card>
  );
}
