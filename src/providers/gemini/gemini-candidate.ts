import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { asRequestId, listAt, textAt } from '../http/json-fields.js';

/** Bytes within an answer. */
interface InlineData {
  readonly mimeType: string;
  readonly base64: string;
}

/** The one candidate of an answer or of an event; undefined where it has none. */
export function candidateOf(answer: JsonObject): JsonObject | undefined {
  return listAt(answer, 'candidates')?.[0];
}

/** The parts of a candidate's content, in order. */
export function candidateParts(candidate: JsonObject | undefined): readonly JsonObject[] {
  const content = candidate?.content;
  return (isJsonObject(content) ? listAt(content, 'parts') : null) ?? [];
}

/** The bytes of a part; undefined where it has none. What the model only thought of is none. */
export function inlineDataOf(part: JsonObject): InlineData | undefined {
  const { inlineData, thought } = part;
  if (!isJsonObject(inlineData) || thought === true) return undefined;
  const base64 = textAt(inlineData, 'data');
  if (base64 === null || base64 === '') return undefined;
  return { mimeType: textAt(inlineData, 'mimeType') ?? '', base64 };
}

/** The id by which the vendor knows an answer: that of its headers, or that in its body. */
export function answerIdOf(answer: JsonObject, ofHeaders: string | null): string | null {
  return ofHeaders ?? asRequestId(answer.responseId);
}
