// The live events: a stream that is opened again and again, ever more slowly, until it holds.
// Read with fetch rather than EventSource, because that neither tells a 401 nor shows the comments that say "still here".

import { ApiError, type LiveEvent } from './api';

export type Connection = 'connecting' | 'live' | 'lost';

export interface Message {
  event: string;
  data: string;
}

/** Takes server-sent events apart as they arrive; lines end in LF, CR LF or CR. */
export class EventParser {
  private rest = '';
  private event = '';
  private data: string[] = [];

  push(text: string): Message[] {
    const messages: Message[] = [];
    this.rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.rest);
      if (end === null) return messages;
      const line = this.rest.slice(0, end.index);
      this.rest = this.rest.slice(end.index + end[0].length);
      if (line === '') {
        if (this.data.length > 0 || this.event !== '') {
          messages.push({ event: this.event === '' ? 'message' : this.event, data: this.data.join('\n') });
        }
        this.event = '';
        this.data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') this.event = value;
      else if (field === 'data') this.data.push(value);
    }
  }
}

/** What a message says; null for what this version does not know. */
export function eventOf(message: Message): LiveEvent | null {
  switch (message.event) {
    case 'resync':
      return { event: 'resync' };
    case 'reading':
    case 'alert':
    case 'command':
    case 'meter':
    case 'update':
    case 'telegram':
    case 'mbus-meter-removed':
      try {
        const body: unknown = JSON.parse(message.data);
        if (typeof body !== 'object' || body === null) return null;
        return { ...body, event: message.event } as LiveEvent;
      } catch {
        return null;
      }
    default:
      return null;
  }
}

export const FIRST_WAIT_MS = 1_000;
export const LONGEST_WAIT_MS = 30_000;
/** The collector says something at least every 15 s. */
export const SILENCE_MS = 40_000;

/** How long to wait before try number `failures` (1, 2, ..): doubled each time, spread by a quarter so that not all come at once. */
export function waitMs(failures: number, random: number): number {
  const whole = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10));
  return whole * (0.75 + 0.5 * random);
}

export interface LiveOptions {
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  onEvent: (event: LiveEvent) => void;
  /** `again` is true when events may have been missed: load what is shown. */
  onOpen: (again: boolean) => void;
  onConnection: (connection: Connection) => void;
  random?: () => number;
}

export class Live {
  private readonly options: LiveOptions;
  private stopper: AbortController | null = null;
  private wake: (() => void) | null = null;

  constructor(options: LiveOptions) {
    this.options = options;
  }

  start(): void {
    if (this.stopper !== null) return;
    this.stopper = new AbortController();
    void this.run(this.stopper.signal);
  }

  stop(): void {
    this.stopper?.abort();
    this.stopper = null;
    this.wake?.();
  }

  /** Tries at once: the network came back, or somebody looks again. */
  hurry(): void {
    this.wake?.();
  }

  private async run(stopped: AbortSignal): Promise<void> {
    let failures = 0;
    let opened = false;
    this.options.onConnection('connecting');
    while (!stopped.aborted) {
      try {
        const held = await this.follow(stopped, opened);
        opened ||= held;
        failures = held ? 1 : failures + 1;
      } catch (error) {
        // Who is signed out does not try on; signing in starts it again.
        if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return;
        failures++;
      }
      if (stopped.aborted) return;
      this.options.onConnection('lost');
      await this.pause(waitMs(failures, (this.options.random ?? Math.random)()));
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(finish, ms);
      const wake = (): void => finish();
      this.wake = wake;
      const self = this;
      function finish(): void {
        clearTimeout(timer);
        if (self.wake === wake) self.wake = null;
        done();
      }
    });
  }

  /** Follows one stream to its end; true when it was open. */
  private async follow(stopped: AbortSignal, opened: boolean): Promise<boolean> {
    const one = new AbortController();
    const stop = (): void => one.abort();
    stopped.addEventListener('abort', stop);
    let silence = setTimeout(stop, SILENCE_MS);
    try {
      const reader = (await this.options.open(one.signal)).getReader();
      this.options.onConnection('live');
      this.options.onOpen(opened);
      const decoder = new TextDecoder();
      const parser = new EventParser();
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return true;
          clearTimeout(silence);
          silence = setTimeout(stop, SILENCE_MS);
          for (const message of parser.push(decoder.decode(value, { stream: true }))) {
            const event = eventOf(message);
            if (event !== null) this.options.onEvent(event);
          }
        }
      } catch {
        return true;
      }
    } finally {
      clearTimeout(silence);
      stopped.removeEventListener('abort', stop);
      one.abort();
    }
  }
}
