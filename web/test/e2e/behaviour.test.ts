// What people do with the dashboard, and what happens to it: live figures, commands, lost connections, errors.

import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
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

const VIEWER = { wst_view: { name: 'Hall display', role: 'viewer' as const } };

async function open(path: string, ...how: Parameters<typeof visit> extends [Browser, ...infer Rest] ? Rest : never): Promise<Visit> {
  seen = await visit(browser, ...how);
  await seen.page.goto(`${seen.url}/${path}`);
  return seen;
}

async function live(): Promise<void> {
  await seen.page.getByText('Live', { exact: true }).waitFor();
}

const text = async (selector: string): Promise<string> =>
  ((await seen.page.locator(selector).first().textContent()) ?? '').replace(/\u00a0/g, ' ');

describe('live figures', () => {
  test('a reading changes its card and the total, and nothing else', async () => {
    const { page, mock } = await open('#/', { meters: [TWO[0], TWO[1]] });
    await live();
    const other = await text('.meter-card:nth-child(2) .meter-power');
    mock.reading(257, 12_340);
    await page.getByText('12.3').first().waitFor();
    await expect.poll(() => text('.meter-card:nth-child(1) .meter-power')).toBe('12.3 kW');
    await expect.poll(() => text('.meter-card:nth-child(2) .meter-power')).toBe(other);
    mock.reading(258, -340);
    await page.getByText('12.0').waitFor();
    await expect.poll(() => text('.tile-value')).toBe('12.0 kW');
  });

  test('an old reading from the journal does not pass for the power now', async () => {
    const { page, mock } = await open('#/', { meters: [TWO[0]] });
    await live();
    mock.reading(257, 700);
    await page.getByText('700').first().waitFor();
    mock.reading(257, 9999, START_S - 600);
    await page.waitForTimeout(600);
    await expect.poll(() => text('.meter-power')).toBe('700 W');
  });

  test('a register goes on over a power cut, and says since when it counts', async () => {
    const { page, mock } = await open('#/meters/258', { meters: TWO });
    await live();
    const register = page.locator('.tile', { has: page.getByText('Register', { exact: true }) });
    const read = async (): Promise<string> => ((await register.textContent()) ?? '').replace(/\u00a0/g, ' ');
    await expect.poll(read).toMatch(/kWhenergy since its first start; [\d,.]+ kWh since the last$/);
    // Its power went: the register began at 0.
    const reading = { event: 'reading' as const, meter: 258, n: 2000, at_s: START_S + 5, heard_ms: START_S * 1000 + 5000, power_w: 5, suite: 'ecies' as const, rssi_dbm: null };
    mock.send({ ...reading, energy_dwh: 4, total_dwh: 123_450_004 });
    await expect.poll(read).toBe('Register12,345.00 kWhenergy since its first start; 0.4 Wh since the last');
  });

  test('a register of which nobody knows the total says that it is since the last start', async () => {
    const { page, mock } = await open('#/meters/258', { meters: [{ ...TWO[1], never: true }] });
    await live();
    await page.getByText('energy since its last start').waitFor();
    const reading = { event: 'reading' as const, meter: 258, n: 2000, at_s: START_S + 5, heard_ms: START_S * 1000 + 5000, power_w: 5, suite: 'ecies' as const, rssi_dbm: null };
    mock.send({ ...reading, energy_dwh: 4 });
    await page.getByText('0.4', { exact: false }).first().waitFor();
    expect(await page.getByText('energy since its last start').count()).toBe(1);
  });

  test('a meter that does not seal stands out', async () => {
    const { page } = await open('#/', { meters: [{ ...TWO[0], suite: 'none' }, TWO[1]] });
    await live();
    await page.locator('.meter-card:nth-child(1) .badge.warn', { hasText: 'Not sealed' }).waitFor();
    expect(await page.locator('.lock').count()).toBe(1);
    await page.getByRole('link', { name: 'First' }).click();
    await page.locator('.meter-title .badge.warn', { hasText: 'Not sealed' }).waitFor();
  });

  test('what is being loaded is not said to be nothing', async () => {
    const { page, mock } = await open('#/', { meters: [{ ...TWO[0], never: true }, TWO[1]] });
    let go = (): void => undefined;
    const held = new Promise<void>((done) => (go = done));
    await page.route('**/readings?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await expect.poll(() => text('.meter-card:nth-child(1) .spark')).toBe('Loading …');
    expect(await page.getByText('No readings in the last 15 minutes').count()).toBe(0);
    go();
    await expect.poll(() => text('.meter-card:nth-child(1) .spark')).toBe('No readings in the last 15 minutes');
    await page.locator('.meter-card:nth-child(2) .spark-line').waitFor({ state: 'attached' });
    mock.failing.set('/meters/258/readings', { status: 503 });
    await page.reload();
    await expect.poll(() => text('.meter-card:nth-child(2) .spark')).toBe('The last 15 minutes could not be loaded');
    seen.errors.splice(0);
  });

  test('a meter has one colour, on its card, in the sum of all and on its own page', async () => {
    const { page } = await open('#/', { meters: TWO });
    await live();
    const colour = (selector: string): Promise<string> => page.locator(selector).first().evaluate((found) => getComputedStyle(found).color);
    await page.locator('.spark-line').nth(1).waitFor({ state: 'attached' });
    const cards = [await colour('.meter-card:nth-child(1) svg.spark'), await colour('.meter-card:nth-child(2) svg.spark')];
    expect(cards[0]).not.toBe(cards[1]);
    await page.goto(`${seen.url}/#/consumption`);
    await page.locator('.legend li').nth(1).waitFor();
    const swatch = (name: string): Promise<string> => page.locator('.legend li', { hasText: name }).locator('.swatch').evaluate((found) => getComputedStyle(found).backgroundColor);
    expect([await swatch('First'), await swatch('Second')]).toEqual(cards);
  });

  test('a first start is for the record, and no alert', async () => {
    const { page, mock } = await open('#/alerts', { meters: TWO, bare: true });
    await live();
    mock.alerts.push({ id: 1, meter: 257, at_s: START_S - 60, cause: 'power-on', detail: 'start 1', acknowledged_s: START_S - 60, acknowledged_by: 'collector' });
    await page.getByText('No open alerts').waitFor();
    await page.getByRole('radio', { name: 'All' }).check({ force: true });
    await page.locator('.alerts .badge.plain', { hasText: 'First start' }).waitFor();
    expect(await page.getByText('acknowledged by').count()).toBe(0);
  });

  test('a meter that nobody knew appears', async () => {
    const meters = [TWO[0]];
    const { page, mock } = await open('#/', { meters });
    await live();
    meters.push(TWO[1]);
    mock.send({ event: 'meter', meter: 258 });
    await page.getByRole('link', { name: 'Second' }).waitFor();
  });

  test('the last hour grows, is read with the keys, and is there as a table', async () => {
    const { page, mock } = await open('#/meters/257', { meters: [TWO[0]] });
    await live();
    const plot = page.getByRole('img', { name: /^Power, the last hour/ });
    await plot.waitFor();
    mock.reading(257, 31_000);
    await page.getByText(/Measurements from .* to 31\.0/).waitFor();
    await plot.focus();
    await page.keyboard.press('End');
    await page.getByText(/\d\d:\d\d:\d\d: 31\.0/).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/\d\d:\d\d:\d\d: \d+\s*W/).waitFor();
    await page.getByText('Figures as a table').first().click();
    const rows = page.getByRole('region', { name: 'Power in the last hour' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(350);
    await expect.poll(async () => ((await rows.last().textContent()) ?? '').replace(/\u00a0/g, ' ')).toContain('31.0 kW');
  });

  test('an alert is counted, told, shown, and acknowledged', async () => {
    const { page, mock } = await open('#/alerts', { bare: true });
    await live();
    await page.getByText('No open alerts').waitFor();
    mock.alert(257, 'noise-source', 'start 2');
    await page.getByRole('button', { name: 'Acknowledge: Noise source failed, Flat 1' }).waitFor();
    await page.getByRole('link', { name: /^Alerts 1 ?open$/ }).waitFor();
    await expect.poll(() => text('[role=status]')).toBe('Alert. Flat 1: Noise source failed.');
    await page.getByRole('button', { name: /^Acknowledge/ }).click();
    await page.getByText('acknowledged by Anna').waitFor();
    await page.getByRole('link', { name: 'Alerts', exact: true }).waitFor();
    expect(mock.alerts[0]?.acknowledged_s).not.toBeNull();
  });

  test('older alerts come page by page', async () => {
    const { page } = await open('#/alerts');
    await page.getByRole('radio', { name: 'All' }).check({ force: true });
    await expect.poll(() => page.locator('.alerts li').count()).toBe(50);
    await page.getByRole('button', { name: 'Show older' }).click();
    await expect.poll(() => page.locator('.alerts li').count()).toBe(65);
    await expect.poll(() => page.getByRole('button', { name: 'Show older' }).count()).toBe(0);
    await page.getByLabel('Of meter').selectOption('262');
    await expect.poll(() => page.locator('.alerts li').count()).toBe(1);
  });
});

const TWO: [Meters[number], Meters[number]] = [
  { meter: 257, label: 'First', suite: 'aes128-gcm', interval_s: 10, base_w: 60, peak_w: 900, rssi_dbm: -52 },
  { meter: 258, label: 'Second', suite: 'ecies', interval_s: 10, base_w: 60, peak_w: 900, rssi_dbm: -52 },
];
type Meters = NonNullable<NonNullable<Parameters<typeof visit>[1]>['meters']>;

describe('a first page', () => {
  test('meters and alerts are asked for beside the session, and once', async () => {
    seen = await visit(browser, { meters: TWO });
    const { page, mock, url } = seen;
    let answer = (): void => undefined;
    const held = new Promise<void>((done) => (answer = done));
    await page.route('**/session', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${url}/#/`);
    const asked = (path: string): number => mock.asked.filter((line) => line.startsWith(`GET ${path}?`)).length;
    await expect.poll(() => [asked('/meters'), asked('/alerts')]).toEqual([1, 1]);
    expect(await page.locator('.meter-card').count()).toBe(0);
    answer();
    await expect.poll(() => page.locator('.meter-card').count()).toBe(2);
    await live();
    expect([asked('/meters'), asked('/alerts')]).toEqual([1, 1]);
  });
});

describe('a connection', () => {
  test('that is lost is said to be, comes back by itself, and all is loaded again', async () => {
    const { page, mock } = await open('#/', { meters: TWO });
    await live();
    mock.dead = true;
    mock.cut();
    await page.getByText('Not connected').waitFor();
    await page.getByText('what is shown is from before').waitFor();
    await shot(page, 'lost-light-desktop');
    await expect.poll(() => text('[role=status]')).toBe('The connection to the collector is lost.');
    // What happens meanwhile is told by nobody.
    mock.reading(257, 4560);
    mock.dead = false;
    await live();
    await page.getByText('4.56').first().waitFor();
    await expect.poll(() => page.getByText('what is shown is from before').count()).toBe(0);
    expect(mock.streams).toBe(2);
  });

  test('that left something out makes the pages load again', async () => {
    const { page, mock } = await open('#/', { meters: TWO });
    await live();
    const before = mock.asked.filter((one) => one === 'GET /meters?network=all').length;
    mock.send({ event: 'resync' });
    await expect.poll(() => mock.asked.filter((one) => one === 'GET /meters?network=all').length).toBe(before + 1);
    await page.getByText('First').waitFor();
  });

  test('that ends with the session asks for a token, and goes on where it was', async () => {
    const { page, mock } = await open('#/meters/258', { tokens: VIEWER });
    await page.getByLabel('Access token').fill('wst_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This token is not known, or was revoked.').waitFor();
    await shot(page, 'signin-refused-light-desktop');
    await page.getByLabel('Access token').fill('wst_view');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Flat 3', level: 1 }).waitFor();
    await live();
    mock.expire();
    mock.cut();
    await page.getByLabel('Access token').waitFor();
    await expect.poll(() => page.getByText('Flat 3').count()).toBe(0);
    await page.getByLabel('Access token').fill('wst_view');
    await page.keyboard.press('Enter');
    await live();
    mock.reading(258, 4321);
    await page.getByText('4.32').first().waitFor();
  });
});

describe('who may do what', () => {
  test('a viewer sees commands, and no way to send any', async () => {
    const { page } = await open('#/meters/258', { role: 'viewer' });
    await page.getByText('Read status: page 0').waitFor();
    await expect.poll(() => page.locator('form').count()).toBe(0);
    for (const name of ['Send', 'Withdraw', 'Acknowledge', 'Rename']) {
      await expect.poll(() => page.getByRole('button', { name }).count()).toBe(0);
    }
    await expect.poll(() => page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    await shot(page, 'viewer-light-desktop');
    await page.goto(`${seen.url}/#/administration`);
    await page.getByText('This page is for administrators.').waitFor();
  });

  test('a token is shown once, and revoked after a question', async () => {
    const { page, mock } = await open('#/administration');
    await page.getByLabel('Name').fill('New display');
    await page.getByRole('button', { name: 'Make token' }).click();
    const secret = page.getByText('wst_mock');
    await secret.waitFor();
    await shot(page, 'token-light-desktop');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => secret.count()).toBe(0);
    await page.reload();
    await page.getByText('New display').waitFor();
    await expect.poll(() => secret.count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke New display' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(mock.asked.filter((one) => one.startsWith('DELETE'))).toEqual([]);
    await page.getByRole('button', { name: 'Revoke New display' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await expect.poll(() => mock.asked.filter((one) => one.startsWith('DELETE'))).toEqual(['DELETE /tokens/4']);
    await expect.poll(() => page.getByText('Revoked', { exact: true }).count()).toBe(2);
  });

  test('the one-time link signs in, leaves no trace, and shows the token once', async () => {
    const { page, mock } = await open('#/first/wsl_mock', { link: 'wsl_mock', bare: true });
    await page.getByText('administrator (administrator)').waitFor();
    await page.getByText('The token of administrator.').waitFor();
    await page.getByText('wst_mock').waitFor();
    expect(await violations(page)).toEqual([]);
    await shot(page, 'first-token-light-desktop');
    expect(page.url()).toBe(`${seen.url}/#/`);
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    expect(mock.asked.filter((one) => one.includes('wsl_'))).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.getByText('wst_mock').count()).toBe(0);
    // Who opens it once more is signed in already.
    await page.goto('about:blank');
    await page.goto(`${seen.url}/#/first/wsl_mock`);
    await live();
    expect(mock.asked.filter((one) => one === 'POST /tokens/first').length).toBe(1);
    // Who else has it is told so.
    await seen.context.clearCookies();
    await page.goto('about:blank');
    await page.goto(`${seen.url}/#/first/wsl_mock`);
    await page.getByLabel('Access token').waitFor();
    await page.getByText('This link was used already').waitFor();
    expect(page.url()).toBe(`${seen.url}/#/`);
  });

  test('while nobody has a token the page says where the link stands, and takes it', async () => {
    const { page } = await open('#/', { link: 'wsl_mock', bare: true }, { size: PHONE });
    await page.getByRole('heading', { name: 'The first sign-in' }).waitFor();
    await page.getByText('.one-time-link').first().waitFor();
    expect(await overflows(page)).toBe(false);
    const link = page.getByLabel('One-time link');
    for (const [wrong, said] of [
      ['', 'This is not the one-time link.'],
      ['wst_mock', 'This is not the one-time link.'],
      ['http://127.0.0.1:8080/#/first/wsl_other', 'This link was used already'],
    ] as const) {
      await link.fill(wrong);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText(said).waitFor();
    }
    // The page is open already: only what is behind the # changes.
    await page.evaluate(() => (location.hash = '#/first/wsl_other'));
    await page.getByText('This link was used already').waitFor();
    await link.fill('http://127.0.0.1:8080/#/first/wsl_mock');
    await page.keyboard.press('Enter');
    await page.getByText('The token of administrator.').waitFor();
  });

  test('signing out', async () => {
    const { page } = await open('#/', { tokens: VIEWER });
    await page.getByLabel('Access token').fill('wst_view');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access token').waitFor();
    await page.reload();
    await page.getByLabel('Access token').waitFor();
  });
});

describe('commands', () => {
  test('wait, go out, are done, with their answer', async () => {
    const { page, mock } = await open('#/meters/257', { bare: true });
    await live();
    await page.getByText('No commands yet').waitFor();
    await page.getByRole('combobox', { name: 'Command' }).selectOption('read-status');
    await page.getByRole('combobox', { name: 'Page' }).selectOption('1');
    await page.getByRole('button', { name: 'Send' }).click();
    const one = page.locator('.commands li').first();
    await one.getByText('Waiting', { exact: true }).waitFor();
    expect(mock.asked.filter((each) => each.startsWith('POST'))).toEqual(['POST /meters/257/commands']);
    mock.command(1, 'sent');
    await one.getByText('Sent', { exact: true }).waitFor();
    mock.command(1, 'done', {
      outcome: 'done',
      code: 0,
      status: { metering: { energy_dwh: 123_456, voltage_dv: 2304, current_ca: 652, refused: 7, lost: 0 } },
    });
    await one.getByText('Done', { exact: true }).waitFor();
    await one.getByText('230.4\u00a0V').waitFor();
    await one.getByText('12.35\u00a0kWh').waitFor();
    await expect.poll(() => text('[role=status]')).toBe('Read status: page 1: Done.');
    await expect.poll(() => one.getByRole('button').count()).toBe(0);
  });

  test('are withdrawn', async () => {
    const { page } = await open('#/meters/257', { bare: true });
    await page.getByRole('combobox', { name: 'Command' }).selectOption('set-time');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Withdraw: Set time' }).click();
    await page.locator('.commands li').getByText('Withdrawn', { exact: true }).waitFor();
  });

  test('that are wrong do not go out', async () => {
    const { page, mock } = await open('#/meters/257', { bare: true });
    await page.getByLabel('Interval, s').fill('70000');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('The interval is whole seconds, 1 to 65,535.').waitFor();
    await page.getByRole('combobox', { name: 'Command' }).selectOption('calibrate');
    await page.getByLabel('Voltage a step, µV').fill('1000');
    await page.getByLabel('Current a step, µA').fill('1000');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/has to be at least 110,000,000/).waitFor();
    expect(mock.asked.filter((each) => each.startsWith('POST'))).toEqual([]);
  });

  test('that hurt are asked about: reboot, and giving up the sealing', async () => {
    const { page, mock } = await open('#/meters/258', { bare: true });
    await page.getByRole('combobox', { name: 'Command' }).selectOption('reboot');
    await page.getByRole('button', { name: 'Reboot …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reboot Flat 3?' });
    await dialog.waitFor();
    await shot(page, 'reboot-light-desktop');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(mock.asked.filter((each) => each.startsWith('POST'))).toEqual([]);
    await page.getByRole('button', { name: 'Reboot …' }).click();
    await dialog.getByRole('button', { name: 'Reboot' }).click();
    await page.locator('.commands').getByText('Reboot', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Command' }).selectOption('configure');
    await page.getByRole('combobox', { name: 'Suite' }).selectOption('none');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Its readings will be neither secret nor authentic').waitFor();
  });

  test('a meter gets a name', async () => {
    const { page } = await open('#/meters/257');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Name of meter 257').fill('Kitchen');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Kitchen', level: 1 }).waitFor();
    await expect.poll(() => page.title()).toBe('Kitchen · WattSeal');
  });
});

describe('on bad days', () => {
  test('no meters: what to do', async () => {
    const { page } = await open('#/', { meters: [], bare: true });
    await page.getByText('No meters yet', { exact: true }).waitFor();
    await shot(page, 'empty-light-desktop');
    expect(await violations(page)).toEqual([]);
  });

  test('a meter that there is not', async () => {
    const { page } = await open('#/meters/999');
    await page.getByText('There is no meter 999').waitFor();
  });

  test('an error says what it is, and can be tried again', async () => {
    const { page, mock } = await open('#/', { meters: TWO });
    await live();
    mock.failing.set('/consumption', { status: 503, times: 1 });
    await page.goto(`${seen.url}/#/consumption`);
    await page.getByText('The store is not there.').waitFor();
    await shot(page, 'error-light-desktop');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.legend li').first().waitFor();
  });

  test('a collector that is away from the start', async () => {
    seen = await visit(browser);
    seen.mock.failing.set('/session', { status: 503, times: 1 });
    await seen.page.goto(seen.url);
    await seen.page.getByText('The store is not there.').waitFor();
    await seen.page.getByRole('button', { name: 'Try again' }).click();
    await seen.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('who asks too fast waits', async () => {
    seen = await visit(browser, { meters: TWO });
    seen.mock.failing.set('/meters', { status: 429, retry_s: 1, times: 1 });
    await seen.page.goto(seen.url);
    await seen.page.getByRole('link', { name: 'First' }).waitFor();
  });

  test('no readings yet', async () => {
    const { page } = await open('#/meters/263', {}, { size: PHONE });
    await page.getByText('No readings in the last hour').waitFor();
    await page.getByText('No readings in this time').waitFor();
    await shot(page, 'never-light-phone');
    expect(await overflows(page)).toBe(false);
  });
});

describe('without a mouse', () => {
  test('every page is reached with the keyboard, and the focus is seen', async () => {
    const { page } = await open('#/', { meters: TWO });
    await live();
    await page.getByRole('link', { name: 'First' }).waitFor();
    await page.getByRole('link', { name: /^Alerts 3 ?open$/ }).waitFor();
    const focused = (): Promise<string> =>
      page.evaluate(() => {
        const at = document.activeElement;
        return `${at?.tagName} ${at?.getAttribute('aria-label') ?? at?.textContent ?? ''}`.trim();
      });
    const walked: string[] = [];
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      walked.push(await focused());
      const outline = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === null) return 0;
        // Radio buttons and cards show it on what stands for them.
        const shown = [at, at.nextElementSibling].filter((one) => one !== null);
        return Math.max(
          ...shown.flatMap((one) => [one, '::after'].map((which) => parseFloat(getComputedStyle(one as Element, which === '::after' ? which : null).outlineWidth) * (getComputedStyle(one as Element, which === '::after' ? which : null).outlineStyle === 'none' ? 0 : 1))),
        );
      });
      expect(outline, walked.at(-1)).toBeGreaterThanOrEqual(2);
    }
    expect(walked.slice(0, 7)).toEqual([
      'A To the content',
      'A WattSeal',
      'A Overview',
      'A Consumption',
      'A Alerts 3 open',
      'A Firmware',
      'A Administration',
    ]);
    expect(walked).toContain('A First');
    // Back to the skip link, and with it to the heading.
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('Tab');
    if ((await focused()) !== 'A To the content') await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focused()).toBe('H1 Overview');
    await page.getByRole('link', { name: 'Second' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Second', level: 1 }).waitFor();
    await expect.poll(() => focused()).toBe('H1 Second');
    await page.getByRole('radio', { name: 'Hour', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^Means from/).waitFor();
  });

  test('readings do not chatter', async () => {
    const { page, mock } = await open('#/', { meters: TWO });
    await live();
    const said: string[] = [];
    await page.exposeFunction('said', (what: string) => said.push(what));
    await page.evaluate(() => {
      const regions = document.querySelectorAll('[role=status],[aria-live],[role=alert],output');
      for (const region of regions) {
        new MutationObserver(() => (globalThis as unknown as { said: (what: string) => void }).said(region.textContent ?? '')).observe(
          region,
          { childList: true, characterData: true, subtree: true },
        );
      }
    });
    for (let i = 0; i < 5; i++) {
      mock.reading(257, 100 + i);
      await page.waitForTimeout(300);
    }
    await page.getByText('104').first().waitFor();
    expect(said).toEqual([]);
  });
});

describe('elsewhere', () => {
  test('numbers are the locale’s, days the collector’s', async () => {
    const { page, mock } = await open('#/', { meters: TWO }, { locale: 'de-DE', zone: 'America/New_York' });
    await live();
    mock.reading(257, 1500);
    await page.getByText('1,50').first().waitFor();
    await page.goto(`${seen.url}/#/consumption`);
    await page.getByText('those of the collector: Europe/Prague').waitFor();
    await page.getByText('Figures as a table').click();
    const rows = page.getByRole('region').locator('tbody tr');
    // The 1st to the 17th of March in Prague: 17 days, and not the last of February.
    await expect.poll(() => rows.count()).toBe(17);
    await expect.poll(() => rows.first().textContent()).toContain('1. M');
  });

  test('the theme that is chosen stays', async () => {
    const { page } = await open('#/', { meters: TWO }, { theme: 'light' });
    await page.getByLabel('Colours').selectOption('dark');
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.reload();
    await page.getByRole('link', { name: 'First' }).waitFor();
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.getByLabel('Colours').selectOption('system');
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('light');
  });
});
