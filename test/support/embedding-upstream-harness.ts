import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, postJson } from './http-answer.js';
import { overlay } from './overlay-file.js';
import { base64Of, EMBEDDINGS_PATH } from './paid-embeddings.js';
import { StubUpstream } from './stub-upstream.js';

/** A million micro-USD per million tokens: a token costs one. */
const PRICE = { unit: 'token', input_micro_usd_per_million: 1_000_000 };

/** A gateway whose provider of embeddings a test plays; the model has a second route. */
export class EmbeddingUpstreamHarness {
  private constructor(
    readonly upstream: StubUpstream,
    readonly backup: StubUpstream,
    readonly gateway: TestGateway,
  ) {}

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(settings: NodeJS.ProcessEnv = {}): Promise<EmbeddingUpstreamHarness> {
    const [upstream, backup] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
    const provider = (id: string, { url }: StubUpstream) => ({
      ...{ id, protocol: 'openai', base_url: `${url}/v1`, api_key_env: '' },
    });
    const route = (name: string) => ({ provider: name, upstream_model: `vendor-${name}` });
    const model = { operation: 'embeddings', price: PRICE };
    const catalog = {
      providers: [provider('first', upstream), provider('second', backup)],
      models: [
        { ...model, id: 'gen-embed-x', routes: [route('first'), route('second')] },
        {
          ...model,
          id: 'gen-embed-short',
          routes: [route('first')],
          limits: { dimensions: [2, 4], max_inputs: 2 },
        },
      ],
    };
    const gateway = await startTestGateway({ CATALOG_FILE: overlay(catalog), ...settings });
    return new EmbeddingUpstreamHarness(upstream, backup, gateway);
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([this.upstream.stop(), this.backup.stop()]);
  }

  /** Asks for the vectors of two texts of two bytes. */
  embed({ headers }: TestAccount, fields: object = {}): Promise<Answer> {
    const body = { model: 'gen-embed-x', input: ['ab', 'cd'], ...fields };
    return postJson(this.gateway.url + EMBEDDINGS_PATH, headers, body);
  }
}

/** An item of an answer as a vendor writes it. */
export const item = (index: number, embedding: unknown) => ({
  object: 'embedding',
  index,
  embedding,
});

/** A good answer of a vendor to two inputs, as JSON. */
export function vendorAnswer(
  data: unknown = [item(0, base64Of([1, 2, 3])), item(1, base64Of([4, 5, 6]))],
  more: object = {},
): string {
  const usage = { prompt_tokens: 3, total_tokens: 3 };
  return JSON.stringify({ object: 'list', data, model: 'vendor-model', usage, ...more });
}
