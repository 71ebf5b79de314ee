// The dashboard over a real collector, from a meter's packet to the figure on the page. Takes the program that WATTSEAL names.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, PHONE, launch, overflows, shot, violations } from '../e2e/browser';
import { imageFile } from '../image';
import { UdpMeter } from './meter';

const program = process.env.WATTSEAL;
const METERS = [258, 259, 260];

describe.skipIf(program === undefined)('a real collector', () => {
  const home = mkdtempSync(join(tmpdir(), 'wattseal-web-'));
  const files = ['--db', join(home, 'w.db'), '--keys', join(home, 'keys')];
  const meters: UdpMeter[] = [];
  const errors: string[] = [];
  let collector: ChildProcess;
  let listen = '127.0.0.1:0';
  let udp = '127.0.0.1:0';
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const url = (): string => `http://${listen}`;
  const link = (): string => readFileSync(join(home, 'w.db.one-time-link'), 'utf8').trim();
  let token = '';
  const plain = async (selector: string): Promise<string> =>
    ((await page.locator(selector).first().textContent()) ?? '').replace(/\u00a0/g, ' ');

  async function start(): Promise<void> {
    collector = spawn(program ?? '', ['collect', ...files, '--listen', listen, '--udp', udp, '--zone', 'Europe/Prague', '--log-level', 'warn'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: collector.stdout! })) {
      const [what, where = ''] = line.split(' ');
      if (what === 'dashboard') listen = new URL(where).host;
      if (what === 'udp') {
        udp = where;
        return;
      }
    }
    throw new Error('the collector did not start');
  }

  async function stop(): Promise<void> {
    const ended = new Promise((done) => collector.once('exit', done));
    collector.kill('SIGTERM');
    await ended;
  }

  beforeAll(async () => {
    execFileSync(program ?? '', ['meters', 'provision', ...METERS.map(String), '--address', '0x42', ...files, '--images', join(home, 'images')]);
    await start();
    for (const meter of METERS) {
      const file = readFileSync(join(home, 'keys', 'meters', `${String(meter).padStart(5, '0')}.toml`), 'utf8');
      const keys = /keys = "([0-9a-f]{96})"/.exec(file)?.[1];
      if (keys === undefined) throw new Error('no keys in the file of the meter');
      meters.push(
        new UdpMeter({
          meter,
          address: 0x42,
          collector_address: 0x4f,
          key: Buffer.from(keys, 'hex').subarray(0, 16),
          port: Number(udp.split(':')[1]),
          rssi_dbm: -61 - 10 * meters.length,
        }),
      );
    }
    // Half an hour, every ten seconds, 600 W, 1,200 W and 1,800 W: a sixth of a minute takes 1.67, 3.33 and 5 Wh.
    const now_s = Math.floor(Date.now() / 10_000) * 10;
    await Promise.all(
      meters.map(async (meter, i) => {
        for (let step = 180; step >= 0; step--) {
          const power_w = 600 * (i + 1);
          await meter.measure({ at_s: now_s - 10 * step, power_w, energy_dwh: Math.round(((180 - step) * power_w * 100) / 3600) });
        }
      }),
    );
    browser = await launch();
    context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', timezoneId: 'Europe/Prague' });
    page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('Failed to load resource')) errors.push(message.text());
    });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    for (const meter of meters) meter.close();
    await stop();
    rmSync(home, { recursive: true });
  });

  test('says of itself what the types were made of', async () => {
    const description = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(await (await fetch(`${url()}/api/v1/openapi.json`)).json()).toEqual(JSON.parse(description));
  });

  test('before there is a token it says where the link stands, and the link makes the first one', async () => {
    expect((await fetch(`${url()}/api/v1/meters`)).status).toBe(401);
    await page.goto(url());
    await page.getByRole('heading', { name: 'The first sign-in' }).waitFor();
    await shot(page, 'real-first-signin-light-desktop');
    await page.goto(link());
    token = (await page.locator('.secret code').textContent()) ?? '';
    expect(token).toMatch(/^wst_.{43}$/);
    await shot(page, 'real-first-token-light-desktop');
    expect(page.url()).toBe(`${url()}/#/`);
    expect(existsSync(join(home, 'w.db.one-time-link'))).toBe(false);
    await page.getByRole('button', { name: 'Done' }).click();
  });

  test('what was sent is what is shown', async () => {
    await page.goto(url());
    await page.getByRole('link', { name: 'Meter 260' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => plain('.tile-value')).toBe('3.60 kW');
    expect(await plain('.meter-card:nth-child(1) .meter-power')).toBe('600 W');
    await page.locator('.spark-line').nth(2).waitFor({ state: 'attached' });
    await page.goto(`${url()}/#/consumption`);
    // 300, 600 and 900 Wh in half an hour.
    await expect.poll(() => plain('.figure-big')).toBe('1.80 kWh');
    expect(await plain('.legend li:nth-child(1)')).toBe('Meter 260900 Wh');
  });

  test('a reading that comes is there at once', async () => {
    await page.goto(`${url()}/#/meters/258`);
    await page.getByText(/^Measurements from 600/).waitFor();
    await meters[0]?.measure({ at_s: Math.floor(Date.now() / 1000), power_w: 31_500, energy_dwh: 3010 });
    await expect.poll(() => plain('.tile-value')).toBe('31.5 kW');
    await page.getByText('301\u00a0Wh').first().waitFor();
  });

  test('a command goes to the meter, and its answer comes back', async () => {
    await page.getByRole('combobox', { name: 'Command' }).selectOption('read-status');
    await page.getByRole('combobox', { name: 'Page' }).selectOption('1');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.commands').getByText('Read status: page 1').waitFor();
    // It goes out at once, or when the meter reports next.
    await meters[0]?.measure({ at_s: Math.floor(Date.now() / 1000) + 1, power_w: 700, energy_dwh: 3020 });
    const one = page.locator('.commands li', { hasText: 'Read status: page 1' }).first();
    await one.getByText('Done', { exact: true }).waitFor();
    await one.getByText('230.4\u00a0V').waitFor();
    await one.getByText(/^30[12]\u00a0Wh$/).waitFor();
    expect(meters[0]?.told).toContain(5);
  });

  test('an alert is shown and acknowledged', async () => {
    await meters[1]?.alert(4, 3);
    await page.goto(`${url()}/#/alerts`);
    const one = page.locator('.alerts li', { hasText: 'Watchdog restarted the meter' });
    await one.getByRole('button', { name: /^Acknowledge/ }).click();
    await one.getByText('acknowledged by administrator').waitFor();
  });

  test('an image is added, and an update goes as far as the meter lets it', async () => {
    await page.goto(`${url()}/#/firmware`);
    const file = page.getByLabel('File with a signed image');
    const add = page.getByRole('button', { name: 'Add image' });
    await file.setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer: Buffer.alloc(600, 7) });
    await add.click();
    await page.getByText(/this is no image/).waitFor();
    for (const said of ['is added.', 'was there already.']) {
      await file.setInputFiles(imageFile(7, 1 << 20));
      await add.click();
      await page.getByText(`Version 7 for stm32f407, slot at 0x08020000 ${said}`).first().waitFor();
      await page.getByRole('button', { name: /^Remove Version 7/ }).waitFor();
    }
    await page.getByRole('checkbox', { name: /^Meter 259/ }).check();
    await page.getByRole('button', { name: 'Update …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Update', exact: true }).click();
    await page.getByText('1 update to version 7 has begun.').first().waitFor();
    const row = page.getByRole('region', { name: 'Updates' }).locator('tbody tr');
    // Its firmware has nothing that takes an image.
    await meters[1]?.measure({ at_s: Math.floor(Date.now() / 1000), power_w: 1200, energy_dwh: 6100 });
    await row.getByText('Not possible', { exact: true }).waitFor();
    await page.goto(`${url()}/#/meters/259`);
    await page.getByRole('region', { name: 'Firmware' }).getByText('Not possible', { exact: true }).waitFor();
    // One that does not answer is withdrawn.
    const silent = meters[2];
    if (silent !== undefined) silent.obeys = false;
    await page.goto(`${url()}/#/firmware`);
    await page.getByRole('checkbox', { name: /^Meter 260/ }).check();
    await page.getByRole('button', { name: 'Update …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Update', exact: true }).click();
    await page.getByRole('button', { name: /^Remove Version 7/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText(/an update that is not over needs this image/).waitFor();
    await page.getByRole('button', { name: 'Withdraw the update of Meter 260' }).click();
    await row.getByText('Withdrawn', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Remove Version 7/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No images yet').waitFor();
  });

  test.each([
    ['light', 'desktop', DESKTOP],
    ['dark', 'phone', PHONE],
  ] as const)('its pages, %s, %s', async (theme, device, size) => {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size);
    for (const [name, path, ready] of [
      ['overview', '#/', '.spark-line'],
      ['meter', '#/meters/258', '.plot canvas'],
      ['consumption', '#/consumption', '.legend li'],
      ['alerts', '#/alerts', '.card'],
      ['firmware', '#/firmware', '.updates tr'],
      ['administration', '#/administration', '.actions li'],
    ] as const) {
      await page.goto(`${url()}/${path}`);
      await page.locator(ready).first().waitFor({ state: 'attached' });
      await page.waitForTimeout(500);
      await shot(page, `real-${name}-${theme}-${device}`);
      expect(await overflows(page), name).toBe(false);
      expect(await violations(page), name).toEqual([]);
    }
  });

  test('that goes away and comes back', async () => {
    await page.goto(url());
    await page.getByText('Live', { exact: true }).waitFor();
    await stop();
    await page.getByText('Not connected').waitFor();
    await start();
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
    await meters[2]?.measure({ at_s: Math.floor(Date.now() / 1000), power_w: -450, energy_dwh: 9000 });
    await page.getByText('\u2212450').first().waitFor();
  });

  test('who signs out comes in again with the token, which stays', async () => {
    await page.goto(`${url()}/#/administration`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('input[name=token]').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Administration' }).waitFor();
    await page.getByRole('button', { name: 'Revoke administrator' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText(/last administrator/).waitFor();
    expect(errors).toEqual([]);
  });
});
