import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProbeAnswer, ProbePort } from '../ports/provider-ports.js';
import type { ProviderHttp } from './provider-http.js';
import { readResponseJson } from './response-body.js';

const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MAX_LIST_MS = 10_000;

/** How a protocol lists its models. */
interface ListShape {
  readonly path: string;
  /** The field with the list; absent: the body is the list. */
  readonly field?: string;
  /** The field of an entry with the name. */
  readonly name: string;
  /** What stands before the name there. */
  readonly prefix?: string;
  /** Whether there is more than this list has. */
  readonly hasMore?: (json: JsonObject) => boolean;
}

/** Probes a provider by its list of models, which costs nothing. */
export class ModelList implements ProbePort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly shape: ListShape,
  ) {}

  probe({ signal }: Pick<AttemptContext, 'signal'>): Promise<ProbeAnswer> {
    const { path } = this.shape;
    return this.http.requestParsed(
      { method: 'GET', path, timeout: 'poll', context: { signal } },
      async (body) => {
        const json = await readResponseJson(body, { bytes: MAX_LIST_BYTES, bodyMs: MAX_LIST_MS });
        return Array.isArray(json) ? { list: json } : json;
      },
      (json, providerRequestId) => {
        const models = this.namesIn(json);
        return models && { models: models.length > 0 ? models : null, providerRequestId };
      },
    );
  }

  /** Undefined where the answer has no list; empty where it does not have all names. */
  private namesIn(json: JsonObject): string[] | undefined {
    const { field = 'list', name, prefix = '', hasMore } = this.shape;
    const list = json[field];
    if (!Array.isArray(list)) return undefined;
    if (hasMore?.(json)) return [];
    return list.flatMap((entry: unknown) => {
      const text = isJsonObject(entry) ? entry[name] : undefined;
      if (typeof text !== 'string') return [];
      return [text.startsWith(prefix) ? text.slice(prefix.length) : text];
    });
  }
}
