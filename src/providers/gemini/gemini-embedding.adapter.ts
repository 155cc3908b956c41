import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { requestVectors } from '../http/request-vectors.js';
import type { VectorScanner } from '../http/vector-scanner.js';
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
    return requestVectors(this.http, command, context, {
      path: `/models/${encodeURIComponent(context.upstreamModel)}:batchEmbedContents`,
      body: { requests },
      vectorsOf,
      promptTokensOf,
    });
  }
}

/** Null where it is missing, or zero beside texts that are never empty. */
function promptTokensOf(json: JsonObject): number | null {
  const { promptTokens = 0 } = geminiUsageOf(json) ?? {};
  return promptTokens > 0 ? promptTokens : null;
}

/** The vectors in the order of the texts. */
function vectorsOf({ embeddings }: JsonObject, scanner: VectorScanner): Vector[] | undefined {
  if (!Array.isArray(embeddings)) return undefined;
  const vectors = (embeddings as unknown[]).map((item) =>
    isJsonObject(item) ? scanner.vectorOf(item.values) : undefined,
  );
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined;
}
