// Commands to a meter: what was asked and how far it is; for an administrator the forms that ask.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type Command, type CommandState, type Meter, type Order, nameOf } from '../api';
import { store, useEvents, useLoad } from '../store';
import { STATE_MEANINGS, STATE_NAMES, meterName, orderName } from '../words';
import { Answer } from './answer';
import { At, Badge, Card, Empty, Failed, Loading, type Tone } from './basics';
import { OrderForms } from './orders';

const SHOWN = 20;

const TONES: Record<CommandState, Tone> = {
  waiting: 'plain',
  sent: 'busy',
  done: 'good',
  refused: 'bad',
  withdrawn: 'plain',
};

export function CommandsCard({ meter, administrator }: { meter: Meter; administrator: boolean }): JSX.Element {
  const name = nameOf(meter);
  const found = useLoad(() => store.api.commands(name, SHOWN), [name]);
  const [error, setError] = useState<ApiError | null>(null);
  const commands = found.data;

  useEvents(
    (event) => {
      if (event.event === 'resync') found.reload();
      if (event.event !== 'command' || nameOf(event) !== name) return;
      const known = commands?.find((one) => one.id === event.id);
      if (known !== undefined && commands !== null) {
        if (known.state !== event.state) store.say(`${orderName(known.command)}: ${STATE_NAMES[event.state]}.`);
        found.put(commands.map((one) => (one.id === event.id ? { ...one, state: event.state } : one)));
      }
      // The event has neither answer nor attempts.
      found.reload();
    },
    [name, commands],
  );

  const send = async (order: Order): Promise<boolean> => {
    setError(null);
    try {
      const made = await store.api.command(name, order);
      found.put([made, ...(commands ?? []).filter((one) => one.id !== made.id)]);
      store.say(`${orderName(order)}: waiting for ${meterName(meter)}.`);
      return true;
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
      return false;
    }
  };
  const withdraw = async (command: Command): Promise<void> => {
    setError(null);
    try {
      const gone = await store.api.withdraw(name, command.id);
      if (commands !== null) found.put(commands.map((one) => (one.id === gone.id ? gone : one)));
      store.say(`${orderName(command.command)}: withdrawn.`);
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
      found.reload();
    }
  };

  return (
    <Card title="Commands">
      {administrator &&
        (meter.revoked ? (
          <p class="quiet">This meter is revoked: it takes no commands.</p>
        ) : (
          <OrderForms meter={meter} send={send} />
        ))}
      {error !== null && <Failed error={error} />}
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {commands === null ? (
        found.loading && <Loading what="the commands" />
      ) : commands.length === 0 ? (
        <Empty title="No commands yet">
          {administrator ? 'Choose one above. It goes out when the meter reports next.' : 'An administrator can send some.'}
        </Empty>
      ) : (
        <ul class="commands" aria-label="Commands, newest first">
          {commands.map((command) => (
            <li key={command.id}>
              <div class="command-head">
                <Badge tone={TONES[command.state]}>{STATE_NAMES[command.state]}</Badge>
                <strong>{orderName(command.command)}</strong>
                {administrator && (command.state === 'waiting' || command.state === 'sent') && (
                  <button
                    type="button"
                    class="small"
                    onClick={() => void withdraw(command)}
                    aria-label={`Withdraw: ${orderName(command.command)}`}
                  >
                    Withdraw
                  </button>
                )}
              </div>
              <p class="quiet">
                <At at_s={command.created_s} />, by {command.by} · {STATE_MEANINGS[command.state]}
                {command.attempts > 1 && ` · sent ${command.attempts} times`}
                {command.ended_s !== null && (
                  <>
                    {' · '}
                    <At at_s={command.ended_s} />
                  </>
                )}
              </p>
              <Answer answer={command.answer} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
