import type { JsonObject } from '../../src/common/json-object.js';
import { chunk, event, streams } from './chat-upstream-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, postJson, send } from './http-answer.js';
import { StubUpstream } from './stub-upstream.js';
import { until } from './until.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

/** The fields of a response that the tests read. */
export interface StartedResponse extends JsonObject {
  readonly id: string;
  readonly status: string;
  readonly usage: { input_tokens: number; output_tokens: number; cost_microusd: number } | null;
  readonly billing?: { charged_microusd: string; held_microusd: string; execution_id: string };
}

const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const DONE = chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });

/** The answer of the provider as a stream: "Hello there", 12 and 5 tokens. */
export const WHOLE = streams(
  event(chunk('Hello ')),
  event(chunk('there')),
  event(DONE),
  event(chunk('', { choices: [], usage: USAGE })),
  'data: [DONE]\n\n',
);

/** The same as one object. */
export const COMPLETION = {
  ...chunk(''),
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: USAGE,
};

/** A reply that begins and waits until its client leaves. */
export const BEGINS: StubUpstream['reply'] = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(event(chunk('Hello there, this is ')));
};

/** A gateway that makes responses in the background, whose provider a test plays. */
export class BackgroundHarness {
  private constructor(
    readonly upstream: StubUpstream,
    readonly hooks: WebhookReceiver,
    readonly gateway: TestGateway,
    readonly account: TestAccount,
  ) {}

  /** Starts one; call {@link reset} before each test and {@link stop} in `afterAll`. */
  static async start(settings: NodeJS.ProcessEnv = {}): Promise<BackgroundHarness> {
    const [upstream, hooks] = await Promise.all([StubUpstream.start(), startWebhookReceiver()]);
    const gateway = await startTestGateway({
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      TASK_TICK_MS: '50',
      ...hooks.settings,
      ...settings,
    });
    return new BackgroundHarness(upstream, hooks, gateway, await gateway.account());
  }

  /** The provider answers as {@link WHOLE} and has seen nothing. */
  reset(): void {
    this.upstream.reply = WHOLE;
    this.upstream.seen.length = 0;
    this.upstream.aborted = 0;
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([this.upstream.stop(), this.hooks.stop()]);
  }

  url(path = ''): string {
    return `${this.gateway.url}/v1/responses${path}`;
  }

  post(fields: object, headers: object = {}): Promise<Answer> {
    const body = { model: 'gen-4-mini', input: 'Say hello', background: true, ...fields };
    return postJson(this.url(), { ...this.account.headers, ...headers }, body);
  }

  /** A response that is accepted, as it was answered. */
  async made(fields: object = {}, headers: object = {}): Promise<StartedResponse> {
    const answer = await this.post(fields, headers);
    if (answer.status !== 200) throw new Error(answer.bytes.toString());
    return answer.json as StartedResponse;
  }

  async read(id: string): Promise<StartedResponse> {
    const answer = await send(this.url(`/${id}`), { headers: this.account.headers });
    return answer.json as StartedResponse;
  }

  cancel(id: string): Promise<Answer> {
    return postJson(this.url(`/${id}/cancel`), this.account.headers, {});
  }

  /** The task of a response. */
  async taskOf(id: string): Promise<JsonObject> {
    const path = `${this.gateway.url}/v1/tasks/${id.replace('resp_', 'task_')}`;
    return (await send(path, { headers: this.account.headers })).json as JsonObject;
  }

  /** The response at its end. */
  async ended(id: string): Promise<StartedResponse> {
    let response = await this.read(id);
    await until(async () => {
      response = await this.read(id);
      return response.status !== 'queued' && response.status !== 'in_progress';
    });
    return response;
  }
}
