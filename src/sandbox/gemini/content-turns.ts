import { asArray, asRecord, type JsonRecord } from '../http/json.js';
import { refuseContent } from './gemini-errors.js';

const PARTS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'] as const;
/** Models that refuse a call of theirs without its signature. */
const SIGNING_MODEL = 'gemini-3';

/** One turn, as far as the sandbox reads it. */
export interface ReadContent {
  readonly role: 'user' | 'model';
  readonly text: string;
  readonly images: number;
  /** Whether it has results of functions. */
  readonly isToolAnswer: boolean;
}

/** Reads `contents` as the vendor does: 400 for a part without data, and for results that fit no calls. */
export function readContents(value: unknown, model: string): ReadContent[] {
  const contents = asArray(value) ?? [];
  if (contents.length === 0) refuseContent('contents is not specified', 'contents');
  let calls = 0;
  return contents.map((entry, index) => {
    const path = `contents[${index}]`;
    const { role = 'user', parts } = asRecord(entry) ?? {};
    if (role !== 'user' && role !== 'model') {
      return refuseContent('Please use a valid role: user, model.', `${path}.role`);
    }
    const read = (asArray(parts) ?? []).map((part, at) => readPart(part, `${path}.parts[${at}]`));
    if (read.length === 0) refuseContent('must include at least one parts field', `${path}.parts`);
    const results = read.filter(({ functionResponse }) => functionResponse !== undefined);
    if (results.length !== calls) {
      refuseContent(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    }
    calls = callsIn(read, model, path);
    return {
      role,
      text: read.map(textOf).filter(Boolean).join('\n'),
      images: read.filter(({ inlineData }) => isImage(inlineData)).length,
      isToolAnswer: results.length > 0,
    };
  });
}

function readPart(value: unknown, path: string): JsonRecord {
  const part = asRecord(value) ?? {};
  const named = PARTS.filter((name) => part[name] !== undefined);
  if (named.length !== 1) refuseContent('required oneof field data must have one field', path);
  const { inlineData, fileData } = part;
  if (fileData !== undefined) refuseContent('The sandbox has no files', `${path}.file_data`);
  if (inlineData !== undefined && !isData(inlineData))
    refuseContent('Base64 decoding failed', `${path}.inline_data`);
  return part;
}

function isData(value: unknown): boolean {
  const { mimeType, data } = asRecord(value) ?? {};
  return typeof mimeType === 'string' && typeof data === 'string' && /^[\w+/-]+=*$/.test(data);
}

function isImage(value: unknown): boolean {
  return String(asRecord(value)?.mimeType).startsWith('image/');
}

/** The number of calls; the first of them has a signature, where the model wants one. */
function callsIn(parts: readonly JsonRecord[], model: string, path: string): number {
  const calls = parts.filter(({ functionCall }) => functionCall !== undefined);
  const [first] = calls;
  if (first && model.startsWith(SIGNING_MODEL) && typeof first.thoughtSignature !== 'string') {
    refuseContent('Function call is missing a thought_signature in functionCall parts.', path);
  }
  return calls.length;
}

function textOf({ text, functionResponse }: JsonRecord): string {
  if (typeof text === 'string') return text;
  const { response } = asRecord(functionResponse) ?? {};
  if (response === undefined) return '';
  const { result } = asRecord(response) ?? {};
  return typeof result === 'string' ? result : JSON.stringify(response);
}
