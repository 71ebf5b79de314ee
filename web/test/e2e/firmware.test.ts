// Updates of firmware: how far they are, live; images, and what begins and withdraws an update, for administrators.

import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Update, UpdateState } from '../../src/api';
import { METERS, type MockMeter, NETWORK_7, firstImages, update } from '../../mock/data';
import { imageFile } from '../image';
import { PHONE, START_S, type Visit, launch, overflows, shot, violations, visit } from './browser';

let browser: Browser;
let seen: Visit;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
afterEach(async () => {
  expect(seen.errors).toEqual([]);
  await seen.close();
});

async function open(path: string, ...how: Parameters<typeof visit> extends [Browser, ...infer Rest] ? Rest : never): Promise<Visit> {
  seen = await visit(browser, ...how);
  await seen.page.goto(`${seen.url}/${path}`);
  await seen.page.getByText('Live', { exact: true }).waitFor();
  return seen;
}

const rows = () => seen.page.getByRole('region', { name: 'Updates' }).locator('tbody tr');
const row = (called: string) => rows().filter({ hasText: called });
const asked = (start: string): string[] => seen.mock.asked.filter((one) => one.startsWith(start));
const plain = async (what: ReturnType<typeof row>): Promise<string> => ((await what.textContent()) ?? '').replace(/\u00a0/g, ' ');

/** As many meters, each with an update. */
function many(count: number, stateOf: (i: number) => UpdateState): { meters: MockMeter[]; updates: Update[] } {
  const [first] = firstImages(START_S);
  if (first === undefined) throw new Error('no image');
  const meters = Array.from({ length: count }, (_, i): MockMeter => ({
    meter: 1000 + i, label: `House ${i}`, suite: 'aes128-gcm', interval_s: 10, base_w: 60, peak_w: 900, rssi_dbm: -60,
  }));
  const updates = meters.map((meter, i) =>
    update(meter, first, { by: 'Jana', created_s: START_S - 9000, changed_s: START_S - 9000 + i, state: stateOf(i), refusal: stateOf(i) === 'refused' ? 'old' : null }),
  );
  return { meters, updates };
}

describe('updates', () => {
  test('say what each does, what is under way first', async () => {
    await open('#/firmware');
    await expect
      .poll(() => rows().locator('th a').allTextContents())
      .toEqual(['Flat 3', 'Heat pump', 'Meter 262', 'Staircase and cellar of the house at the back', 'Flat 1', 'Workshop']);
    expect(await plain(row('Flat 3'))).toContain('Sending');
    expect(await plain(row('Flat 3'))).toContain('41 % · 700 of 1,686 pieces');
    const bar = row('Flat 3').getByRole('progressbar', { name: 'Pieces that Flat 3 has' });
    expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['700', '1686']);
    expect(await plain(row('Staircase'))).toContain('the image is for the slot that the meter runs from');
    // What was not measured is not estimated.
    expect(await seen.page.getByText(/ left$/).count()).toBe(0);
    expect(await seen.page.locator('.tile-note').allTextContents()).toEqual(['1\u00a0sending, 2\u00a0waiting', 'of 6', '1\u00a0refused, 1\u00a0not possible', 'none']);
  });

  test('go on while one looks, and are asked for once a second at most', async () => {
    const { page, mock } = await open('#/firmware');
    await rows().first().waitFor();
    const before = asked('GET /updates').length;
    const meters = asked('GET /meters/').length;
    const began_ms = Date.now();
    for (let pieces = 701; pieces <= 760; pieces++) {
      mock.update('258', { pieces });
      await page.waitForTimeout(50);
    }
    await page.getByText('760 of 1,686').waitFor();
    const often = asked('GET /updates').length - before;
    expect(often).toBeGreaterThanOrEqual(2);
    // At once, and then once a second; timers of the browser may be a little early.
    expect(often).toBeLessThanOrEqual(2 + (Date.now() - began_ms) / 990);
    expect(asked('GET /meters/').length).toBe(meters);
    mock.update('258', { pieces: 1686, state: 'trying' });
    await row('Flat 3').getByText('On trial', { exact: true }).waitFor();
    mock.update('258', { state: 'went-back' });
    await row('Flat 3').getByText('Went back', { exact: true }).waitFor();
    expect(await row('Flat 3').getByRole('progressbar').count()).toBe(0);
    expect(await row('Flat 3').getByRole('button').count()).toBe(0);
  });

  test('that are read slowly are read all the same', async () => {
    const { page, mock } = await open('#/firmware');
    await rows().first().waitFor();
    // Each answer takes longer than the events are apart.
    await page.route('**/api/v1/updates*', async (route) => {
      await new Promise((done) => setTimeout(done, 1500));
      await route.continue().catch(() => undefined);
    });
    for (let pieces = 701; pieces <= 730; pieces++) {
      mock.update('258', { pieces });
      await page.waitForTimeout(100);
    }
    expect(await plain(row('Flat 3'))).not.toContain('700 of');
    await page.getByText('730 of 1,686').waitFor();
  });

  test('are withdrawn while they are not over', async () => {
    const { page, mock } = await open('#/firmware');
    await page.getByRole('button', { name: 'Withdraw the update of Heat pump' }).click();
    await row('Heat pump').getByText('Withdrawn', { exact: true }).waitFor();
    expect(asked('DELETE')).toEqual(['DELETE /meters/260/update']);
    expect(await page.getByRole('button', { name: /^Withdraw/ }).count()).toBe(2);
    await expect.poll(() => asked('GET /updates').length).toBe(2);
    // One that has ended meanwhile, before its event came.
    const one = mock.updates.find(({ meter }) => meter === 258);
    if (one !== undefined) one.state = 'runs';
    await page.getByRole('button', { name: 'Withdraw the update of Flat 3' }).click();
    await page.getByText('the update of meter 258 has ended').waitFor();
    await row('Flat 3').getByText('Runs', { exact: true }).waitFor();
  });

  test.each([
    { device: 'desktop', look: {} },
    { device: 'phone', look: { size: PHONE, theme: 'dark' as const } },
  ])('of hundreds of meters stay readable, $device', async ({ device, look }) => {
    const states: UpdateState[] = ['waiting', 'waiting', 'runs', 'waiting', 'refused'];
    const { meters, updates } = many(400, (i) => (i === 7 ? 'sending' : (states[i % 5] ?? 'waiting')));
    seen = await visit(browser, { meters }, look);
    const { page, mock, url } = seen;
    mock.updates = updates;
    await page.goto(`${url}/#/firmware`);
    await expect.poll(() => rows().count()).toBe(50);
    await expect.poll(() => page.locator('.tile-value').allTextContents()).toEqual(['241', '79', '80', '0']);
    await shot(page, `firmware-many-${device}`);
    expect(await overflows(page)).toBe(false);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show more (350 left)' }).click();
    await expect.poll(() => rows().count()).toBe(150);
    await page.getByLabel('Which updates').selectOption('Failed (80)');
    await expect.poll(() => rows().count()).toBe(50);
    await page.getByLabel('Find an update by the meter’s name or number').fill('House 39');
    // 39, 394 and 399 end in 4 or 9.
    await expect.poll(() => rows().count()).toBe(3);
    await page.getByLabel('Find an update by the meter’s name or number').fill('nobody');
    await page.getByText('No such update').waitFor();
  });
});

test('of two networks, on a phone: nothing is cut off', async () => {
  await open('#/firmware', { meters: [...METERS, ...NETWORK_7] }, { size: PHONE });
  await rows().nth(5).waitFor();
  await shot(seen.page, 'firmware-networks-light-phone');
  expect(await overflows(seen.page)).toBe(false);
  const isCut = await seen.page.locator('.table-scroll').evaluateAll((tables) => tables.map((table) => table.scrollWidth > table.clientWidth));
  expect(isCut).toEqual([false, false]);
});

describe('an administrator', () => {
  test('adds an image, is told what is wrong with a file, and removes one', async () => {
    const { page } = await open('#/firmware', { bare: true });
    await page.getByText('No images yet').waitFor();
    expect(await page.getByRole('region', { name: 'Update meters' }).count()).toBe(0);
    const file = page.getByLabel('File with a signed image');
    const add = page.getByRole('button', { name: 'Add image' });
    expect(await add.isDisabled()).toBe(true);
    await file.setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer: Buffer.alloc(700, 7) });
    await add.click();
    await page.getByText('this is no image of firmware').waitFor();
    await shot(page, 'firmware-no-image-light-desktop');
    expect(await violations(page)).toEqual([]);
    await file.setInputFiles(imageFile(1003, (1 << 20) + 4));
    expect(await page.getByText('this is no image of firmware').count()).toBe(0);
    await add.click();
    await page.getByText('meter-1003.img has 1,048,580\u00a0B; an image has at most 1,048,576\u00a0B.').waitFor();
    expect(asked('POST').length).toBe(1);
    await file.setInputFiles(imageFile(1003));
    await add.click();
    await page.getByText('Version 1003 for stm32f407, slot at 0x08020000 is added.').first().waitFor();
    const listed = page.getByRole('region', { name: 'Images' }).locator('tbody tr');
    await expect.poll(() => listed.count()).toBe(1);
    await page.getByRole('region', { name: 'Update meters' }).getByText('until the image for their other slot is added').waitFor();
    expect((await listed.locator('td').allTextContents()).slice(1, 3)).toEqual(['2,048\u00a0B', '57']);
    expect(await file.inputValue()).toBe('');
    await file.setInputFiles(imageFile(1003));
    await add.click();
    await page.getByText('was there already').first().waitFor();
    await expect.poll(() => listed.count()).toBe(1);
    await page.getByRole('button', { name: /^Remove Version 1003/ }).click();
    await page.getByRole('dialog', { name: 'Remove version 1003?' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No images yet').waitFor();
  });

  test('cannot remove an image that an update needs', async () => {
    const { page } = await open('#/firmware');
    await page.getByRole('button', { name: /slot at 0x08080000$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('2 updates that have not ended need this image').waitFor();
    expect(await page.getByRole('region', { name: 'Images' }).locator('tbody tr').count()).toBe(3);
  });

  test('begins updates of the meters that were chosen, after a question', async () => {
    const gone = { meter: 300, label: 'Gone', suite: 'aes128-gcm', interval_s: 10, base_w: 0, peak_w: 0, rssi_dbm: null, revoked: true } as const;
    const { page, mock } = await open('#/firmware', { meters: [...METERS, ...NETWORK_7, gone] });
    const boxes = page.getByRole('checkbox');
    const begin = page.getByRole('button', { name: 'Update …' });
    await boxes.nth(8).waitFor();
    expect(await begin.isDisabled()).toBe(true);
    await page.getByRole('combobox', { name: /^Image/ }).selectOption('Version 7 for stm32f407, slots at 0x08020000 and 0x08080000');
    // Those that have it, or are about to, are left out on demand.
    await page.getByRole('radio', { name: 'Without version 7' }).check({ force: true });
    await expect.poll(() => boxes.count()).toBe(5);
    await page.getByRole('radio', { name: 'All', exact: true }).check({ force: true });
    await page.getByRole('button', { name: 'Choose all 9' }).click();
    await page.getByText('9 meters chosen.').waitFor();
    await page.getByRole('button', { name: 'Choose none' }).click();
    await page.getByText('No meter chosen.').waitFor();
    // With the keys alone.
    await page.getByLabel('Find meters to choose by name or number').fill('mill');
    await expect.poll(() => boxes.count()).toBe(1);
    await boxes.first().focus();
    await page.keyboard.press('Space');
    await page.getByLabel('Find meters to choose by name or number').fill('heat');
    await page.getByRole('button', { name: 'Choose these 1' }).click();
    await page.getByText('2 meters chosen.').waitFor();
    await begin.click();
    const dialog = page.getByRole('dialog', { name: 'Update 2 meters to version 7?' });
    await dialog.getByText('1 update under way ends with that.').waitFor();
    await shot(page, 'firmware-begin-light-desktop');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(asked('POST')).toEqual([]);
    await begin.click();
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST'),
      dialog.getByRole('button', { name: 'Update', exact: true }).click(),
    ]);
    expect(sent.postDataJSON()).toEqual({ image: '5e1f'.repeat(16), meters: [260, '7-257'] });
    await page.getByText('2 updates to version 7 have begun.').first().waitFor();
    await row('Mill, ground floor').getByText('Waiting', { exact: true }).waitFor();
    await page.getByText('No meter chosen.').waitFor();
    expect(mock.updates.filter(({ image: of }) => of === '5e1f'.repeat(16)).length).toBe(4);
  });

  test('is told why none has begun', async () => {
    const { page, mock } = await open('#/firmware');
    await page.getByRole('checkbox', { name: /^Flat 1/ }).check();
    mock.images = [];
    await page.getByRole('button', { name: 'Update …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Update', exact: true }).click();
    await page.getByText('there is no such image here').waitFor();
    await page.getByText('1 meter chosen.').waitFor();
  });
});

test('a viewer sees images and updates, and no way to change any', async () => {
  const { page } = await open('#/firmware', { role: 'viewer' });
  await rows().nth(5).waitFor();
  await expect.poll(() => page.getByRole('region', { name: 'Images' }).locator('tbody tr').count()).toBe(3);
  expect(await page.locator('main').getByRole('button').count()).toBe(0);
  expect(await page.locator('main form, main [type=checkbox], main [type=file]').count()).toBe(0);
  await page.goto(`${seen.url}/#/meters/258`);
  await page.getByRole('progressbar').waitFor();
  expect(await page.getByRole('button', { name: /^Withdraw/ }).count()).toBe(0);
});

describe('a meter’s page', () => {
  test('shows its update, live, and withdraws it', async () => {
    const { page, mock } = await open('#/meters/258');
    const card = page.getByRole('region', { name: 'Firmware' });
    await card.getByText('700 of 1,686 pieces').waitFor();
    expect(asked('GET /updates')).toEqual(['GET /updates?network=0']);
    // Another meter's is not its own.
    mock.update('262', { pieces: 121 });
    await page.waitForTimeout(500);
    expect(asked('GET /updates').length).toBe(1);
    mock.update('258', { pieces: 1686, state: 'trying' });
    await card.getByText('On trial', { exact: true }).waitFor();
    await expect.poll(async () => (await page.locator('[role=status]').first().textContent()) ?? '').toBe('Firmware version 7: On trial.');
    await card.getByRole('button', { name: 'Withdraw the update' }).click();
    await card.getByText('Withdrawn', { exact: true }).waitFor();
    expect(await card.getByRole('button').count()).toBe(0);
  });

  test('says nothing of firmware where there is no update', async () => {
    const { page } = await open('#/meters/263');
    await page.getByText('No readings in the last hour').waitFor();
    await expect.poll(() => asked('GET /updates').length).toBe(1);
    expect(await page.getByRole('region', { name: 'Firmware' }).count()).toBe(0);
  });
});
