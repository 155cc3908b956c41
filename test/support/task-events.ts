/** An event of a stream of server-sent events. */
export interface SentEvent {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly data: unknown;
}

const FIELD = /^(id|event|data): (.*)$/;

/** Reads a stream of server-sent events, event by event. */
export class SentEvents {
  private readonly reader: ReadableStreamDefaultReader<string>;
  private rest = '';

  private constructor(
    readonly answer: Response,
    private readonly leaving: AbortController,
  ) {
    const body = answer.body ?? new ReadableStream();
    this.reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Opens the stream; the answer may be an error. */
  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<SentEvents> {
    const leaving = new AbortController();
    return new SentEvents(await fetch(url, { headers, signal: leaving.signal }), leaving);
  }

  /** The next event; undefined at the end of the stream. Throws where it breaks off. Comments are passed over. */
  async next(): Promise<SentEvent | undefined> {
    for (;;) {
      const end = this.rest.indexOf('\n\n');
      if (end >= 0) {
        const text = this.rest.slice(0, end);
        this.rest = this.rest.slice(end + 2);
        if (!text.startsWith(':')) return eventOf(text);
        continue;
      }
      const { done, value } = await this.reader.read();
      if (done) return undefined;
      this.rest += value;
    }
  }

  /** Disconnects. */
  leave(): void {
    this.leaving.abort();
  }
}

function eventOf(text: string): SentEvent {
  const fields = new Map(
    text.split('\n').map((line) => {
      const [, name = '', value = ''] = FIELD.exec(line) ?? [];
      return [name, value] as const;
    }),
  );
  const data = JSON.parse(fields.get('data') ?? 'null') as unknown;
  return { id: fields.get('id'), name: fields.get('event'), data };
}
