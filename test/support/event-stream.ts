import { request } from 'node:http';

/** A chunk of a streamed chat, as received. */
export interface StreamChunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: { readonly role?: string; readonly content?: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Record<string, number> | null;
}

/** Reads an event stream from its lines alone. */
export class RawEvents {
  readonly status: number;
  readonly headers: Headers;
  /** The data of every event. */
  readonly data: string[] = [];
  /** Every line that is not empty. */
  readonly lines: string[] = [];

  private constructor(answer: Response) {
    this.status = answer.status;
    this.headers = answer.headers;
  }

  /** Posts the body and reads the answer to its end. */
  static async post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: object,
  ): Promise<RawEvents> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const events = new RawEvents(answer);
    for (const line of (await answer.text()).split('\n').filter((text) => text !== '')) {
      events.lines.push(line);
      if (line.startsWith('data: ')) events.data.push(line.slice(6));
    }
    return events;
  }

  /** All chunks, without `[DONE]`. */
  get chunks(): StreamChunk[] {
    return this.data
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data) as StreamChunk);
  }

  /** The text that a client puts together. */
  get text(): string {
    return this.chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  }
}

/** Posts a body, and leaves when this many chunks with content have arrived; resolves with their number. */
export function leaveAfter(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: object,
  chunks: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      agent: false,
    });
    let rest = '';
    let seen = 0;
    call.on('response', (answer) => {
      answer.setEncoding('utf8');
      answer.on('error', () => undefined);
      answer.on('data', (text: string) => {
        const events = (rest + text).split('\n\n');
        rest = events.pop() ?? '';
        seen += events.filter((event) => /"content":"[^"]/.test(event)).length;
        if (seen >= chunks) call.destroy();
      });
      answer.on('close', () => {
        resolve(seen);
      });
    });
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}
