import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRecord } from '../../src/sandbox/chat/chat-log.js';
import { RawEvents } from './event-stream.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { send } from './http-answer.js';

const CREDIT = 10_000_000n;

/** A model with its prices in micro-USD per million tokens. */
interface PricedModel {
  readonly id: string;
  readonly input: bigint;
  readonly output: bigint;
}

/** A gateway with the sandbox, whose chats are streamed, and an account that tests share. */
export class ChatStreamHarness {
  readonly url: string;

  private constructor(
    readonly gateway: TestGateway,
    readonly shared: TestAccount,
    private readonly model: PricedModel,
  ) {
    this.url = `${gateway.url}/v1/chat/completions`;
  }

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(model: PricedModel): Promise<ChatStreamHarness> {
    const gateway = await startTestGateway();
    return new ChatStreamHarness(gateway, await gateway.account(), model);
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
  }

  /** A request. Its magic inputs are in `user`, so that they are not part of the prompt. */
  ask(words = '', fields: object = {}): object {
    const messages = [{ role: 'user', content: 'Tell me about the moon' }];
    return { model: this.model.id, messages, ...(words !== '' && { user: words }), ...fields };
  }

  stream(body: object, account = this.shared): Promise<RawEvents> {
    return RawEvents.post(this.url, account.headers, { ...body, stream: true });
  }

  priceOf(promptTokens: number, completionTokens: number): bigint {
    const { input, output } = this.model;
    const scaled = BigInt(promptTokens) * input + BigInt(completionTokens) * output;
    return (scaled + 999_999n) / 1_000_000n;
  }

  /** What the account has paid, after nothing is held any more. */
  async paid(account: TestAccount): Promise<bigint> {
    for (;;) {
      const { available, held } = await this.gateway.balance(account.accountId);
      if (held === 0n) return CREDIT - available;
      await sleep(10);
    }
  }

  async lastChat(): Promise<ChatRecord> {
    const [chat] = (await this.gateway.sandbox?.chats(1)) ?? [];
    return chat!;
  }

  async executionOf(headers: Headers, account: TestAccount) {
    const id = headers.get('x-gateway-execution-id') ?? '';
    const url = `${this.gateway.url}/v1/executions/${id}`;
    return (await send(url, { headers: account.headers })).json as Record<string, unknown>;
  }
}

/** Magic inputs as text. */
export const magic = (...words: string[]) => words.map((word) => `[[sandbox:${word}]]`).join(' ');
