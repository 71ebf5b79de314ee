// Light or dark: what the system says, or what was chosen here.

import { useEffect, useState } from 'preact/hooks';

export type Choice = 'system' | 'light' | 'dark';
export type Theme = 'light' | 'dark';

const KEY = 'wattseal-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const watchers = new Set<() => void>();
let choice: Choice = stored();

function stored(): Choice {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

export function theme(): Theme {
  return choice === 'system' ? (system.matches ? 'dark' : 'light') : choice;
}

export function choose(next: Choice): void {
  choice = next;
  try {
    if (next === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  apply();
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const watcher of [...watchers]) watcher();
}

system.addEventListener('change', apply);
apply();

export function useTheme(): { choice: Choice; theme: Theme } {
  const [now, set] = useState({ choice, theme: theme() });
  useEffect(() => {
    const watcher = (): void => set({ choice, theme: theme() });
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
    };
  }, []);
  return now;
}

/** The colour of that name in style.css, as it is now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
