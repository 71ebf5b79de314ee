// Asks for a token.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api';
import { Failed } from '../parts/basics';
import { store } from '../store';

export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (token.trim() === '') {
      setError(new ApiError(0, 'empty', 'The token is missing.', 'Paste it into the field.'));
      return;
    }
    setBusy(true);
    setError(null);
    try {
      store.signedIn(await store.api.signIn(token.trim()));
    } catch (failed) {
      setError(
        !(failed instanceof ApiError)
          ? new ApiError(0, 'unknown', String(failed), '')
          : failed.status === 401
            ? new ApiError(401, failed.code, 'This token is not known, or was revoked.', 'Look whether all of it was copied, or ask an administrator for another.')
            : failed.status === 429
              ? new ApiError(429, failed.code, 'Too many tries.', 'Wait a minute, then try again.')
              : failed,
      );
    } finally {
      setBusy(false);
    }
  };

  return (
    <div class="signin card">
      <h1>Sign in to WattSeal</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Access token</span>
          <input
            ref={field}
            type="password"
            name="token"
            autocomplete="current-password"
            spellcheck={false}
            autocapitalize="off"
            aria-describedby="token-help"
            aria-invalid={error !== null}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <p class="quiet" id="token-help">
          It begins with <code>wst_</code>. An administrator makes one on the page Administration.
        </p>
        {error !== null && <Failed error={error} />}
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </div>
  );
}
