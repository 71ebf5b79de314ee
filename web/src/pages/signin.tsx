// Asks for a token, or for the link that makes the first one.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api';
import { Failed } from '../parts/basics';
import { linkSecret } from '../router';
import { store } from '../store';

interface SignInProps {
  /** Why the link by which the page was opened did not sign in. */
  failed: ApiError | null;
}

export function SignIn({ failed }: SignInProps): JSX.Element {
  const signIn = async (token: string): Promise<void> => {
    if (token === '') throw new ApiError(0, 'empty', 'The token is missing.', 'Paste it into the field.');
    store.signedIn(await store.api.signIn(token));
  };
  return (
    <div class="signin card">
      <h1>Sign in to WattSeal</h1>
      <SecretForm name="token" label="Access token" failed={failed} signIn={signIn} said={tokenSaid}>
        It begins with <code>wst_</code>. An administrator makes one on the page Administration.
      </SecretForm>
    </div>
  );
}

/** While no administrator has a token: where the link stands that makes the first one. */
export function FirstSignIn({ failed }: SignInProps): JSX.Element {
  const signIn = async (link: string): Promise<void> => {
    const secret = linkSecret(link) ?? (link.startsWith('wsl_') ? link : null);
    if (secret === null) {
      throw new ApiError(0, 'no-link', 'This is not the one-time link.', 'Copy the whole line of the file; it ends in #/first/wsl_ and 43 characters.');
    }
    await store.useLink(secret);
  };
  return (
    <div class="signin card">
      <h1>The first sign-in</h1>
      <p>
        No administrator has an access token yet. A link that works once makes the first, and signs in with it. The collector
        made it when it started:
      </p>
      <ul>
        <li>where it was started on a terminal, the link is printed there;</li>
        <li>
          it stands in the file beside the database whose name ends in <code>.one-time-link</code>, for the collector’s user
          alone. The example of a service of systemd has it there:
          <code class="command">sudo cat /var/lib/wattseal/wattseal.db.one-time-link</code>
        </li>
      </ul>
      <SecretForm name="link" label="One-time link" failed={failed} signIn={signIn} said={linkSaid}>
        Open it in this browser, or paste it here.
      </SecretForm>
    </div>
  );
}

interface SecretFormProps {
  name: string;
  label: string;
  failed: ApiError | null;
  signIn: (given: string) => Promise<void>;
  /** Turns the error of a rejected request into the one that is shown. */
  said: (error: ApiError) => ApiError;
  children: ComponentChildren;
}

function SecretForm({ name, label, failed, signIn, said, children }: SecretFormProps): JSX.Element {
  const [given, setGiven] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const help = `${name}-help`;
  const shown = error ?? failed;
  useEffect(() => field.current?.focus(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await signIn(given.trim());
    } catch (failed) {
      setError(failed instanceof ApiError ? said(failed) : new ApiError(0, 'unknown', String(failed), ''));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <label class="field">
        <span>{label}</span>
        <input
          ref={field}
          type="password"
          name={name}
          autocomplete={name === 'token' ? 'current-password' : 'off'}
          spellcheck={false}
          autocapitalize="off"
          aria-describedby={help}
          aria-invalid={error !== null}
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <p class="quiet" id={help}>
        {children}
      </p>
      {shown !== null && <Failed error={shown} />}
      <button type="submit" class="primary" disabled={busy}>
        {busy ? 'Signing in …' : 'Sign in'}
      </button>
    </form>
  );
}

function tokenSaid(error: ApiError): ApiError {
  switch (error.status) {
    case 401:
      return new ApiError(401, error.code, 'This token is not known, or was revoked.', 'Look whether all of it was copied, or ask an administrator for another.');
    case 429:
      return tooMany(error);
    default:
      return error;
  }
}

function linkSaid(error: ApiError): ApiError {
  switch (error.status) {
    case 401:
      return new ApiError(401, error.code, 'This link was used already, or is of an earlier start.', 'Take the one that stands in the file now.');
    case 429:
      return tooMany(error);
    default:
      return error;
  }
}

function tooMany(error: ApiError): ApiError {
  return new ApiError(429, error.code, 'Too many tries.', 'Wait a minute, then try again.');
}
