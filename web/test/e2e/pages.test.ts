// Every page, light and dark, on a desk and on a phone: it shows what it should, fits, and shuts nobody out.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, PHONE, launch, overflows, shot, violations, visit } from './browser';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

const TOKENS = { wst_admin: { name: 'Jana', role: 'administrator' as const } };

interface Seen {
  name: string;
  path: string;
  signedOut?: boolean;
  ready: (page: Page) => Promise<unknown>;
}

const PAGES: Seen[] = [
  { name: 'overview', path: '#/', ready: (page) => page.locator('.spark-line').nth(4).waitFor({ state: 'attached' }) },
  {
    name: 'meter',
    path: '#/meters/258',
    ready: async (page) => {
      await page.locator('.plot canvas').nth(1).waitFor();
      await page.getByText('ECIES + ECDSA').first().waitFor({ state: 'attached' });
      await page.getByText('Stack never touched').waitFor();
    },
  },
  { name: 'consumption', path: '#/consumption', ready: (page) => page.locator('.legend li').nth(4).waitFor() },
  { name: 'alerts', path: '#/alerts', ready: (page) => page.locator('.alerts li').nth(2).waitFor() },
  { name: 'administration', path: '#/administration', ready: (page) => page.getByText('Hall display').first().waitFor() },
  { name: 'signin', path: '#/', signedOut: true, ready: (page) => page.getByLabel('Access token').waitFor() },
];

describe.each([
  { theme: 'light' as const, device: 'desktop', size: DESKTOP },
  { theme: 'dark' as const, device: 'desktop', size: DESKTOP },
  { theme: 'light' as const, device: 'phone', size: PHONE },
  { theme: 'dark' as const, device: 'phone', size: PHONE },
])('$theme, $device', ({ theme, device, size }) => {
  test.each(PAGES)('$name', async ({ name, path, signedOut, ready }) => {
    const seen = await visit(browser, signedOut === true ? { tokens: TOKENS } : {}, { theme, size });
    try {
      await seen.page.goto(`${seen.url}/${path}`);
      await ready(seen.page);
      await shot(seen.page, `${name}-${theme}-${device}`);
      expect(await seen.page.locator('html').getAttribute('data-theme')).toBe(theme);
      expect(await overflows(seen.page)).toBe(false);
      expect(await violations(seen.page)).toEqual([]);
      expect(seen.errors).toEqual([]);
    } finally {
      await seen.close();
    }
  });
});
