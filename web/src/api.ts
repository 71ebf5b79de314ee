// The collector's HTTP API, as docs/how-to/collector/http.md has it: its shapes, and a client that
// says what went wrong and what to do.

import type { components } from '../build/openapi';

type Described = components['schemas'];

/** The description lets what may be null be left out as well; the collector never leaves it out. */
type Whole<T> = T extends object ? { [Field in keyof T]-?: Whole<Exclude<T[Field], undefined>> } : T;

/** A meter among all networks: its number, in another network than 0 with the network's number before it. In paths and links, too. */
export type MeterName = `${number}` | `${number}-${number}`;

/** What is of a meter; network 0 is left out. */
export interface OfMeter {
  meter: number;
  network?: number;
}

export function nameOf({ meter, network = 0 }: OfMeter): MeterName {
  return network === 0 ? `${meter}` : `${network}-${meter}`;
}

/** The order of networks, and of the meters in each. */
export function byName(a: OfMeter, b: OfMeter): number {
  return (a.network ?? 0) - (b.network ?? 0) || a.meter - b.meter;
}

/** With the network as it is: left out where it is 0. */
type WithNetwork<T extends { network?: number }> = Whole<Omit<T, 'network'>> & Pick<OfMeter, 'network'>;

export type Suite = Described['Suite'];
export const SUITES: readonly Suite[] = ['none', 'aes128-gcm', 'aes256-gcm', 'ecies', 'ecies-ecdsa', 'ascon-aead128', 'aes256-gcm-rekeyed'];

export type Role = Described['Role'];
export type Session = Described['Session'];
export type Health = Described['Health'];
export type Meter = WithNetwork<Described['Meter']>;
export type Resolution = Described['Resolution'];

type Columns = Described['Rows'];
type OfPage = Pick<WithNetwork<Described['Readings']>, 'meter' | 'network' | 'next'>;

/** Measurements as they came: `power_w[i]` is the mean from the measurement before until `at_s[i]`. */
export type RawReadings = Extract<Columns, { energy_wh: number[] }> & OfPage & { resolution: 'raw' };

/** Intervals: `at_s[i]` is the start, `power_w[i]` the mean. */
export type RolledReadings = Extract<Columns, { used_wh: number[] }> & OfPage & { resolution: Exclude<Resolution, 'raw'> };

export type Step = Described['Interval'];

/** Used energy by interval; days, weeks and months begin at midnight in `zone`, the collector's. */
export type Consumption = Described['Consumption'];
export type Alert = WithNetwork<Described['Alert']>;
export type CommandState = Described['CommandState'];

/** What a meter can be told. */
export type Order = Described['CommandOrder'];

/** A page of a meter's state, as it came over the air; the description says no more than that it is an object. */
export type Status =
  | { settings: { time_s: number; suite: Suite | null; interval_s: number; waiting: number; starts: number; stack_untouched_quads: number } }
  | { metering: { energy_dwh: number; voltage_dv: number; current_ca: number; refused: number; lost: number } };

export type Answer = Omit<Described['Answered'], 'status'> & { status: Status | null };
export type Command = Omit<WithNetwork<Described['Command']>, 'answer'> & { answer: Answer | null };
export type Cost = Whole<Described['Cost']>;
export type Token = Whole<Described['Token']>;

/** What POST /tokens answers: the only time that the secret is shown. */
export type NewToken = Whole<Described['MadeToken']>;
export type Action = Described['Action'];

/** A signed image of a meter's firmware, for one slot. */
export type Image = Whole<Described['Image']>;
export type UpdateState = Described['UpdateState'];

/** Why a meter refuses an image. */
export type ImageRefusal = Described['ImageRefusal'];

/** A meter's latest update; there is one at most. */
export type Update = WithNetwork<Described['Update']>;

/** Another maker's meter, whose telegrams come by wireless M-Bus. */
export type OtherMeter = Whole<Described['MbusMeter']>;

/** A record of a telegram, as crates/collector/src/store/model/telegram.rs has it. */
export interface TelegramRecord {
  function: string;
  storage: number;
  tariff: number;
  subunit: number;
  quantity: string | null;
  unit: string;
  modifiers: string[];
  /** Only then the value is a reading; otherwise its bytes. */
  understood: boolean;
  value: string;
  header: string;
  data: string;
}

/** What a telegram says; the description says no more than that it is an object. */
export interface TelegramContents {
  records: TelegramRecord[];
  more_follow: boolean;
  manufacturer_data: string;
  unread: string;
  protocol: string | null;
  bytes: string;
}

export type Telegram = Omit<Whole<Described['Telegram']>, 'contents'> & { contents: TelegramContents };

/** A file with more is no image that the collector takes. */
export const MOST_IMAGE_BYTES = 1 << 20;
/** At most so many begin at once. */
export const MOST_UPDATES = 1000;

// The events' JSON, which OpenAPI has no place for: crates/collector/src/event.rs.

export interface ReadingEvent {
  event: 'reading';
  meter: number;
  network?: number;
  n: number;
  at_s: number;
  heard_ms: number;
  power_w: number;
  energy_dwh: number;
  /** null, or not there from an older worker: not known. */
  total_dwh?: number | null;
  suite: Suite;
  rssi_dbm: number | null;
}

export interface AlertEvent {
  event: 'alert';
  id: number;
  meter: number | null;
  network?: number;
  at_s: number;
  cause: string;
  detail: string;
}

export interface CommandEvent {
  event: 'command';
  id: number;
  meter: number;
  network?: number;
  state: CommandState;
}

export interface MeterEvent {
  event: 'meter';
  meter: number;
  network?: number;
}

/** An update went on: ask for all of them again. */
export interface UpdateEvent {
  event: 'update';
  meter: number;
  network?: number;
}

/** A telegram of another maker's meter was stored, or such a meter was removed. */
export interface OtherMeterEvent {
  event: 'telegram' | 'mbus-meter-removed';
  meter: string;
}

/** Which meter something is about; null: it is the collector's own. */
export function whose({ meter, network = 0 }: { meter: number | null; network?: number }): MeterName | null {
  return meter === null ? null : nameOf({ meter, network });
}

/** `resync` says that some were left out: load everything again. */
export type LiveEvent = ReadingEvent | AlertEvent | CommandEvent | MeterEvent | UpdateEvent | OtherMeterEvent | { event: 'resync' };

/** What went wrong, in words for a person. `status` 0: no answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly retryAfterS: number | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export interface Range {
  /** Unix seconds. */
  from_s: number;
  /** Unix seconds, not included. */
  to_s: number;
}

/** RFC 3339, which the arguments of the API are. */
export function rfc3339(unix_s: number): string {
  return new Date(Math.round(unix_s) * 1000).toISOString().replace('.000Z', 'Z');
}

type Query = Record<string, string | number | boolean | undefined>;

function withQuery(path: string, query: Query): string {
  const args = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) args.set(name, String(value));
  const text = args.toString();
  return text === '' ? path : `${path}?${text}`;
}

export interface ApiOptions {
  /** Where the API is: `/api/v1` of this origin. */
  base?: string;
  fetch?: typeof fetch;
  /** Called when the collector says that nobody is signed in, and why. */
  onSignedOut?: (error: ApiError) => void;
  /** Called with the collector's clock (Unix milliseconds) when an answer tells it. */
  onClock?: (collector_ms: number) => void;
  sleep?: (ms: number) => Promise<void>;
}

/** Who names no network is told of network 0 alone. */
const EVERYWHERE = { network: 'all' };
/** What signs in. */
const SIGN_IN: readonly string[] = ['/session', '/tokens/first'];
const ANSWER_WITHIN_MS = 20_000;
/** A file has to get there, too, over whatever line. */
const FILE_ANSWER_WITHIN_MS = 120_000;
const MOST_WAIT_S = 10;
const ROWS_A_PAGE = 10_000;

export class Api {
  readonly base: string;
  private readonly fetch: typeof fetch;
  private readonly options: ApiOptions;

  constructor(options: ApiOptions = {}) {
    this.base = options.base ?? '/api/v1';
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.options = options;
  }

  health = () => this.ask<Health>('GET', '/health');

  session = () => this.ask<Session>('GET', '/session');
  signIn = (token: string) => this.ask<Session>('POST', '/session', { token });
  signOut = () => this.ask<void>('DELETE', '/session');

  /** Of all networks, as all that follows without a meter. */
  meters = () => this.ask<Meter[]>('GET', withQuery('/meters', EVERYWHERE));
  meter = (meter: MeterName) => this.ask<Meter>('GET', `/meters/${meter}`);
  rename = (meter: MeterName, label: string) => this.ask<Meter>('PATCH', `/meters/${meter}`, { label });

  readings(meter: MeterName, range: Range, resolution: 'raw'): Promise<RawReadings>;
  readings(meter: MeterName, range: Range, resolution: Exclude<Resolution, 'raw'>): Promise<RolledReadings>;
  /** All rows of the range, page after page. */
  async readings(meter: MeterName, range: Range, resolution: Resolution): Promise<RawReadings | RolledReadings> {
    let whole: Record<string, unknown> | null = null;
    let from = rfc3339(range.from_s);
    for (;;) {
      const page = await this.ask<Record<string, unknown>>(
        'GET',
        withQuery(`/meters/${meter}/readings`, { from, to: rfc3339(range.to_s), resolution, limit: ROWS_A_PAGE }),
      );
      if (whole === null) whole = page;
      else {
        for (const [name, column] of Object.entries(page)) {
          const before = whole[name];
          if (Array.isArray(column) && Array.isArray(before)) whole[name] = before.concat(column);
        }
      }
      const next = page['next'];
      if (next === null || next === undefined) break;
      const on = String(next);
      if (on === from) break;
      from = on;
    }
    return { ...whole, next: null } as unknown as RawReadings | RolledReadings;
  }

  consumption = (range: Range, resolution: Step, meter?: MeterName) =>
    this.ask<Consumption>(
      'GET',
      withQuery('/consumption', {
        from: rfc3339(range.from_s),
        to: rfc3339(range.to_s),
        resolution,
        ...(meter === undefined ? EVERYWHERE : { meter }),
      }),
    );

  alerts = (query: { meter?: MeterName; open?: boolean; limit?: number; before?: number } = {}) =>
    this.ask<Alert[]>(
      'GET',
      withQuery('/alerts', {
        ...(query.meter === undefined ? EVERYWHERE : { meter: query.meter }),
        open: query.open === true ? true : undefined,
        limit: query.limit,
        before: query.before,
      }),
    );
  acknowledge = (alert: number) => this.ask<Alert>('POST', `/alerts/${alert}/acknowledge`);

  commands = (meter: MeterName, limit?: number) =>
    this.ask<Command[]>('GET', withQuery(`/meters/${meter}/commands`, { limit }));
  command = (meter: MeterName, command: Order) => this.ask<Command>('POST', `/meters/${meter}/commands`, { command });
  withdraw = (meter: MeterName, id: number) => this.ask<Command>('DELETE', `/meters/${meter}/commands/${id}`);

  images = () => this.ask<Image[]>('GET', '/images');
  /** Where the same is there already, that one. */
  addImage = (file: Blob) => this.ask<Image>('POST', '/images', file);
  removeImage = (digest: string) => this.ask<void>('DELETE', `/images/${digest}`);

  /** Of all networks, or of one. */
  updates = (network?: number) => this.ask<Update[]>('GET', withQuery('/updates', network === undefined ? EVERYWHERE : { network }));
  /** For all these meters, or for none. */
  beginUpdates = (image: string, meters: readonly OfMeter[]) =>
    this.ask<Update[]>('POST', '/updates', {
      image,
      meters: meters.map((meter) => ((meter.network ?? 0) === 0 ? meter.meter : nameOf(meter))),
    });
  withdrawUpdate = (meter: MeterName) => this.ask<Update>('DELETE', `/meters/${meter}/update`);

  otherMeters = () => this.ask<OtherMeter[]>('GET', '/wireless-mbus');
  /** Telegrams of another maker's meter that were heard from then on, oldest first. */
  telegrams = (meter: string, from_s: number) =>
    this.ask<Telegram[]>('GET', withQuery(`/wireless-mbus/${meter}/telegrams`, { from: rfc3339(from_s), limit: 1000 }));

  costs = () => this.ask<Cost[]>('GET', '/costs');

  tokens = () => this.ask<Token[]>('GET', '/tokens');
  /** For who has the one-time link: makes the first administrator's token, and signs in with it. */
  firstToken = (secret: string) => this.ask<NewToken>('POST', '/tokens/first', { secret });
  newToken = (name: string, role: Role) => this.ask<NewToken>('POST', '/tokens', { name, role });
  revokeToken = (id: number) => this.ask<Token>('DELETE', `/tokens/${id}`);
  actions = (query: { limit?: number; before?: number } = {}) =>
    this.ask<Action[]>('GET', withQuery('/actions', query));

  /** The events' stream, open; `signal` closes it. */
  async events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.send('GET', withQuery('/events', EVERYWHERE), undefined, signal, 'text/event-stream');
    if (response.body === null) throw new ApiError(0, 'no-stream', 'The collector sent no events.', 'Reload the page.');
    return response.body;
  }

  private async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    for (let tries = 0; ; tries++) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), body instanceof Blob ? FILE_ANSWER_WITHIN_MS : ANSWER_WITHIN_MS);
      try {
        const response = await this.send(method, path, body, late.signal, 'application/json');
        if (response.status === 204) return undefined as T;
        const text = await response.text();
        return (text === '' ? undefined : JSON.parse(text)) as T;
      } catch (error) {
        // Asked too fast: what only reads waits as long as it is told to.
        const again =
          error instanceof ApiError && error.status === 429 && method === 'GET' && tries < 3 ? error.retryAfterS : null;
        if (again === null || again > MOST_WAIT_S) throw error;
        await (this.options.sleep ?? ((ms) => new Promise((done) => setTimeout(done, ms))))(1000 * Math.max(again, 1));
      } finally {
        clearTimeout(timer);
      }
    }
  }

  private async send(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
    accept: string,
  ): Promise<Response> {
    const headers: Record<string, string> = { Accept: accept };
    if (body !== undefined) headers['Content-Type'] = body instanceof Blob ? 'application/octet-stream' : 'application/json';
    let response: Response;
    try {
      response = await this.fetch(this.base + path, {
        method,
        headers,
        signal,
        cache: 'no-store',
        credentials: 'same-origin',
        ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
      });
    } catch {
      throw new ApiError(
        0,
        'no-answer',
        'The collector does not answer.',
        'Check that it runs and that this device reaches it; the dashboard keeps trying.',
      );
    }
    const date = Date.parse(response.headers.get('Date') ?? '');
    if (!Number.isNaN(date)) this.options.onClock?.(date);
    if (response.ok) return response;
    const error = await errorOf(response);
    // A wrong token or link at the sign-in is the form's to tell.
    if (response.status === 401 && !(method === 'POST' && SIGN_IN.includes(path))) this.options.onSignedOut?.(error);
    throw error;
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const retry = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const retryAfterS = Number.isFinite(retry) ? retry : null;
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string; hint?: string } };
    return new ApiError(response.status, error.code, error.message, error.hint ?? '', retryAfterS);
  } catch {
    return new ApiError(
      response.status,
      `http-${response.status}`,
      `The collector answered with ${response.status}${response.statusText === '' ? '' : ` (${response.statusText})`}.`,
      response.status >= 500 ? 'Its log says why; try again in a moment.' : '',
      retryAfterS,
    );
  }
}
