import { expect, test } from 'vitest';
import { Api, ApiError, byName, nameOf, rfc3339, whose } from '../../src/api';
import { routeOf } from '../../src/router';

interface Asked {
  method: string;
  url: string;
  body: unknown;
}

function answering(answers: (Response | Error)[]): { fetch: typeof globalThis.fetch; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    asked.push({ method: init?.method ?? 'GET', url: url instanceof Request ? url.url : url.toString(), body: init?.body ?? null });
    const answer = answers.shift();
    if (answer === undefined) throw new Error('nothing more to answer');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { fetch, asked };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });

test('times in arguments are RFC 3339', () => {
  expect(rfc3339(1_773_757_400)).toBe('2026-03-17T14:23:20Z');
  expect(rfc3339(1_773_757_400.4)).toBe('2026-03-17T14:23:20Z');
});

test('a meter is called by its number, and of another network than 0 with that before it', () => {
  expect(nameOf({ meter: 258 })).toBe('258');
  expect(nameOf({ meter: 258, network: 0 })).toBe('258');
  expect(nameOf({ meter: 258, network: 7 })).toBe('7-258');
  expect(whose({ meter: 258, network: 7 })).toBe('7-258');
  expect(whose({ meter: null })).toBeNull();
  const unordered = [{ meter: 2, network: 7 }, { meter: 300 }, { meter: 1, network: 7 }, { meter: 2 }];
  expect([...unordered].sort(byName).map(nameOf)).toEqual(['2', '300', '7-1', '7-2']);
  expect(routeOf('#/meters/7-258')).toEqual({ page: 'meter', meter: '7-258' });
  expect(routeOf('#/meters/258')).toEqual({ page: 'meter', meter: '258' });
  for (const hash of ['#/meters/07-258', '#/meters/7-', '#/meters/-258', '#/meters/7-258-1']) expect(routeOf(hash)).toEqual({ page: 'unknown' });
});

test('lists are asked for of all networks, and a meter by its name', async () => {
  const { fetch, asked } = answering([json([]), json([]), json([]), json({})]);
  const api = new Api({ fetch });
  await api.meters();
  await api.alerts();
  await api.alerts({ meter: '7-258' });
  await api.meter('7-258');
  expect(asked.map(({ url }) => url)).toEqual([
    '/api/v1/meters?network=all',
    '/api/v1/alerts?network=all',
    '/api/v1/alerts?meter=7-258',
    '/api/v1/meters/7-258',
  ]);
});

test('readings come page after page', async () => {
  const page = (at_s: number[], next: unknown): unknown => ({ meter: 1, resolution: 'raw', at_s, power_w: at_s, energy_wh: at_s, next });
  const { fetch, asked } = answering([json(page([1, 2], '2.1.7')), json(page([3], null))]);
  const found = await new Api({ fetch }).readings('1', { from_s: 0, to_s: 10 }, 'raw');
  expect(found.at_s).toEqual([1, 2, 3]);
  expect(asked.map(({ url }) => new URL(url, 'http://x').searchParams.get('from'))).toEqual([
    '1970-01-01T00:00:00Z',
    '2.1.7',
  ]);
});

test('an error says what the collector said', async () => {
  const { fetch } = answering([json({ error: { code: 'meter-unknown', message: 'There is none.', hint: 'Look.' } }, 404)]);
  const error = await new Api({ fetch }).meter('9').catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, code: 'meter-unknown', message: 'There is none.', hint: 'Look.' });
});

test('what is no answer of a collector is an error all the same', async () => {
  const { fetch } = answering([new Response('<html>', { status: 502 }), new TypeError('no network')]);
  const api = new Api({ fetch });
  expect(await api.meters().catch((failed: unknown) => failed)).toMatchObject({ status: 502, code: 'http-502' });
  expect(await api.meters().catch((failed: unknown) => failed)).toMatchObject({ status: 0, code: 'no-answer' });
});

test('who asks too fast waits as told, and asks again', async () => {
  const slow = (): Response => json({ error: { code: 'rate', message: '', hint: '' } }, 429, { 'Retry-After': '2' });
  const { fetch, asked } = answering([slow(), slow(), json([])]);
  const waits: number[] = [];
  const api = new Api({ fetch, sleep: async (ms) => void waits.push(ms) });
  expect(await api.meters()).toEqual([]);
  expect([asked.length, waits]).toEqual([3, [2000, 2000]]);
});

test('a command is never sent twice', async () => {
  const { fetch, asked } = answering([json({ error: { code: 'rate', message: '', hint: '' } }, 429, { 'Retry-After': '1' })]);
  await expect(new Api({ fetch }).command('1', 'reboot')).rejects.toMatchObject({ status: 429 });
  expect(asked).toEqual([{ method: 'POST', url: '/api/v1/meters/1/commands', body: '{"command":"reboot"}' }]);
});

test('an image is sent as it is, and meters of updates by their names', async () => {
  const { fetch, asked } = answering([json({}, 201), json([], 201), json([]), json([]), json({}), new Response(null, { status: 204 })]);
  const types: (string | null)[] = [];
  const api = new Api({
    fetch: (url, init) => {
      types.push(new Headers(init?.headers).get('Content-Type'));
      return fetch(url, init);
    },
  });
  const file = new Blob([new Uint8Array([0, 255, 10])]);
  await api.addImage(file);
  await api.beginUpdates('ab', [{ meter: 258 }, { meter: 258, network: 0 }, { meter: 258, network: 7 }]);
  await api.updates();
  await api.updates(7);
  await api.withdrawUpdate('7-258');
  await api.removeImage('ab');
  expect(asked).toEqual([
    { method: 'POST', url: '/api/v1/images', body: file },
    { method: 'POST', url: '/api/v1/updates', body: '{"image":"ab","meters":[258,258,"7-258"]}' },
    { method: 'GET', url: '/api/v1/updates?network=all', body: null },
    { method: 'GET', url: '/api/v1/updates?network=7', body: null },
    { method: 'DELETE', url: '/api/v1/meters/7-258/update', body: null },
    { method: 'DELETE', url: '/api/v1/images/ab', body: null },
  ]);
  expect(types).toEqual(['application/octet-stream', 'application/json', null, null, null, null]);
});

test('401 signs out, but not where a token is tried', async () => {
  let out = 0;
  const refused = (): Response => json({ error: { code: 'token', message: '', hint: '' } }, 401);
  const { fetch } = answering([refused(), refused()]);
  const api = new Api({ fetch, onSignedOut: () => out++ });
  await expect(api.signIn('wst_x')).rejects.toMatchObject({ status: 401 });
  expect(out).toBe(0);
  await expect(api.meters()).rejects.toMatchObject({ status: 401 });
  expect(out).toBe(1);
});
