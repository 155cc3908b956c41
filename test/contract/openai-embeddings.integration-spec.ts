import { expect } from '@jest/globals';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { EmbeddingsCommand } from '../../src/providers/ports/embedding.port.js';
import type { SeenRequest } from '../support/stub-upstream.js';
import { describePortContract, describeRequest } from './port-contract.js';

const FIRST = [0.0023064255, -0.009327292, 0.5];
const SECOND = [-0.0028842222, 1, -2];
const usage = { prompt_tokens: 8, total_tokens: 8 };
const COMMAND: EmbeddingsCommand = { inputs: ['Hé', 'you'], length: { min: 1, max: 3_072 } };

const base64Of = (numbers: readonly number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
const item = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding });
const answer = (data: readonly object[], more: object = { usage }): Buffer =>
  Buffer.from(JSON.stringify({ object: 'list', data, model: 'vendor-model', ...more }));
const contract = (command: EmbeddingsCommand, body: Buffer, result: object, sent: object) => ({
  run: (
    access: Parameters<typeof openAiPorts>[0],
    context: Parameters<NonNullable<ReturnType<typeof openAiPorts>['embeddings']>['embed']>[1],
  ) => openAiPorts(access).embeddings!.embed(command, context),
  good: { type: 'application/json', body, result: { providerRequestId: null, ...result } },
  expectRequest: (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', '/embeddings']);
    expect(JSON.parse(request.body.toString())).toEqual({
      model: 'upstream-model',
      encoding_format: 'base64',
      ...sent,
    });
  },
});

describePortContract(
  'OpenAI embeddings in base64',
  contract(
    COMMAND,
    answer([item(0, base64Of(FIRST)), item(1, base64Of(SECOND))]),
    { vectors: [Float32Array.from(FIRST), Float32Array.from(SECOND)], promptTokens: 8 },
    { input: ['Hé', 'you'] },
  ),
);

describeRequest(
  'OpenAI embeddings in numbers, in another order, of token ids',
  contract(
    { inputs: [[1, 2], [100_257]], dimensions: 3, length: { min: 3, max: 3 }, user: 'me' },
    answer([item(1, SECOND), item(0, FIRST)]),
    { vectors: [Float64Array.from(FIRST), Float64Array.from(SECOND)], promptTokens: 8 },
    { input: [[1, 2], [100_257]], dimensions: 3, user: 'me' },
  ),
);

describeRequest(
  'OpenAI embeddings without places and without usage',
  contract(
    COMMAND,
    answer([{ embedding: FIRST }, { embedding: SECOND }], { usage: { prompt_tokens: 0 } }),
    { vectors: [Float64Array.from(FIRST), Float64Array.from(SECOND)], promptTokens: null },
    { input: ['Hé', 'you'] },
  ),
);
