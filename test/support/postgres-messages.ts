const LENGTH_BYTES = 4;
const TYPED_HEAD_BYTES = 1 + LENGTH_BYTES;
/** Messages that end a request: Sync, and a simple Query. */
const ENDS_REQUEST = new Set(['S', 'Q']);
/** Messages of a request that Sync ends: Parse, Bind, Describe, Execute, Close. */
const OF_REQUEST = new Set(['P', 'B', 'D', 'E', 'C']);
const READY_FOR_QUERY = 'Z';
const NOTIFICATION = 'A';

/** Bytes that belong together, with the statement if they are one. */
interface Sent {
  readonly bytes: Buffer;
  readonly statement?: string;
}

/** Divides what a client of PostgreSQL sends into whole requests, without TLS. */
export class PassedStatements {
  private rest: Buffer = Buffer.alloc(0);
  private readonly texts = new Map<string, string>();
  private request: Buffer[] = [];
  private statement = '';
  private hasBegun = false;

  /** The requests that are complete with these bytes. */
  read(bytes: Buffer): Sent[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const sent: Sent[] = [];
    for (let message = this.next(); message; message = this.next()) {
      const type = this.hasBegun ? String.fromCharCode(message[0] ?? 0) : '';
      this.hasBegun = true;
      if (ENDS_REQUEST.has(type)) {
        if (type === 'Q') this.statement = message.toString('latin1', TYPED_HEAD_BYTES);
        sent.push({ bytes: Buffer.concat([...this.request, message]), statement: this.statement });
        this.request = [];
      } else if (OF_REQUEST.has(type)) {
        this.note(type, message);
        this.request.push(message);
      } else sent.push({ bytes: message });
    }
    return sent;
  }

  /** The next whole message. The first has no type. */
  private next(): Buffer | undefined {
    const at = this.hasBegun ? 1 : 0;
    if (this.rest.length < at + LENGTH_BYTES) return undefined;
    const end = at + this.rest.readInt32BE(at);
    if (this.rest.length < end) return undefined;
    const message = this.rest.subarray(0, end);
    this.rest = this.rest.subarray(end);
    return message;
  }

  private note(type: string, message: Buffer): void {
    const words = message.toString('latin1', TYPED_HEAD_BYTES).split('\0');
    const [first = '', second = ''] = words;
    if (type === 'P') this.texts.set(first, second);
    if (type === 'B') {
      const parameters = words.slice(2).join('\0');
      this.statement = `${second} ${this.texts.get(second) ?? ''} ${parameters}`;
    }
  }
}

/** Divides what PostgreSQL sends into answers, each of which ends when it is ready for the next request. */
export class WholeAnswers {
  private rest: Buffer = Buffer.alloc(0);
  private answer: Buffer[] = [];
  private hasBegun = false;

  /** The answers that are complete with these bytes; before the first, every message by itself. */
  read(bytes: Buffer): Buffer[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const whole: Buffer[] = [];
    while (this.rest.length >= TYPED_HEAD_BYTES) {
      const end = 1 + this.rest.readInt32BE(1);
      if (this.rest.length < end) break;
      this.answer.push(this.rest.subarray(0, end));
      const type = String.fromCharCode(this.rest[0] ?? 0);
      this.rest = this.rest.subarray(end);
      this.hasBegun ||= type === READY_FOR_QUERY;
      const isAlone = type === NOTIFICATION && this.answer.length === 1;
      if (this.hasBegun && type !== READY_FOR_QUERY && !isAlone) continue;
      whole.push(Buffer.concat(this.answer));
      this.answer = [];
    }
    return whole;
  }
}
