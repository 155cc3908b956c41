import type { OpenAPIObject } from '@nestjs/swagger';
import { CHARGE_HEADER } from '../../platform/http-server/responses/gateway-headers.js';
import { type DocumentedOperation, operationsOf } from './document-bodies.js';

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const STATUS = '200';

/** What every body of a stream has. */
const STREAMED = {
  type: 'object',
  required: ['stream'],
  properties: {
    stream: { type: 'boolean', enum: [true], description: 'The completion as server-sent events' },
  },
};

type Answer = Exclude<DocumentedOperation['responses'][string], { $ref: string } | undefined>;

/**
 * Where an operation answers JSON or a stream, the stream becomes an operation of its own, at the same path with the fragment
 * `#stream`, which clients do not send. A generated client would give one operation with both a response that is either, so that
 * no field of the JSON could be read.
 */
export function separateStreams(document: OpenAPIObject): void {
  document.paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, item]) => {
      const stream = item.post && takeStream(item.post);
      return stream
        ? [
            [path, item],
            [`${path}#stream`, { post: stream }],
          ]
        : [[path, item]];
    }),
  ) as OpenAPIObject['paths'];
}

/** Takes the stream out of the operation; undefined if it has none. */
function takeStream(operation: DocumentedOperation): DocumentedOperation | undefined {
  const { [STREAM_TYPE]: events, ...others } = successOf(operation).content ?? {};
  if (events === undefined) return undefined;
  const { operationId = '', summary = '' } = operation;
  const stream = structuredClone(operation);
  stream.operationId = operationId.replace(/^create/, 'stream');
  stream.summary = `${summary} (as a stream)`;
  // The charge is not known when the head of a stream is sent.
  const { [CHARGE_HEADER]: _charge, ...headers } = successOf(stream).headers ?? {};
  Object.assign(successOf(stream), { content: { [STREAM_TYPE]: events }, headers });
  Object.assign(successOf(operation), { content: others });
  requireStream(stream);
  return stream;
}

function successOf({ responses }: DocumentedOperation): Answer {
  const answer = responses[STATUS];
  return answer && !('$ref' in answer) ? answer : { description: '' };
}

/** The body of the call is one with `stream`. */
function requireStream({ requestBody }: DocumentedOperation): void {
  const media = requestBody && 'content' in requestBody && requestBody.content[JSON_TYPE];
  if (!media) return;
  media.schema = { allOf: [media.schema ?? {}, STREAMED] };
  const examples = Object.entries(media.examples ?? {}).filter(([, example]) =>
    JSON.stringify(example).includes('"stream":true'),
  );
  media.examples = Object.fromEntries(examples);
}

const ASIDE = 'x-respond-async';

/**
 * Describes the task that a call becomes with `Prefer: respond-async` once, beside the responses: generated clients would have two
 * types for every answer of the call.
 */
export function setTasksAside(document: OpenAPIObject): void {
  for (const operation of operationsOf(document)) {
    const { 200: answer, 202: task } = operation.responses;
    if (!answer || !task) continue;
    delete operation.responses[202];
    Object.assign(document, { [ASIDE]: task });
    Object.assign(operation, { [ASIDE]: { $ref: `#/${ASIDE}` } });
  }
}
