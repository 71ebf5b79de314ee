// What is to be said of many updates: their order, their counts, and how long one still takes. No browser, no network.

import { type Image, type MeterName, type Update, type UpdateState, byName, nameOf } from './api';

export const UNDER_WAY: readonly UpdateState[] = ['sending', 'trying', 'asking', 'waiting'];
/** Those after which the meter does not run the image. */
export const FAILED: readonly UpdateState[] = ['refused', 'went-back', 'not-possible'];

export function isUnderWay({ state }: Pick<Update, 'state'>): boolean {
  return UNDER_WAY.includes(state);
}

/** The groups in which updates are counted, and one of which can be shown alone. */
export const GROUPS = ['under-way', 'failed', 'runs', 'withdrawn'] as const;
export type Group = (typeof GROUPS)[number];

export function groupOf({ state }: Pick<Update, 'state'>): Group {
  if (UNDER_WAY.includes(state)) return 'under-way';
  if (FAILED.includes(state)) return 'failed';
  return state === 'runs' ? 'runs' : 'withdrawn';
}

/**
 * What is under way first, by what it does and then by meter, so that rows stay where they are while pieces go out; then what ended,
 * the latest first, with what somebody has to look at before the rest.
 */
export function inOrder(updates: readonly Update[]): Update[] {
  return [...updates].sort((a, b) => {
    const group = GROUPS.indexOf(groupOf(a)) - GROUPS.indexOf(groupOf(b));
    if (group !== 0) return group;
    const within = isUnderWay(a) ? UNDER_WAY.indexOf(a.state) - UNDER_WAY.indexOf(b.state) : b.changed_s - a.changed_s;
    return within || byName(a, b);
  });
}

export type Counts = Readonly<Partial<Record<UpdateState, number>>>;

export function countsOf(updates: readonly Update[]): Counts {
  const counts: Partial<Record<UpdateState, number>> = {};
  for (const { state } of updates) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** What a meter is updated to: it gets the image for the slot that it does not run from. */
export interface Release {
  /** Target and version. */
  key: string;
  target: string;
  version: number;
  /** At least one. */
  images: readonly [Image, ...Image[]];
}

/** In the images' order. */
export function releasesOf(images: readonly Image[]): Release[] {
  const releases = new Map<string, Release & { images: [Image, ...Image[]] }>();
  for (const image of images) {
    const { target, version } = image;
    const key = `${target} ${version}`;
    const known = releases.get(key);
    if (known === undefined) releases.set(key, { key, target, version, images: [image] });
    else known.images.push(image);
  }
  return [...releases.values()];
}

/** The slots that there are images for. */
export function slotsOf({ images }: Release): number[] {
  return [...new Set(images.map(({ address }) => address))].sort((a, b) => a - b);
}

/** How many pieces a meter had, when. */
interface Point {
  at_s: number;
  pieces: number;
}

interface Pace {
  /** Of which update. */
  of: string;
  /** Between `from` and `last` pieces are counted; `next` takes the place of `from`. null: no piece was seen to arrive. */
  from: Point | null;
  next: Point | null;
  last: Point;
}

/** A pace is the mean of at least half of this, once the page was open so long. */
const WINDOW_S = 600;
/** With less measured there is nothing to estimate from. */
const LEAST_S = 20;
const LEAST_PIECES = 3;

/** How fast pieces get to meters, as it was seen while the page is open. */
export class Paces {
  private readonly paces = new Map<MeterName, Pace>();

  /** What the collector said at that time. */
  note(updates: readonly Update[], now_s: number): void {
    for (const update of updates) {
      const name = nameOf(update);
      if (update.state !== 'sending') {
        this.paces.delete(name);
        continue;
      }
      const of = idOf(update);
      const point = { at_s: now_s, pieces: update.pieces };
      const known = this.paces.get(name);
      // With fewer pieces than before the meter has begun anew.
      if (known === undefined || known.of !== of || point.pieces < known.last.pieces) {
        this.paces.set(name, { of, from: null, next: null, last: point });
        continue;
      }
      // That a meter has some says nothing of when they came: the first that arrives begins the count.
      if (known.from === null && point.pieces > known.last.pieces) known.from = known.next = point;
      known.last = point;
      if (known.next !== null && now_s - known.next.at_s >= WINDOW_S / 2) {
        known.from = known.next;
        known.next = point;
      }
    }
  }

  /** How long the pieces that are left take at that pace; null where too little was measured. With a meter that has fallen silent it grows. */
  remaining_s(update: Update, now_s: number): number | null {
    const pace = this.paces.get(nameOf(update));
    if (update.state !== 'sending' || pace === undefined || pace.from === null || pace.of !== idOf(update)) return null;
    const pieces = pace.last.pieces - pace.from.pieces;
    const seconds = now_s - pace.from.at_s;
    if (pieces < LEAST_PIECES || seconds < LEAST_S) return null;
    return ((update.of - update.pieces) * seconds) / pieces;
  }
}

function idOf(update: Update): string {
  return `${update.image} ${update.created_s}`;
}
