/** W3C Trace Context: version, trace id, parent id, flags. Later versions may have more behind them. */
const TRACE_PARENT =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?<rest>-.*)?$/;
/** A header that is longer is no trace. */
const MAX_CHARACTERS = 256;
const TRACE_ID_AT = 3;
const TRACE_ID_CHARACTERS = 32;

/** The name of the header. */
export const TRACE_PARENT_HEADER = 'traceparent';

/** The header `traceparent` as it came, if it is valid. */
export function traceParentOf(header: unknown): string | undefined {
  if (typeof header !== 'string' || header.length > MAX_CHARACTERS) return undefined;
  const { version, rest } = TRACE_PARENT.exec(header)?.groups ?? {};
  const isValid = version !== undefined && (version !== '00' || rest === undefined);
  return isValid ? header : undefined;
}

/** The id of the trace in a valid `traceparent`. */
export function traceIdOf(traceParent: string): string {
  return traceParent.slice(TRACE_ID_AT, TRACE_ID_AT + TRACE_ID_CHARACTERS);
}
