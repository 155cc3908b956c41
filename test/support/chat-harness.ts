import { expect } from '@jest/globals';
import type { RecordedRequest } from '../../src/sandbox/http/recorder.js';
import { type Answer, postJson } from './http-answer.js';
import { type GatewayFromOutside, sharedGateway } from './shared-gateway.js';

/** The chat request of the harness. */
export const SKY_CHAT = {
  model: 'gen-5',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
};

/** The fields of a completion that tests read. */
interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: {
    readonly index: number;
    readonly message: { readonly role: string; readonly content: string };
    readonly finish_reason: string;
  }[];
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

/** The shared gateway, and an account that chats. */
export class ChatHarness {
  private constructor(
    readonly gateway: GatewayFromOutside,
    readonly headers: Record<string, string>,
    readonly accountId: string,
  ) {}

  /** Call {@link stop} in `afterAll`. */
  static async start(): Promise<ChatHarness> {
    const gateway = await sharedGateway();
    const { headers, accountId } = await gateway.account();
    return new ChatHarness(gateway, headers, accountId);
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
  }

  chat(fields: object, by = this.headers): Promise<Answer> {
    return postJson(`${this.gateway.url}/v1/chat/completions`, by, { ...SKY_CHAT, ...fields });
  }

  /** The completion of a request that is accepted. */
  async ask(fields: object = {}): Promise<{ completion: Completion; answer: Answer }> {
    const answer = await this.chat(fields);
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
    return { completion: answer.json as Completion, answer };
  }

  /** The last request that the provider got. */
  async upstream(): Promise<RecordedRequest & { body: Record<string, unknown> }> {
    const [last] = await this.gateway.upstreamRequests();
    return last as RecordedRequest & { body: Record<string, unknown> };
  }
}
