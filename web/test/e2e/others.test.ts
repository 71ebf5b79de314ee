// Other makers' meters: what is authenticated is told from what anybody may have sent.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { others } from '../../mock/data';
import { DESKTOP, PHONE, START_S, launch, overflows, shot, violations, visit } from './browser';

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
])('other makers’ meters, $theme, $device', ({ theme, device, size }) => {
  test('each says what of it is authenticated, and shows its last telegram', async () => {
    const seen = await visit(browser, { others: others(START_S) }, { theme, size });
    const { page } = seen;
    const look = async (name: string): Promise<void> => {
      await shot(page, `others-${name}-${theme}-${device}`);
      expect(await overflows(page)).toBe(false);
      expect(await violations(page)).toEqual([]);
    };
    await page.goto(seen.url);
    const card = page.getByRole('region', { name: 'Other makers’ meters' }).first();
    await card.waitFor();
    const rows = card.locator('tbody tr');
    expect(await rows.nth(0).textContent()).toContain('Authenticated');
    expect(await rows.nth(1).textContent()).toContain('Not authenticated');
    expect(await rows.nth(2).textContent()).toContain('never');
    await card.scrollIntoViewIfNeeded();
    await look('overview');

    await page.getByRole('link', { name: 'ELS-12345678' }).click();
    const records = page.getByRole('region', { name: 'Records of the last telegram' });
    await records.waitFor();
    const record = records.locator('tbody tr');
    expect(await record.nth(0).textContent()).toBe('Volume123.456\u00a0m³now');
    expect(await record.nth(1).textContent()).toBe('Volume flow1.25\u00a0m³/hMaximum, storage 1');
    // An unknown code has no unit and no quantity that somebody could take for its meaning.
    expect(await record.nth(2).textContent()).toContain('Not known');
    expect(await record.nth(2).textContent()).toContain('02ff21');
    expect(await page.getByText('anybody within range').count()).toBe(0);
    await look('authentic');

    await page.goto(`${seen.url}/#/others/KAM-00000042`);
    await page.getByText('anybody within range').waitFor();
    await page.getByText('its counter 3 came before').waitFor();
    await look('unproven');
    await page.goto(`${seen.url}/#/others/ZRI-0000AB01`);
    await page.getByText('the key is another one').waitFor();
    expect(await page.getByText('Last telegram').count()).toBe(1);
    await page.goto(`${seen.url}/#/others/ABC-00000000`);
    await page.getByText('No telegram of this meter came').waitFor();
    expect(seen.errors).toEqual([]);
    await seen.close();
  });
});

test('a telegram that comes is seen, and a meter that is removed goes', async () => {
  const all = others(START_S);
  const seen = await visit(browser, { others: all }, { theme: 'light', size: DESKTOP });
  const { page, mock } = seen;
  await page.goto(`${seen.url}/#/others/ELS-12345678`);
  const value = page.getByRole('region', { name: 'Records of the last telegram' }).locator('tbody .figure').first();
  await value.waitFor();
  const first = all[0]?.telegram?.contents.records[0];
  if (first === undefined) throw new Error('a record');
  first.value = '200.000';
  mock.send({ event: 'telegram', meter: 'ELS-12345678' });
  await expect.poll(() => value.textContent()).toContain('200.000');
  all.splice(0, 1);
  mock.send({ event: 'mbus-meter-removed', meter: 'ELS-12345678' });
  await page.getByText('No telegram of this meter came').waitFor();
  await page.goto(seen.url);
  await page.getByRole('link', { name: 'KAM-00000042' }).waitFor();
  expect(await page.getByRole('link', { name: 'ELS-12345678' }).count()).toBe(0);
  expect(seen.errors).toEqual([]);
  await seen.close();
});

test('without one there is no word of them', async () => {
  const seen = await visit(browser, {}, { theme: 'light', size: DESKTOP });
  await seen.page.goto(seen.url);
  await seen.page.locator('.meter-card').first().waitFor();
  expect(await seen.page.getByText('Other makers').count()).toBe(0);
  expect(seen.errors).toEqual([]);
  await seen.close();
});
