import type { JsonObject } from '../../common/json-object.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { EmbeddingsCommand, EmbeddingsResult, Vector } from '../ports/embedding.port.js';
import { carriesError } from './error-facts.js';
import type { ProviderHttp } from './provider-http.js';
import { jsonBody } from './request-body.js';
import { readVectors } from './vector-answers.js';
import { VectorScanner } from './vector-scanner.js';
import { areEquallyLong } from './vector-text.js';

/** How one protocol asks for vectors, and where its answer has them. */
interface VectorRequest {
  readonly path: string;
  readonly body: JsonObject;
  /** The vectors of an answer in the order of the inputs; undefined, or fewer, for any other answer. */
  readonly vectorsOf: (json: JsonObject, scanner: VectorScanner) => readonly Vector[] | undefined;
  /** The tokens of all inputs; null where they are not reported. */
  readonly promptTokensOf: (json: JsonObject) => number | null;
}

/** Asks for the vectors of a command. An answer without one for each input, or with unequal ones, is a failure. */
export function requestVectors(
  http: ProviderHttp,
  { inputs, length }: EmbeddingsCommand,
  context: AttemptContext,
  { path, body, vectorsOf, promptTokensOf }: VectorRequest,
): Promise<EmbeddingsResult> {
  const scanner = new VectorScanner(inputs.length);
  return http.requestParsed(
    { method: 'POST', path, body: jsonBody(body), timeout: 'embedding', context },
    (answer) => readVectors(answer, scanner),
    (json, providerRequestId) => {
      const vectors = carriesError(json) ? undefined : vectorsOf(json, scanner);
      if (vectors?.length !== inputs.length || !areEquallyLong(vectors, length)) return undefined;
      return { vectors, promptTokens: promptTokensOf(json), providerRequestId };
    },
  );
}
