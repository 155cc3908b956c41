import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import { readVectors } from '../http/vector-answers.js';
import { VectorScanner } from '../http/vector-scanner.js';
import { areEquallyLong } from '../http/vector-text.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  EmbeddingPort,
  EmbeddingsCommand,
  EmbeddingsResult,
  Vector,
} from '../ports/embedding.port.js';
import { geminiUsageOf } from './gemini-usage.js';

/** Embeddings over Gemini's `batchEmbedContents`, which takes 100 texts in one request, and no token ids. */
export class GeminiEmbeddings implements EmbeddingPort {
  constructor(private readonly http: ProviderHttp) {}

  embed(command: EmbeddingsCommand, context: AttemptContext): Promise<EmbeddingsResult> {
    const { inputs, dimensions } = command;
    const texts = inputs.filter((input) => typeof input === 'string');
    if (texts.length < inputs.length) {
      return Promise.reject(this.http.refusal('token_ids_not_supported'));
    }
    const model = `models/${context.upstreamModel}`;
    const requests = texts.map((text) => ({
      model,
      content: { parts: [{ text }] },
      outputDimensionality: dimensions,
    }));
    const path = `/models/${encodeURIComponent(context.upstreamModel)}:batchEmbedContents`;
    const request = {
      method: 'POST',
      path,
      body: jsonBody({ requests }),
      timeout: 'embedding',
      context,
    } as const;
    const scanner = new VectorScanner(inputs.length);
    return this.http.requestParsed(
      request,
      (answer) => readVectors(answer, scanner),
      (json, providerRequestId) => {
        const vectors = carriesError(json) ? undefined : vectorsOf(json, command, scanner);
        return vectors && { vectors, promptTokens: promptTokensOf(json), providerRequestId };
      },
    );
  }
}

/** Null where it is missing, or zero beside texts that are never empty. */
function promptTokensOf(json: JsonObject): number | null {
  const { promptTokens = 0 } = geminiUsageOf(json) ?? {};
  return promptTokens > 0 ? promptTokens : null;
}

/** The vectors in the order of the texts; undefined for any other answer. */
function vectorsOf(
  { embeddings }: JsonObject,
  { inputs, length }: EmbeddingsCommand,
  scanner: VectorScanner,
): Vector[] | undefined {
  if (!Array.isArray(embeddings) || embeddings.length !== inputs.length) return undefined;
  const vectors = (embeddings as unknown[]).flatMap((item) => {
    const vector = isJsonObject(item) ? scanner.vectorOf(item.values) : undefined;
    return vector ?? [];
  });
  return vectors.length === inputs.length && areEquallyLong(vectors, length) ? vectors : undefined;
}
