// A meter as docs/reference/protocol.md has it, in AES-128-GCM, behind a UDP gateway of its own: it reports, waits for what acknowledges it,
// and does what it is told.

import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type Socket, createSocket } from 'node:dgram';

const EPOCH_2000_S = 946_684_800;
const SUITE = 1;
const REPORT = 0;
const ANSWER = 1;
const ACKNOWLEDGEMENT = 2;
const COMMAND = 3;
const OUT_OF_RANGE = 2;

export interface Setup {
  meter: number;
  /** Radio addresses. */
  address: number;
  collector_address: number;
  key: Buffer;
  port: number;
  rssi_dbm: number;
}

export interface Measured {
  at_s: number;
  power_w: number;
  energy_dwh: number;
}

export class UdpMeter {
  /** Codes of the commands that came, each once. */
  readonly told: number[] = [];
  /** Whether it does what it is told. */
  obeys = true;
  last: Measured = { at_s: EPOCH_2000_S, power_w: 0, energy_dwh: 0 };
  private readonly setup: Setup;
  private readonly socket: Socket = createSocket('udp4');
  private n = 0;
  private lastM = 0;
  private waiting: { n: number; done: () => void } | null = null;

  constructor(setup: Setup) {
    this.setup = setup;
    this.socket.on('message', (datagram) => this.heard(datagram.subarray(4)));
  }

  close(): void {
    this.socket.close();
  }

  /** Sends a measurement again and again until it is acknowledged. */
  async measure(measured: Measured): Promise<void> {
    this.last = measured;
    const text = this.report(1);
    text.writeUInt32BE(measured.at_s - EPOCH_2000_S, 6);
    text.writeUInt32BE(measured.energy_dwh, 10);
    text.writeInt16BE(measured.power_w, 14);
    await this.deliver(text);
  }

  async alert(cause: number, starts: number): Promise<void> {
    const text = this.report(2);
    text.writeUInt32BE(Math.floor(Date.now() / 1000) - EPOCH_2000_S, 6);
    text[10] = cause;
    text.writeUInt16BE(starts, 11);
    await this.deliver(text);
  }

  private report(code: number): Buffer {
    const text = Buffer.alloc(16);
    text.writeUInt32BE(++this.n, 0);
    text[4] = code;
    return text;
  }

  private async deliver(text: Buffer): Promise<void> {
    const packet = this.sealed(REPORT, text);
    for (let tries = 0; tries < 100; tries++) {
      const acknowledged = new Promise<boolean>((done) => {
        const timer = setTimeout(() => done(false), 300);
        this.waiting = { n: this.n, done: () => (clearTimeout(timer), done(true)) };
      });
      this.send(packet);
      if (await acknowledged) return;
    }
    throw new Error(`meter ${this.setup.meter}: report ${this.n} was not acknowledged`);
  }

  private nonce(kind: number, number: number): Buffer {
    const nonce = Buffer.alloc(12);
    nonce[0] = kind;
    nonce[1] = SUITE;
    nonce.writeUInt16BE(this.setup.meter, 2);
    // In an answer the address: what it is called, and where both are on the radio channel.
    if (kind === ANSWER) {
      nonce.writeUInt16BE(this.setup.meter, 4);
      nonce[6] = this.setup.address;
      nonce[7] = this.setup.collector_address;
    }
    nonce.writeUInt32BE(number, 8);
    return nonce;
  }

  private sealed(kind: number, text: Buffer): Buffer {
    const cipher = createCipheriv('aes-128-gcm', this.setup.key, this.nonce(kind, this.n));
    const head = Buffer.alloc(9);
    head[0] = this.setup.collector_address;
    head[1] = (kind << 6) | (SUITE << 3);
    head.writeUInt16BE(this.setup.meter, 2);
    head[4] = this.n & 0xff;
    head.writeUInt32BE(this.n, 5);
    return Buffer.concat([head, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  }

  private send(packet: Buffer): void {
    const datagram = Buffer.concat([Buffer.from('WS1'), Buffer.alloc(1), packet]);
    datagram.writeInt8(this.setup.rssi_dbm, 3);
    this.socket.send(datagram, this.setup.port, '127.0.0.1');
  }

  private heard(packet: Buffer): void {
    if (packet[0] !== this.setup.address || packet.readUInt16BE(2) !== this.setup.meter) return;
    const kind = (packet[1] ?? 0) >> 6;
    const number = packet.readUInt32BE(5);
    const open = createDecipheriv('aes-128-gcm', this.setup.key, this.nonce(kind, number));
    open.setAuthTag(packet.subarray(-16));
    const text = Buffer.concat([open.update(packet.subarray(9, -16)), open.final()]);
    if (kind === ACKNOWLEDGEMENT && this.waiting?.n === number) this.waiting.done();
    if (kind === COMMAND && this.obeys && number > this.lastM) {
      this.lastM = number;
      this.told.push(text[4] ?? 0);
      this.send(this.sealed(ANSWER, this.answer(number, text)));
    }
  }

  private answer(m: number, command: Buffer): Buffer {
    this.n++;
    const text = Buffer.alloc(16);
    text.writeUInt32BE(m, 0);
    if (command[4] === 5 && command[5] === 0) {
      text.writeUInt32BE(Math.floor(Date.now() / 1000) - EPOCH_2000_S, 5);
      text[9] = SUITE;
      text.writeUInt16BE(10, 10);
      text.writeUInt16BE(3, 13);
      text[15] = 40;
    } else if (command[4] === 5 && command[5] !== 1) {
      // What takes images has a page 2; this one has none, and says so.
      text[4] = OUT_OF_RANGE;
    } else if (command[4] === 5) {
      text.writeUInt32BE(this.last.energy_dwh, 5);
      text.writeUInt16BE(2304, 9);
      text.writeUInt16BE(652, 11);
      text.writeUInt16BE(7, 13);
    }
    return text;
  }
}
