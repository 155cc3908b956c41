import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import type { EmbeddingsCommand } from '../../src/providers/ports/embedding.port.js';
import { StubUpstream, type SeenRequest } from '../support/stub-upstream.js';
import { describePortContract, describeRequest } from './port-contract.js';

const FIRST = [0.010986328, -0.02342301, 1];
const SECOND = [1, 0, -1e-7];
const COMMAND: EmbeddingsCommand = { inputs: ['Hé', 'you'], length: { min: 1, max: 3_072 } };
const PATH = '/models/upstream-model:batchEmbedContents';

type Access = Parameters<typeof geminiPorts>[0];
type Context = Parameters<NonNullable<ReturnType<typeof geminiPorts>['embeddings']>['embed']>[1];
const run = (command: EmbeddingsCommand) => (access: Access, context: Context) =>
  geminiPorts(access).embeddings!.embed(command, context);
/** The vendor writes each number on a line of its own. */
const answer = (body: object): Buffer => Buffer.from(JSON.stringify(body, null, 2));
const expectRequest = (more: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', PATH]);
  expect(JSON.parse(request.body.toString())).toEqual({
    requests: ['Hé', 'you'].map((text) => ({
      model: 'models/upstream-model',
      content: { parts: [{ text }] },
      ...more,
    })),
  });
};

describePortContract('Gemini embeddings', {
  run: run(COMMAND),
  good: {
    type: 'application/json',
    body: answer({ embeddings: [{ values: FIRST }, { values: SECOND }] }),
    result: {
      vectors: [Float64Array.from(FIRST), Float64Array.from(SECOND)],
      promptTokens: null,
      providerRequestId: null,
    },
  },
  // Its only field is the list, so those of the row stand beside it.
  expectRequest: expectRequest({}),
});

describeRequest('Gemini embeddings of a length, with usage', {
  run: run({ ...COMMAND, dimensions: 3, length: { min: 3, max: 3 } }),
  good: {
    type: 'application/json',
    body: answer({
      embeddings: [{ values: FIRST }, { values: SECOND }],
      usageMetadata: { promptTokenCount: 5 },
    }),
    result: {
      vectors: [Float64Array.from(FIRST), Float64Array.from(SECOND)],
      promptTokens: 5,
      providerRequestId: null,
    },
  },
  expectRequest: expectRequest({ outputDimensionality: 3 }),
});

describe('Gemini embeddings', () => {
  let stub: StubUpstream;
  let transport: HttpTransport;
  beforeEach(async () => {
    stub = await StubUpstream.start();
    transport = new HttpTransport(2_000);
  });
  afterEach(async () => {
    await stub.stop();
    await transport.close();
  });
  const embed = (command = COMMAND) =>
    run(command)(
      { id: 'acme', baseUrl: stub.url, apiKey: 'key', transport, clock: new SystemClock() },
      { upstreamModel: 'upstream-model', signal: new AbortController().signal },
    );

  it.each<[string, object]>([
    ['fewer vectors', { embeddings: [{ values: FIRST }] }],
    ['more vectors', { embeddings: [{ values: FIRST }, { values: SECOND }, { values: SECOND }] }],
    ['vectors of two lengths', { embeddings: [{ values: FIRST }, { values: [1] }] }],
    ['an empty vector', { embeddings: [{ values: [] }, { values: [] }] }],
    ['a vector without values', { embeddings: [{ values: FIRST }, {}] }],
    ['null for a vector', { embeddings: [{ values: FIRST }, null] }],
    ['one vector for all', { embedding: { values: FIRST } }],
    ['a text among the values', { embeddings: [{ values: FIRST }, { values: [1, 2, '3'] }] }],
    ['an error', { error: { code: 500, message: 'secret words', status: 'INTERNAL' } }],
    ['nothing', {}],
  ])('an answer with %s is a failure', async (_what, body) => {
    stub.reply = (response) => response.end(answer(body));
    await expect(embed()).rejects.toMatchObject({ kind: 'http_error', sent: true });
  });

  it('of token ids are refused before anything is sent, so that another route may take them', async () => {
    await expect(embed({ ...COMMAND, inputs: [[1, 2]] })).rejects.toMatchObject({
      kind: 'rejected',
      sent: false,
      safeToFailover: true,
    });
    expect(stub.seen).toHaveLength(0);
  });
});
