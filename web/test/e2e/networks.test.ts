// Meters of two networks with the same numbers are told apart; who has one network sees none.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METERS, NETWORK_7 } from '../../mock/data';
import { DESKTOP, PHONE, launch, overflows, shot, violations, visit } from './browser';

const METERS_OF_TWO = [...METERS, ...NETWORK_7];

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
});

describe.each([
  { theme: 'light' as const, device: 'desktop', size: DESKTOP },
  { theme: 'dark' as const, device: 'phone', size: PHONE },
])('two networks, $theme, $device', ({ theme, device, size }) => {
  test('each meter says of which it is, and one network alone can be shown', async () => {
    const seen = await visit(browser, { meters: METERS_OF_TWO }, { theme, size });
    const { page } = seen;
    const look = async (name: string): Promise<void> => {
      await shot(page, `networks-${name}-${theme}-${device}`);
      expect(await overflows(page)).toBe(false);
      expect(await violations(page)).toEqual([]);
    };
    await page.goto(seen.url);
    const cards = page.locator('.meter-card');
    await cards.nth(8).waitFor();
    await page.locator('.spark-line').nth(5).waitFor({ state: 'attached' });
    expect(await page.getByText('Network 7', { exact: true }).count()).toBe(3);
    // Nothing of what stands in them is cut off.
    for (const [label, least] of [['Find a meter by name or number', 200], ['Of network', 140]] as const) {
      expect((await page.getByLabel(label).boundingBox())?.width, label).toBeGreaterThan(least);
    }
    await look('overview');
    await page.getByLabel('Of network').selectOption('Network 7');
    await expect.poll(() => cards.count()).toBe(2);
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Mill, ground floor', 'Meter 7-258']);
    await page.getByRole('radio', { name: 'Table' }).check({ force: true });
    await page.getByRole('columnheader', { name: 'Network' }).waitFor();
    await look('table');

    // The readings, and what is renamed, are those of the one that was chosen.
    await page.getByRole('link', { name: 'Meter 7-258' }).click();
    await page.getByRole('heading', { name: 'Meter 7-258', level: 1 }).waitFor();
    await page.locator('.plot canvas').first().waitFor();
    await look('meter');
    expect(seen.mock.asked.some((asked) => asked.startsWith('GET /meters/7-258/readings?'))).toBe(true);
    expect(seen.mock.asked.some((asked) => asked.startsWith('GET /meters/258/readings?') && asked.includes('resolution=quarter'))).toBe(false);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Name of meter 7-258').fill('Mill, saw');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Mill, saw', level: 1 }).waitFor();
    const now = page.locator('.tile-value').first();
    seen.mock.reading('7-258', 321);
    await expect.poll(() => now.textContent()).toContain('321');
    await page.goto(`${seen.url}/#/meters/258`);
    await page.getByRole('heading', { name: 'Flat 3', level: 1 }).waitFor();
    expect(await now.textContent()).not.toContain('321');
    expect(seen.errors).toEqual([]);
    await seen.close();
  });
});

test('with one network there is no word of networks', async () => {
  const seen = await visit(browser, {}, { theme: 'light', size: DESKTOP });
  const { page } = seen;
  for (const path of ['#/', '#/meters/258', '#/consumption', '#/alerts']) {
    await page.goto(`${seen.url}/${path}`);
    await page.locator('main .card, main .meters').first().waitFor();
    expect(await page.getByText(/network/i).count()).toBe(0);
  }
  await page.goto(`${seen.url}/#/`);
  await page.getByRole('radio', { name: 'Table' }).check({ force: true });
  await page.locator('tbody tr').nth(6).waitFor();
  expect(await page.getByRole('columnheader').allTextContents()).toEqual(
    ['Meter', 'State', 'Power', 'Register', 'Last reading', 'Suite', 'Interval', 'Signal', 'Alerts'],
  );
  await shot(page, 'networks-one-light-desktop');
  expect(seen.errors).toEqual([]);
  await seen.close();
});
