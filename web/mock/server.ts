// A collector that is none: the API of docs/how-to/collector/http.md over made-up meters, for the tests and for work on the pages.
// It also does what a real one only does on bad days: loses connections, answers 401, 429 and 503.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import type { AddressInfo, Socket } from 'node:net';
import { type Alert, type Answer, type Command, type CommandState, type Image, type LiveEvent, type Meter, type MeterName, type Order, type Role, type Session, type Status, type Token, type Update, nameOf, whose } from '../src/api';
import { isUnderWay } from '../src/updates';
import * as made from './data';
import { History } from './history';
import { Refused, fieldsOf, inNetwork } from './request';

/** What the collector sends with every page. */
export const POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface MockOptions {
  /** What it serves beside the API. */
  dist: string;
  /** Unix seconds when it starts; the clock goes on from there. */
  start_s?: number;
  /** Who has to sign in with which token. Without any and without a link every browser is signed in already. */
  tokens?: Record<string, Session>;
  /** As what every browser is. */
  role?: Role;
  /** What is secret of the one-time link: nobody has a token. */
  link?: string;
  meters?: readonly made.MockMeter[];
  /** Without alerts, commands and readings of the past. */
  bare?: boolean;
  /** Other makers' meters, with the last telegram of each. */
  others?: readonly made.MockOther[];
  /** Readings come by themselves, every so many milliseconds. */
  tick_ms?: number;
}

const SECRET = 'wst_mock-mock-mock-mock-mock-mock-mock-mock-mock';

export class Mock {
  readonly start_s: number;
  /** Paths (the beginning) that fail, and how. */
  readonly failing = new Map<string, { status: number; retry_s?: number; times?: number }>();
  /** Answers nothing at all while true: every connection is cut. */
  dead = false;
  /** Everything that was asked: `GET /meters`. */
  readonly asked: string[] = [];
  streams = 0;
  private readonly options: MockOptions;
  private readonly history: History;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly listeners = new Set<ServerResponse>();
  private readonly began_ms = Date.now();
  private readonly sessions = new Map<string, Session>();
  /** Tokens that work, by their secrets. */
  private readonly secrets: Map<string, Session> | null;
  private readonly labels = new Map<MeterName, string>();
  private readonly settings = new Map<MeterName, { suite: Meter['suite']; interval_s: number }>();
  private readonly heard = new Map<MeterName, NonNullable<Meter['last']>>();
  private tokens: Token[];
  private actions;
  private commands: Command[];
  private n = 1000;
  /** Until it was used. */
  private link: string | null;
  private ticker: ReturnType<typeof setInterval> | null = null;
  alerts: Alert[];
  images: Image[];
  /** One of a meter at most. */
  updates: Update[];

  constructor(options: MockOptions) {
    this.options = options;
    this.link = options.link ?? null;
    this.secrets =
      options.tokens === undefined && options.link === undefined ? null : new Map(Object.entries(options.tokens ?? {}));
    this.start_s = options.start_s ?? Math.floor(Date.now() / 1000);
    const now = this.start_s;
    this.history = new History(now, () => this.now_s(), this.all, options.bare === true);
    this.alerts = options.bare === true ? [] : made.firstAlerts(now);
    this.commands = options.bare === true ? [] : made.firstCommands(now);
    this.tokens = options.bare === true ? [] : made.firstTokens(now);
    this.actions = options.bare === true ? [] : made.firstActions(now);
    this.images = options.bare === true ? [] : made.firstImages(now);
    this.updates = options.bare === true ? [] : made.firstUpdates(now);
    this.server = createServer((request, response) => void this.answer(request, response));
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((done) => this.server.listen(port, '127.0.0.1', done));
    if (this.options.tick_ms !== undefined) {
      this.ticker = setInterval(() => this.tick(), this.options.tick_ms);
    }
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    if (this.ticker !== null) clearInterval(this.ticker);
    this.cut();
    await new Promise((done) => this.server.close(done));
  }

  /** Cuts all connections that are open. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
    this.listeners.clear();
  }

  /** Forgets who is signed in. */
  expire(): void {
    this.sessions.clear();
  }

  now_s(): number {
    return this.start_s + (Date.now() - this.began_ms) / 1000;
  }

  private get all(): readonly made.MockMeter[] {
    return this.options.meters ?? made.METERS;
  }

  send(event: LiveEvent): void {
    const text = `event: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`;
    for (const listener of this.listeners) listener.write(text);
  }

  /** A reading of that meter, now or when said. */
  reading(meter: number | MeterName, power_w?: number, at_s = Math.floor(this.now_s())): void {
    const one = this.find(`${meter}`);
    const watts = power_w ?? made.powerAt(one, at_s);
    const energy_wh = made.registerAt(one, at_s);
    this.heard.set(nameOf(one), { at_s, power_w: watts, energy_wh });
    this.send({
      event: 'reading',
      ...fieldsOf(one),
      n: this.n++,
      at_s,
      heard_ms: Math.round(this.now_s() * 1000),
      power_w: watts,
      energy_dwh: Math.round(energy_wh * 10),
      total_dwh: Math.round((energy_wh + made.beforeRestarts(one)) * 10),
      suite: this.meter(one).suite,
      rssi_dbm: one.rssi_dbm,
    });
  }

  alert(meter: number | null, cause: string, detail: string): void {
    const id = Math.max(0, ...this.alerts.map((alert) => alert.id)) + 1;
    const alert: Alert = { id, meter, at_s: Math.floor(this.now_s()), cause, detail, acknowledged_s: null, acknowledged_by: null };
    this.alerts.unshift(alert);
    this.send({ event: 'alert', id, meter, at_s: alert.at_s, cause, detail });
  }

  /** How far the command is now. */
  command(id: number, state: CommandState, answer: Answer | null = null): void {
    const command = this.commands.find((one) => one.id === id);
    if (command === undefined) throw new Error(`no command ${id}`);
    command.state = state;
    command.attempts = Math.max(1, command.attempts);
    if (state !== 'waiting' && state !== 'sent') {
      command.ended_s = Math.floor(this.now_s());
      command.answer = answer;
    }
    this.send({ event: 'command', id, ...fieldsOf(command), state });
  }

  /** How far the meter's update is now. */
  update(meter: MeterName, changes: Partial<Pick<Update, 'state' | 'pieces' | 'refusal'>>): Update {
    const update = this.updates.find((one) => nameOf(one) === meter);
    if (update === undefined) throw new Refused(404, 'update-unknown', `meter ${meter} has no update`);
    Object.assign(update, changes, { changed_s: Math.floor(this.now_s()) });
    this.send({ event: 'update', ...fieldsOf(update) });
    return update;
  }

  private tick(): void {
    const now = Math.floor(this.now_s());
    for (const one of this.all) {
      if (one.never === true || one.silent_s !== undefined) continue;
      const before = this.heard.get(nameOf(one))?.at_s ?? this.start_s;
      const { interval_s } = this.meter(one);
      if (now - before >= interval_s) this.reading(nameOf(one), undefined, before + interval_s);
    }
    for (const command of this.commands) {
      if (now - command.created_s > 6 && command.state === 'sent' && command.meter !== 262) {
        this.command(command.id, 'done', this.answerTo(command));
      } else if (now - command.created_s > 2 && command.state === 'waiting') this.command(command.id, 'sent');
    }
    const sending = this.updates.find((update) => update.state === 'sending');
    const next = sending ?? this.updates.find((update) => update.state === 'waiting' && update.meter !== 262);
    if (next !== undefined) {
      const pieces = Math.min(next.of, next.pieces + 7);
      this.update(nameOf(next), { pieces, state: pieces === next.of ? 'trying' : 'sending' });
    }
    for (const update of this.updates) {
      if (update.state === 'trying' && now - update.changed_s > 20) this.update(nameOf(update), { state: 'runs' });
    }
  }

  private answerTo(command: Command): Answer {
    const order = command.command;
    if (typeof order !== 'object' || !('read-status' in order)) return made.DONE;
    const meter = this.meter(this.find(nameOf(command)));
    const status: Status = order['read-status'].page === 0
      ? { settings: { time_s: Math.floor(this.now_s()) - 946_684_800, suite: meter.suite, interval_s: meter.interval_s, waiting: 0, starts: 4, stack_untouched_quads: 61 } }
      : { metering: { energy_dwh: Math.round((meter.last?.energy_wh ?? 0) * 10), voltage_dv: 2304, current_ca: 652, refused: 7, lost: 0 } };
    return { ...made.DONE, status };
  }

  private find(id: string): made.MockMeter {
    const one = this.all.find((one) => nameOf(one) === id);
    if (one === undefined) throw new Refused(404, 'meter-unknown', `There is no meter ${id}.`, 'GET /meters lists them.');
    return one;
  }

  private meter(one: made.MockMeter): Meter {
    const name = nameOf(one);
    const last = this.heard.get(name) ?? made.lastOf(one, this.start_s, this.start_s);
    const mine = this.alerts.filter((alert) => whose(alert) === name);
    const reports = last === null ? 0 : 9000 + one.meter;
    return {
      ...fieldsOf(one),
      label: this.labels.get(name) ?? one.label,
      epoch: 1,
      suite: this.settings.get(name)?.suite ?? one.suite,
      interval_s: this.settings.get(name)?.interval_s ?? one.interval_s,
      revoked: one.revoked === true,
      last,
      total_wh: last === null ? null : last.energy_wh + made.beforeRestarts(one),
      heard_s: last === null ? null : last.at_s,
      online: last !== null && this.now_s() - last.at_s < 3 * one.interval_s,
      link: {
        rssi_dbm: one.rssi_dbm,
        reports,
        repeats: last === null ? 0 : (one.meter * 7) % 60,
        refused: one.meter === 259 ? 112 : 0,
        lost: one.meter === 261 ? 3 : 0,
      },
      open_alerts: mine.filter((alert) => alert.acknowledged_s === null).length,
      waiting_commands: this.commands.filter(
        (command) => nameOf(command) === name && (command.state === 'waiting' || command.state === 'sent'),
      ).length,
    };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.dead) {
      request.socket.destroy();
      return;
    }
    const url = new URL(request.url ?? '/', 'http://mock');
    response.setHeader('Date', new Date(this.now_s() * 1000).toUTCString());
    if (!url.pathname.startsWith('/api')) {
      await this.page(url.pathname, response);
      return;
    }
    const path = url.pathname.replace('/api/v1', '');
    const method = request.method ?? 'GET';
    this.asked.push(`${method} ${path}${url.search}`);
    try {
      for (const [start, failure] of this.failing) {
        if (!path.startsWith(start)) continue;
        if (failure.times !== undefined && --failure.times <= 0) this.failing.delete(start);
        if (failure.retry_s !== undefined) response.setHeader('Retry-After', String(failure.retry_s));
        throw new Refused(failure.status, `http-${failure.status}`, 'The store is not there.', 'The log says why; it is tried again.');
      }
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const bytes = Buffer.concat(pieces);
      const isFile = request.headers['content-type'] === 'application/octet-stream';
      const body: unknown = isFile ? { file: bytes } : bytes.length === 0 ? null : JSON.parse(bytes.toString());
      const who = this.who(request);
      if (path === '/events') {
        this.need(who, false);
        this.stream(request, response);
        return;
      }
      const found = this.route(method, path, url.searchParams, body as Record<string, unknown> | null, who, response);
      if (found === undefined) {
        response.writeHead(204).end();
        return;
      }
      response.writeHead(response.statusCode, { 'Content-Type': 'application/json' }).end(JSON.stringify(found));
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused(400, 'bad', String(error));
      const { code, message, hint } = refused;
      response.writeHead(refused.status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: { code, message, hint } }));
    }
  }

  private who(request: IncomingMessage): Session | null {
    if (this.secrets === null) return { name: 'Anna', role: this.options.role ?? 'administrator' };
    const cookie = /wattseal=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    return cookie === undefined ? null : (this.sessions.get(cookie) ?? null);
  }

  private need(who: Session | null, administrator: boolean): Session {
    if (who === null) {
      if (this.link !== null) throw new Refused(401, 'no-administrator', 'No administrator has a token yet.', 'Open the link.');
      throw new Refused(401, 'token-missing', 'This needs a token.', 'POST /session with one.');
    }
    if (administrator && who.role !== 'administrator') throw new Refused(403, 'not-allowed', 'This is for administrators.');
    return who;
  }

  private route(
    method: string,
    path: string,
    args: URLSearchParams,
    body: Record<string, unknown> | null,
    who: Session | null,
    response: ServerResponse,
  ): unknown {
    const [room = '', id = '', rest = '', last = ''] = path.slice(1).split('/');
    const key = `${method} ${room}${id === '' ? '' : '/:'}${rest === '' ? '' : `/${rest}`}${last === '' ? '' : '/:'}`;
    const limit = Number(args.get('limit') ?? 1000);
    const before = Number(args.get('before') ?? Infinity);
    if (key === 'GET health') return { status: 'ok', version: '0.2.0' };
    if (key === 'POST session') {
      const secret = String(body?.['token']);
      const found = this.secrets?.get(secret);
      if (found === undefined) throw new Refused(401, 'token-wrong', 'This token is not known.');
      this.signIn(found, response);
      return found;
    }
    if (key === 'POST tokens/:' && id === 'first') {
      if (this.link === null || body?.['secret'] !== this.link) {
        throw new Refused(401, 'link-over', 'This link was used already, or is of an earlier start of the collector.', 'Sign in with a token.');
      }
      this.link = null;
      const made = this.newToken('administrator', 'administrator');
      this.signIn({ name: made.name, role: made.role }, response);
      response.statusCode = 201;
      return { ...made, token: SECRET };
    }
    const session = this.need(who, false);
    const administrator = (): void => void this.need(who, true);
    const page = <T extends { id: number }>(all: readonly T[]): T[] => all.filter((one) => one.id < before).slice(0, limit);
    switch (key) {
      case 'GET session':
        return session;
      case 'DELETE session':
        this.sessions.clear();
        return undefined;
      case 'GET meters':
        return this.all.filter((one) => inNetwork(one, args)).map((one) => this.meter(one));
      case 'GET meters/:':
        return this.meter(this.find(id));
      case 'PATCH meters/:': {
        administrator();
        const one = this.find(id);
        this.labels.set(nameOf(one), String(body?.['label'] ?? ''));
        this.send({ event: 'meter', ...fieldsOf(one) });
        return this.meter(one);
      }
      case 'GET meters/:/readings':
        return this.history.readings(this.find(id), args);
      case 'GET wireless-mbus':
        return (this.options.others ?? []).map(({ meter }) => meter);
      case 'GET wireless-mbus/:/telegrams': {
        const other = this.options.others?.find(({ meter }) => meter.meter === id);
        if (other === undefined) throw new Refused(404, 'meter-unknown', `no telegram of meter ${id} came`);
        return other.telegram === null ? [] : [other.telegram];
      }
      case 'GET consumption':
        return this.history.consumption(args);
      case 'GET alerts': {
        const meter = args.get('meter');
        return page(
          this.alerts.filter(
            (alert) =>
              (meter === null ? inNetwork(alert, args) : whose(alert) === meter) && (args.get('open') !== 'true' || alert.acknowledged_s === null),
          ),
        );
      }
      case 'POST alerts/:/acknowledge': {
        administrator();
        const alert = this.alerts.find((one) => one.id === Number(id));
        if (alert === undefined) throw new Refused(404, 'alert-unknown', `There is no alert ${id}.`);
        alert.acknowledged_s = Math.floor(this.now_s());
        alert.acknowledged_by = session.name;
        return alert;
      }
      case 'GET meters/:/commands':
        return this.commands.filter((command) => nameOf(command) === id).slice(0, limit);
      case 'POST meters/:/commands': {
        administrator();
        const one = this.find(id);
        const command: Command = {
          id: Math.max(0, ...this.commands.map((each) => each.id)) + 1,
          ...fieldsOf(one),
          command: body?.['command'] as Order,
          state: 'waiting',
          attempts: 0,
          by: session.name,
          created_s: Math.floor(this.now_s()),
          ended_s: null,
          answer: null,
        };
        this.commands.unshift(command);
        response.statusCode = 201;
        return command;
      }
      case 'DELETE meters/:/commands/:': {
        administrator();
        const command = this.commands.find((one) => one.id === Number(last));
        if (command === undefined) throw new Refused(404, 'command-unknown', `There is no command ${last}.`);
        if (command.ended_s !== null) throw new Refused(409, 'command-ended', 'This command has ended.', 'Nothing is left to withdraw.');
        this.command(command.id, 'withdrawn');
        return command;
      }
      case 'GET images':
        return this.images;
      case 'POST images': {
        administrator();
        return this.addImage(body?.['file'] as Buffer, session.name, response);
      }
      case 'DELETE images/:': {
        administrator();
        if (this.images.every(({ digest }) => digest !== id)) throw new Refused(404, 'image-unknown', 'there is no such image here');
        const needed = this.updates.filter((update) => update.image === id && isUnderWay(update));
        if (needed.length > 0) {
          throw new Refused(409, 'image-in-use', `${needed.length} updates that have not ended need this image`, 'withdraw them, or wait');
        }
        this.images = this.images.filter(({ digest }) => digest !== id);
        return undefined;
      }
      case 'GET updates':
        return this.updates.filter((update) => inNetwork(update, args)).sort((a, b) => b.changed_s - a.changed_s);
      case 'POST updates': {
        administrator();
        const image = this.images.find(({ digest }) => digest === body?.['image']);
        if (image === undefined) throw new Refused(404, 'image-unknown', 'there is no such image here');
        const meters = (body?.['meters'] as (number | string)[]).map((name) => this.find(String(name)));
        const begun = meters.map((meter) => made.update(meter, image, { by: session.name, created_s: Math.floor(this.now_s()) }));
        this.updates = [...begun, ...this.updates.filter((one) => begun.every((other) => nameOf(one) !== nameOf(other)))];
        for (const update of begun) this.send({ event: 'update', ...fieldsOf(update) });
        response.statusCode = 201;
        return begun;
      }
      case 'DELETE meters/:/update': {
        administrator();
        const update = this.updates.find((one) => nameOf(one) === id);
        if (update !== undefined && !isUnderWay(update)) throw new Refused(409, 'update-over', `the update of meter ${id} has ended`);
        return this.update(id as MeterName, { state: 'withdrawn' });
      }
      case 'GET costs':
        return made.COSTS;
      case 'GET tokens':
        administrator();
        return this.tokens;
      case 'POST tokens': {
        administrator();
        response.statusCode = 201;
        return { ...this.newToken(String(body?.['name']), body?.['role'] as Role), token: SECRET };
      }
      case 'DELETE tokens/:':
        administrator();
        this.tokens = this.tokens.map((token) =>
          token.id === Number(id) ? { ...token, revoked_s: Math.floor(this.now_s()) } : token,
        );
        return this.tokens.find((token) => token.id === Number(id));
      case 'GET actions':
        administrator();
        return page(this.actions);
      default:
        throw new Refused(404, 'path-unknown', `There is no ${method} ${path}.`);
    }
  }

  /** As the collector takes an image: docs/how-to/firmware-update.md, "Image", without its signature. */
  private addImage(file: Buffer, by: string, response: ServerResponse): Image {
    if (file.length < 512 || file.toString('latin1', 0, 4) !== 'WSI1') {
      throw new Refused(422, 'image-invalid', 'this is no image of firmware: it does not begin with WSI1', '`wattseal firmware sign` makes one');
    }
    const digest = createHash('sha256').update(file).digest('hex');
    const known = this.images.find((image) => image.digest === digest);
    if (known !== undefined) return known;
    const image = {
      digest,
      target: file.toString('latin1', 4, 20).replace(/\0+$/, ''),
      version: file.readUInt32BE(20),
      address: file.readUInt32BE(24),
      bytes: file.length,
      pieces: Math.ceil(file.length / 36),
      added_s: Math.floor(this.now_s()),
      by,
    };
    this.images = [image, ...this.images];
    response.statusCode = 201;
    return image;
  }

  private signIn(who: Session, response: ServerResponse): void {
    const cookie = `s${this.sessions.size + 1}`;
    this.sessions.set(cookie, who);
    response.setHeader('Set-Cookie', `wattseal=${cookie}; HttpOnly; SameSite=Strict; Path=/`);
  }

  private newToken(name: string, role: Role): Token {
    const token = { id: this.tokens.length + 1, name, role, created_s: Math.floor(this.now_s()), last_used_s: null, revoked_s: null };
    this.tokens = [...this.tokens, token];
    this.secrets?.set(SECRET, { name, role });
    return token;
  }

  private stream(request: IncomingMessage, response: ServerResponse): void {
    this.streams++;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(': here\n\n');
    this.listeners.add(response);
    const still = setInterval(() => response.write(': here\n\n'), 15_000);
    request.on('close', () => {
      clearInterval(still);
      this.listeners.delete(response);
    });
  }

  private async page(path: string, response: ServerResponse): Promise<void> {
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const name = normalize(path === '/' ? '/index.html' : path);
    try {
      const file = await readFile(join(this.options.dist, name));
      response.writeHead(200, { 'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(file);
    } catch {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not here');
    }
  }
}
