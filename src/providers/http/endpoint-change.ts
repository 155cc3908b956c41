import type { JsonObject } from '../../common/json-object.js';

/** A request before another, as the operator describes it. */
export interface StepChange {
  readonly path: string;
  /** The fields that it sends, under their public names. */
  readonly takes: readonly string[];
  /** The step is skipped where the caller did not send this field. */
  readonly onlyWith?: string;
  readonly constants?: JsonObject;
  /** The field of its answer that the next request sends under the same name. */
  readonly keeps: string;
}

/** How an operator's upstream differs from the adapter's table in one endpoint (docs/songs.md, "Another wire"). */
export interface EndpointChange {
  /** Name of the endpoint, as in the routes of the catalog. */
  readonly name: string;
  /** The endpoint of the table that it copies, where the table has none of its name. */
  readonly like?: string | undefined;
  readonly path?: string | undefined;
  /** The path that is polled. */
  readonly fetchPath?: string | undefined;
  /** Upstream names of fields, by our field name. */
  readonly names?: Readonly<Record<string, string>>;
  /** Upstream values, by field and our value. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Values of upstream fields that every request sends; an undefined one takes that of the table away. */
  readonly constants?: JsonObject;
  /** Replaces the list of the table. */
  readonly omits?: readonly string[] | undefined;
  /** Replaces the steps of the table. */
  readonly steps?: readonly StepChange[] | undefined;
  /** Upstream names of the answer's fields, by the name that the adapter reads. */
  readonly answerNames?: Readonly<Record<string, string>>;
  readonly needsTitle?: boolean | undefined;
  readonly isLong?: boolean | undefined;
}
