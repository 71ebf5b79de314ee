// What a reading costs the meter, by suite, as it was measured on the processor models.

import type { JSX } from 'preact';
import type { Meter } from '../api';
import * as show from '../format';
import { store, useLoad } from '../store';
import { SUITE_MEANINGS } from '../words';
import { Card, Empty, Failed, Loading } from './basics';
import { SuiteMark } from './meter';

const DAY_S = 86_400;

export function CostsCard({ meter }: { meter: Meter }): JSX.Element {
  const found = useLoad(() => store.api.costs(), []);
  const costs = found.data;
  const own = costs?.find((cost) => cost.suite === meter.suite);
  const sources = [...new Set((costs ?? []).map((cost) => cost.source))];
  const daily = own === undefined || own.energy_uj === null ? null : (own.energy_uj * 1e-6 * DAY_S) / meter.interval_s;
  return (
    <Card title="Suite and cost per reading">
      <p>
        <strong>
          <SuiteMark suite={meter.suite} />
          {meter.suite === 'none' ? '' : '.'}
        </strong>{' '}
        {SUITE_MEANINGS[meter.suite]}
        {daily !== null && (
          <>
            {' '}
            Sealing and sending one every {show.span(meter.interval_s)} takes the meter {show.joules(daily)} a day; listening comes on top.
          </>
        )}
      </p>
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {costs === null ? (
        found.loading && <Loading what="the costs" />
      ) : costs.length === 0 ? (
        <Empty title="No costs known">
          The collector has not been told what was measured.
        </Empty>
      ) : (
        <>
          <div class="table-scroll" tabIndex={0} role="region" aria-label="Cost per reading by suite">
            <table>
              <thead>
                <tr>
                  <th scope="col">Suite</th>
                  <th scope="col" class="figure">
                    Time
                  </th>
                  <th scope="col" class="figure">
                    Energy
                  </th>
                  <th scope="col" class="figure">
                    On air
                  </th>
                  <th scope="col" class="figure roomy">
                    Round trip
                  </th>
                </tr>
              </thead>
              <tbody>
                {costs.map((cost) => (
                  <tr key={cost.suite} class={cost.suite === meter.suite ? 'chosen' : ''}>
                    <th scope="row">
                      <SuiteMark suite={cost.suite} />
                      {cost.suite === meter.suite && <span class="hidden"> (this meter’s)</span>}
                    </th>
                    <td class="figure">{show.milliseconds(cost.prepare_ms)}</td>
                    <td class="figure">{show.microjoules(cost.energy_uj)}</td>
                    <td class="figure">{show.bytes(cost.air_bytes)}</td>
                    <td class="figure roomy">{show.milliseconds(cost.round_trip_ms)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="quiet">
            Time: from raw data to the message that is ready. Energy: of microcontroller and radio. On air: packets with what
            frames them.<span class="roomy"> Round trip: until the acknowledgement is accepted.</span>
          </p>
          {sources.map((source) => (
            <p key={source} class="quiet">
              {source}
            </p>
          ))}
        </>
      )}
    </Card>
  );
}
