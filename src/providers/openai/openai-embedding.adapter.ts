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

/** More than any call may have. */
const MAX_TOKENS = 1_000_000_000;
/** The names of the count of input tokens. */
const TOKEN_COUNTS = ['prompt_tokens', 'input_tokens', 'total_tokens'];

/** Embeddings over the OpenAI wire protocol. */
export class OpenAiEmbeddings implements EmbeddingPort {
  constructor(private readonly http: ProviderHttp) {}

  /** Asks for base64, a quarter of the bytes of numbers, and takes either. */
  embed(command: EmbeddingsCommand, context: AttemptContext): Promise<EmbeddingsResult> {
    const { inputs, dimensions, user } = command;
    const body = {
      model: context.upstreamModel,
      input: inputs,
      encoding_format: 'base64',
      dimensions,
      user,
    };
    return requestVectors(this.http, command, context, {
      path: '/embeddings',
      body,
      vectorsOf,
      promptTokensOf,
    });
  }
}

/** The vectors by the places that the items name, or else have. */
function vectorsOf({ data }: JsonObject, scanner: VectorScanner): Vector[] | undefined {
  if (!Array.isArray(data)) return undefined;
  const vectors = new Map<unknown, Vector>();
  for (const [place, item] of (data as unknown[]).entries()) {
    const vector = isJsonObject(item) ? scanner.vectorOf(item.embedding) : undefined;
    if (vector === undefined) return undefined;
    vectors.set((item as JsonObject).index ?? place, vector);
  }
  return data.flatMap((_item, index) => vectors.get(index) ?? []);
}

/** Null where it is missing, or zero beside inputs that are never empty. */
function promptTokensOf({ usage }: JsonObject): number | null {
  const counts = isJsonObject(usage) ? TOKEN_COUNTS.map((name) => usage[name]) : [];
  return counts.find(isTokenCount) ?? null;
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_TOKENS;
}
