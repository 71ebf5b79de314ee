// A token that was just made, this once.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NewToken } from '../api';
import { store } from '../store';

interface SecretProps {
  token: NewToken;
  onClose: () => void;
  children?: ComponentChildren;
}

export function Secret({ token, onClose, children }: SecretProps): JSX.Element {
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), [token.id]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(token.token);
      setCopied(true);
      store.say('Copied.');
    } catch {
      // Without the clipboard the text is selected, to be copied by hand.
      const text = box.current?.querySelector('code');
      if (text) getSelection()?.selectAllChildren(text);
    }
  };
  return (
    <div class="note good secret" ref={box} tabIndex={-1} role="group" aria-label={`Token ${token.name}`}>
      <p>
        <strong>The token of {token.name}.</strong> Copy it now: it is not shown again. {children}
      </p>
      <p>
        <code>{token.token}</code>
      </p>
      <p class="buttons">
        <button type="button" class="small" onClick={() => void copy()}>
          {copied ? 'Copied' : 'Copy'}
        </button>
        <button type="button" class="small" onClick={onClose}>
          Done
        </button>
      </p>
    </div>
  );
}
