// The colour that a meter has: by its number, and so the same in every view. Two that are shown together differ, up to eight.

import type { MeterName } from './api';

/** Colours of style.css, `series-1` to `series-7`. The eighth, grey, is that of all others together. */
const COLOURS = 7;
export const OTHERS = COLOURS + 1;

/** Each meter's colour in style.css, from 1 on. */
export type Colours = ReadonlyMap<MeterName, number>;

/** Neighbours in number have different ones. */
export function wished(name: MeterName): number {
  const [number = 0, network = 0] = name.split('-').map(Number).reverse();
  return ((number + 3 * network) % COLOURS) + 1;
}

/** Each has the colour that it wishes for, unless one of a lower number has it: then the next that is free. */
function given(names: Iterable<MeterName>, wish: (name: MeterName) => number): Map<MeterName, number> {
  const sorted = [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const found = new Map<MeterName, number>();
  const taken = new Set<number>();
  const give = (name: MeterName, colour: number): void => {
    taken.add(colour);
    found.set(name, colour);
  };
  for (const name of sorted) if (!taken.has(wish(name))) give(name, wish(name));
  for (const name of sorted) {
    if (found.has(name)) continue;
    let colour = wish(name);
    for (let tried = 0; tried < COLOURS && taken.has(colour); tried++) colour = (colour % COLOURS) + 1;
    // Of more meters than colours some share one; the last of eight is grey.
    give(name, taken.has(colour) && sorted.length === OTHERS ? OTHERS : colour);
  }
  return found;
}

/** Of all meters that there are. */
export function coloursOf(all: Iterable<MeterName>): Colours {
  return given(all, wished);
}

/** Of those that are shown together: the same, where no two of them share one. */
export function coloursTogether(shown: readonly MeterName[], all: Colours): Colours {
  return given(shown, (name) => all.get(name) ?? wished(name));
}
