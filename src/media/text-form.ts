import { pipeline } from 'node:stream/promises';
import busboy, { type Busboy } from 'busboy';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { BodyMeter } from '../platform/http-server/request-body/body-quota.js';
import { sendContinue } from '../platform/http-server/request-body/body-headers.js';
import {
  formBody,
  meterUpTo,
  NAMELESS_PART,
  UNKNOWN_CHARSET,
  UNREADABLE_PART,
} from './form-body.js';

const MAX_PARTS = 64;
const MAX_NAME_LENGTH = 128;
/** A form that has not arrived after this time is rejected. */
const FORM_TIMEOUT_MS = 30_000;
/** The suffix by which SDKs mark the names of list elements. */
const LIST_SUFFIX = /\[\]$/;

/** The text parts of a form by name. A name that was sent as `name[]` or more than once becomes a list. */
export type TextForm = Readonly<Record<string, string | readonly string[]>>;

interface TextPart {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a multipart form with text parts only, at most `limitBytes` in all. Stock SDKs send such forms to endpoints
 * that could take files. Throws the meter's error, and GatewayError as soon as a fault is seen, without reading
 * further: `invalid_request` for a file part, with its name as `param`; `invalid_multipart` for a broken form, a part
 * without a name or in an unknown charset, and a form that arrives too slowly; `request_too_large` (decisions G-11,
 * G-61).
 */
export async function readTextForm(
  request: Request,
  limitBytes: number,
  meter?: BodyMeter,
): Promise<TextForm> {
  const body = formBody(
    request,
    meterUpTo(limitBytes, () => tooLarge(limitBytes), meter),
  );
  sendContinue(request);
  const parts: TextPart[] = [];
  const parser = parserInto(parts, body.headers);
  body.watch(parser);
  const signal = AbortSignal.timeout(FORM_TIMEOUT_MS);
  try {
    const read = pipeline(body, parser, { signal });
    request.pipe(body);
    await read;
  } catch (error) {
    throw error instanceof GatewayError ? error : invalid('The multipart form is broken.', error);
  } finally {
    request.unpipe(body);
  }
  if (!body.isWhole()) throw invalid(UNREADABLE_PART);
  return formOf(parts);
}

function parserInto(parts: TextPart[], headers: Request['headers']): Busboy {
  const limits = { fieldSize: Infinity, fields: MAX_PARTS, parts: MAX_PARTS };
  const parser = busboy({ headers, limits });
  const reject = (error: GatewayError): void => {
    parser.destroy(error);
  };
  const rejectMany = (): void => {
    reject(invalid('The multipart form has too many parts.'));
  };
  // The parser passes no name for a part without one, and no text for a part in an unknown charset.
  parser.on('field', (name: string | undefined, text: string | undefined) => {
    if (name === undefined) reject(nameless());
    else if (text === undefined) reject(invalid(UNKNOWN_CHARSET));
    else parts.push({ name, text });
  });
  parser.on('file', (name: string | undefined, file) => {
    file.on('error', () => undefined).resume();
    reject(name === undefined ? nameless() : noFile(name));
  });
  parser.on('partsLimit', rejectMany).on('fieldsLimit', rejectMany);
  // The caller gets the error, unless it has ended before.
  parser.on('error', () => undefined);
  return parser;
}

function formOf(parts: readonly TextPart[]): TextForm {
  const form = new Map<string, string | string[]>();
  for (const { name: sent, text } of parts) {
    const name = sent.replace(LIST_SUFFIX, '');
    const known = form.get(name);
    if (known !== undefined) form.set(name, [known, text].flat());
    else form.set(name, name === sent ? text : [text]);
  }
  // fromEntries defines own properties, so a part named __proto__ stays an unknown field.
  return Object.fromEntries(form);
}

function noFile(part: string): GatewayError {
  // The name comes from the client.
  const name = part.slice(0, MAX_NAME_LENGTH);
  const message = `${name} must not be a file: this endpoint takes text parts only.`;
  return new GatewayError('invalid_request', message, { param: name });
}

function nameless(): GatewayError {
  return invalid(NAMELESS_PART);
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_multipart', message, { cause });
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The body is larger than ${limitBytes} bytes.`);
}
