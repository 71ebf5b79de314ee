// Every page, light and dark, on a desk and on a phone: it shows what it should, fits, and shuts nobody out.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, PHONE, type Visit, launch, overflows, shot, violations, visit } from './browser';

const TOKEN = 'wst_admin';
const TOKENS = { [TOKEN]: { name: 'Jana', role: 'administrator' as const } };

interface Seen {
  name: string;
  path: string;
  ready: (page: Page) => Promise<unknown>;
}

const PAGES: Seen[] = [
  { name: 'overview', path: '#/', ready: (page) => page.locator('.spark-line').nth(4).waitFor({ state: 'attached' }) },
  {
    name: 'overview-table',
    path: '#/',
    ready: async (page) => {
      await page.getByRole('radio', { name: 'Table' }).check({ force: true });
      await page.locator('tbody tr').nth(6).waitFor();
    },
  },
  {
    name: 'meter',
    path: '#/meters/258',
    ready: async (page) => {
      await page.locator('.plot canvas').nth(1).waitFor();
      await page.getByText('Made up for the mock').waitFor();
      await page.getByText('Stack never touched').waitFor();
    },
  },
  {
    name: 'meter-week',
    path: '#/meters/260',
    ready: async (page) => {
      await page.getByRole('radio', { name: 'Week', exact: true }).check({ force: true });
      await page.getByText('Means from').waitFor();
      await page.getByRole('radio', { name: 'Hours' }).check({ force: true });
      await page.getByText('in one hour').waitFor();
    },
  },
  { name: 'consumption', path: '#/consumption', ready: (page) => page.locator('.legend li').nth(4).waitFor() },
  { name: 'alerts', path: '#/alerts', ready: (page) => page.locator('.alerts li').nth(2).waitFor() },
  {
    name: 'firmware',
    path: '#/firmware',
    ready: async (page) => {
      await page.getByRole('progressbar').nth(1).waitFor();
      await page.getByRole('region', { name: 'Images' }).first().waitFor();
      await page.getByRole('checkbox').nth(6).waitFor();
    },
  },
  { name: 'administration', path: '#/administration', ready: (page) => page.getByText('Hall display').first().waitFor() },
];

describe.each([
  { theme: 'light' as const, device: 'desktop', size: DESKTOP },
  { theme: 'dark' as const, device: 'desktop', size: DESKTOP },
  { theme: 'light' as const, device: 'phone', size: PHONE },
  { theme: 'dark' as const, device: 'phone', size: PHONE },
])('$theme, $device', ({ theme, device, size }) => {
  let browser: Browser;
  let seen: Visit;

  const look = async (name: string): Promise<void> => {
    await shot(seen.page, `${name}-${theme}-${device}`);
    expect(await seen.page.locator('html').getAttribute('data-theme')).toBe(theme);
    expect(await overflows(seen.page)).toBe(false);
    expect(await violations(seen.page)).toEqual([]);
    expect(seen.errors).toEqual([]);
  };

  beforeAll(async () => {
    browser = await launch();
    seen = await visit(browser, { tokens: TOKENS }, { theme, size });
  });
  afterAll(async () => {
    await seen.close();
    await browser.close();
  });

  test('first sign-in', async () => {
    const first = await visit(browser, { link: 'wsl_mock' }, { theme, size });
    await first.page.goto(first.url);
    await first.page.getByLabel('One-time link').waitFor();
    await shot(first.page, `first-signin-${theme}-${device}`);
    expect(await overflows(first.page)).toBe(false);
    expect(await violations(first.page)).toEqual([]);
    expect(first.errors).toEqual([]);
    await first.close();
  });

  test('sign-in', async () => {
    await seen.page.goto(seen.url);
    const token = seen.page.getByLabel('Access token');
    await token.waitFor();
    await look('signin');
    await token.fill(TOKEN);
    await seen.page.getByRole('button', { name: 'Sign in' }).click();
    await seen.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test.each(PAGES)('$name', async ({ name, path, ready }) => {
    await seen.page.goto(`${seen.url}/${path}`);
    await ready(seen.page);
    await look(name);
  });
});
