// Loads consumption for a stretch, in the collector's zone, with every interval in it, whether it has readings or not.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { type ApiError, type Consumption, type MeterName, type Step, nameOf } from './api';
import { type Window, consumptionWindow, intervalStarts } from './ranges';
import { store, useLoad, useNow } from './store';
import { browserZone, knownZone } from './zone';

// Every answer says which zone it is in; until the first one the browser's is as good a guess as any.
let zoneNow = browserZone();
/** How often the stretch that is not over yet is asked for again. */
const RELOAD_MS = 15_000;

export interface Used {
  window: Window;
  zone: string;
  starts: number[];
  /** By meter, one figure for each start. */
  meters: ReadonlyMap<MeterName, (number | null)[]>;
}

/** Every meter's figures at the starts; what the collector did not answer is null. */
export function laidOut(answer: Consumption, starts: readonly number[]): { starts: number[]; meters: Map<MeterName, (number | null)[]> } {
  const all = [...new Set([...starts, ...answer.start_s])].sort((a, b) => a - b);
  const place = new Map(all.map((start, i) => [start, i]));
  const meters = new Map<MeterName, (number | null)[]>();
  for (const of of answer.meters) {
    const column: (number | null)[] = all.map(() => null);
    answer.start_s.forEach((start, i) => {
      const at = place.get(start);
      if (at !== undefined) column[at] = of.used_wh[i] ?? null;
    });
    meters.set(nameOf(of), column);
  }
  return { starts: all, meters };
}

export function useConsumption(
  step: Step,
  back: number,
  meter?: MeterName,
): { used: Used | null; window: Window; error: ApiError | null; loading: boolean; reload: () => void } {
  const [zone, setZone] = useState(zoneNow);
  const now_s = useNow(30_000);
  const window = consumptionWindow(step, zone, now_s, back);
  const found = useLoad(
    () => store.api.consumption(window, step, meter),
    [step, back, meter ?? null, zone, window.from_s],
  );
  const going = now_s < window.to_s;
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(found.reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, [going]);
  const answer = found.data;
  const told = answer === null ? zone : knownZone(answer.zone);
  useEffect(() => {
    if (told !== zone) {
      zoneNow = told;
      setZone(told);
    }
  }, [told, zone]);
  const used = useMemo(
    () =>
      answer === null || told !== zone
        ? null
        : { window, zone, ...laidOut(answer, intervalStarts(step, window, zone)) },
    [answer, told, zone, step, window.from_s],
  );
  return { used, window, error: found.error, loading: found.loading, reload: found.reload };
}
