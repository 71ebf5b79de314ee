// Pages by what stands behind the #, so that the server needs to know of no page but one.

import { useEffect, useState } from 'preact/hooks';
import type { MeterName } from './api';

export type Route =
  | { page: 'overview' }
  | { page: 'meter'; meter: MeterName }
  | { page: 'other'; meter: string }
  | { page: 'consumption' }
  | { page: 'alerts' }
  | { page: 'firmware' }
  | { page: 'administration' }
  | { page: 'unknown' };

export function routeOf(hash: string): Route {
  const path = hash.replace(/^#?\/?/, '').replace(/\/$/, '');
  if (path === '') return { page: 'overview' };
  const meter = /^meters\/((?:[1-9]\d{0,9}-)?\d{1,5})$/.exec(path);
  if (meter !== null) return { page: 'meter', meter: meter[1] as MeterName };
  const other = /^others\/([A-Z]{3}-[0-9A-F]{8})$/.exec(path);
  if (other !== null) return { page: 'other', meter: other[1] as string };
  if (path === 'consumption' || path === 'alerts' || path === 'firmware' || path === 'administration') return { page: path };
  return { page: 'unknown' };
}

const LINK = /#\/first\/(.*)$/;

/** What is secret of a one-time link; null where it is none. */
export function linkSecret(link: string): string | null {
  return LINK.exec(link.trim())?.[1] ?? null;
}

/** The same of the link by which this page was opened. It goes from the address and its history, where others may see it. */
export function takeLinkSecret(): string | null {
  const secret = linkSecret(location.hash);
  if (secret !== null) history.replaceState(null, '', '#/');
  return secret;
}

export function meterLink(meter: MeterName): string {
  return `#/meters/${meter}`;
}

export function otherMeterLink(meter: string): string {
  return `#/others/${meter}`;
}

export function useRoute(): Route {
  const [route, set] = useState(routeOf(location.hash));
  useEffect(() => {
    const changed = (): void => set(routeOf(location.hash));
    window.addEventListener('hashchange', changed);
    return () => window.removeEventListener('hashchange', changed);
  }, []);
  return route;
}
