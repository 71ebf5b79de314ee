// Parts of requests and answers that all paths of the mock share.

import type { OfMeter } from '../src/api';

/** A request that the collector refuses, with what it answers. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = '',
  ) {
    super(message);
  }
}

/** As the collector says which meter: network 0 is left out. */
export function fieldsOf({ meter, network = 0 }: OfMeter): OfMeter {
  return network === 0 ? { meter } : { network, meter };
}

/** Whether it is of a network that is asked about: network 0, if none is named. */
export function inNetwork({ network = 0 }: Pick<OfMeter, 'network'>, args: URLSearchParams): boolean {
  const asked = args.get('network') ?? '0';
  return asked === 'all' || network === Number(asked);
}
