// Who may come in, and what administrators did.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type NewToken, type Role, type Token } from '../api';
import { Ago, At, Badge, Card, Confirm, Empty, Failed, Loading } from '../parts/basics';
import { Secret } from '../parts/secret';
import { store, useLoad, useNow } from '../store';

export function Administration(): JSX.Element {
  const [round, setRound] = useState(0);
  return (
    <>
      <Tokens onChanged={() => setRound(round + 1)} />
      <Actions round={round} />
    </>
  );
}

function Tokens({ onChanged }: { onChanged: () => void }): JSX.Element {
  const found = useLoad(() => store.api.tokens(), []);
  const now_s = useNow(10_000);
  const [made, setMade] = useState<NewToken | null>(null);
  const [leaving, setLeaving] = useState<Token | null>(null);
  const [error, setError] = useState<ApiError | null>(null);

  const revoke = async (token: Token): Promise<void> => {
    setLeaving(null);
    setError(null);
    try {
      await store.api.revokeToken(token.id);
      store.say(`Token ${token.name} is revoked.`);
      found.reload();
      onChanged();
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    }
  };

  return (
    <Card title="Access tokens">
      <NewTokenForm
        onMade={(token) => {
          setMade(token);
          found.reload();
          onChanged();
        }}
      />
      {made !== null && <Secret token={made} onClose={() => setMade(null)} />}
      {error !== null && <Failed error={error} />}
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {found.data === null ? (
        found.loading && <Loading what="the tokens" />
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Access tokens">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" class="roomy">
                  Made
                </th>
                <th scope="col">Last used</th>
                <th scope="col">
                  <span class="hidden">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {found.data.map((token) => (
                <tr key={token.id} class={token.revoked_s === null ? '' : 'gone'}>
                  <th scope="row">
                    {token.name}
                    <span class="quiet">{token.role === 'administrator' ? 'Administrator' : 'Viewer'}</span>
                  </th>
                  <td class="roomy">
                    <At at_s={token.created_s} />
                  </td>
                  <td>
                    <Ago at_s={token.last_used_s} now_s={now_s} />
                  </td>
                  <td class="figure">
                    {token.revoked_s === null ? (
                      <button type="button" class="small" onClick={() => setLeaving(token)} aria-label={`Revoke ${token.name}`}>
                        Revoke
                      </button>
                    ) : (
                      <Badge tone="plain">Revoked</Badge>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {leaving !== null && (
        <Confirm
          title={`Revoke ${leaving.name}?`}
          confirm="Revoke"
          onCancel={() => setLeaving(null)}
          onConfirm={() => void revoke(leaving)}
        >
          <p>Whoever uses this token is shut out at once. It cannot be undone; a new token can be made.</p>
        </Confirm>
      )}
    </Card>
  );
}

function NewTokenForm({ onMade }: { onMade: (token: NewToken) => void }): JSX.Element {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      onMade(await store.api.newToken(name.trim(), role));
      setName('');
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="row-form" onSubmit={(event) => void submit(event)}>
      <label class="field">
        <span>Name</span>
        <input
          required
          maxLength={64}
          placeholder="who or what uses it"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Role</span>
        <select value={role} onChange={(event) => setRole(event.currentTarget.value === 'administrator' ? 'administrator' : 'viewer')}>
          <option value="viewer">Viewer: sees everything</option>
          <option value="administrator">Administrator: commands meters, makes tokens</option>
        </select>
      </label>
      <button type="submit" class="primary" disabled={busy || name.trim() === ''}>
        Make token
      </button>
      {error !== null && <Failed error={error} />}
    </form>
  );
}

const PAGE = 50;

function Actions({ round }: { round: number }): JSX.Element {
  const found = useLoad(() => store.api.actions({ limit: PAGE }), [round]);
  const [ended, setEnded] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const actions = found.data;
  const more = async (): Promise<void> => {
    const last = actions?.[actions.length - 1];
    if (actions === null || last === undefined) return;
    setError(null);
    try {
      const older = await store.api.actions({ limit: PAGE, before: last.id });
      setEnded(older.length < PAGE);
      found.put([...actions, ...older]);
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    }
  };
  return (
    <Card title="What administrators did">
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {actions === null ? (
        found.loading && <Loading what="the actions" />
      ) : actions.length === 0 ? (
        <Empty title="Nothing yet">Commands, tokens, acknowledgements and renewed keys are noted here.</Empty>
      ) : (
        <>
          <ul class="actions">
            {actions.map((action) => (
              <li key={action.id}>
                <p>{action.what}</p>
                <p class="quiet">
                  <At at_s={action.at_s} />, {action.who}
                </p>
              </li>
            ))}
          </ul>
          {error !== null && <Failed error={error} />}
          {actions.length >= PAGE && !ended && (
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
