// The one place that holds what all pages share: session, meters, the connection, and the clock of the collector.

import { useEffect, useRef, useState } from 'preact/hooks';
import {
  Api,
  ApiError,
  type Alert,
  type CommandEvent,
  type LiveEvent,
  type Meter,
  type MeterName,
  type NewToken,
  type Session,
  nameOf,
  whose,
} from './api';
import { type Connection, Live } from './live';
import { takeLinkSecret } from './router';
import { type Series, merged, withPoint, withReading } from './state';

/** How much of a meter's power is kept for the small plots. */
export const SPARK_S = 900;
const SHOWN_EVERY_MS = 250;
const LOADED_EVERY_MS = 60_000;
export const MOST_ALERTS = 200;

export type Loaded = 'loading' | 'ready' | ApiError;

export interface State {
  /** undefined: not asked yet; null: nobody is signed in. */
  session: Session | null | undefined;
  sessionError: ApiError | null;
  /** Whether no administrator has a token yet: then a one-time link is there. */
  noAdministrator: boolean;
  /** Why the link by which the page was opened did not sign in. */
  linkError: ApiError | null;
  /** The token that the link made, until it was looked at. */
  firstToken: NewToken | null;
  connection: Connection;
  meters: ReadonlyMap<MeterName, Meter>;
  /** Whether some are of another network than 0: then each says of which it is. */
  severalNetworks: boolean;
  metersLoaded: Loaded;
  /** A meter that is not in it is being loaded. */
  sparks: ReadonlyMap<MeterName, Series | 'failed'>;
  /** Open ones, the collector's own among them; at most MOST_ALERTS are counted. */
  openAlerts: number | null;
  /** What the screen reader is told. */
  said: string;
  version: string;
}

type Listener = (event: LiveEvent) => void;

/** Answers that were asked for before it was known who is signed in. */
interface First {
  meters: Promise<Meter[]>;
  alerts: Promise<Alert[]>;
}

export class Store {
  readonly api: Api;
  state: State = {
    session: undefined,
    sessionError: null,
    noAdministrator: false,
    linkError: null,
    firstToken: null,
    connection: 'connecting',
    meters: new Map(),
    severalNetworks: false,
    metersLoaded: 'loading',
    sparks: new Map(),
    openAlerts: null,
    said: '',
    version: '',
  };
  private readonly live: Live;
  private readonly subscribers = new Set<() => void>();
  private readonly listeners = new Set<Listener>();
  private readonly asked = new Set<MeterName>();
  private askingSparks = Promise.resolve();
  private clockAhead_ms: number | null = null;
  private told: ReturnType<typeof setTimeout> | null = null;
  private again: ReturnType<typeof setInterval> | null = null;

  constructor(base?: string) {
    this.api = new Api({
      ...(base === undefined ? {} : { base }),
      onSignedOut: ({ code }) => this.signedOut(code === 'no-administrator'),
      onClock: (collector_ms) => this.setClock(collector_ms),
    });
    this.live = new Live({
      open: (signal) => this.api.events(signal),
      onEvent: (event) => this.heard(event),
      onOpen: (again) => {
        if (again) {
          this.say('Connected again.');
          this.resync();
        }
      },
      onConnection: (connection) => {
        if (connection === 'lost' && this.state.connection === 'live') this.say('The connection to the collector is lost.');
        this.change({ connection });
      },
    });
  }

  /** Unix seconds by the collector's clock, so that "3 s ago" is right where this device's clock is not. */
  now_s(): number {
    return (Date.now() + (this.clockAhead_ms ?? 0)) / 1000;
  }

  private setClock(collector_ms: number): void {
    // The header has whole seconds and took a moment: what is within two seconds is the same clock.
    const ahead = collector_ms + 500 - Date.now();
    const known = this.clockAhead_ms;
    if (known === null || Math.abs(ahead - known) > 2000) this.clockAhead_ms = Math.abs(ahead) < 2000 ? 0 : ahead;
  }

  subscribe(subscriber: () => void): () => void {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }

  /** Every event, as it comes; `resync` also after a connection that was lost. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  say(said: string): void {
    // The same words twice are read twice only if something changes.
    this.change({ said: this.state.said === said ? `${said}\u00a0` : said });
  }

  async start(): Promise<void> {
    const secret = takeLinkSecret();
    // With them asked beside the session, a slow line is waited for once. A link signs in first: a
    // refusal after it would sign out.
    const first = secret === null ? this.askFirst() : undefined;
    try {
      const session = await this.api.session();
      this.signedIn(session, first);
    } catch (error) {
      const failed = asApiError(error);
      if (failed.status !== 401) this.change({ sessionError: failed });
      else if (secret !== null) await this.useLink(secret).catch((error) => this.change({ linkError: asApiError(error) }));
    }
  }

  /** Signs in with the secret of a one-time link, which makes the first token. */
  async useLink(secret: string): Promise<void> {
    const firstToken = await this.api.firstToken(secret);
    this.signedIn({ name: firstToken.name, role: firstToken.role });
    this.change({ firstToken });
  }

  firstTokenSeen(): void {
    this.change({ firstToken: null });
  }

  /** Asks for what each page shows. Without a session its refusal is the one that is told. */
  private askFirst(): First {
    const first = { meters: this.api.meters(), alerts: this.askAlerts() };
    first.meters.catch(() => undefined);
    first.alerts.catch(() => undefined);
    return first;
  }

  private askAlerts(): Promise<Alert[]> {
    return this.api.alerts({ open: true, limit: MOST_ALERTS });
  }

  signedIn(session: Session, first: Partial<First> = {}): void {
    this.asked.clear();
    this.change({ session, sessionError: null, linkError: null, metersLoaded: 'loading', meters: new Map(), sparks: new Map() });
    void this.loadMeters(first.meters);
    void this.loadAlerts(first.alerts);
    void this.api.health().then(
      ({ version }) => this.change({ version }),
      () => undefined,
    );
    this.live.start();
    this.again ??= setInterval(() => {
      void this.loadMeters();
      void this.loadAlerts();
    }, LOADED_EVERY_MS);
  }

  async signOut(): Promise<void> {
    await this.api.signOut();
    this.signedOut(false);
  }

  private signedOut(noAdministrator: boolean): void {
    this.live.stop();
    if (this.again !== null) clearInterval(this.again);
    this.again = null;
    this.change({ session: null, sessionError: null, noAdministrator, firstToken: null, meters: new Map(), sparks: new Map(), openAlerts: null, metersLoaded: 'loading' });
  }

  hurry(): void {
    this.live.hurry();
  }

  async loadMeters(asked = this.api.meters()): Promise<void> {
    try {
      const meters = await asked;
      this.putMeters(new Map(meters.map((meter) => [nameOf(meter), meter])));
      this.change({ metersLoaded: 'ready' });
    } catch (error) {
      // What is shown stays while there is any; the connection's state says that it is old.
      if (error instanceof ApiError && this.state.metersLoaded !== 'ready') this.change({ metersLoaded: error });
    }
  }

  async loadAlerts(asked = this.askAlerts()): Promise<void> {
    try {
      this.change({ openAlerts: (await asked).length });
    } catch {
      // The figure from before stays; the page of alerts says what is wrong.
    }
  }

  async loadMeter(meter: MeterName): Promise<void> {
    try {
      this.putMeter(await this.api.meter(meter));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        const meters = new Map(this.state.meters);
        if (meters.delete(meter)) this.putMeters(meters);
      }
    }
  }

  putMeter(meter: Meter): void {
    this.putMeters(new Map(this.state.meters).set(nameOf(meter), meter));
  }

  private putMeters(meters: ReadonlyMap<MeterName, Meter>): void {
    const severalNetworks = [...meters.values()].some((meter) => (meter.network ?? 0) !== 0);
    this.change({ meters, severalNetworks });
  }

  /** Loads the last quarter of an hour for a small plot, once, one meter after the other. */
  wantSpark(meter: MeterName): void {
    if (this.asked.has(meter)) return;
    this.asked.add(meter);
    this.askingSparks = this.askingSparks.then(async () => {
      const now_s = this.now_s();
      try {
        const { at_s, power_w } = await this.api.readings(meter, { from_s: now_s - SPARK_S, to_s: now_s + 60 }, 'raw');
        const live = this.spark(meter);
        this.setSpark(meter, merged({ at_s, power_w }, live, now_s - SPARK_S));
      } catch {
        // It is asked for again when its card is shown again, or the connection comes back.
        this.asked.delete(meter);
        this.setSpark(meter, this.state.sparks.get(meter) ?? 'failed');
      }
    });
  }

  private spark(meter: MeterName): Series {
    const known = this.state.sparks.get(meter);
    return known === undefined || known === 'failed' ? { at_s: [], power_w: [] } : known;
  }

  private setSpark(meter: MeterName, series: Series | 'failed'): void {
    (this.state.sparks as Map<MeterName, Series | 'failed'>).set(meter, series);
    this.change({});
  }

  private heard(event: LiveEvent): void {
    if (event.event === 'reading') {
      const name = nameOf(event);
      const meter = this.state.meters.get(name);
      if (meter === undefined) {
        if (this.state.metersLoaded === 'ready') void this.loadMeter(name);
      } else {
        (this.state.meters as Map<MeterName, Meter>).set(name, withReading(meter, event));
      }
      // Those alone that are shown, or were.
      if (this.asked.has(name)) {
        this.setSpark(name, withPoint(this.spark(name), event.at_s, event.power_w, this.now_s() - SPARK_S));
      } else this.change({});
    } else if (event.event === 'resync') {
      this.resync();
      return;
    } else if (event.event === 'alert' || event.event === 'command' || event.event === 'meter') {
      // Of an update nothing is in the meter; other makers' meters are none of these.
      if (event.event === 'alert') void this.loadAlerts();
      const meter = whose(event);
      if (meter !== null) void this.loadMeter(meter);
    }
    for (const listener of this.listeners) listener(event);
  }

  private resync(): void {
    const shown = [...this.asked];
    this.asked.clear();
    for (const meter of shown) this.wantSpark(meter);
    void this.loadMeters();
    void this.loadAlerts();
    for (const listener of this.listeners) listener({ event: 'resync' });
  }

  private change(some: Partial<State>): void {
    this.state = { ...this.state, ...some };
    // Readings come by the hundred; people see four pictures a second.
    const urgent = 'session' in some || 'connection' in some || 'metersLoaded' in some || 'sessionError' in some;
    if (urgent) this.tell();
    else this.told ??= setTimeout(() => this.tell(), SHOWN_EVERY_MS);
  }

  private tell(): void {
    if (this.told !== null) clearTimeout(this.told);
    this.told = null;
    for (const subscriber of [...this.subscribers]) subscriber();
  }
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error), '');
}

export const store = new Store();

/** The state, drawn again when it changes. */
export function useStore(): State {
  const [state, set] = useState(store.state);
  useEffect(() => {
    set(store.state);
    return store.subscribe(() => set(store.state));
  }, []);
  return state;
}

/** Calls back on events as long as the component is there. */
export function useEvents(listener: Listener, deps: readonly unknown[]): void {
  useEffect(() => store.listen(listener), deps);
}

/** The collector's time, renewed every `every_ms`. */
export function useNow(every_ms = 1000): number {
  const [now, set] = useState(store.now_s());
  useEffect(() => {
    const timer = setInterval(() => set(store.now_s()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
  put: (data: T) => void;
}

/** Loads something, again when `deps` change; what comes too late is dropped. */
export function useLoad<T>(load: () => Promise<T>, deps: readonly unknown[]): Resource<T> {
  const [round, setRound] = useState(0);
  const key = JSON.stringify(deps);
  const [found, set] = useState<{ key: string; data: T | null; error: ApiError | null }>({ key, data: null, error: null });
  const [loading, setLoading] = useState(true);
  useEffect(() => {
    let late = false;
    setLoading(true);
    load().then(
      (data) => {
        if (late) return;
        set({ key, data, error: null });
        setLoading(false);
      },
      (error: unknown) => {
        if (late) return;
        const said = error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error), 'Reload the page.');
        set((before) => ({ key, data: before.key === key ? before.data : null, error: said }));
        setLoading(false);
      },
    );
    return () => {
      late = true;
    };
  }, [key, round]);
  return {
    data: found.key === key ? found.data : null,
    error: found.key === key ? found.error : null,
    loading: loading || found.key !== key,
    reload: () => setRound((n) => n + 1),
    put: (data) => set({ key, data, error: null }),
  };
}

/** At most so often something is loaded again because of what was heard. */
const HEARD_EVERY_MS = 1000;

/** Loads something, and again when an event concerns it: at once, then once a second, and never before the last time has ended. */
export function useLive<T>(load: () => Promise<T>, deps: readonly unknown[], concerns: (event: LiveEvent) => boolean): Resource<T> {
  const found = useLoad(load, deps);
  const [old, setOld] = useState(false);
  const began_ms = useRef(0);
  useEvents((event) => {
    if (event.event === 'resync' || concerns(event)) setOld(true);
  }, deps);
  useEffect(() => {
    if (!old || found.loading) return undefined;
    const timer = setTimeout(
      () => {
        began_ms.current = Date.now();
        // What is heard from here on may be in what is loaded or not: it makes it old again.
        setOld(false);
        found.reload();
      },
      Math.max(0, began_ms.current + HEARD_EVERY_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [old, found.loading]);
  return found;
}

export type { Alert, CommandEvent };
