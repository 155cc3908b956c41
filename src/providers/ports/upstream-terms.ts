import type { JsonObject } from '../../common/json-object.js';

/**
 * How the requests of one model differ from its protocol's habit, as its row says (docs/reference/configuration.md, "Overlay file"). Fields
 * are those at the upstream. Nothing in here touches the key, the model, the messages, `stream` or the output's cap.
 */
export interface UpstreamTerms {
  /** The field that carries the cap on the output. Chat only. */
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
  /** How long the upstream may send nothing, before its answer and within it. */
  readonly timeoutMs?: number;
  /** Unknown fields of messages, parts and tools that are sent all the same (decision G-92). Chat only. */
  readonly passFields?: readonly string[];
}
