import type { JsonObject } from '../../common/json-object.js';

/**
 * Deviations of one model's requests from the standard form of its protocol, as its row declares them
 * (docs/reference/configuration.md, "Overlay file"). Fields are those at the upstream. No deviation affects the key, the
 * model, the messages, `stream` or the value of the output cap.
 */
export interface UpstreamTerms {
  /** The name of the field for the output cap. Chat only. */
  readonly outputCapParameter?: string;
  /** False: the upstream is not asked to report the usage of streams. Chat only. */
  readonly streamUsage?: boolean;
  /** New names of fields, by the name that is sent otherwise. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Fields that are not sent. */
  readonly drop?: readonly string[];
  /** Further headers, by their lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields with the same value in every request; they replace those of the caller. */
  readonly constants?: JsonObject;
  /** Maximum time without bytes from the upstream, before its response and within it. */
  readonly timeoutMs?: number;
  /** Unknown fields of messages, parts and tools that are sent nevertheless (decision G-92). Chat only. */
  readonly passFields?: readonly string[];
}
