import type { ServerResponse } from 'node:http';
import { ASK } from './chat-upstream-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, postJson } from './http-answer.js';
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from './otlp-collector.js';
import { overlay } from './overlay-file.js';
import { StubUpstream } from './stub-upstream.js';
import { until } from './until.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

/** What may be in no trace. */
export const UNTOLD = {
  prompt: 'canaryPrompt7f3a',
  answer: 'canaryAnswer2b1c',
  upstreamKey: 'canaryUpstreamKey91bd',
  providerWords: 'canaryProviderWords44',
  webhookSecret: 'canaryWebhookSecret4b90',
  query: 'canaryQuery0c1d',
};

/** The answer of a provider. */
export const answers = (response: ServerResponse): unknown => {
  const message = { role: 'assistant', content: UNTOLD.answer };
  const choices = [{ index: 0, finish_reason: 'stop', message }];
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  return response.setHeader('x-request-id', 'up-1').end(JSON.stringify({ choices, usage }));
};

/** A provider that has no more room. */
export const refuses = (response: ServerResponse): unknown =>
  response.writeHead(429).end(JSON.stringify({ error: { message: UNTOLD.providerWords } }));

/** A gateway with an account. */
interface Desk {
  readonly gateway: TestGateway;
  readonly account: TestAccount;
}

/** A collector, and gateways that send traces to it. `gen-5-mini` has two providers. */
export class TraceHarness {
  private constructor(
    readonly collector: OtlpCollector,
    readonly upstream: StubUpstream,
    readonly backup: StubUpstream,
    readonly receiver: WebhookReceiver,
  ) {}

  /** Starts one without a gateway; call {@link stop} in `afterAll`. */
  static async start(): Promise<TraceHarness> {
    const parts = await Promise.all([
      startOtlpCollector(),
      StubUpstream.start(),
      StubUpstream.start(),
      startWebhookReceiver(),
    ]);
    const harness = new TraceHarness(...parts);
    harness.recover();
    return harness;
  }

  async stop(): Promise<void> {
    const { collector, upstream, backup, receiver } = this;
    await Promise.all([collector.stop(), upstream.stop(), backup.stop(), receiver.stop()]);
  }

  /** Both providers answer, and forget what they got. */
  recover(): void {
    for (const stub of [this.upstream, this.backup]) {
      stub.reply = answers;
      stub.seen.length = 0;
    }
  }

  /** A gateway that traces everything, unless the settings say otherwise. */
  async open(settings: NodeJS.ProcessEnv = {}): Promise<Desk> {
    const gateway = await startTestGateway({
      OPENAI_API_KEY: UNTOLD.upstreamKey,
      OPENAI_BASE_URL: `${this.upstream.url}/v1`,
      CATALOG_FILE: overlay(overlayOf(this.backup.url)),
      TASK_TICK_MS: '50',
      TASK_POLL_INTERVAL_MS: '200',
      ...this.receiver.settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: this.collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b',
      OTEL_TRACES_SAMPLER_ARG: '1',
      ...settings,
    });
    return { gateway, account: await gateway.account() };
  }

  /** The spans of a trace that have come. */
  of(traceId: string): CollectedSpan[] {
    return this.collector.spans.filter((span) => span.traceId === traceId);
  }

  /** The same, once there are so many. */
  async spansOf(traceId: string, count: number): Promise<CollectedSpan[]> {
    await until(() => this.of(traceId).length >= count);
    return this.of(traceId);
  }
}

/** A chat of `gen-5-mini` with what may be in no trace. */
export function askAt(
  { gateway, account }: Desk,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const url = `${gateway.url}/v1/chat/completions?x=${UNTOLD.query}`;
  const messages = [{ role: 'user', content: UNTOLD.prompt }];
  const body = { ...ASK, messages, model: 'gen-5-mini', ...fields };
  return postJson(url, { ...account.headers, ...headers }, body);
}

/** The id of the trace of an answer whose caller sent none. */
export function traceOf(answer: Answer): string {
  return String(answer.headers.get('x-gateway-execution-id')).replace('exec_', '');
}

function overlayOf(backupUrl: string): object {
  const routes = [
    { provider: 'openai', upstream_model: 'first' },
    { provider: 'backup', upstream_model: 'second' },
  ];
  const limits = { max_output_tokens: 128_000, context_length: 1_000 };
  return {
    providers: [{ id: 'backup', protocol: 'openai', base_url: `${backupUrl}/v1`, api_key_env: '' }],
    models: [{ id: 'gen-5-mini', routes, limits, send_traceparent: true }],
  };
}
