// Debian's Chromium over the mock: one browser for a file of tests, a fresh page for each test.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import { Mock, type MockOptions } from '../../mock/server';

export const DIST = new URL('../../dist', import.meta.url).pathname;
const SHOTS = new URL('../../screenshots', import.meta.url).pathname;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const CHROMIUM = process.env.WATTSEAL_CHROMIUM ?? '/usr/bin/chromium';

/** A Tuesday in March, before the clocks change: 15:23:20 in Prague. */
export const START_S = Date.UTC(2026, 2, 17, 14, 23, 20) / 1000;

export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 1280, height: 860 };

export async function launch(): Promise<Browser> {
  if (!existsSync(`${DIST}/index.html`)) throw new Error('there is no web/dist: run `npm run build` first');
  if (!existsSync(CHROMIUM)) throw new Error(`there is no ${CHROMIUM}: install chromium, or name one in WATTSEAL_CHROMIUM`);
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface Look {
  theme?: 'light' | 'dark';
  size?: { width: number; height: number };
  locale?: string;
  zone?: string;
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  mock: Mock;
  url: string;
  /** Errors of scripts, and whatever the content security policy stopped. */
  errors: string[];
  close: () => Promise<void>;
}

export async function visit(browser: Browser, options: Partial<MockOptions> = {}, look: Look = {}): Promise<Visit> {
  const mock = new Mock({ dist: DIST, start_s: START_S, ...options });
  const url = await mock.listen();
  const context = await browser.newContext({
    viewport: look.size ?? DESKTOP,
    colorScheme: look.theme ?? 'light',
    locale: look.locale ?? 'en-GB',
    timezoneId: look.zone ?? 'Europe/Prague',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // What the mock refuses on purpose the browser notes as well.
    if (message.type() === 'error' && !text.includes('Failed to load resource')) errors.push(text);
  });
  return {
    page,
    context,
    mock,
    url,
    errors,
    close: async () => {
      await context.close();
      await mock.close();
    },
  };
}

export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  // Whole pages, but for what sticks to the window's edges.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const size = page.viewportSize();
  if (size !== null) await page.setViewportSize({ width: size.width, height: Math.max(size.height, height) });
  await page.waitForTimeout(150);
  await page.screenshot({ path: `${SHOTS}/${name}.png` });
  if (size !== null) await page.setViewportSize(size);
}

export interface Violation {
  id: string;
  impact: string;
  nodes: string[];
}

/** What axe-core finds that is serious or critical. */
export async function violations(page: Page): Promise<Violation[]> {
  // The page's policy takes no script that is put in; the debugger may.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(async () => {
    interface Result {
      id: string;
      impact: string | null;
      nodes: { target: unknown[]; failureSummary?: string }[];
    }
    const axe = (globalThis as unknown as { axe: { run: (options: unknown) => Promise<{ violations: Result[] }> } }).axe;
    const { violations: found } = await axe.run({ resultTypes: ['violations'] });
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, impact, nodes }) => ({
        id,
        impact: impact ?? '',
        nodes: nodes.map((node) => `${String(node.target)}: ${node.failureSummary ?? ''}`),
      }));
  });
}

/** Whether something is wider than the window. */
export async function overflows(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}
