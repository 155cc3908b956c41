import { expect } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import type { ProviderContext } from '../../src/providers/http/provider-context.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ChatCommand, ChatEvent, ChatPort } from '../../src/providers/ports/chat.port.js';
import type { ProviderPorts } from '../../src/providers/ports/provider-ports.js';
import { StubUpstream } from '../support/stub-upstream.js';

/** After this long without an answer a call fails. */
export const TIMEOUT_MS = 1_000;

/** One vendor of text whose answers a test damages, and the adapter that reads them. */
export class DamageDesk {
  private constructor(
    readonly stub: StubUpstream,
    private readonly transport: HttpTransport,
    readonly chat: ChatPort,
    private readonly upstreamProtocol: 'responses' | undefined,
  ) {}

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(
    portsOf: (access: ProviderContext) => ProviderPorts,
    upstreamProtocol?: 'responses',
  ): Promise<DamageDesk> {
    const stub = await StubUpstream.start();
    const transport = new HttpTransport(TIMEOUT_MS);
    const access = { id: 'acme', baseUrl: stub.url, apiKey: 'key', clock: new SystemClock() };
    const { chat } = portsOf({ ...access, transport });
    return new DamageDesk(stub, transport, chat!, upstreamProtocol);
  }

  async stop(): Promise<void> {
    await this.transport.close();
    await this.stub.stop();
  }

  /** What an attempt gets besides its command. */
  context(upstreamModel = 'm') {
    const { upstreamProtocol } = this;
    return { upstreamModel, upstreamProtocol, signal: new AbortController().signal };
  }

  /** The vendor answers with these bytes, and ends. */
  answers(body: Buffer | string): void {
    this.stub.reply = (response) => response.end(body);
  }

  /** The vendor answers with these bytes, and closes the connection. */
  breaksAfter(body: Buffer | string): void {
    this.stub.reply = (response) => response.write(body, () => response.destroy());
  }

  /** A whole answer as its one event. */
  async whole(command: ChatCommand): Promise<ChatEvent[]> {
    return [(await this.chat.complete(command, this.context())).answer];
  }

  /** The events of a streamed answer. */
  async streamed(command: ChatCommand): Promise<ChatEvent[]> {
    const { body } = await this.chat.stream(command, this.context());
    const events: ChatEvent[] = [];
    for await (const event of body) events.push(event as ChatEvent);
    return events;
  }
}

/** What became of a call: the events of its answer, or the kind of its failure. Throws any other error. */
export async function fateOf(call: Promise<ChatEvent[]>): Promise<ChatEvent[] | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
}

/** Checks that every face can tell the parts: one finish, last; each call has an index of its own, and begins and ends. */
export function expectTellable(events: readonly ChatEvent[]): void {
  const parts = events.flatMap((event) => event.parts);
  expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
  expect(parts.at(-1)).toMatchObject({ type: 'finish' });
  const begun = parts.flatMap((part) => (part.type === 'tool-call' ? [part.index] : []));
  expect(begun).toEqual(begun.map((_, index) => index));
  const ended = parts.flatMap((part) => (part.type === 'tool-end' ? [part.index] : []));
  expect(ended.toSorted((a, b) => a - b)).toEqual(begun);
  for (const part of parts) {
    if (part.type === 'tool-arguments') {
      expect(typeof part.delta).toBe('string');
      expect(begun).toContain(part.index);
    }
    if ('text' in part) expect(typeof part.text).toBe('string');
  }
  for (const { usage } of events) {
    const counts = usage ? [usage.promptTokens, usage.completionTokens] : [];
    expect(counts.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
  }
}
