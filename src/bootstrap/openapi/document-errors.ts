import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { apiFamilyOf } from '../../catalog/operations.js';
import { VIDEO_EXAMPLE } from '../../common/errors/error-responses.decorator.js';
import { operationsOf } from './document-bodies.js';

type Answer = DocumentedAnswer | { readonly $ref: string };
interface DocumentedAnswer {
  readonly content?: Readonly<Record<string, { examples?: Record<string, unknown> }>>;
}
type Answers = Record<string, Answer>;

/** A response with more codes than these is named after the first of them. */
const MAX_CODES_IN_NAME = 3;

/** An invalid field of a video has another `type`, and so another example (decision G-04). */
export function describeVideoErrors(document: OpenAPIObject): void {
  for (const [path, item] of Object.entries(document.paths)) {
    if (apiFamilyOf(path) !== 'video') continue;
    for (const operation of operationsOf({ ...document, paths: { [path]: item } })) {
      const answer = (operation.responses as Answers)['400'];
      const examples = answer && examplesOf(answer);
      if (examples?.invalid_request) examples.invalid_request = VIDEO_EXAMPLE;
    }
  }
}

/** Error responses that several operations have are described once, under the names of their codes. */
export function shareErrors(document: OpenAPIObject): void {
  const shared: Record<string, DocumentedAnswer> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    const part = path.startsWith('/v1/') ? '' : 'Operator';
    for (const { responses } of operationsOf({ ...document, paths: { [path]: item } })) {
      for (const [status, answer] of Object.entries(responses as Answers)) {
        const name = status >= '400' ? nameOf(answer) : undefined;
        if (name === undefined || '$ref' in answer) continue;
        (responses as Answers)[status] = refTo(shared, part + name, answer);
      }
    }
  }
  document.components = { ...document.components, responses: shared as never };
}

/** The same codes with other headers or words have names of their own, which end in a number. */
function refTo(
  shared: Record<string, DocumentedAnswer>,
  name: string,
  answer: DocumentedAnswer,
): Answer {
  let own = name;
  for (let number = 2; !isDeepStrictEqual((shared[own] ??= answer), answer); number += 1) {
    own = `${name}${number}`;
  }
  return { $ref: `#/components/responses/${own}` };
}

function examplesOf(answer: Answer): Record<string, unknown> | undefined {
  return '$ref' in answer ? undefined : answer.content?.['application/json']?.examples;
}

/** `ProviderHttpErrorOrProviderTimeout`, or `InvalidRequestOrOthers`; undefined where there are no codes. */
function nameOf(answer: Answer): string | undefined {
  const codes = Object.keys(examplesOf(answer) ?? {});
  const words = codes.map((code) =>
    code.replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase()),
  );
  const [first] = words;
  return words.length > MAX_CODES_IN_NAME ? `${first}OrOthers` : words.join('Or') || undefined;
}
