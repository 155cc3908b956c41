import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { SKY_CHAT } from '../support/chat-harness.js';
import { type Answer, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import type { GatewayProgram } from '../support/process.js';
import { until } from '../support/until.js';
import { VIDEO, type Video } from '../support/video-harness.js';

const CREDIT = 100_000_000n;
const SPEECH = '/v1/audio/speech';

const told = (words: readonly string[]): string =>
  words.map((word) => `[[sandbox:${word}]]`).join(' ');

type Buyer = Awaited<ReturnType<GatewayProgram['account']>>;

/** The lease of an ended process passes first. */
const TAKEN_OVER_MS = 110_000;

/** An account, whose work any gateway of one database does. */
export class Customer {
  private constructor(
    private readonly buyer: Buyer,
    private readonly webhook: string,
  ) {}

  /** A new account with one key of these terms. Its webhooks go to the URL. */
  static async of(gateway: GatewayProgram, webhook: string, terms: object = {}): Promise<Customer> {
    return new Customer(await gateway.account(CREDIT, terms), webhook);
  }

  get accountId(): string {
    return this.buyer.accountId;
  }

  get keyId(): string {
    return this.buyer.keyId;
  }

  /** A call, a chat and a streamed chat, all paid. */
  async calls(gateway: GatewayProgram): Promise<void> {
    const speech = await this.post(gateway, SPEECH, HELLO);
    const chat = await this.post(gateway, '/v1/chat/completions', SKY_CHAT);
    const streamed = await this.post(gateway, '/v1/chat/completions', {
      ...SKY_CHAT,
      stream: true,
    });
    expect([speech.status, chat.status, streamed.status]).toEqual([200, 200, 200]);
    expect(streamed.bytes.toString()).toContain('data: [DONE]');
  }

  /** A call that the sandbox answers as these words say. */
  call(gateway: GatewayProgram, ...words: string[]): Promise<Answer> {
    return this.post(gateway, SPEECH, { ...HELLO, input: `Hello ${told(words)}` });
  }

  /** The answer to a response that is to be made in the background. */
  background(gateway: GatewayProgram): Promise<Answer> {
    const body = { model: 'gen-5-mini', input: 'Why is the sky blue?', background: true };
    return this.post(gateway, '/v1/responses', body);
  }

  /** The id of a new task, whose work the sandbox does as the words say. */
  async submit(gateway: GatewayProgram, ...words: string[]): Promise<string> {
    const answer = await this.post(
      gateway,
      '/v1/videos',
      {
        ...VIDEO,
        prompt: `The sea ${told(['task-ms=1', ...words])}`,
        webhook: this.webhook,
        webhook_secret: 'whsec-of-a-customer-0123456789',
      },
      { 'idempotency-key': randomUUID() },
    );
    expect(answer.status).toBe(200);
    return (answer.json as Video).id;
  }

  /** Waits until a task has ended, and tells how. */
  async ended(gateway: GatewayProgram, id: string): Promise<string> {
    let status = '';
    await until(async () => {
      ({ status } = (await this.get(gateway, `/v1/videos/${id}`)).json as Video);
      return status === 'completed' || status === 'failed';
    }, TAKEN_OVER_MS);
    return status;
  }

  get({ url }: GatewayProgram, path: string): Promise<Answer> {
    return send(`${url}${path}`, { headers: this.buyer.headers });
  }

  private post(
    { url }: GatewayProgram,
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return postJson(`${url}${path}`, { ...this.buyer.headers, ...headers }, body);
  }
}
