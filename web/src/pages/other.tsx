// Another maker's meter: its last telegram, record by record. Codes not known are shown as bytes.

import type { JSX } from 'preact';
import type { OtherMeter, Telegram, TelegramRecord } from '../api';
import { Ago, At, Badge, Card, Empty, Failed, Loading, Tile } from '../parts/basics';
import * as show from '../format';
import { store, useLive, useNow } from '../store';
import { sentence } from '../words';

interface Found {
  meter: OtherMeter;
  /** None is stored of a meter whose telegrams were all refused. */
  telegram: Telegram | null;
}

/** The meter with its last telegram; null where no telegram of it ever came. */
async function load(name: string): Promise<Found | null> {
  const meter = (await store.api.otherMeters()).find((one) => one.meter === name);
  if (meter === undefined) return null;
  const telegrams = meter.heard_s === null ? [] : await store.api.telegrams(name, meter.heard_s);
  return { meter, telegram: telegrams[telegrams.length - 1] ?? null };
}

export function OtherMeterPage({ meter: name }: { meter: string }): JSX.Element {
  const now_s = useNow();
  const found = useLive(
    async () => ({ loaded: await load(name) }),
    [name],
    (event) => (event.event === 'telegram' || event.event === 'mbus-meter-removed') && event.meter === name,
  );
  if (found.error !== null) return <Failed error={found.error} retry={found.reload} />;
  if (found.data === null) return <Loading what="the meter" />;
  if (found.data.loaded === null) {
    return (
      <div class="card">
        <Empty title="No telegram of this meter came">
          Import its key with <code>./wattseal meters mbus import</code>; its telegrams count from then on.
        </Empty>
      </div>
    );
  }
  const { meter, telegram } = found.data.loaded;
  return (
    <>
      <dl class="tiles three">
        <Tile name="Last telegram" value={<Ago at_s={meter.heard_s} now_s={now_s} />} note={telegram?.address} />
        <Tile
          name="Telegrams"
          value={show.count(meter.telegrams)}
          note={meter.unauthenticated === 0 ? 'all authenticated' : `${show.count(meter.unauthenticated)} not authenticated`}
        />
        <Tile
          name="Refused"
          value={show.count(meter.refused)}
          note={meter.refused === 0 ? 'none' : <Ago at_s={meter.refused_s} now_s={now_s} />}
        />
      </dl>
      {meter.refusal !== null && (
        <div class="note warn">
          <p>
            Last refused, <At at_s={meter.refused_s} />: {meter.refusal}
          </p>
        </div>
      )}
      {telegram !== null && <TelegramCard telegram={telegram} />}
    </>
  );
}

const PROFILES: Record<number, string> = { 0: 'Not encrypted', 5: 'Profile A', 7: 'Profile B', 10: 'Profile D' };

function TelegramCard({ telegram }: { telegram: Telegram }): JSX.Element {
  const { contents, clock_off_s } = telegram;
  const left = [
    ['Protocol', contents.protocol ?? ''],
    ['Bytes', contents.bytes],
    ['Data of the maker', contents.manufacturer_data],
    ['Not read', contents.unread],
  ].filter(([, value]) => value !== '');
  return (
    <Card
      title="Last telegram"
      aside={telegram.authenticated ? <Badge tone="good">Authenticated</Badge> : <Badge tone="warn">Not authenticated</Badge>}
    >
      {!telegram.authenticated && (
        <p class="note warn">
          Nothing authenticates this telegram: anybody within range may have sent it. An old one that is sent again cannot be told either,
          because its access number has 8 bits.
        </p>
      )}
      <p class="quiet">
        <At at_s={telegram.heard_s} /> · {PROFILES[telegram.mode] ?? `Security mode ${show.count(telegram.mode)}`}
        {telegram.counter !== null && ` · message counter ${show.count(telegram.counter)}`}
        {clock_off_s !== null && ` · its clock is ${show.span(Math.abs(clock_off_s))} ${clock_off_s < 0 ? 'behind' : 'ahead'}`}
      </p>
      {contents.records.length > 0 && <RecordTable records={contents.records} />}
      {contents.more_follow && <p class="quiet">The meter has more, which it sends in its next message.</p>}
      {left.length > 0 && (
        <dl class="answer">
          {left.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="bytes">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

function RecordTable({ records }: { records: readonly TelegramRecord[] }): JSX.Element {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Records of the last telegram">
      <table>
        <thead>
          <tr>
            <th scope="col">Quantity</th>
            <th scope="col" class="figure">
              Value
            </th>
            <th scope="col">Of</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record, i) => (
            <tr key={i}>
              <th scope="row">
                {record.quantity === null ? 'Not known' : sentence(record.quantity)}
                {!record.understood && <span class="quiet">not understood: header {record.header}, its bytes beside it</span>}
              </th>
              <td class="figure">
                {record.value}
                {record.understood && record.unit !== '' && `\u00a0${record.unit}`}
              </td>
              <td>{qualifiers(record)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Which of several values of its quantity a record has. */
function qualifiers({ function: kind, storage, tariff, subunit, modifiers }: TelegramRecord): string {
  const parts = [
    kind === 'instantaneous' ? '' : kind,
    storage === 0 ? '' : `storage ${show.count(storage)}`,
    tariff === 0 ? '' : `tariff ${show.count(tariff)}`,
    subunit === 0 ? '' : `subunit ${show.count(subunit)}`,
    ...modifiers,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'now' : sentence(parts.join(', '));
}
