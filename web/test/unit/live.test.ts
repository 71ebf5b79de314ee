import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError, type LiveEvent } from '../../src/api';
import { type Connection, EventParser, LONGEST_WAIT_MS, Live, SILENCE_MS, eventOf, waitMs } from '../../src/live';

describe('the stream', () => {
  test('is the same however it is cut', () => {
    const text =
      ': here\n\nevent: reading\ndata: {"meter":1}\n\r\nevent:alert\r\ndata:{"id":\r\ndata:2}\r\n\r\nevent: resync\ndata\n\ndata: late';
    const expected = [
      { event: 'reading', data: '{"meter":1}' },
      { event: 'alert', data: '{"id":\n2}' },
      { event: 'resync', data: '' },
    ];
    for (let size = 1; size < text.length; size++) {
      const parser = new EventParser();
      const found = [];
      for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
      expect(found).toEqual(expected);
    }
  });

  test('says what this version knows, and nothing else', () => {
    expect(eventOf({ event: 'reading', data: '{"meter":1}' })).toEqual({ event: 'reading', meter: 1 });
    expect(eventOf({ event: 'resync', data: '' })).toEqual({ event: 'resync' });
    expect(eventOf({ event: 'update', data: '{"meter":1,"network":7}' })).toEqual({ event: 'update', meter: 1, network: 7 });
    expect(eventOf({ event: 'other', data: '{}' })).toBeNull();
    expect(eventOf({ event: 'alert', data: '{"id":' })).toBeNull();
    expect(eventOf({ event: 'alert', data: '7' })).toBeNull();
  });
});

test('waits are doubled, up to half a minute, and spread', () => {
  expect([1, 2, 3, 4].map((n) => waitMs(n, 0.5))).toEqual([1000, 2000, 4000, 8000]);
  expect(waitMs(50, 0.5)).toBe(LONGEST_WAIT_MS);
  expect(waitMs(1, 0)).toBe(750);
  expect(waitMs(1, 1)).toBe(1250);
});

describe('a connection', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  interface Opened {
    write: (text: string) => void;
    end: () => void;
    closed: boolean;
  }

  function setUp(answer: (n: number) => Error | null = () => null) {
    const opened: Opened[] = [];
    let tries = 0;
    const states: Connection[] = [];
    const events: LiveEvent[] = [];
    const agains: boolean[] = [];
    const live = new Live({
      open: async (signal) => {
        const error = answer(++tries);
        if (error !== null) throw error;
        return new ReadableStream<Uint8Array>({
          start: (controller) => {
            const one: Opened = {
              write: (text) => controller.enqueue(new TextEncoder().encode(text)),
              end: () => controller.close(),
              closed: false,
            };
            opened.push(one);
            signal.addEventListener('abort', () => {
              if (!one.closed) {
                one.closed = true;
                controller.error(new Error('aborted'));
              }
            });
          },
        });
      },
      onEvent: (event) => events.push(event),
      onOpen: (again) => agains.push(again),
      onConnection: (state) => states.push(state),
      random: () => 0.5,
    });
    return { live, opened, states, events, agains, tries: () => tries };
  }

  const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

  test('hands on events, also those cut in two', async () => {
    const { live, opened, events } = setUp();
    live.start();
    await settle();
    opened[0]?.write('event: meter\nda');
    opened[0]?.write('ta: {"meter":5}\n\n');
    await settle();
    expect(events).toEqual([{ event: 'meter', meter: 5 }]);
    live.stop();
  });

  test('is opened again, ever more slowly, and says that events were missed', async () => {
    const down = new ApiError(0, 'no-answer', '', '');
    const { live, opened, states, agains, tries } = setUp((n) => (n > 1 && n < 5 ? down : null));
    live.start();
    await settle();
    expect(agains).toEqual([false]);
    opened[0]?.end();
    await settle();
    expect(states.at(-1)).toBe('lost');
    expect(tries()).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(tries()).toBe(2);
    await vi.advanceTimersByTimeAsync(1999);
    expect(tries()).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(tries()).toBe(3);
    await vi.advanceTimersByTimeAsync(4000 + 8000);
    expect(tries()).toBe(5);
    expect(agains).toEqual([false, true]);
    expect(states.at(-1)).toBe('live');
    live.stop();
  });

  test('that falls silent is given up', async () => {
    const { live, opened, states } = setUp();
    live.start();
    await settle();
    await vi.advanceTimersByTimeAsync(SILENCE_MS - 1000);
    opened[0]?.write(': here\n\n');
    await vi.advanceTimersByTimeAsync(SILENCE_MS - 1000);
    expect(states.at(-1)).toBe('live');
    await vi.advanceTimersByTimeAsync(1000);
    expect(states.at(-1)).toBe('lost');
    live.stop();
  });

  test('is tried at once when somebody looks', async () => {
    const down = new ApiError(503, 'store', '', '');
    const { live, tries } = setUp((n) => (n < 4 ? down : null));
    live.start();
    await settle();
    live.hurry();
    await settle();
    expect(tries()).toBe(2);
    live.stop();
  });

  test('is not tried again by who is signed out', async () => {
    const { live, tries } = setUp(() => new ApiError(401, 'token', '', ''));
    live.start();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(tries()).toBe(1);
  });

  test('that is stopped stays closed', async () => {
    const { live, opened, tries } = setUp();
    live.start();
    await settle();
    live.stop();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(opened[0]?.closed).toBe(true);
    expect(tries()).toBe(1);
  });
});
