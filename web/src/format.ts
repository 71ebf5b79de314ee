// Figures and times as people read them: the locale's numbers, SI units, as many digits as the measurement bears.

const NOTHING = '–';
/** Between figure and unit, so that they stay on one line. */
const GAP = '\u00a0';

let locale: string | undefined;
const cache = new Map<string, Intl.NumberFormat>();

/** Other than the browser's; for tests. */
export function setLocale(name: string | undefined): void {
  locale = name;
  cache.clear();
}

export function number(value: number, least = 0, most = least): string {
  const key = `${least} ${most}`;
  let format = cache.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: most });
    cache.set(key, format);
  }
  // -0 and what rounds to it is 0.
  const rounded = Number(value.toFixed(most));
  return format.format(rounded === 0 ? 0 : rounded).replace('-', '\u2212');
}

export interface Scaled {
  figure: string;
  unit: string;
}

function absent(value: number | null | undefined): value is null | undefined {
  return value === null || value === undefined || !Number.isFinite(value);
}

/** Watts below a kilowatt whole; kilowatts with three significant digits. */
export function powerParts(watts: number | null | undefined): Scaled {
  if (absent(watts)) return { figure: NOTHING, unit: 'W' };
  if (Math.abs(Math.round(watts)) < 1000) return { figure: number(watts), unit: 'W' };
  return { figure: kilo(watts / 1000), unit: 'kW' };
}

/** Watt-hours below a kilowatt-hour; kilowatt-hours with at least three significant digits. */
export function energyParts(wattHours: number | null | undefined): Scaled {
  if (absent(wattHours)) return { figure: NOTHING, unit: 'kWh' };
  const size = Math.abs(wattHours);
  if (size === 0) return { figure: number(0), unit: 'Wh' };
  if (Number(size.toFixed(1)) < 100) return { figure: number(wattHours, 1), unit: 'Wh' };
  if (Math.round(size) < 1000) return { figure: number(wattHours), unit: 'Wh' };
  return { figure: kilo(wattHours / 1000), unit: 'kWh' };
}

function kilo(value: number): string {
  const size = Math.abs(value);
  if (Number(size.toFixed(2)) < 10) return number(value, 2);
  if (Number(size.toFixed(1)) < 1000) return number(value, 1);
  return number(value);
}

function join({ figure, unit }: Scaled): string {
  return figure === NOTHING ? NOTHING : figure + GAP + unit;
}

export const power = (watts: number | null | undefined): string => join(powerParts(watts));
export const energy = (wattHours: number | null | undefined): string => join(energyParts(wattHours));

/** A meter's register: kilowatt-hours to the hundredth, and finer while there is little in it. */
export function registerParts(wattHours: number | null | undefined): Scaled {
  if (absent(wattHours) || Math.abs(wattHours) < 10_000) return energyParts(wattHours);
  return { figure: number(wattHours / 1000, 2), unit: 'kWh' };
}

export const register = (wattHours: number | null | undefined): string => join(registerParts(wattHours));

/** Figures of an axis, all in one unit, with as many digits as their step needs. */
export function axisFigures(values: readonly number[], unit: 'W' | 'Wh'): string[] {
  const most = Math.max(0, ...values.map(Math.abs));
  const step = values.length > 1 ? Math.abs((values[1] ?? 0) - (values[0] ?? 0)) : most;
  const scale = most >= 1000 ? 1000 : 1;
  const digits = step <= 0 ? 0 : Math.min(6, Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)));
  // A step of 0.25 needs a digit more than one of 0.2.
  const exact = Math.abs(Number((step / scale).toFixed(digits)) - step / scale) < 1e-9 ? digits : digits + 1;
  return values.map((value) => `${number(value / scale, exact)}${GAP}${scale === 1 ? '' : 'k'}${unit}`);
}

export function strength(dbm: number | null | undefined): string {
  return absent(dbm) ? NOTHING : number(dbm) + GAP + 'dBm';
}

export function milliseconds(ms: number | null | undefined): string {
  if (absent(ms)) return NOTHING;
  if (ms >= 1000) return significant(ms / 1000) + GAP + 's';
  return significant(ms) + GAP + 'ms';
}

export function microjoules(uj: number | null | undefined): string {
  return absent(uj) ? NOTHING : significant(uj) + GAP + 'µJ';
}

export function joules(j: number | null | undefined): string {
  if (absent(j)) return NOTHING;
  return j < 1 ? significant(j * 1000) + GAP + 'mJ' : significant(j) + GAP + 'J';
}

export function bytes(count: number | null | undefined): string {
  return absent(count) ? NOTHING : number(count, 0, 1) + GAP + 'B';
}

/** Three significant digits, more where they stand before the point. */
function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || size >= 100) return number(value);
  const digits = size >= 10 ? 1 : size >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(size)));
  return number(value, size >= 1 ? digits : 0, digits);
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return NOTHING;
  const share = (100 * part) / whole;
  return number(share, 0, share < 10 ? 1 : 0) + GAP + '%';
}

export function count(value: number): string {
  return number(value);
}

/** `1 alert`, `2 alerts`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A time span in words: 10 s, 5 min, 2 h, 3 d. */
export function span(seconds: number): string {
  if (seconds < 120) return number(seconds) + GAP + 's';
  if (seconds < 7200) return number(seconds / 60, 0, seconds % 60 === 0 ? 0 : 1) + GAP + 'min';
  if (seconds < 172_800) return number(seconds / 3600, 0, seconds % 3600 === 0 ? 0 : 1) + GAP + 'h';
  return number(seconds / 86_400, 0, 1) + GAP + 'd';
}

/** A time span that is estimated, no finer than it may be: tens of seconds, then minutes, half hours, half days. */
export function roughly(seconds: number): string {
  const step = seconds < 110 ? 10 : seconds < 7140 ? 60 : seconds < 171_000 ? 1800 : 43_200;
  return span(Math.max(1, Math.ceil(seconds / step)) * step);
}

/** An address of a microcontroller's memory, as its data sheet writes it. */
export function address(value: number): string {
  return `0x${value.toString(16).padStart(value < 0x10000 ? 4 : 8, '0')}`;
}

/** How long ago, in words. */
export function ago(unix_s: number | null | undefined, now_s: number): string {
  if (absent(unix_s)) return 'never';
  const past = Math.round(now_s - unix_s);
  if (past < -60) return `in ${span(Math.floor(-past / 60) * 60)}`;
  if (past < 5) return 'just now';
  if (past < 60) return `${number(past)}${GAP}s ago`;
  if (past < 3600) return `${number(Math.floor(past / 60))}${GAP}min ago`;
  if (past < 172_800) return `${number(Math.floor(past / 3600))}${GAP}h ago`;
  return `${number(Math.floor(past / 86_400))}${GAP}d ago`;
}

const times = new Map<string, Intl.DateTimeFormat>();

function timeFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  let format = times.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale, options);
    times.set(key, format);
  }
  return format;
}

function inZone(zone: string | undefined): Intl.DateTimeFormatOptions {
  return zone === undefined ? {} : { timeZone: zone };
}

/** Day and time to the second, in the browser's zone or that one. */
export function dateTime(unix_s: number | null | undefined, zone?: string): string {
  if (absent(unix_s)) return NOTHING;
  return timeFormat({ dateStyle: 'medium', timeStyle: 'medium', ...inZone(zone) }).format(unix_s * 1000);
}

export function clock(unix_s: number, zone?: string): string {
  return timeFormat({ hour: '2-digit', minute: '2-digit', ...inZone(zone) }).format(unix_s * 1000);
}

export function clockWithSeconds(unix_s: number, zone?: string): string {
  return timeFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit', ...inZone(zone) }).format(unix_s * 1000);
}

export function day(unix_s: number, zone?: string): string {
  return timeFormat({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', ...inZone(zone) }).format(
    unix_s * 1000,
  );
}

export function dayShort(unix_s: number, zone?: string): string {
  return timeFormat({ day: 'numeric', month: 'short', ...inZone(zone) }).format(unix_s * 1000);
}

export function dayNumber(unix_s: number, zone?: string): string {
  return timeFormat({ day: 'numeric', ...inZone(zone) }).format(unix_s * 1000);
}

export function weekday(unix_s: number, zone?: string): string {
  return timeFormat({ weekday: 'short', day: 'numeric', ...inZone(zone) }).format(unix_s * 1000);
}

export function month(unix_s: number, zone?: string): string {
  return timeFormat({ month: 'long', year: 'numeric', ...inZone(zone) }).format(unix_s * 1000);
}

export function monthShort(unix_s: number, zone?: string): string {
  return timeFormat({ month: 'short', ...inZone(zone) }).format(unix_s * 1000);
}
