// Calendar arithmetic in a named time zone, because the collector's days begin at its own midnight.

export interface Day {
  year: number;
  /** 1 to 12. */
  month: number;
  /** 1 to 31. */
  day: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone);
  if (found === undefined) {
    found = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, found);
  }
  return found;
}

export function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The zone, or the browser's where this browser does not know it. */
export function knownZone(zone: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    return browserZone();
  }
}

function wall(unix_s: number, zone: string): Day & { seconds: number } {
  const part: Record<string, number> = {};
  for (const { type, value } of format(zone).formatToParts(unix_s * 1000)) part[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
  return { year, month, day, seconds: hour * 3600 + minute * 60 + second };
}

/** The day that it is at that time. */
export function dayOf(unix_s: number, zone: string): Day {
  const { year, month, day } = wall(unix_s, zone);
  return { year, month, day };
}

function utc({ year, month, day }: Day): number {
  return Date.UTC(year, month - 1, day) / 1000;
}

/** The first second of the day, where the zone's clocks skip midnight the first one after it. */
export function midnight(date: Day, zone: string): number {
  const wanted = utc(date);
  let at = wanted;
  // The zone's distance from UTC at the guess; the second round is for guesses on the other side of a change.
  for (let round = 0; round < 3; round++) {
    const seen = wall(at, zone);
    const off = utc(seen) + seen.seconds - wanted;
    if (off === 0) break;
    at -= off;
  }
  while (utc(dayOf(at, zone)) < wanted) at += 900;
  return at;
}

/** Days later, or earlier where less than 0. */
export function plusDays(date: Day, days: number): Day {
  const at = new Date((utc(date) + days * 86_400) * 1000);
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() };
}

/** The first day of the month that many months later. */
export function firstOfMonth(date: Day, monthsLater = 0): Day {
  const at = new Date(Date.UTC(date.year, date.month - 1 + monthsLater, 1));
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: 1 };
}

/** The Monday of its week. */
export function mondayOf(date: Day): Day {
  const weekday = new Date(utc(date) * 1000).getUTCDay();
  return plusDays(date, -((weekday + 6) % 7));
}
