import type { ProviderError } from '../http/provider-error.js';

/** Codes for a parameter that is unknown or not supported by the model. */
const CODES =
  /^((unsupported|unknown|unrecognized|unexpected)_(parameter|argument|field|key|name|property)|extra_forbidden|value_error\.extra)$/i;
const UN = '(unsupported|unknown|unrecogni[sz]ed|unexpected)';
const NOT = '(not (supported|permitted|allowed|recogni[sz]ed|known|accepted|available)|forbidden)';
const PARAMETER = '(parameter|param|argument|field|key|name|property|input|attribute)s?';
const QUOTE = '["\'`“”‘’]?';
/** Text after a parameter name if its value is rejected: "does not support max_tokens above 4". */
const NO_VALUE =
  '(?!\\s*(above|over|beyond|below|under|greater|larger|higher|more|less|lower|smaller|exceeding|values?|of|to|=|:|[<>≤≥]|\\d))';

/** The error of an additional, unknown field (pydantic). */
const IS_EXTRA =
  /\bextra (inputs?|fields?|keys?|parameters?) (is |are )?(not (permitted|allowed)|forbidden)/i;
/** A complete message about the field that the error names in another field. */
const IS_UNKNOWN = new RegExp(
  `^\\W*((this |the |that )?${UN} ([a-z]+ ){0,2}${PARAMETER}\\b|(this |the |that )?${PARAMETER} (is )?(${NOT}|${UN})${NO_VALUE}|${NOT}${NO_VALUE}|${UN}\\W*$)`,
  'i',
);

/**
 * Whether a rejection says explicitly that the upstream does not know or support this parameter. Every other rejection,
 * such as a value that is too large, is the caller's fault.
 */
export function rejectsParameter(error: ProviderError, name: string): boolean {
  const { upstreamCode = '', upstreamParam = '', upstreamMessage = '' } = error;
  const isParam = stands(upstreamParam, name);
  const isNamed = isParam || stands(upstreamMessage, name);
  if (isNamed && (CODES.test(upstreamCode) || IS_EXTRA.test(upstreamMessage))) return true;
  return (isParam && IS_UNKNOWN.test(upstreamMessage)) || phraseOf(name).test(upstreamMessage);
}

/** Whether the text contains the whole word; `max_completion_tokens` does not contain `max_tokens`. */
function stands(text: string, word: string): boolean {
  return new RegExp(`(?<![A-Za-z0-9_])${word}(?![A-Za-z0-9_])`).test(text);
}

/** "Unknown name "x"", "'x' is not supported", "Argument not supported: x", "does not support the parameter x". */
function phraseOf(name: string): RegExp {
  const named = `${QUOTE}(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_])${QUOTE}`;
  const before = `\\b(${UN} ([a-z]+ ){0,2}${PARAMETER}( supplied)?\\W{1,3}|${PARAMETER} ${NOT}\\W{1,3}|${UN}: ?|(does not|doesn't) (support|accept|recogni[sz]e) (the )?(${PARAMETER} )?)${named}${NO_VALUE}`;
  const after = `${named}\\s*(${PARAMETER} )?(is|are|was)( currently)? (${NOT}|${UN}|an? ${UN} ${PARAMETER}|not an? ([a-z]+ )?${PARAMETER}\\b)${NO_VALUE}`;
  return new RegExp(`(${before}|${after})`, 'i');
}
