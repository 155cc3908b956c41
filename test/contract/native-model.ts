import type { JsonObject } from '../../src/common/json-object.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { overlay } from '../support/overlay-file.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { responseBytes } from './openai-response-wires.js';

const KEY = 'NATIVE_KEY';
/** Ids and names of the vendor, which no caller sees. */
export const OF_VENDOR = /0f2a9c7d1b|nov_1|gpt-5|gAAAA|org-secret|obfuscation|"payer"/;
/** What 321 + 4,000 cached prompt tokens and 90 completion tokens cost; a write to the cache costs as any other input. */
export const CHARGE = BigInt(Math.ceil(321 * 1.25 + 4_000 * 0.125 + 90 * 10));

/** A streamed response as its caller sees it. */
export interface SeenResponse {
  readonly events: readonly JsonObject[];
  readonly text: string;
  /** The response that the last event has. */
  readonly last: JsonObject & { readonly output: readonly JsonObject[] };
}

/** Reads the text of a streamed response. */
export function seenIn(text: string): SeenResponse {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as JsonObject);
  return { events, text, last: events.at(-1)!.response as SeenResponse['last'] };
}

/** A gateway with the model `native`, whose vendor of the same protocol a test plays. */
export class NativeModel {
  private constructor(
    readonly gateway: TestGateway,
    readonly upstream: StubUpstream,
  ) {}

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(settings: Record<string, string> = {}): Promise<NativeModel> {
    const upstream = await StubUpstream.start();
    process.env[KEY] = 'vendor-key-0123456789';
    const file = nativeModelAt(`${upstream.url}/v1`, KEY);
    const gateway = await startTestGateway({ CATALOG_FILE: file, ...settings });
    return new NativeModel(gateway, upstream);
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await this.upstream.stop();
  }

  /** The vendor answers with this object. */
  answers(json: object): void {
    this.upstream.reply = (answer) => answer.end(JSON.stringify(json));
  }

  /** The vendor streams these events, and ends its answer unless `isOpen`. */
  streams(events: readonly JsonObject[], isOpen = false): void {
    this.upstream.reply = (answer) => {
      answer.setHeader('content-type', 'text/event-stream');
      answer.setHeader('openai-organization', 'org-secret');
      answer.setHeader('x-request-id', 'req_0f2a9c7d1b');
      answer.write(responseBytes(events));
      if (!isOpen) answer.end();
    };
  }

  /** Sends a request for a response. */
  post({ headers }: TestAccount, body: object): Promise<Response> {
    return fetch(`${this.gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'native', input: 'Hi', max_output_tokens: 300, ...body }),
    });
  }

  /** The body of the last request at the vendor. */
  sentBody(): JsonObject & { readonly input: readonly JsonObject[] } {
    const { body } = this.upstream.seen.at(-1)!;
    return JSON.parse(body.toString()) as ReturnType<NativeModel['sentBody']>;
  }
}

/** An overlay with the model `native`, which a vendor at this URL makes over Responses. Returns its path. */
function nativeModelAt(baseUrl: string, keyVariable: string): string {
  const price = {
    unit: 'token',
    input_micro_usd_per_million: 1_250_000,
    cached_input_micro_usd_per_million: 125_000,
    output_micro_usd_per_million: 10_000_000,
  };
  const routes = [{ provider: 'vendor', upstream_model: 'm', upstream_protocol: 'responses' }];
  return overlay({
    providers: [{ id: 'vendor', protocol: 'openai', base_url: baseUrl, api_key_env: keyVariable }],
    models: [
      { id: 'native', operation: 'chat', routes, price, limits: { max_output_tokens: 8_000 } },
    ],
  });
}
