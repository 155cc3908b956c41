import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import type { SeenRequest } from '../../support/stub-upstream.js';
import { type Dialect, DONE, says, STOP, wholeAnswer } from './dialect.js';

const USAGE = { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };
const WANTED = { text: 'Hi', reason: 'stop', usage: [3, 2] } as const;
const plain = (bytes: Buffer) => bytes;

/** The usual answer, in the form that was asked for. */
function answers(
  response: ServerResponse,
  { body }: SeenRequest,
  encode: (bytes: Buffer) => Buffer = plain,
): void {
  const isStream = (JSON.parse(body.toString()) as { stream?: boolean }).stream === true;
  const chunks = [says('Hi'), STOP, { choices: [], ...USAGE }];
  const text = isStream
    ? chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + DONE
    : JSON.stringify(wholeAnswer({ role: 'assistant', content: 'Hi' }, {}, USAGE));
  response.end(encode(Buffer.from(text)));
}

const encoded = (name: string, encode: (bytes: Buffer) => Buffer): Dialect => ({
  kind: 'encodings',
  what: `an answer in ${name} that nobody asked for`,
  reply: (response, request) => {
    response.setHeader('content-encoding', name.split(' ')[0] ?? '');
    answers(response, request, encode);
  },
  wanted: WANTED,
});

const refuses = (field: string): Dialect => ({
  kind: 'errors',
  what: `${field} is refused by name`,
  reply: (response, request) => {
    if (field in (JSON.parse(request.body.toString()) as object)) {
      const message = `Unrecognized request argument supplied: ${field}`;
      response.writeHead(400).end(JSON.stringify({ error: { message } }));
    } else answers(response, request);
  },
  wanted: WANTED,
});

/** Encodings of answers, and parameters that an upstream does not know. */
export const SENT_DIALECTS: readonly Dialect[] = [
  encoded('gzip', gzipSync),
  encoded('br', brotliCompressSync),
  encoded('deflate', deflateSync),
  encoded('deflate without the head of zlib', deflateRawSync),
  {
    kind: 'encodings',
    what: 'a byte order mark before the answer',
    reply: (response, request) => {
      answers(response, request, (bytes) => Buffer.concat([Buffer.from('\uFEFF'), bytes]));
    },
    wanted: WANTED,
  },
  refuses('stream_options'),
  refuses('max_tokens'),
];
