// The forms for commands. Limits are those of docs/reference/protocol.md, so that nothing goes out that the meter would refuse.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Meter, type Order, SUITES, type Suite, nameOf } from '../api';
import * as show from '../format';
import { SUITE_MEANINGS, SUITE_NAMES, meterName } from '../words';
import { Confirm } from './basics';

export type CommandKind = 'configure' | 'calibrate' | 'register' | 'set-time' | 'read-status' | 'reboot' | 'renew-key';

const KINDS: readonly { kind: CommandKind; name: string; what: string }[] = [
  { kind: 'configure', name: 'Configure', what: 'How often it measures, and how it seals its readings.' },
  { kind: 'calibrate', name: 'Calibrate', what: 'What a step of its converter stands for. A wrong figure makes wrong readings.' },
  { kind: 'register', name: 'Register', what: 'Its name and addresses on the radio channel. With wrong ones it is not heard any more.' },
  { kind: 'set-time', name: 'Set time', what: 'Sets the meter’s clock to the collector’s.' },
  { kind: 'read-status', name: 'Read status', what: 'Asks for what the meter says of itself; the answer appears below.' },
  { kind: 'renew-key', name: 'Renew key', what: 'Agrees on another key with the meter; the one before opens nothing any more. Actions say when that is done.' },
  { kind: 'reboot', name: 'Reboot', what: 'Starts the meter anew. Its register and journal stay.' },
];

const LEAST_PRODUCT = 110_000_000;

export interface Fields {
  interval_s: string;
  suite: Suite;
  voltage_uv: string;
  current_ua: string;
  phase: string;
  meter: string;
  address: string;
  collector_address: string;
  page: '0' | '1';
}

function whole(text: string, least: number, most: number): number | null {
  if (!/^-?\d+$/.test(text.trim())) return null;
  const value = Number(text);
  return value >= least && value <= most ? value : null;
}

export type Checked = { order: Order } | { wrong: string };

/** The command, or what is wrong with the fields. */
export function orderOf(kind: CommandKind, fields: Fields): Checked {
  const wrong = (why: string): Checked => ({ wrong: why });
  switch (kind) {
    case 'configure': {
      const interval_s = whole(fields.interval_s, 1, 65_535);
      if (interval_s === null) return wrong(`The interval is whole seconds, 1 to ${show.number(65_535)}.`);
      return { order: { configure: { interval_s, suite: fields.suite } } };
    }
    case 'calibrate': {
      const voltage_uv = whole(fields.voltage_uv, 1, 4_000_000);
      const current_ua = whole(fields.current_ua, 1, 4_000_000);
      const phase = whole(fields.phase, -256, 256);
      if (voltage_uv === null) return wrong(`The voltage of a step is whole microvolts, 1 to ${show.number(4_000_000)}.`);
      if (current_ua === null) return wrong(`The current of a step is whole microamperes, 1 to ${show.number(4_000_000)}.`);
      if (phase === null) return wrong('The phase is a whole number, -256 to 256.');
      if (voltage_uv * current_ua < LEAST_PRODUCT) {
        return wrong(`Voltage times current has to be at least ${show.number(LEAST_PRODUCT)}; it is ${show.number(voltage_uv * current_ua)}.`);
      }
      return { order: { calibrate: { voltage_uv, current_ua, phase } } };
    }
    case 'register': {
      const meter = whole(fields.meter, 1, 65_535);
      const address = whole(fields.address, 1, 255);
      const collector_address = whole(fields.collector_address, 1, 255);
      if (meter === null) return wrong(`The name is a whole number, 1 to ${show.number(65_535)}.`);
      if (address === null) return wrong('The meter’s address is a whole number, 1 to 255.');
      if (collector_address === null) return wrong('The collector’s address is a whole number, 1 to 255.');
      return { order: { register: { meter, address, collector_address } } };
    }
    case 'set-time':
      return { order: 'set-time' };
    case 'read-status':
      return { order: { 'read-status': { page: fields.page === '1' ? 1 : 0 } } };
    case 'reboot':
    case 'renew-key':
      return { order: kind };
  }
}

/** What has to be said before it goes out; null where nothing has. */
function warningOf(order: Order, meter: Meter): string | null {
  if (order === 'reboot') return 'The meter starts anew and measures nothing for a moment. It raises an alert when it is back.';
  if (typeof order === 'object' && 'configure' in order && order.configure.suite === 'none' && meter.suite !== 'none') {
    return 'Its readings will be neither secret nor authentic: anyone in range can read and forge them, and command it.';
  }
  if (typeof order === 'object' && 'register' in order) {
    return 'With a wrong name or address the collector does not hear the meter any more, and somebody has to go there.';
  }
  if (typeof order === 'object' && 'calibrate' in order) return 'All readings after this are made with these figures.';
  return null;
}

interface Props {
  meter: Meter;
  /** True when it is on its way. */
  send: (order: Order) => Promise<boolean>;
}

export function OrderForms({ meter, send }: Props): JSX.Element {
  const [kind, setKind] = useState<CommandKind>('configure');
  const [fields, setFields] = useState<Fields>(() => fresh(meter));
  const [wrong, setWrong] = useState<string | null>(null);
  const [asking, setAsking] = useState<Order | null>(null);
  const [busy, setBusy] = useState(false);
  const kinds = kindsOf(meter);
  useEffect(() => setFields(fresh(meter)), [nameOf(meter)]);
  // What this meter has no use for is not left chosen.
  useEffect(() => {
    if (kinds.every((each) => each.kind !== kind)) setKind('configure');
  });

  const put = <K extends keyof Fields>(name: K, value: Fields[K]): void => {
    setFields({ ...fields, [name]: value });
    setWrong(null);
  };
  const go = async (order: Order): Promise<void> => {
    setAsking(null);
    setBusy(true);
    await send(order);
    setBusy(false);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const checked = orderOf(kind, fields);
    setWrong('wrong' in checked ? checked.wrong : null);
    if ('wrong' in checked) return;
    if (warningOf(checked.order, meter) === null) void go(checked.order);
    else setAsking(checked.order);
  };
  const one = KINDS.find((each) => each.kind === kind);
  const text = (name: keyof Fields, label: string, hint?: string): JSX.Element => (
    <label class="field">
      <span>{label}</span>
      <input
        inputMode="numeric"
        required
        value={fields[name]}
        onInput={(event) => put(name, event.currentTarget.value as never)}
      />
      {hint !== undefined && <span class="quiet">{hint}</span>}
    </label>
  );

  return (
    <form class="orders" onSubmit={submit} noValidate>
      <div class="order-fields">
        <label class="field">
          <span>Command</span>
          <select
            value={kind}
            onChange={(event) => {
              setKind(event.currentTarget.value as CommandKind);
              setWrong(null);
            }}
          >
            {kinds.map((each) => (
              <option key={each.kind} value={each.kind}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
        {kind === 'configure' && (
          <>
            {text('interval_s', 'Interval, s')}
            <label class="field">
              <span>Suite</span>
              <select value={fields.suite} onChange={(event) => put('suite', event.currentTarget.value as Suite)}>
                {SUITES.map((suite) => (
                  <option key={suite} value={suite}>
                    {SUITE_NAMES[suite]}
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
        {kind === 'calibrate' && (
          <>
            {text('voltage_uv', 'Voltage a step, µV')}
            {text('current_ua', 'Current a step, µA')}
            {text('phase', 'Phase, 1/256 sample')}
          </>
        )}
        {kind === 'register' && (
          <>
            {text('meter', 'Name')}
            {text('address', 'Meter’s address')}
            {text('collector_address', 'Collector’s address')}
          </>
        )}
        {kind === 'read-status' && (
          <label class="field">
            <span>Page</span>
            <select value={fields.page} onChange={(event) => put('page', event.currentTarget.value === '1' ? '1' : '0')}>
              <option value="0">0: settings, journal, starts</option>
              <option value="1">1: register, voltage, current, link</option>
            </select>
          </label>
        )}
        <button type="submit" class={kind === 'reboot' ? 'danger' : 'primary'} disabled={busy}>
          {kind === 'reboot' ? 'Reboot …' : 'Send'}
        </button>
      </div>
      <p class="quiet">
        {one?.what} {kind === 'configure' && SUITE_MEANINGS[fields.suite]}
      </p>
      {wrong !== null && (
        <p class="note bad" role="alert">
          {wrong}
        </p>
      )}
      {asking !== null && (
        <Confirm
          title={asking === 'reboot' ? `Reboot ${meterName(meter)}?` : `${one?.name} ${meterName(meter)}?`}
          confirm={asking === 'reboot' ? 'Reboot' : 'Send'}
          onCancel={() => setAsking(null)}
          onConfirm={() => void go(asking)}
        >
          <p>{warningOf(asking, meter)}</p>
        </Confirm>
      )}
    </form>
  );
}

/** Those that it can carry out: a key is renewed with one suite alone. */
export function kindsOf(meter: Pick<Meter, 'suite'>): typeof KINDS {
  return KINDS.filter((each) => each.kind !== 'renew-key' || meter.suite === 'aes256-gcm-rekeyed');
}

function fresh(meter: Meter): Fields {
  return {
    interval_s: String(meter.interval_s),
    suite: meter.suite,
    voltage_uv: '',
    current_ua: '',
    phase: '0',
    meter: String(meter.meter),
    address: '',
    collector_address: '',
    page: '0',
  };
}
